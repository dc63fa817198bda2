"""Sentences that other code depends on: each is text for readers, with its kind and values for programs and files."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, NamedTuple, TypeVar

K = TypeVar("K", bound=enum.Enum)
S = TypeVar("S", bound="Statement")


class SettingPlace(NamedTuple):
    """Where a setting can be changed that a sentence recommends; as text, all places in parentheses.

    option: of the command line, with its value. argument: the same in Python. panel: its place in Slicer, "" if the
    panel does not have it.
    """

    option: str
    argument: str
    panel: str = ""

    def __str__(self) -> str:
        slicer = [f"in Slicer {self.panel}"] if self.panel else []
        return f"({'; '.join([self.option, f'in Python {self.argument}', *slicer])})"

    @property
    def inPanel(self) -> str:
        """The text for users of Slicer's panel."""
        return f"({self.panel or 'in scripts only'})"


class Statement(str):
    """One sentence or several, made of a kind and values; a plain string to code that does not need these.

    With more text added, it keeps both. kind: a member of an enumeration whose members have templates as `sentences`.
    values: of the templates' blanks: texts, numbers or places. sentences: that the text consists of.
    """

    kind: Any
    values: dict[str, Any]
    sentences: tuple[str, ...]

    def __new__(
        cls: type[S], text: str, kind: enum.Enum, values: Mapping[str, Any] | None = None, sentences: Iterable[str] = ()
    ) -> S:
        statement = super().__new__(cls, text)
        statement.kind, statement.values, statement.sentences = kind, dict(values or {}), tuple(sentences) or (text,)
        return statement

    def __reduce__(self) -> tuple[type[Statement], tuple[str, Any, dict[str, Any], tuple[str, ...]]]:
        return type(self), (str(self), self.kind, self.values, self.sentences)

    def __add__(self: S, more: str) -> S:
        *before, last = self.sentences
        return type(self)(str(self) + more, self.kind, self.values, [*before, last + more])

    @classmethod
    def of(cls: type[S], kind: Any, **values: Any) -> S:
        """Return what a kind says, without sentences that have a blank of None. values: of its templates' blanks."""
        known = {name: value for name, value in values.items() if value is not None}
        sentences = [
            template.format(**known)
            for template in kind.sentences
            if all(values[name] is not None for _, name, _, _ in Formatter().parse(template) if name)
        ]
        return cls(" ".join(sentences), kind, known, sentences)

    def toDictionary(self) -> dict[str, Any]:
        """Return kind, values and text as plain values for files."""
        values = {
            name: value._asdict() if isinstance(value, SettingPlace) else value for name, value in self.values.items()
        }
        return {"kind": nameOf(self.kind), "values": values, "text": str(self)}

    @property
    def isAdvice(self) -> bool:
        """Whether it recommends a setting."""
        return any(isinstance(value, SettingPlace) for value in self.values.values())

    @property
    def onPaper(self) -> str:
        """The text for pages to sign, on which nobody changes a setting: without the places where that is done."""
        text = str(self)
        for place in self.values.values():
            text = text.replace(f" {place}", "") if isinstance(place, SettingPlace) else text
        return text

    @property
    def inPanel(self) -> str:
        """The text for users of Slicer's panel: of the places where a setting can be changed, only that one."""
        text = str(self)
        for place in self.values.values():
            text = text.replace(str(place), place.inPanel) if isinstance(place, SettingPlace) else text
        return text


def nameOf(kind: enum.Enum) -> str:
    """Return the name of a kind in files, such as "no-overlap"."""
    return kind.name.lower().replace("_", "-")


def kindNamed(name: object, kinds: type[K]) -> K | None:
    """Return the kind that has a name in files, None for an unknown one, as another version may have written it."""
    return next((kind for kind in kinds if nameOf(kind) == name), None)

"""What is declared of a setting, once: the command line, Slicer's panel, reports and the documentation follow it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..base.texts import shortest
from ..metrics.metric import Parameter
from .checks import Check

# Headings of the options in a command's help, in their order.
MEASURED = "what is measured"
DISTANCES = "surfaces and distances"
MEMBERSHIPS = "membership images, with values between 0 and 1"
HAZARD = "hazard family"
SIMILARITY = "similarity family"
INSTANCES = "lesions family"
DOSE = "dose family"
HEADINGS = (MEASURED, DISTANCES, MEMBERSHIPS, HAZARD, SIMILARITY, INSTANCES, DOSE)


def _(text: str) -> str:
    """Return a text that Slicer's panel shows, translated; by this name, Slicer's translators find it."""
    return text


class Option(NamedTuple):
    """How the command line gives a setting.

    flag: its option, "" if it is only given as --set NAME=VALUE. heading: of its group. help: without the default,
    which is added. metavar: of its value. default: in words, None for the setting's own, "" to tell none.
    """

    flag: str
    heading: str
    help: str
    metavar: str | None = None
    default: str | None = None


@dataclass(frozen=True, kw_only=True)
class InPanel:
    """The control of a setting in Slicer's panel.

    label: of its row. row: its place in the section Advanced, where the panel makes the row; None if SegmentMetrics.ui
    has it. section: that the row is in, for messages. name: of the panel's parameter and controls, "" for that of the
    setting. low, high, decimals, step: of a spin box; its unit is the setting's. isAutomatic: whether the lowest value
    stands for None. words: the labels of a combo box, by choice; none if the panel fills it. isAlwaysShown: whether it
    is offered even if no chosen family uses it.
    """

    label: str
    row: int | None = None
    section: str = "Advanced"
    name: str = ""
    low: float = 0
    high: float = 0
    decimals: int = 0
    step: float = 1
    isAutomatic: bool = False
    control: str = "SpinBox"
    words: Mapping[str, str] = field(default_factory=dict)
    isAlwaysShown: bool = False

    @property
    def place(self) -> str:
        """Where the control is, for messages."""
        return " > ".join(filter(None, (self.section, self.label)))


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Everything about one setting but its name, its type and its default.

    check: what it accepts. label, unit: in reports. about: what it does, in sentences for tool tips and documentation.
    inPython: what only scripts need to know. option: None if it has none of its own. panel: None if the panel does not
    offer it. families: of measurements that it affects, None for all; for a parameter of keys these are the ones with
    such keys, and with `entries` those of which that property of their entry in the registry is true. onlyIf: name and
    value of another setting without which it has no effect. isDecidedByTools: whether other tools' conventions fix it,
    to its default. isAlwaysTold: whether every report tells it, even if it affects none of the numbers.
    """

    check: Check
    label: str
    about: str
    unit: str = ""
    inPython: str = ""
    option: Option | None = None
    panel: InPanel | None = None
    families: tuple[str, ...] | None = None
    parameter: Parameter | None = None
    entries: str = ""
    onlyIf: tuple[str, Any] | None = None
    isDecidedByTools: bool = False
    isAlwaysTold: bool = False

    @property
    def affectsAll(self) -> bool:
        """Whether it affects all numbers."""
        return self.families is None and self.parameter is None and not self.entries

    def help(self, default: Any) -> str:
        """Return the help of the option, "" without one, with its default in parentheses."""
        if self.option is None:
            return ""
        if (usual := self.option.default) is None:
            values = self.parameter.values if self.parameter else (default,)
            usual = ", ".join(value if isinstance(value, str) else shortest(value) for value in values)
        if usual and self.check.option.get("type") and self.check.option.get("action") == "append":
            usual += "; may be repeated"
        return f"{self.option.help} ({usual})" if usual else self.option.help

    def optionFor(self, name: str, value: str = "") -> str:
        """Return the option that gives the setting of a name, with a value if there is one."""
        flag = self.option.flag if self.option else ""
        return f"{flag} {value}".strip() if flag else f"--set {name}={value or 'VALUE'}"

    def documentation(self, name: str) -> str:
        """Return what the documentation of the library says about the setting of a name."""
        accepts = f"Must be {self.check.accepts}." if self.check.accepts else ""
        option = f"On the command line: `{self.optionFor(name)}`." if self.option else ""
        panel = f'In Slicer: "{self.panel.place}".' if self.panel else ""
        return " ".join(filter(None, (self.about, self.inPython, accepts, option, panel)))


def setting(default: Any, check: Check, label: str, about: str, **more: Any) -> Any:
    """Return a field of Settings. more: see Declaration."""
    declaration = Declaration(check=check, label=label, about=about, **more)
    return dataclasses.field(default=default, metadata={"declaration": declaration})


def declarationsOf(settings: type) -> dict[str, Declaration]:
    """Return the declarations of a class of settings, by name; the controls of a panel have names then."""
    found = {one.name: one.metadata["declaration"] for one in dataclasses.fields(settings)}
    return {
        name: dataclasses.replace(one, panel=one.panel and dataclasses.replace(one.panel, name=one.panel.name or name))
        for name, one in found.items()
    }

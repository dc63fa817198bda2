"""Findings of many structures: what many have in common is said once, with the names, instead of under each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .findingkinds import Finding
from .findings import split

# In so many structures at least something is said to be worth being said once for all.
FEWEST = 3
# So many names are listed of structures that are left out of "all".
MOST_LEFT_OUT = 3
# Advice on an option, which is long and the same whatever the structure; and the ends of sentences.
ADVICE, END = re.compile(r"\(--[a-z]"), re.compile(r"(?<=[.!?]) (?=[A-Z])")


class Common(NamedTuple):
    """What is said of several structures. members: their numbers, from 0."""

    text: str
    members: tuple[int, ...]


def sortedOut(findings: Sequence[Iterable[str]]) -> tuple[list[Common], list[tuple[str, ...]]]:
    """Return what many structures have in common, and what is left of the findings of each.

    findings: of every structure. Common are findings, or single sentences of these, that most structures have, and
    those that advise an option from three structures on. Alarms stay with their structures.
    """
    alarms, advice = zip(*map(split, findings), strict=True) if findings else ((), ())
    whole = _often(advice)
    # of those that differ, such as by a number, the rest may be the same
    parts = [[END.split(text) for text in own if text not in whole] for own in advice]
    sentences = _often([[sentence for one in own for sentence in one] for own in parts])
    left = [
        (*own, *map(Finding, filter(None, (" ".join(s for s in one if s not in sentences) for one in rest))))
        for own, rest in zip(alarms, parts, strict=True)
    ]
    return [Common(text, tuple(members)) for found in (whole, sentences) for text, members in found.items()], left


def _often(texts: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """Return which of the texts of structures are worth being said once for all, with the numbers of the structures."""

    def isOften(text: str, members: Collection[int]) -> bool:
        return len(members) >= FEWEST and (2 * len(members) > len(texts) or ADVICE.search(text) is not None)

    return {text: members for text, members in membersOf(texts).items() if isOften(text, members)}


def membersOf(texts: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """Return the numbers, from 0, of the structures that have a text, by text in the order in which they come."""
    members: dict[str, list[int]] = {}
    for number, own in enumerate(texts):
        for text in dict.fromkeys(own):
            members.setdefault(text, []).append(number)
    return members


def inOrder(findings: Sequence[Iterable[str]]) -> Iterator[Common]:
    """Yield all that is said of several structures, each thing once: alarms, what many have in common, and the rest."""
    common, left = sortedOut(findings)
    kinds = [[split(own)[which] for own in left] for which in (0, 1)]
    alarms, rest = ([Common(text, tuple(members)) for text, members in membersOf(kind).items()] for kind in kinds)
    yield from (*alarms, *common, *rest)


def whom(members: Collection[int], names: Sequence[str] | Mapping[int, str], most: int = 3) -> str:
    """Return of which structures something is said, in words. names: of all. most: to be listed if there are more."""
    lacking = [names[n] for n in range(len(names)) if n not in members]
    if len(members) >= FEWEST and len(lacking) <= MOST_LEFT_OUT and len(lacking) < len(members):
        return f"All structures but {', '.join(lacking)}" if lacking else "All structures"
    found = [names[n] for n in members]
    return f"{', '.join(found[:most])} and {len(found) - most} more" if len(found) > most + 1 else ", ".join(found)

"""Findings of many structures: those that many have in common are listed once, with the names of the structures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..base.texts import commaSeparated
from ..metrics.findings import Finding, splitAlarms

# Least number of structures for which a text is listed once for all.
FEWEST = 3
# Most names that are listed as exceptions from "all".
MOST_LEFT_OUT = 3


class Common(NamedTuple):
    """A text that applies to several structures. members: their numbers, from 0."""

    text: str
    members: tuple[int, ...]


def sortOut(findings: Sequence[Iterable[str]]) -> tuple[list[Common], list[tuple[Finding, ...]]]:
    """Return the findings that many structures have in common, and the remaining findings of each structure.

    findings: of each structure. They are common if at least three structures and more than half of all have them; if
    they recommend a setting, three structures are enough. Alarms are never common. A finding is never taken apart: what
    to do is said where the cause is.
    """
    alarms, advice = zip(*map(splitAlarms, findings), strict=True) if findings else ((), ())
    whole = _often(advice, {text for own in advice for text in own if text.isAdvice})
    left = [(*own, *(text for text in rest if text not in whole)) for own, rest in zip(alarms, advice, strict=True)]
    return list(whole.values()), left


def _often(texts: Sequence[Iterable[str]], advice: Collection[str]) -> dict[str, Common]:
    """Return what is listed once for all, by text. advice: those on settings, which are long and the same for all."""
    found = [one for one in membersOf(texts) if len(one.members) >= FEWEST]
    return {one.text: one for one in found if 2 * len(one.members) > len(texts) or one.text in advice}


def membersOf(texts: Sequence[Iterable[str]]) -> list[Common]:
    """Return each text with the structures that have it, in order of first occurrence."""
    members: dict[str, list[int]] = {}
    for number, own in enumerate(texts):
        for text in dict.fromkeys(own):
            members.setdefault(text, []).append(number)
    return [Common(text, tuple(numbers)) for text, numbers in members.items()]


def orderFindings(findings: Sequence[Iterable[str]]) -> Iterator[Common]:
    """Yield all findings of several structures, each once: alarms, then common ones, then the rest.

    Where findings differ, such as by a number, but have sentences in common, such as what to do, these follow once
    behind what differs.
    """
    common, left = sortOut(findings)
    alarms, rest = ([splitAlarms(own)[which] for own in left] for which in (0, 1))
    yield from membersOf(alarms)
    yield from common
    every = [[sentence for one in own for sentence in one.sentences] for own in rest]
    sentences = _often(every, {sentence for own in rest for one in own if one.isAdvice for sentence in one.sentences})
    # what differs, by the sentences that follow it
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for number, own in enumerate(rest):
        for one in own:
            shared = tuple(sentence for sentence in one.sentences if sentence in sentences)
            differing = " ".join(sentence for sentence in one.sentences if sentence not in sentences)
            groups.setdefault(shared, [[] for _ in findings])[number].append(differing)
    said: set[str] = set()
    for shared, texts in sorted(groups.items(), key=lambda group: not group[0]):
        yield from (one for one in membersOf(texts) if one.text)
        yield from (sentences[text] for text in shared if text not in said)
        said.update(shared)


def phraseFor(members: Collection[int], names: Sequence[str] | Mapping[int, str], most: int = 3) -> str:
    """Return a phrase for some structures. members: their numbers. names: of all. most: names listed if there are more.

    If nearly all are members, the phrase is "All structures", possibly with exceptions.
    """
    lacking = [names[n] for n in range(len(names)) if n not in members]
    if len(members) >= FEWEST and len(lacking) <= MOST_LEFT_OUT and len(lacking) < len(members):
        return f"All structures but {', '.join(lacking)}" if lacking else "All structures"
    found = [names[n] for n in members]
    return commaSeparated(found, most if len(found) > most + 1 else len(found))

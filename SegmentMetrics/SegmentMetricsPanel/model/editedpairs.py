"""Which structures are compared with each other when all structures are compared, and how the user edits that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.texts import commaSeparated

from ..translation import _
from .enumerations import Mode

# How a pair was found, as stored in the parameter node in every language: chosen by the user, or by overlap, which is
# followed by the Dice similarity coefficient.
CHOSEN, OVERLAP = "chosen", "overlap"


def entriesIn(pairs: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return reference name, test name ("" for none) and how it was found of the pairs that a parameter holds flat."""
    texts = list(pairs)
    return list(zip(texts[::3], texts[1::3], texts[2::3]))


def entriesOf(parameters, scene) -> list[tuple[str, str, str]]:
    """Return the edited pairs of the chosen segmentations; others are kept until theirs are chosen again."""
    p = parameters
    ours, theirs = set(scene.segments(p.reference).values()), {"", *scene.segments(p.test).values()}
    return [entry for entry in entriesIn(p.pairs) if entry[0] in ours and entry[1] in theirs]


def choicesOf(parameters, scene) -> dict[str, str | None]:
    """Return the edited pairs in the form that pairing.pairStructures expects."""
    return {reference: test or None for reference, test, _how in entriesOf(parameters, scene)}


def proposalsOf(parameters, scene) -> dict[str, float]:
    """Return the Dice of the pairs that were proposed by overlap, in the form that pairing.pairStructures expects."""
    entries = entriesOf(parameters, scene)
    start = f"{OVERLAP} "
    return {ours: float(how.removeprefix(start)) for ours, _theirs, how in entries if how.startswith(start)}


def choose(parameters, entries: Sequence[tuple[str, str, str]]) -> None:
    """Add entries to the edited pairs; a test structure that was paired before is taken from its former partner."""
    ours, theirs = {entry[0] for entry in entries}, {entry[1] for entry in entries} - {""}
    kept = [entry for entry in entriesIn(parameters.pairs) if entry[0] not in ours and entry[1] not in theirs]
    parameters.pairs = [text for entry in (*kept, *entries) for text in entry]


def reset(parameters, scene) -> None:
    """Discard the edited pairs of the chosen segmentations."""
    mine = entriesOf(parameters, scene)
    parameters.pairs = [text for entry in entriesIn(parameters.pairs) if entry not in mine for text in entry]


def accept(parameters, proposed) -> None:
    """Add proposed pairs, given as Matches, to the edited ones."""
    choose(parameters, [(m.reference.name, m.test.name, f"{OVERLAP} {m.confidence:.2f}") for m in proposed])


@dataclass(frozen=True)
class ShownPairs:
    """What the list of pairs shows.

    rows: for every structure of the reference its name, the index of its counterpart in `possible`, how the pair was
    found, and a tool tip. possible: names in the test, after "" for none. unpaired: a sentence about what is left over,
    or wrong.
    """

    title: str = ""
    rows: tuple[tuple[str, int, str, str], ...] = ()
    possible: tuple[str, ...] = ()
    unpaired: str = ""
    canPropose: bool = False
    canReset: bool = False


def shownPairs(parameters, scene) -> ShownPairs | None:
    """Return what the list of pairs shows; None without parameters, and where single segments are compared."""
    p = parameters
    if p is None or p.mode != Mode.allStructures or p.reference is p.test:
        return None
    if not all(map(scene.segments, (p.reference, p.test))):
        return None
    edited = {reference: how for reference, _test, how in entriesOf(p, scene)}
    try:
        pairing = scene.pairing(p.reference, p.test, choices=choicesOf(p, scene))
    except InputError as error:  # measuring would raise the same error
        return ShownPairs(title=_("Pairs"), unpaired=str(error), canReset=bool(edited))
    counterparts = {match.reference.name: match for match in pairing.pairs}
    names = dict.fromkeys(scene.segments(p.reference).values())
    possible = ("", *dict.fromkeys(scene.segments(p.test).values()))
    rows = []
    for name in names:
        match = counterparts.get(name)
        how = edited.get(name) or (match.how if match else "")
        index = possible.index(match.test.name) if match else 0
        rows.append((name, index, *explain(how)))
    alone = [structure.name for structure in pairing.unmatchedTest]
    only = _("Only in the test: {names}.").format(names=commaSeparated(alone))
    return ShownPairs(
        title=_("Pairs: {count} of {all}").format(count=len(pairing.pairs), all=len(names)),
        rows=tuple(rows),
        possible=possible,
        unpaired=only if alone else "",
        canPropose=bool(alone) and any(structure.name not in edited for structure in pairing.unmatchedReference),
        canReset=bool(edited),
    )


def explain(how: str) -> tuple[str, str]:
    """Return a label for how a pair was found, "" for none, and a tool tip; entries of other versions are unchanged."""
    kind, _space, dice = how.partition(" ")
    known = {
        "name": (_("name"), _("The names are equal.")),
        "spelling": (_("spelling"), _("The names differ in spelling only.")),
        "words": (_("words"), _("The names consist of the same words.")),
        "code": (_("code"), _("The terminology codes are the same.")),
        "only": (_("only"), _("There is one structure on each side.")),
        CHOSEN: (_("chosen"), _("You have chosen this.")),
        OVERLAP: (
            _("overlap {dice}").format(dice=dice),
            _("A proposal: the two share voxels, with this Dice. Choose another one if it is wrong."),
        ),
        "": ("", _("Nothing in the test has this name or code: choose its counterpart, or let one be proposed.")),
    }
    return known.get(kind, (how, ""))

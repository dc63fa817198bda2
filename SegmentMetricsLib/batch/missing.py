"""Structures that only one side of a case has: their comparison with an empty one, and their role in a cohort."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import PairError
from ..base.plain import toPlain
from ..base.texts import oneLine
from ..case.casework import Case
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface
from ..model import naming
from ..model.structure import Structure
from ..model.structures import Match
from ..model.structureset import StructureSet

REFERENCE, TEST, BOTH = "reference", "test", "both"
# What tables list beside numbers.
LISTS = ("lesions", "gaps", "spurs")
# The name of pairs whose structures may have different names in every case.
ONLY = "the only structure"


def describeForCohort(match: Match) -> dict[str, Any]:
    """Return what the record of a pair has for its cohort: the structure's name there, and which side lacks it.

    The name is the reference's, unless that is an image without any label, which lacks the structure. A structure whose
    only name is that of its case does not count by it. Pairs of two of these all have the name ONLY.
    """
    lacking = [side for side, s in zip((REFERENCE, TEST), match, strict=True) if s.isUnlabeled]
    side = BOTH if len(lacking) == 2 else "".join(lacking)
    structure = match.test if side == REFERENCE or match.reference.isOfCase else match.reference
    name = ONLY if structure.isOfCase else structure.name
    return {"structure": name, "diagonal": diagonal(match), **whatIsMissing(side, name)}


def diagonal(match: Iterable[Structure]) -> float | None:
    """Return the length in mm of the diagonal of the reference's image, else of the test's; None for two meshes."""
    grid = next((s.samplingGrid for s in match if s.samplingGrid is not None), None)
    return None if grid is None else float(np.linalg.norm(np.multiply(grid.size, grid.spacing)))


def whatIsMissing(side: str, name: str) -> dict[str, str]:
    """Return the entries of a comparison's record about the side that lacks a structure; none if neither does."""
    if side == BOTH:
        return {"missing": side, "reason": "Neither the reference nor the test has any structures."}
    others = {TEST: REFERENCE, REFERENCE: TEST}
    return {"missing": side, "reason": f"Only the {others[side]} has {name}."} if side else {}


def compareMissing(case: Case) -> tuple[list[dict], list[str]]:
    """Return the records of the structures that only one side has, each compared with an empty one, and problems.

    Records have those keys of pairs' records that tables need. "missing" is the side that lacks the structure;
    "leftOut" is the side that has it but where it cannot be used, in which case there are no measurements. A structure
    that only the test has and that cannot be measured is not a problem.
    """
    criticals = [name for name, _ in case.settings.critical]
    records: list[dict] = []
    problems: list[str] = []
    for side, present in ((TEST, case.pairing.unmatchedReference), (REFERENCE, case.pairing.unmatchedTest)):
        lacking = case.pairing.sets[side == TEST]
        for structure in present:
            nothing = emptyBeside(structure, lacking)
            match = Match(structure, nothing) if side == TEST else Match(nothing, structure)
            sides = zip((REFERENCE, TEST), match, strict=True)
            record: dict[str, Any] = {name: {"name": structure.name, "file": own.file} for name, own in sides}
            record |= {"structure": structure.name, "diagonal": diagonal(match), "measurements": {}}
            if unusable := lacking.whyLost(structure.name):
                records.append({**record, "leftOut": side, "reason": oneLine(unusable)})
                continue
            record |= whatIsMissing(side, structure.name)
            if side == TEST and structure.name in criticals:
                record["critical"] = True
            found = next(case.pairs([match.anew()]))
            if isinstance(found, PairError):
                record["reason"] = oneLine(str(found))
                if side == TEST:
                    problems.append(record["reason"])
            else:
                values = {key: one.toDictionary() for key, one in found.measurements.items()}
                lists = {name: toPlain(own) for name in LISTS if (own := getattr(found, name)) is not None}
                record.update(convention=found.settings.convention, measurements=values, **lists)
            records.append(record)
    return records, problems


def emptyBeside(structure: Structure, others: StructureSet) -> Structure:
    """Return an empty structure of the same name for the set of others that lacks it."""
    grids = [s.samplingGrid for s in (*others, structure) if s.samplingGrid is not None]
    frame = others[0].frameOfReference if others else ""
    if grids:
        return Structure(structure.name, Mask.empty(grids[0]), file=others.path, frameOfReference=frame)
    given = structure.surface
    nothing = Surface(np.zeros((0, 3)), np.zeros((0, given.dimension), given.cells.dtype), given.normal)
    return Structure(structure.name, givenSurface=nothing, surfaceKind="imported", file=others.path)


class Roster:
    """The structures that the references and the tests of a cohort have, in any spelling.

    proposals: pairs of a reference and a test name that may be the same structure, with the cases that suggest it.
    hasPairs: whether any case has a pair.
    """

    def __init__(self, outcomes: Iterable[Mapping] = ()) -> None:
        self.proposals: dict[tuple[str, str], set[str]] = {}
        self.hasPairs = False
        self._inReferences: set[tuple] = set()
        self._inTests: set[tuple] = set()
        self._counterparts: dict[tuple, str] = {}
        self._onlyInTest: dict[str, set[str]] = {}
        self._names: dict[tuple, str] = {}
        for outcome in outcomes:
            self.learn(outcome)

    def learn(self, outcome: Mapping) -> None:
        """Add the structures of the reference and the test of a case."""
        for record in (*outcome["pairs"], *outcome.get("missing", ())):
            side, name = record.get("missing", ""), record["structure"]
            if side != BOTH:
                self._names.setdefault(_spelling(name), name)
            if side in ("", TEST):
                self._inReferences.add(_spelling(name))
            if side in ("", REFERENCE):
                self._inTests.add(_spelling(name))
            if side == REFERENCE:
                self._onlyInTest.setdefault(name, set()).add(outcome["case"])
            if not side and "leftOut" not in record and name != ONLY:
                self._counterparts.setdefault(_spelling(record["test"]["name"]), name)
        self.hasPairs = self.hasPairs or bool(outcome["pairs"])
        for proposal in outcome.get("pairing", {}).get("proposals", ()):
            names = (proposal["reference"], proposal["test"])
            self.proposals.setdefault(names, set()).add(outcome["case"])

    def nameOf(self, record: Mapping) -> str:
        """Return the name under which a record counts: for one that only a test has, the reference's in other cases."""
        name = record["structure"]
        return self._referenceName(name) if record.get("missing") == REFERENCE else name

    def isExpected(self, record: Mapping) -> bool:
        """Return whether a record is for a structure that the tests of this cohort are expected to have.

        Structures that only tests have are not expected, unless no reference has any structure. Nor are critical
        structures that only references have: these only define where errors are dangerous.
        """
        side = record.get("missing", "")
        if side == TEST:
            return not record.get("critical") or _spelling(record["structure"]) in self._inTests
        if side == REFERENCE:
            return not self._inReferences or _spelling(self.nameOf(record)) in self._inReferences
        return True

    @property
    def only(self) -> str:
        """The name of the only structure of the cohort, "" if there are several or none."""
        return next(iter(self._names.values())) if len(self._names) == 1 else ""

    @property
    def unexpected(self) -> dict[str, set[str]]:
        """The structures that only tests have and that therefore do not count, with their cases."""
        if not self._inReferences:
            return {}
        given = self._onlyInTest.items()
        return {name: cases for name, cases in given if _spelling(self._referenceName(name)) not in self._inReferences}

    def _referenceName(self, name: str) -> str:
        """Return the references' name for a structure of a test, as far as other cases show it."""
        return name if _spelling(name) in self._inReferences else self._counterparts.get(_spelling(name), name)


class Counted(NamedTuple):
    """A record of an outcome, the name of its structure in the cohort, and whether it counts in the statistics."""

    record: Mapping
    structure: str
    counts: bool


class CountedNames:
    """The names of the structures of a cohort, whose outcomes are given one after the other.

    Names that differ only in spelling are one structure, which is called as it is first spelled. The tables of a batch
    and its statistics go through the same outcomes in the same order, so they call a structure the same.
    """

    def __init__(self) -> None:
        self._names: dict[tuple, str] = {}

    def of(self, outcome: Mapping, roster: Roster) -> list[Counted]:
        """Return the pairs of an outcome and its expected missing structures, those that count first.

        What only the test has does not count if the case has that structure in another spelling.
        """
        records = [
            (not record["measurements"] or record.get("missing") == BOTH, record.get("missing") == REFERENCE, record)
            for record in (*outcome["pairs"], *outcome.get("missing", ()))
            if roster.isExpected(record)
        ]
        # records of what the reference lacks come last, as the case may have the structure in another spelling
        records.sort(key=lambda entry: entry[:2])
        names = {roster.nameOf(record) for isAside, _, record in records if not isAside}
        seen: set[str] = set()
        result = []
        for isAside, isLacked, record in records:
            own = roster.nameOf(record)
            structure = self._names.setdefault(_spelling(own), own)
            if structure in seen and (isLacked or isAside):
                result.append(Counted(record, record["structure"], False))
                continue
            # two spellings in one case are two structures
            if structure in seen or (structure != own and structure in names):
                structure = own
            seen.add(structure)
            result.append(Counted(record, structure, not isAside))
        for title in outcome.get("failures", ()):
            name = title.partition(naming.PAIR_JOINT)[0]
            self._names.setdefault(_spelling(name), name)
        return result

    def nameFor(self, title: str) -> str:
        """Return the name under which the structure of a title counts, the title itself if there is none.

        title: a structure's name, or both names of a pair.
        """
        return self._names.get(_spelling(title.partition(naming.PAIR_JOINT)[0]), title)


def _spelling(name: str) -> tuple[str, str]:
    return naming.parse(name).spelled

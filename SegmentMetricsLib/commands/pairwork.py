"""The comparisons of a case with the files about each pair: in this process, or in several if that pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..base.errors import InputError, PairError
from ..base.parallel import Died, spread
from ..case.casework import Case, costOf
from ..case.comparison import Comparison
from ..model.structure import Structure
from ..model.structures import Match, Pairing

if TYPE_CHECKING:
    from ..show.report import Report
    from ..show.report.document import Part


def makeDisplayed(structure: Structure) -> Structure:
    """Return a structure with the surface that Slicer displays, whose classes are not imported before."""
    from ..mrml import inputs

    return inputs.displayed(structure)


class WrittenPair(NamedTuple):
    """What is kept of a pair: its record or why there is none, and its part of the report."""

    record: Comparison | PairError
    part: Part | None = None


@dataclass(frozen=True)
class WrittenPairs:
    """The comparisons of pairs of a case with the files about them; each process has its own.

    names: of the files of each pair. folder: for the files, None to write none. report: an empty report that makes the
    parts, or None. isShowing: whether surfaces and pictures are made. hasPlaces: whether the records have the worst
    places.
    """

    case: Case
    names: Sequence[str]
    folder: Path | None
    report: Report | None = None
    isShowing: bool = True
    hasPlaces: bool = True

    def each(self, workers: int | None) -> Iterator[tuple[int, WrittenPair]]:
        """Compare all pairs, and yield the number of each, from 0, and what is kept of it.

        workers: number of processes; None means one per processor, but only this one for little work. Results do not
        depend on it.
        """
        pairs = self.case.pairing.pairs
        # the structures of a pair are sent with it
        work = replace(self, case=replace(self.case, pairing=Pairing((), (), ())))
        packs = [[(number, pairs[number]) for number in pack] for pack in self.case.packs()]
        while packs:
            died = []
            for place, outcome in spread(work, packs, self._cost, workers):
                pack = packs[place]
                if isinstance(outcome, Died) and len(pack) > 1:
                    died += [[one] for one in pack]  # any of them may be the reason
                elif isinstance(outcome, Died):
                    [(number, (reference, test))] = pack
                    yield number, WrittenPair(PairError(f"{reference.name} and {test.name}: {outcome}", str(outcome)))
                elif isinstance(outcome, Exception):
                    raise outcome
                else:
                    yield from zip((number for number, _ in pack), outcome, strict=True)
            packs = died

    def _cost(self, pack: Sequence[tuple[int, Match]]) -> float:
        """Return about how many seconds a pack takes; that of other families than boundary is not known beforehand."""
        if "boundary" not in self.case.settings.families:
            return 0.0
        perPair, perTriangle = (0.15, 6e-6) if self.isShowing else (0.02, 1.5e-6)
        return sum(perPair + perTriangle * costOf(match) for _, match in pack)

    def __call__(self, pack: Sequence[tuple[int, Match]]) -> list[WrittenPair]:
        """Compare the pairs of a pack, write their files and return what is kept of each."""
        # copies, so that the surfaces made for measuring and drawing are freed with them
        compared, kept = self.case.pairs(match.anew() for _, match in pack), []
        for number, _ in pack:
            kept.append(self._write(number, next(compared)))
        return kept

    def filesOf(self, number: int) -> dict[str, str]:
        """Return the names of the existing files of a pair by kind."""
        from ..show import writing

        return {} if self.folder is None else writing.filesOf(self.names[number], self.folder)

    def _write(self, number: int, comparison: Comparison | PairError) -> WrittenPair:
        """Write the files of a pair; after an error there are none."""
        from ..show import writing

        if isinstance(comparison, PairError):
            return WrittenPair(comparison)
        record = comparison.record(hasPlaces=self.hasPlaces)
        if self.folder is None:
            return WrittenPair(record)
        name = self.names[number]
        try:
            part = None if self.report is None else self.report.part(comparison, number)
            if comparison.slices:
                writing.writeSlices(comparison.slices, self.folder / writing.fileName("slices", name))
            # otherwise the modules for these are not even imported
            if comparison.distances is not None and self.isShowing:
                writing.writeSurfaces(comparison, self.folder / writing.fileName("distances", name))
                from ..show.pictures.overlay import drawOverlay

                drawOverlay(comparison, self.folder / writing.fileName("overlay", name), image=self.case.image)
        except InputError as error:
            for file in self.filesOf(number).values():
                (self.folder / file).unlink()
            return WrittenPair(PairError(f"{record.name}: {error}", str(error)))
        return WrittenPair(record, part)

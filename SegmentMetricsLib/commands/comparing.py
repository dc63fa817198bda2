"""Comparison of paired structures, from the pairs to the files and the printed tables.

The pairs are compared in this process, or in several if that pays.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError, PairError
from ..base.parallel import Died, spread
from ..base.texts import oneLine, tellingApart
from ..case.casework import Case, costOf
from ..case.comparison import Comparison
from ..model.naming import onlyIn
from ..model.structure import Structure
from ..model.structures import Match, Pairing
from ..show import tables, verdicts, writing
from .options import reportAsked
from .results import finalStatus, progressBar, tellFailures, tellWhere, terminalWidth, unfinishedResults

if TYPE_CHECKING:
    from ..case.caseresult import CaseResult
    from ..show.report import Report
    from ..show.report.document import Part

# Most findings that are printed; the others are in metrics.json.
MOST_FINDINGS = 12
# The file with the others, with and without a folder for it.
METRICS_FILE, UNWRITTEN_FILE = "metrics.json", "metrics.json, which --output DIR writes"


def makeDisplayed(structure: Structure) -> Structure:
    """Return a structure with the surface that Slicer displays, whose classes are not imported before."""
    from ..mrml import inputs

    return inputs.asDisplayed(structure)


# What is kept of a pair: its record, or why there is none, and its part of the report.
WrittenPair = tuple["Comparison | PairError", "Part | None"]


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
        # what other families than boundary take is not known beforehand
        isKnown = "boundary" in self.case.settings.families
        perPair, perTriangle = (0.15, 6e-6) if self.isShowing else (0.02, 1.5e-6)

        def cost(pack: Sequence[tuple[int, Match]]) -> float:
            return sum(perPair + perTriangle * costOf(match) for _, match in pack) if isKnown else 0.0

        while packs:
            died = []
            for place, outcome in spread(work, packs, cost, workers):
                pack = packs[place]
                if isinstance(outcome, Died) and len(pack) > 1:
                    died += [[one] for one in pack]  # any of them may be the reason
                elif isinstance(outcome, Died):
                    [(number, (reference, test))] = pack
                    why = PairError(f"{reference.name} and {test.name}: {outcome}", str(outcome))
                    yield number, (why, None)
                elif isinstance(outcome, Exception):
                    raise outcome
                else:
                    yield from zip((number for number, _ in pack), outcome, strict=True)
            packs = died

    def __call__(self, pack: Sequence[tuple[int, Match]]) -> list[WrittenPair]:
        """Compare the pairs of a pack, write their files and return what is kept of each."""
        # copies, so that the surfaces made for measuring and drawing are freed with them
        compared = self.case.pairs(match.anew() for _, match in pack)
        return [self._write(number, next(compared)) for number, _ in pack]

    def _write(self, number: int, comparison: Comparison | PairError) -> WrittenPair:
        """Write the files of a pair; after an error there are none."""
        if isinstance(comparison, PairError):
            return comparison, None
        record = comparison.record(hasPlaces=self.hasPlaces)
        if self.folder is None:
            return record, None
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
            for file in writing.filesOf(name, self.folder).values():
                (self.folder / file).unlink()
            return PairError(f"{record.name}: {error}", str(error)), None
        return record, part


def compareAndWrite(
    case: Case,
    options: argparse.Namespace,
    extraFiles: Sequence[Path] = (),
    dicomWriters: Sequence[Callable[[CaseResult], list[Path]]] = (),
) -> int:
    """Compare all pairs, write the results and print the tables; either all files are written or none.

    options: as of the command compare; without an output folder nothing is written. extraFiles: copied to that folder.
    dicomWriters: write the result as DICOM. Returns the exit status: 1 if some pairs could not be compared, 3 if the
    verdict is at least as bad as --fail-on. Raises InputError when none could be compared.
    """
    output = options.output
    report = None
    if reportAsked(options):
        from ..show.report import Report

        titles = tellingApart([options.reference, options.test])
        reference, test = titles[options.reference], titles[options.test]
        about: dict[str, Any] = {"patient": options.report_patient, "origins": (reference, test), "image": case.image}
        about["withConventions"] = options.report_conventions
        report = Report(f"{test} compared with {reference}", case.settings, **about)
        case = replace(case, settings=report.settings)  # which select slices
    pairs, found = case.pairing.pairs, dict[int, WrittenPair]()
    names = list(writing.fileNames(match.reference.name for match in pairs))
    hasPlaces = report is not None or not (options.numbers_only or (output is None and not options.json))
    with unfinishedResults(output) as unfinished:
        isShowing = unfinished is not None and not options.numbers_only
        with progressBar(len(pairs), "pair", len(pairs) > 1) as progress:
            work = WrittenPairs(case, names, unfinished, report, isShowing, hasPlaces)
            for number, one in work.each(options.workers):
                progress(pairs[number].reference.name)
                found[number] = one
        result = case.result({number: record for number, (record, _) in found.items()})
        result.requireAny()
        order = [number for number in sorted(found) if isinstance(found[number][0], Comparison)]
        files = [{} if unfinished is None else writing.filesOf(names[number], unfinished) for number in order]
        document = writing.document(result, result.pairing, case.settings, files, result.multiLabel)
        if result.failures:
            document["failures"] = result.failures
        if result.judgment:
            # the protocol adds different settings for each structure
            for pair, one in zip(document["pairs"], result, strict=True):
                pair["settings"] = one.settings.toDictionary()
            document["protocol"] = result.judgment.toDictionary()
        if unfinished is not None:
            _write(result, document, report, [part for number in order if (part := found[number][1])], unfinished)
            for path in extraFiles:
                shutil.copy(path, unfinished / path.name)
        dicom = [path for write in dicomWriters for path in write(result)]
    where = UNWRITTEN_FILE if output is None else METRICS_FILE
    if options.json:
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        _show(result, where)
    if output or dicom or not options.json:
        tellWhere(output, isApart=True, isAside=options.json, dicom=dicom)
    unusable = [why for title, why in case.unusable.items() if title not in result.errors]
    problems = list(dict.fromkeys([*map(str, result.errors.values()), *unusable]))
    tellFailures(problems, where)
    return finalStatus(bool(problems), [result.judgment.verdict] if result.judgment else [], options.fail_on)


def _write(result: CaseResult, document: dict, report: Report | None, parts: Sequence[Part], folder: Path) -> None:
    """Write the files about all pairs, beside those of each pair. report, parts: of them, or None and none."""
    if result.judgment:
        verdicts.writeVerdicts(document["protocol"], folder / writing.VERDICTS_FILE)
    if report is not None:
        report.parts += parts
        lacking: dict[str, Any] = {"unmatched": result.unmatched, "failures": result.failures}
        report.write(folder / writing.REPORT_FILE, judgment=result.judgment, findings=result.findings, **lacking)
        document = {**document, "report": writing.REPORT_FILE}
    writing.writeJson(document, folder / METRICS_FILE)
    writing.writeCsv(result, folder / "metrics.csv")
    writing.writeLists(document["pairs"], folder)


def _show(result: CaseResult, where: str) -> None:
    """Print the tables and the findings. where: the file with the findings that are not printed."""
    width = terminalWidth()
    print(tables.pairTable(result[0], width) if len(result) == 1 else tables.overviewTable(result, width))
    if (overlap := result.multiLabel) is not None:
        print("\n" + tables.multiLabelTable(overlap))
    for sentence in onlyIn(result.unmatched, result.failures):
        print(f"\n{oneLine(sentence)}")
    if judged := result.judgment:
        print(f"\nProtocol {oneLine(judged.protocol.name)}: {judged.verdict}\n{verdicts.verdictTable(judged)}")
    findings = list(tables.remarks(result, result.findings))
    if findings:
        more = len(findings) - MOST_FINDINGS
        print("\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in {where}" if more > 0 else ""))

"""Structured reports: the measurements of a case as DICOM (Comprehensive 3D SR, TID 1500), written and read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..base.errors import InputError, requireKind
from ..case.caseresult import CaseResult
from ..case.comparison import Comparison
from ..case.observers.observed import ObservedStructure
from ..case.observers.study import ObserverStudy
from ..case.protocol.judgment import Verdict
from ..io.dicom import opening
from ..metrics.measurement import Measurement
from ..model.structure import Structure
from ..settings.settings import Settings


def writeReport(
    result: Comparison | CaseResult | ObserverStudy,
    path: str | os.PathLike | None,
    *,
    sources: Iterable[str | os.PathLike] = (),
    given: Mapping[str, str] | None = None,
    hasCopies: bool = True,
    pdf: str | os.PathLike | None = None,
    consensus: str | os.PathLike | None = None,
) -> list[Path]:
    """Write the measurements of a comparison, a case or a study of observers as a DICOM structured report.

    Parameters
    ----------
    result : Comparison | CaseResult | ObserverStudy
        The numbers to write; of a study, those of all pairs of observers and tests.
    path : str | os.PathLike | None
        File of the report, which must not exist yet; None to write the consensus only.
    sources : Iterable[str | os.PathLike], optional
        DICOM files of the patient and the study, or folders with them. Images among them are taken for those on which
        the structures were drawn.
    given : Mapping[str, str], optional
        Elements of the patient and the study that no source has, by their DICOM keywords, such as PatientID.
    hasCopies : bool, optional
        Whether structures that are not from DICOM files are written beside the report, voxels as a SEG and meshes as
        encapsulated STL files; otherwise the report refers to them by name only.
    pdf : str | os.PathLike | None, optional
        A PDF, such as a printed report page, to be written beside the report as an encapsulated document.
    consensus : str | os.PathLike | None, optional
        File for the consensus of a study, written as SEG, one for each grid.

    Returns
    -------
    list[Path]
        The files that were written, the report first. If one cannot be written, none is.

    Raises
    ------
    InputError
        If a source does not exist, is damaged or of another patient, a structure is not in its DICOM file, a file to be
        written exists, there is nothing to report, or highdicom is not installed.
    """
    requireKind(result, (Comparison, CaseResult, ObserverStudy), "The result", "a comparison, a case or a study")
    opening.requireInstalled("highdicom", opening.WRITING)
    from . import dicomfiles

    sources = [sources] if isinstance(sources, (str, os.PathLike)) else sources
    pairs = list(_pairsOf(result))
    if not pairs:
        raise InputError("There are no measurements to report.")
    named = {}
    for record, both, _ in pairs:
        isShared = record.sides[0]["name"] == record.sides[1]["name"]
        for side, told, one in zip(("reference", "test"), record.sides, both):
            named[id(one)] = f"{told['name']} ({side})" if isShared else told["name"], one
    known = dicomfiles.Sources([one for _, one in named.values()], sources, given)
    datasets: dict[Path, Any] = {}
    if path is not None:
        target = Path(path)
        places = {key: place for key, (_, one) in named.items() if (place := known.placeOf(one))}
        others = {key: one for key, one in named.items() if key not in places and hasCopies}
        copies, copied = dicomfiles.copiesOf(others, known, target)
        places |= copied
        placed = [(record, [places.get(id(one)) for one in both], verdicts) for record, both, verdicts in pairs]
        remarks = [] if isinstance(result, Comparison) else list(result.remarks)
        if not known.header.PatientID:
            remarks.append("No source says who the patient is.")
        judgment = result.judgment if isinstance(result, CaseResult) else None
        datasets = {target: dicomfiles.documentOf(placed, remarks, judgment, known), **copies}
        if pdf is not None:
            ofPdf = target.with_name(f"{target.stem}_pdf{target.suffix}")
            datasets[ofPdf] = dicomfiles.encapsulatedPdf(Path(pdf), known)
    if consensus is not None:
        every = [one.consensus for one in result if isinstance(one, ObservedStructure) and one.consensus is not None]
        drawn = dict(enumerate((one.name, one) for one in every if not one.isEmpty))
        if not drawn:
            raise InputError("There is no consensus to write.")
        if tilted := [name for name, one in drawn.values() if not dicomfiles.fitsSegmentation(one.ownMask.grid)]:
            raise InputError(
                f"The consensus of {tilted[0]} cannot be a DICOM segmentation: the axes of its voxels are not at right "
                "angles to each other, as behind a tilted gantry."
            )
        first, *more = dicomfiles.copiesOf(drawn, known, Path(consensus))[0].items()
        for file, dataset in ((Path(consensus), first[1]), *more):
            if datasets.setdefault(file, dataset) is not dataset:
                raise InputError(f"{file}: the report and the consensus need files of their own.")
    return dicomfiles.writeDatasets(datasets)


def _pairsOf(result) -> Iterator[tuple[Comparison, Sequence[Structure], Sequence[Verdict]]]:
    """Yield the record of each pair, its two structures, and the verdicts on it; last all labels, which has neither."""
    if isinstance(result, ObserverStudy):
        for organ in result:
            for numbers, measurements in organ.pairs.pairs.items():
                drawn = [one for number in numbers if (one := organ.structures[number]) is not None]
                names = [f"{organ.name} ({organ.everyone[number]})" for number in numbers]
                yield _recordWith(names, measurements, organ.settings), drawn, []
    elif isinstance(result, Comparison):
        yield result.record(), (result.reference, result.test), []
    else:
        verdicts = result.judgment.verdicts if result.judgment else ()
        # of records, the structures are those that were paired
        for number, kept in enumerate(result):
            record = kept.record()
            both = (kept.reference, kept.test) if kept.hasGeometry else tuple(result.pairing.pairs[number])
            titles = (record.reference.name, record.test.name, record.name)
            yield record, both, [one for one in verdicts if one.structure in titles]
        if together := result.multiLabel:
            yield _recordWith(("", ""), together, result[0].settings), (), []


def _recordWith(names: Sequence[str], measurements: Mapping[str, Measurement], settings: Settings) -> Comparison:
    plain: dict = {side: {"name": name, "file": ""} for side, name in zip(("reference", "test"), names)}
    plain |= dict.fromkeys(("grid", "surface", "method", "summary"), "")
    plain |= {"convention": settings.convention, "measurements": {}, "findings": ()}
    return replace(Comparison.fromDictionary(plain, settings), measurements=measurements)


def readReport(path: str | os.PathLike) -> list[Comparison]:
    """Return the pairs of a structured report that writeReport() wrote, with all digits.

    Parameters
    ----------
    path : str | os.PathLike
        File of the report.

    Returns
    -------
    list[Comparison]
        With keys, units, directions, bounds, reasons, findings and settings, without places and lists of lesions.

    Raises
    ------
    InputError
        If the file is damaged or not such a report, or highdicom is not installed.
    """
    file = Path(path)
    if not file.is_file() or not opening.isDicom(file):
        raise InputError(f"{path}: there is no such DICOM file.")
    opening.requireInstalled("highdicom")
    from .dicomfiles import SCHEME, recordsOf

    dataset = opening.readNamed(file)
    with opening.readable():
        if SCHEME not in str(dataset.get("CodingSchemeIdentificationSequence", "")):
            raise InputError(f"{path}: this is not a report of SegmentMetrics.")
        return recordsOf(dataset.ContentSequence)

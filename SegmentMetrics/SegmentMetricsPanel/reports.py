"""Writing reports: each returns sentences about what is missing from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from SegmentMetricsLib.case.findings.imagefit import imageFindings
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import outcomes
from SegmentMetricsLib.mrml.images import dicomSources, shownImage
from SegmentMetricsLib.show.report import Report

from .translation import _

# What takes long to import is imported in the functions.


def write(path: Path, model, work) -> list[str]:
    """Write a report, titled after its file, on what is shown, measured again if that lacks anything.

    model: a PanelModel, whose results are up to date. work: a LongWork. Raises ValueError and OSError.
    """
    outcome = model.outcome
    report = Report(
        path.stem,
        model.readSettings().settings,
        withConventions=model.parameters.reportConventions,
        origins=model.inputs.origins(),
        scene=model.scene.fileName(),
        image=shownImage(),
    )
    isMeasured = outcome.comparisons is not None and outcome.settings == report.settings
    result = outcome.comparisons if isMeasured else _compare(model, work, settings=report.settings)
    for number, comparison in enumerate(result):
        work.report(number, len(result), comparison.reference.name)
        work.run(lambda comparison=comparison: report.add(comparison))
    image = report.gray and report.gray.image
    doubts = [] if image is None else imageFindings(image, [(one.reference, one.test) for one in result])
    kept = {"judgment": result.judgment, "unmatched": result.unmatched, "failures": result.failures}
    work.run(lambda: report.write(path, findings=[*doubts, *result.findings], **kept))
    return _missing(result)


def writeDicom(path: Path, model, work) -> list[str]:
    """Write a DICOM structured report on what is chosen, with the segments beside it, as write() does."""
    from SegmentMetricsLib.show.structuredreport import writeReport

    outcome = model.outcome
    result = _compare(model, work) if outcome.comparisons is None else outcome.comparisons  # None: a scene was loaded
    sources, given = dicomSources([outcome.node(side) for side in REFERENCE_AND_TEST])
    work.run(lambda: writeReport(result, path, sources=sources, given=given))
    return _missing(result)


def _compare(model, work, **changed):
    request = replace(model.request(isOfPair=True), **changed)
    return outcomes.compare(request, progress=work.report, run=work.run, isPartWanted=work.isPartWanted)


def _missing(result) -> list[str]:
    text = _("{name} is not in it: {reason}")
    return [text.format(name=name, reason=reason) for name, reason in result.failures.items()]


def writeObservers(path: Path, model, work) -> list[str]:
    """Write a report on the several observers that are shown, from which nothing is missing. Raises OSError."""
    from SegmentMetricsLib.show.pictures.overlay import drawVariation
    from SegmentMetricsLib.show.report.observers import pageOf, pictureOf

    study, pictures = model.observers.outcome.study, []
    with TemporaryDirectory() as folder:
        for number, found in enumerate(study):
            work.report(number, len(study), found.name)
            file = Path(folder) / f"{number}.png"
            if found.variation is not None:
                drawVariation(found, file)
            pictures.append(pictureOf(file))
    path.write_text(pageOf(study, pictures, path.stem), encoding="utf-8", errors="backslashreplace")
    return []

"""Writing the report."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.case.findings.imagefit import imageFindings
from SegmentMetricsLib.case.protocol.measuring import measuredFor
from SegmentMetricsLib.show.report import Report

from .translation import _


def write(path: Path, model, logic, work) -> list[str]:
    """Write a report on what is chosen; return sentences about the pairs that are missing from it.

    The report is titled after its file. The shown results are reused if they include everything that a report shows,
    otherwise all is measured again. model: a PanelModel, whose results are up to date. logic: a SegmentMetricsLogic.
    work: a LongWork. Raises ValueError if nothing can be compared, and OSError.
    """
    from SegmentMetricsLib.mrml.images import shownImage  # here, because attempts are made without Slicer, too

    parameters, outcome, protocol = model.parameters, model.outcome, model.protocol()
    report = Report(
        path.stem,
        model.settings(),
        withConventions=parameters.reportConventions,
        origins=model.inputs.origins(),
        scene=model.scene.fileName(),
        image=shownImage(),
    )
    isMeasured = outcome.comparisons is not None and outcome.settings == report.settings
    comparisons = outcome.comparisons if isMeasured else logic.compareChosen(parameters, report.settings, work)
    if comparisons.wasStopped and not isMeasured:
        raise Cancelled
    measured = []
    for number, comparison in enumerate(comparisons):
        work.report(number, len(comparisons), comparison.reference.name)
        work.run(lambda comparison=comparison: report.add(comparison))
        if protocol is not None:
            measured.append(work.run(lambda comparison=comparison: measuredFor(comparison, protocol)))
    judgment = logic.judge(parameters, comparisons, measured)
    c = comparisons
    doubts = [] if report.gray is None else imageFindings(report.gray.image, [(one.reference, one.test) for one in c])
    findings = [*doubts, *c.findings]
    work.run(
        lambda: report.write(path, judgment=judgment, unmatched=c.unmatched, failures=c.failures, findings=findings)
    )
    missing = _("{name} is not in it: {reason}")
    return [missing.format(name=name, reason=reason) for name, reason in comparisons.failures.items()]


def writeObservers(path: Path, study, work) -> None:
    """Write a report on several observers. study: an ObserverStudy. work: a LongWork. Raises OSError."""
    from SegmentMetricsLib.show.pictures.overlay import drawVariation
    from SegmentMetricsLib.show.report.observers import pageOf, pictureOf

    pictures = []
    with TemporaryDirectory() as folder:
        for number, found in enumerate(study):
            work.report(number, len(study), found.name)
            file = Path(folder) / f"{number}.png"
            if found.variation is not None:
                drawVariation(found, file)
            pictures.append(pictureOf(file))
    path.write_text(pageOf(study, pictures, path.stem), encoding="utf-8", errors="backslashreplace")

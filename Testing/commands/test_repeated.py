"""What many structures have in common: said once on the terminal and in a report, and kept for each in the file."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import BOX, SHIFTED, metrics
from commandruns import run as run  # the fixture
from sayings import says

from SegmentMetricsLib import compare
from SegmentMetricsLib.case.findings.cautions import UNION
from SegmentMetricsLib.metrics.extents import COMMON
from SegmentMetricsLib.metrics.findings import Finding, Kind
from SegmentMetricsLib.show import repeated, tables
from SegmentMetricsLib.show.repeated import Common

ALARM = Finding.of(Kind.SAME)
ADVICE = Finding.of(Kind.IMAGE_MOSTLY_ONE_KIND, most=1, grid="g", place="p", keys="k", best="b", where=UNION)
GRIDS = Finding.remark("The masks lie on different grids.", "Distances were measured on the original surfaces.")


# They say how far, and then what to do.
ENDS = [Finding.of(Kind.ENDS_DECIDE, distance=n, end="lower", within=1, where=COMMON) for n in (1.5, 2, 3)]


def testWhatIsCommon():
    for findings, common, left in (
        # two are not many, and a line each
        ([["A."], ["A."]], [], [("A.",), ("A.",)]),
        ([["A.", "B."], ["A."], ["A."], ["C."]], [Common("A.", (0, 1, 2))], [("B.",), (), (), ("C.",)]),
        # half are not most
        ([["A."], ["A."], ["A."], [], [], []], [], [("A.",)] * 3 + [()] * 3),
        ([[ADVICE]] * 3 + [[]] * 9, [Common(ADVICE, (0, 1, 2))], [()] * 12),
        # what to do is said where the cause is
        ([[one] for one in ENDS], [], [(one,) for one in ENDS]),
        # whole findings are not taken apart
        ([[GRIDS, GRIDS]] * 3 + [[]], [Common(GRIDS, (0, 1, 2))], [()] * 4),
        # alarms stay where they are
        ([[ALARM, "A."]] * 4, [Common("A.", (0, 1, 2, 3))], [(ALARM,)] * 4),
    ):
        assert repeated.sortOut(findings) == (common, left)


def rods(spacing: float, isCut: bool, path: str) -> None:
    """Write a label map of six upright rods, the first four of which end below the others where they are cut."""
    shape = [int(size / spacing) for size in (60, 24, 96)]
    z, y, x = ((np.arange(count) + 0.5).reshape(-1, *[1] * after) * spacing for after, count in zip((2, 1, 0), shape))
    labels = np.zeros(shape, np.uint8)
    for label in range(1, 7):
        top = 50 - (6 + 2 * label) * (isCut and label < 5)
        labels[((x - 16 * label + 8) ** 2 + (y - 12) ** 2 < 30) & (z > 8) & (z < top)] = label
    image = SimpleITK.GetImageFromArray(labels)
    image.SetSpacing([spacing] * 3)
    SimpleITK.WriteImage(image, path)


def testACaseOfManyStructures(run):
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    rods(2.5, False, "a.nrrd")
    rods(2.6, True, "b.nrrd")
    given = ("--metrics", "HD,HD95,DSC", "--report", "--numbers-only", "-o", "out")
    status, out, _ = run("compare", "a.nrrd", "b.nrrd", *given)
    assert status == 0
    # the file keeps all of them
    findings = [pair["findings"] for pair in metrics("out")["pairs"]]
    common = set.intersection(*({one["text"] for one in own} for own in findings))
    assert len(common) == 2 and all(out.count(one) == out.count(f"\nAll structures: {one}\n") == 1 for one in common)
    ends = [one["text"] for own in findings for one in own if one["kind"] == "ends-decide"]
    every = out.splitlines()
    causes = [line.partition(": ")[2] for line in every if re.match(r"Label [1-4]: ", line)]
    # and right behind these four what to do about it
    (advice,) = {one.removeprefix(f"{cause} ") for one, cause in zip(ends, causes, strict=True)}
    assert len(ends) == 4 and advice in every[every.index(f"Label 4: {causes[3]}") + 1]
    assert out.count(says(advice, "--extent common")) == 1
    page = unescape(Path("out/report.html").read_text("utf-8"))
    page = page[page.index("<body>") :]
    assert all(page.count(one) == 1 for one in common)
    assert page.index("<h2>Overview</h2>") < page.index("<h3>For ") < page.index('id="structure0"')
    # in the page each structure has the cause, and in the same line what to do about it
    onPaper = advice.partition(" (--")[0] + "."
    assert all(f"<li>{cause} {onPaper}</li>" in page for cause in causes) and page.count("--extent") == 0
    assert page.index('id="structure0"') < page.index(causes[0]) < page.index('id="structure1"')


def testFindingsHaveOneOrder():
    """Alarms come first, those of the case before those of pairs; then all that is no alarm, in the same order."""
    alarm, advice = Finding.of(Kind.EXCHANGED, first="A", second="B", pairs="so"), Finding("Something about the case.")
    apart = compare(*(shapes.box((at, 2, 2), (at + 3, 5, 5)) for at in (2, 14))).record()
    alike = replace(compare(BOX, SHIFTED).record(), findings=(Finding("Something about the pair."),))
    lines = list(tables.remarks([replace(apart, findings=(*apart.findings, Finding("More."))), alike], [advice, alarm]))
    assert lines[0] == str(alarm) and lines[1].endswith(apart.findings[0])
    assert apart.findings[0].kind is Kind.NO_OVERLAP
    assert [line for line in lines if "Something" in line or "More." in line] == lines[-3:]
    assert lines[-3] == "Something about the case."

"""The pages on adding a metric, a family, a convention, a setting and a file format: followed in a copy of it all."""

from __future__ import annotations

import json
import re
import shutil

import pages
import pytest
from sayings import says

from SegmentMetricsLib import samples

pytestmark = pytest.mark.nightly

DEVELOPER = pages.ROOT / "docs" / "developer"


@pytest.fixture
def copy(tmp_path):
    """A copy of what the pages change, with the sample beside it."""
    folder = tmp_path / "copy"
    for name in ("SegmentMetricsLib", "Testing"):
        shutil.copytree(pages.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "benchmark"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(pages.ROOT / name, folder)
    (folder / "docs" / "guide").mkdir(parents=True)
    for name in ("formulas.md", "measurements.md", "codes.md", "guide/options.md"):
        shutil.copy(pages.ROOT / "docs" / name, folder / "docs" / name)
    samples.writeHeadAndNeck(folder / "segment-metrics-demo")
    # no pictures, which no page is about and every command would draw
    (folder / "slicer.py").write_text("raise ModuleNotFoundError(name='slicer')\n")
    return folder


def follow(name: str, folder) -> list[str]:
    return pages.run(DEVELOPER / f"adding-a-{name}.md", folder, pages.processIn(folder))


@pytest.mark.smoke
def testMetric(copy):
    printed = follow("metric", copy)
    assert int(re.search(r"(\d+) passed", "".join(printed))[1]) >= 6, "all tests of an entry of the registry"
    link = "[Overlap coefficient](formulas.md#oc-overlap-coefficient)"
    assert f"| `OC` | {link} |" in (copy / "docs" / "measurements.md").read_text(encoding="utf-8")
    formulas = (copy / "docs" / "formulas.md").read_text(encoding="utf-8")
    assert "### OC: Overlap coefficient" in formulas and r"\mathrm{OC} = \frac" in formulas
    (pair,) = json.loads((copy / "parotid" / "metrics.json").read_text(encoding="utf-8"))["pairs"]
    measured = pair["measurements"]
    assert measured["OC"]["value"] == pytest.approx(max(measured["TPR"]["value"], measured["PPV"]["value"]))
    # memberships count in part, also where no voxel has half of it
    program = (
        "import numpy, SimpleITK; from SegmentMetricsLib import compare; "
        "f, g, h = (SimpleITK.GetImageFromArray(numpy.tile(v, (4, 4, 1))) for v in ((.8, .2), (.2, .8), (.3, .3))); "
        "print(*(compare(f, other)['OC'].value for other in (g, h)))"
    )
    values = [float(value) for value in pages.processIn(copy)(f'python -c "{program}"').split()]
    # of one pair of voxels: (0.2 + 0.2) / 1, and (0.3 + 0.2) / 0.6
    assert values == pytest.approx([0.4, 0.5 / 0.6])


def testFamily(copy):
    follow("family", copy)
    formulas = (copy / "docs" / "formulas.md").read_text(encoding="utf-8")
    assert "## Size\n\nHow large the two are.\n\n### SizeRatio: Ratio of the sizes" in formulas
    helped = pages.processIn(copy)("python -m SegmentMetricsLib compare --help")
    assert "overlap, size, agreement" in " ".join(helped.split())


def testConvention(copy):
    printed = follow("convention", copy)
    assert "largest distance from the reference's border voxels alone" in "".join(printed)
    numbers = json.loads((copy / "tools" / "conventions.json").read_text(encoding="utf-8"))
    assert "OneWay" in json.dumps(numbers)
    (pair,) = json.loads((copy / "parotid" / "metrics.json").read_text(encoding="utf-8"))["pairs"]
    assert pair["measurements"]["HD"]["value"] > 5 and pair["measurements"]["MASD"]["status"] == "undefined"


def testSetting(copy):
    follow("setting", copy)
    pages.processIn(copy)(
        "python -m SegmentMetricsLib compare segment-metrics-demo/observer1.seg.nrrd "
        "segment-metrics-demo/observer2.seg.nrrd --structure Parotid_L --settings parotid/metrics.json --output again"
    )
    again = json.loads((copy / "again" / "metrics.json").read_text(encoding="utf-8"))
    report = "from SegmentMetricsLib import Settings; from SegmentMetricsLib.show.report.provenance import usedSettings"
    told = pages.processIn(copy)(f"python -c '{report}; print(usedSettings(Settings(mostPlaces=3), []))'")
    assert "('Worst places listed', '3')" in told
    options = (copy / "docs" / "guide" / "options.md").read_text(encoding="utf-8")
    assert "| `mostPlaces=N` |  | how many of the worst places to list (all) |" in options
    assert again["settings"]["mostPlaces"] == 3 == len(again["pairs"][0]["worstPlaces"])


@pytest.mark.smoke
def testFormat(copy):
    follow("format", copy)
    (pair,) = json.loads((copy / "off" / "metrics.json").read_text(encoding="utf-8"))["pairs"]
    assert (pair["reference"]["volumeMm3"], pair["test"]["volumeMm3"]) == (3000, 3300)
    assert pair["measurements"]["HD"]["value"] == pytest.approx(1)
    # what is damaged is said in one sentence
    (copy / "cut.off").write_text((copy / "box.off").read_text(encoding="utf-8")[:-9], encoding="utf-8")
    with pytest.raises(AssertionError) as told:
        pages.processIn(copy)("python -m SegmentMetricsLib compare box.off cut.off --output cut")
    says(str(told.value).splitlines()[-1], "cut.off")

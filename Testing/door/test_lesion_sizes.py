"""The lesions of all cases of a batch: one per row, and how many of each size are found."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from functools import partial
from pathlib import Path

import batchruns
import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from sayings import says
from scipy.stats import binomtest


def write(path: str, *lesions: tuple[int, ...], spacing: float = 1.0) -> None:
    """Write an image of cubes, each given by its place along i, the length of its sides in voxels, and its label."""
    array = np.zeros((12, 12, 60), np.uint8)
    for place, side, *label in lesions:
        array[2 : 2 + side, 2 : 2 + side, place : place + side] = label or 1
    SimpleITK.WriteImage(shapes.imageOf(array, [spacing] * 3), path)


batch = partial(batchruns.batch, cases="cases.csv")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Two cases with five lesions, of which the small ones are missed."""
    monkeypatch.chdir(tmp_path)
    write("r0.nrrd", (2, 2), (12, 5), (30, 8))
    write("t0.nrrd", (12, 5), (31, 8), (50, 2))
    write("r1.nrrd", (2, 2), (30, 7))
    write("t1.nrrd", (30, 7))
    Path("cases.csv").write_text("case,reference,test,method\n0,r0.nrrd,t0.nrrd,nnÜNet\n1,r1.nrrd,t1.nrrd,nnÜNet\n")


def testLesionsOfAllCases(study):
    assert batch("--metrics", "instances") == 0
    rows = rowsOf("out/lesions.csv")
    assert [row["Case"] for row in rows] == ["0"] * 4 + ["1"] * 2
    assert [row["Event"] for row in rows] == ["missed", "invented", "found", "found", "missed", "found"]
    assert [row["Side"] for row in rows] == ["reference", "test", *["reference"] * 4]
    assert {row["Method"] for row in rows} == {"nnÜNet"} and float(rows[0]["VolumeReference"]) == 8
    sizes = rowsOf("out/lesions_by_size.csv")
    found = {(float(r["VolumeLow"]), float(r["VolumeHigh"])): (r["Lesions"], r["Found"]) for r in sizes}
    assert found == {(3, 10): ("2", "0"), (100, 300): ("1", "1"), (300, 1000): ("2", "2")}
    for row in sizes:
        interval = binomtest(int(row["Found"]), int(row["Lesions"])).proportion_ci(method="wilson")
        assert (float(row["Low"]), float(row["High"])) == pytest.approx((interval.low, interval.high))
    picture = xml.parse("out/lesions_by_size.svg").getroot()
    (text,) = (one.text for one in picture.iter() if one.tag.endswith("text") and "nnÜNet" in one.text)
    says(text, "nnÜNet", "5")
    tables = json.loads(Path("out/schema.json").read_text("utf-8"))["tables"]
    for name in ("lesions.csv", "lesions_by_size.csv"):
        assert [column["name"] for column in tables[name]["columns"]] == list(rowsOf(f"out/{name}")[0])
        keys = [tuple(row[key] for key in tables[name]["key"]) for row in rowsOf(f"out/{name}")]
        assert len(set(keys)) == len(keys)
    # results of an earlier run do not stay behind
    batch("--overwrite", "--metrics", "DSC")
    assert not list(Path("out").glob("lesions*")) and "lesions.csv" not in Path("out/schema.json").read_text("utf-8")
    # of cells under a microscope there are groups as well, also if the test has nothing of the structure
    write("r1.nrrd", (2, 2), (40, 4, 2), spacing=1e-4)
    write("t1.nrrd", (40, 4, 2), spacing=1e-4)
    assert batch("--overwrite", "--metrics", "instances") == 0
    told = [float(cell) for cell in [*rowsOf("out/lesions_by_size.csv")[0].values()][2:6]]
    assert told == pytest.approx([3e-12, 1e-11, 1, 0])

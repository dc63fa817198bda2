"""What a result calls a measurement is a name by which it can be asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, compare, compareCase

IMAGES = {name: shapes.box((low, 4, 4), (low + 4, 8, 8), (12, 12, 12)) for name, low in (("a", 4), ("b", 5))}
IMAGES["dose"] = shapes.imageOf(15 + np.mgrid[:12, :12, :12][2].astype(np.float32))


@pytest.fixture
def here(run):
    """The function that runs a command where there are two masks and a dose."""
    for name, image in IMAGES.items():
        SimpleITK.WriteImage(image, f"{name}.nrrd")
    return run


def keysOf(name, **settings) -> list[str]:
    chosen = Settings(metrics=name, **settings)
    dose = IMAGES["dose"] if "dose" in chosen.families else None
    return list(compare(IMAGES["a"], IMAGES["b"], chosen, dose=dose))


def testEveryNameInTheTables(here):
    """The keys, titles and rows that compare prints, and the headings of an overview of several structures."""
    everything = "boundary,signed,overlap,agreement,voxel,similarity,instances,effort,dose"
    for name, moved in (("a2", 0), ("b2", 1)):
        boxes = {1: ((4 + moved, 4, 4), (8 + moved, 8, 8)), 2: ((1, 1, 1), (2, 2, 2))}
        labels = shapes.labelImage(boxes, (12, 12, 12))
        SimpleITK.WriteImage(labels, f"{name}.nrrd")
    given = ("--metrics", everything, "--dose", "dose.nrrd")
    status, out, _ = here("compare", "a.nrrd", "b.nrrd", *given, "--set", "doseLevels=20")
    assert status == 0
    printed = set()
    for block in out.split("\n\n"):
        lines = block.splitlines()
        ruled = [number for number, line in enumerate(lines) if set(line) == {"-", " "}]
        if not ruled or lines[0].startswith("Lesion "):
            continue
        (rule,) = ruled
        starts = [found.start() for found in re.finditer("-+", lines[rule])]
        isTitled = starts[1] != lines[0].find("right") and lines[0][: starts[1]].strip() == ""
        columns = list(zip(starts, [*starts[1:], None]))[: 2 if isTitled else 1]
        printed |= {line[begin:end].strip() for line in lines[rule + 1 :] for begin, end in columns}
    assert {"HD95", "Hausdorff distance, 95th percentile", "D95", "V20Gy", "Dmean", "Signed mean"} <= printed
    whole = set(keysOf(everything, doseLevels=20))
    status, out, _ = here("compare", "a2.nrrd", "b2.nrrd", *given)
    headings = [one for one in re.split(r"\s{2,}", out.splitlines()[0])[1:] if one]
    assert status == 0 and len(headings) > 10
    for name in (*printed, *headings):
        Settings(metrics=name)  # which refuses others
    assert set(keysOf([*printed, *headings])) <= whole


def testWhatANameStandsFor():
    for name, keys in (
        ("D95", ["D95Reference", "D95Test", "D95Difference"]),
        ("v20gy", ["V20GyReference", "V20GyTest", "V20GyDifference"]),
        ("D0.03cc", ["D0.03ccReference", "D0.03ccTest", "D0.03ccDifference"]),
        ("Dmean", ["DmeanReference", "DmeanTest", "DmeanDifference"]),
        ("Dmax outside the other", ["DmaxOver", "DmaxUnder"]),
        ("Volume", ["VolumeReference", "VolumeTest", "VolumeDifference"]),
        ("Dice", ["DSC"]),
        ("Jaccard", ["IoU"]),
        ("recall", ["TPR"]),
        ("surface Dice", ["NSD_2mm"]),
        ("NSD 3 mm", ["NSD_3mm"]),
        ("Over > 1 mm", ["OverFraction_1mm"]),
        ("DSC, HD95", ["HD95", "DSC"]),
        ("Dice, Hausdorff distance, 95th percentile", ["HD95", "DSC"]),
        (["DSC, HD95"], ["HD95", "DSC"]),
    ):
        assert keysOf(name) == keys
        assert Settings(**Settings(metrics=name).toDictionary()) == Settings(metrics=name)


def testFamiliesAsPeopleCallThem(here):
    assert Settings(metrics="lesions") == Settings(families="Lesions") == Settings(families="instances")
    assert Settings(metrics="Vessels, lesions").families == Settings(families="topology, instances").families
    status, out, _ = here("compare", "a.nrrd", "b.nrrd", "--metrics", "lesions")
    assert status == 0 and "LesionsFound" in out and "HD95 " not in out.splitlines()[2]


def testTheSameNamesElsewhere(here, tmp_path):
    """In a protocol, of a result, and of what was reported; a protocol needs a single number."""
    pair = compare(IMAGES["a"], IMAGES["b"], Settings(metrics="DSC, HD95, NSD"))
    assert pair["Dice"] is pair["dsc"] is pair["DSC"] and pair["NSD 2 mm"] is pair["NSD_2mm"] and "Dice" in pair
    assert pair.get("Volume") is None
    assert pair.which(f"{pair['DSC'].value:.3f}", "Dice")[0].key == "DSC"
    rules = tmp_path / "limits.csv"
    heading = "Structure,Measurement,Relation,Pass\n"
    rules.write_text(f"{heading}*,Dice,>=,0.5\n*,hd95,<=,3\n*,Volume difference,within,1 cc\n")
    case = compareCase("a.nrrd", "b.nrrd", Settings(metrics="DSC"), protocol=rules)
    assert [one.rule.measurement for one in case.judgment.verdicts] == ["DSC", "HD95", "VolumeDifference"]
    rules.write_text(f"{heading}*,D95,>=,60\n")
    with refused("D95Reference, D95Test, D95Difference"):
        compareCase("a.nrrd", "b.nrrd", protocol=rules)
    status, _, err = here("compare", "a.nrrd", "b.nrrd", "--metrics", "D96x")
    assert status == 2 and says(err, "'D96x'")

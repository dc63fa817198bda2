"""How structures are chosen: by name, by number, by a part that says too little, and by a pattern."""

from __future__ import annotations

import json

import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, compare, compareCase, compareObservers, readStructures

BOXES = {5: ((2, 2, 2), (8, 8, 8)), 2: ((12, 2, 2), (18, 8, 8)), 7: ((2, 12, 2), (8, 18, 8))}
NAMES = {5: "Parotid_L", 2: "Parotid_R", 7: "Cord"}
DSC = Settings(metrics="DSC")


def segmentation(path: str, shift: int, names=NAMES) -> None:
    """Write a label map whose header names its labels."""
    image = SimpleITK.CyclicShift(shapes.labelImage(BOXES), (shift, 0, 0))
    for number, (label, name) in enumerate(names.items()):
        for key, value in (("ID", f"s{number}"), ("Name", name), ("LabelValue", str(label)), ("Layer", "0")):
            image.SetMetaData(f"Segment{number}_{key}", value)
    SimpleITK.WriteImage(image, path)


@pytest.fixture
def here(run):
    segmentation("r.seg.nrrd", 0)
    segmentation("t.seg.nrrd", 1)
    return run


def chosen(run, *options: str) -> list[tuple[str, str]]:
    status, out, err = run("compare", "r.seg.nrrd", "t.seg.nrrd", "--metrics", "DSC", "--json", *options)
    assert status == 0, err
    return [(pair["reference"]["name"], pair["test"]["name"]) for pair in json.loads(out)["pairs"]]


@pytest.mark.parametrize("number", ["5", "Label 5", "label_5", "Label5"])
def testTheNumberOfALabelThatHasAName(here, number):
    assert chosen(here, "--structure", number) == [("Parotid_L", "Parotid_L")]
    assert chosen(here, "--pair", f"{number}=2", "--structure", number) == [("Parotid_L", "Parotid_R")]
    assert [one.name for one in readStructures("r.seg.nrrd", name=number)] == ["Parotid_L"]
    (study,) = compareObservers(["r.seg.nrrd", "t.seg.nrrd"], DSC, structures=[number])
    assert study.name == "Parotid_L"
    status, out, _ = here("observers", "r.seg.nrrd", "t.seg.nrrd", "--structure", number, "--metrics", "DSC")
    assert status == 0 and "Parotid_L" in out and "Cord" not in out


def testTheNumberInPython(here):
    one = compare("r.seg.nrrd", "t.seg.nrrd", DSC, label=5)
    assert (one.reference.name, one.test.name, one.reference.number) == ("Parotid_L", "Parotid_L", 5)
    assert compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, names=[7])[0].reference.name == "Cord"
    assert compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, choices={5: 2}, names=[5])[0].test.name == "Parotid_R"
    with refused("'9'", "Parotid_L"):
        compare("r.seg.nrrd", "t.seg.nrrd", DSC, label=9)
    # a structure that is called so comes first
    segmentation("r.seg.nrrd", 0, {5: "A", 2: "5", 7: "Cord"})
    assert readStructures("r.seg.nrrd", name=5)[0].number == 2


def testAPartOfSeveralNamesListsThem(here):
    """Wherever a structure is chosen."""
    listed = "Parotid_L, Parotid_R"
    case = compareCase("r.seg.nrrd", "t.seg.nrrd", DSC)
    study = compareObservers(["r.seg.nrrd", "t.seg.nrrd"], DSC)
    for choice in (
        lambda: compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, names=["parotid"]),
        lambda: compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, choices={"Parotid": "Cord"}),
        lambda: readStructures("r.seg.nrrd", name="Parotid"),
        lambda: compareObservers(["r.seg.nrrd", "t.seg.nrrd"], DSC, structures=["Parotid"]),
        lambda: case["Parotid"],
        lambda: study["Parotid"],
        lambda: readStructures("r.seg.nrrd")["Parotid"],
    ):
        with refused("arotid'", listed, error=(ValueError, KeyError)):
            choice()
    for option in (("--structure", "Parotid"), ("--pair", "Parotid=Cord")):
        says(here("compare", "r.seg.nrrd", "t.seg.nrrd", *option)[2], "'Parotid'", listed)


def testPatternsAsInProtocols(here):
    both = [("Parotid_L", "Parotid_L"), ("Parotid_R", "Parotid_R")]
    for pattern in ("Parotid*", "*parotid*", "parotid ?", "PAROTID_*"):
        assert chosen(here, "--structure", pattern) == both
    assert len(chosen(here, "--structure", "*")) == 3
    assert len(compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, names="Paro*")) == 2
    assert len(readStructures("r.seg.nrrd", name="Paro*")) == 2
    assert len(compareObservers(["r.seg.nrrd", "t.seg.nrrd"], DSC, structures=["Paro*"])) == 2
    says(here("compare", "r.seg.nrrd", "t.seg.nrrd", "--structure", "Lens*")[2], "'Lens*'")
    with open("list.csv", "w") as file:
        file.write("case,reference,test\n1,r.seg.nrrd,t.seg.nrrd\n")
    status, out, _ = here("batch", "list.csv", "--structure=Paro*", "--metrics=DSC", "--workers=1", "-o", "out")
    assert status == 0 and "Parotid_R" in out and "Cord" not in out


def testANameThatExistsOnceBesideDoubledOnes(here):
    """ "Liver" is found beside two that are called LIVER, on either side or both."""
    once, doubled = {5: "Liver", 2: "LIVER", 7: "LIVER"}, {5: "Liver", 2: "Cord", 7: "Lens"}
    for reference, test in ((once, doubled), (doubled, once), (once, once)):
        segmentation("r.seg.nrrd", 0, reference)
        segmentation("t.seg.nrrd", 1, test)
        assert chosen(here, "--structure", "Liver") == [("Liver", "Liver")]
        assert compare("r.seg.nrrd", "t.seg.nrrd", DSC, name="Liver").reference.mask.count == 343
    with refused("'LIVER'"):
        compareCase("r.seg.nrrd", "t.seg.nrrd", DSC, names=["LIVER"])


def testLesionsByTheNumberOfTheirLabel(here):
    """Classes of an instance map are by number also where the file names its labels."""
    settings = Settings(metrics="LesionsReference", instanceMaps=True, instanceClasses={"5": "Node", "2": "Node"})
    pair = compare("r.seg.nrrd", "t.seg.nrrd", settings)
    assert pair.reference.name == "Node" and pair["LesionsReference"].value == 2
    assert pair.reference.mask.count == 2 * 343


def testPatternsOfCriticalStructures(here):
    found = compareCase("r.seg.nrrd", "t.seg.nrrd", Settings(metrics="SIS", critical={"Parotid*": 0.5}), names=["Cord"])
    assert {one.name for one in found["Cord"].criticals} == {"Parotid_L", "Parotid_R"}
    with refused("'Parotid'", "Parotid_L, Parotid_R"):
        compareCase("r.seg.nrrd", "t.seg.nrrd", Settings(metrics="SIS", critical="Parotid"))

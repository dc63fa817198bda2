"""Names of the labels of label maps: the files that say them, and what is called by them."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import Inline
from batchruns import inline as inline  # the fixture
from commandruns import LABELS, OTHERS, metrics
from commandruns import run as run  # the fixture
from imagefiles import OVERLAPPING, SEGMENTS, read, save
from sayings import refused, says

from SegmentMetricsLib import readStructures

NAMES = {1: "liver", 5: "kidney left"}
BOXES = {1: ((2, 2, 2), (6, 6, 6)), 2: ((8, 8, 8), (9, 9, 9)), 5: ((11, 3, 3), (14, 6, 6))}


@pytest.fixture(scope="module")
def labels(tmp_path_factory) -> Path:
    """A label map with the labels 1, 2 and 5."""
    return save(shapes.labelImage(BOXES), tmp_path_factory.mktemp("map") / "labels.nii.gz")


def named(path: Path, labelNames) -> dict[int, str]:
    """Return the names of labels in an image by number, of those that have one."""
    found = readStructures(path, labelNames=labelNames)
    return {one.number: one.name for one in found if one.name != f"Label {one.number}"}


COLORS = "# Color table file x.ctbl\n# 3 values\n0 Background 0 0 0 0\n1 liver 221 130 101 255\n2 (none) 0 0 0 0\n"


def testFilesOfNames(labels, tmp_path):
    for name, text in (
        ("dataset.json", '{"labels": {"background": 0, "liver": 1, "kidney left": 5}, "numTraining": 3}'),
        ("dataset.json", '{"labels": {"background": 0, "liver": [1], "kidney left": 5}, "regions_class_order": [1]}'),
        ("old.json", '{"labels": {"0": "background", "1": "liver", "5": "kidney left"}}'),
        ("plain.JSON", '{"1": "liver", "5": " kidney left "}'),
        ("plain.json", '\ufeff{"liver": 1, "kidney left": "5"}'),
        ("a.csv", "1,liver\n5,kidney left\n"),
        ("a.csv", "number,name\n0,background\n1,liver\n\n# more\n5,kidney left\n"),
        ("a.csv", "Name;Label\nliver;1\nkidney left;5"),
        ("a.csv", "liver,1\n5 kidney,2\n"),
        ("a.tsv", "1\tliver\n5\tkidney left\n"),
        ("a.csv", "label,name\n1,2\n2,1\n"),
        ("a.ctbl", COLORS + "5 kidney left 1 2.5 3 255\n"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        expected = {"liver,1\n5 kidney,2\n": {1: "liver", 2: "5 kidney"}, "label,name\n1,2\n2,1\n": {1: "2", 2: "1"}}
        assert named(labels, path) == expected.get(text, NAMES)


KINDS = ": ", ".json, .csv, .tsv, .ctbl"


def testFilesThatAreRefused(labels, tmp_path):
    for name, text, where, *told in (
        ("a.txt", "1 liver", *KINDS),
        ("a.json", "{", ": "),
        ("a.json", "[1]", ": ", '{"1": "liver"}', '{"liver": 1}'),
        ("a.json", '{"tumor": [0, 2]}', ": ", "[0, 2]"),
        ("a.json", '{"tumor": []}', ": ", "[]"),
        ("a.json", '{"tumor": [1, "x"]}', ": ", "'x'"),
        ("a.json", '{"a": [1, 2], "b": [2, 1]}', ": ", " 1, 2 "),
        ("TotalSegmentater", "", *KINDS, "TotalSegmentator"),
        ("a.json", '{"liver": 1.5}', ": ", "1.5"),
        ("a.json", '{"liver": true}', ": ", "True"),
        ("a.json", '{"liver": 1, "heart": 1}', ": ", " 1 "),
        ("a.json", '{"liver": 1, "liver": 2}', ": ", "'liver'"),
        ("a.json", '{"1": "liver", "2": "liver"}', ": ", "'liver'"),
        ("a.json", '{"1": ""}', ": ", " 1 ", "''"),
        ("a.json", '{"background": 0}', ": "),
        ("a.csv", "", ": "),
        ("a.csv", "number,name\n1,liver,red\n", ", ", " 2: ", "3"),
        ("a.csv", "1,liver\nx,heart\n", ", ", " 2: ", "'x'"),
        ("a.csv", "1,liver\n2,\n", ", ", " 2: ", " 2 ", "''"),
        ("a.csv", '1,"liver\n', ", ", " 1: "),
        ("a.ctbl", "1 liver 0 0\n", ", ", " 1: "),
        ("a.ctbl", "x liver 0 0 0 0\n", ", ", " 1: ", "'x'"),
        ("a.csv", "1,\0", ": "),
        ("a.csv", b"1,\xff\n", ": "),
        ("folder.csv", None, ": "),
        ("gone.json", None, ": "),
    ):
        path = tmp_path / name
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        elif name.startswith("folder"):
            path.mkdir()
        with refused(f"{path}{where}", *told):
            readStructures(labels, labelNames=path)


def testStructuresOfLabelMaps(tmp_path):
    path = save(shapes.labelImage(BOXES), tmp_path / "labels.nii.gz")
    found = {name: s.mask.count for name, s in read(path, labelNames=NAMES).items()}
    assert list(found) == ["liver", "Label 2", "kidney left"] and found["liver"] == 125
    (tmp_path / "names.json").write_text(json.dumps(NAMES))
    assert [s.name for s in readStructures(path, labelNames=tmp_path / "names.json")] == list(found)
    for name in ("kidney left", "5", "05"):
        (kidney,) = readStructures(path, name=name, labelNames=NAMES)
        assert kidney.name == "kidney left"
    assert readStructures(path, name="5")[0].name == "Label 5"
    assert readStructures(path, name="2", labelNames=NAMES)[0].name == "Label 2"
    with refused("'3'", " liver, Label 2, kidney left"):
        readStructures(path, name="3", labelNames=NAMES)
    with refused("labelNames: ", "'liver'"):
        readStructures(path, labelNames={"liver": 1})
    # a folder has a name for every file
    assert next(s.name for s in readStructures(tmp_path, labelNames=NAMES)) == "labels liver"
    # segments keep theirs
    path = save(shapes.segmentation(OVERLAPPING[:1], SEGMENTS[:1]), tmp_path / "x.seg.nrrd")
    assert [s.name for s in readStructures(path, labelNames={1: "liver", 2: "heart"})] == ["Tumor, left", "Label 2"]


def testCompare(run, tmp_path):
    save(shapes.labelImage(BOXES), Path("ref.nii.gz"))
    segments = [{"ID": n, "Name": n, "LabelValue": v, "Layer": 0} for v, n in ((1, "Liver"), (5, "Kidney_L"))]
    layer = SimpleITK.GetArrayFromImage(shapes.labelImage({1: BOXES[1], 5: BOXES[5]}))
    save(shapes.segmentation([layer], segments), Path("test.seg.nrrd"))
    Path("dataset.json").write_text('{"labels": {"background": 0, "liver": 1, "kidney left": 5}}')
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\nliver,DSC,>=,0.9\n")
    given = ("compare", "ref.nii.gz", "test.seg.nrrd", "--label-names", "dataset.json", "--metrics", "overlap", "-o")
    assert run(*given, "out", "--protocol", "limits.csv")[0] == 0
    document = metrics("out")
    found = [(p["reference"]["name"], p["test"]["name"]) for p in document["pairs"]]
    assert found == [("liver", "Liver"), ("kidney left", "Kidney_L")]
    assert document["unmatched"] == {"reference": ["Label 2"], "test": []}
    assert document["protocol"]["verdict"] == "pass"
    assert run(*given, "out", "--structure", "5")[0] == 0
    assert [p["reference"]["name"] for p in metrics("out")["pairs"]] == ["kidney left"]
    assert run("compare", "ref.nii.gz", "ref.nii.gz", "--structure", "5", "--structure", "1", "-o", "out")[0] == 0
    assert [p["reference"]["name"] for p in metrics("out")["pairs"]] == ["Label 1", "Label 5"]
    status, _, err = run("compare", "ref.nii.gz", "ref.nii.gz", "--structure", "7", "-o", "other")
    assert status == 2 and says(err, "'7'", " Label 1, Label 2, Label 5.")


def testBatch(run, inline):
    save(shapes.labelImage(BOXES), Path("ref.nii.gz"))
    Path("names.csv").write_text("1,liver\n5,kidney left\n")
    Path("cases.csv").write_text("case,reference,test\na,ref.nii.gz,ref.nii.gz\n")
    given = ("batch", "cases.csv", "--metrics", "overlap", "--workers", "1", "-o", "out")
    named = ("--label-names", "names.csv")
    Path("others.csv").write_text("1,liver\n5,left kidney\n")
    for more, names, count in (
        ((), ["Label 1", "Label 2", "Label 5"], 1),
        ((*named, "--overwrite"), ["liver", "Label 2", "kidney left"], 2),
        (named, ["liver", "Label 2", "kidney left"], 2),  # which is there
        (("--label-names", "others.csv", "--overwrite"), ["liver", "Label 2", "left kidney"], 3),
    ):
        assert run(*given, *more)[0] == 0 and Inline.count == count
        (outcome,) = map(json.loads, Path("out/results.jsonl").read_text().splitlines())
        assert [pair["structure"] for pair in outcome["pairs"]] == names
    Path("names.csv").write_text("1,liver\n5,liver\n")
    status, _, err = run(*given, *named)
    assert status == 2 and says(err, "names.csv, ", " 2: ", "'liver'")


@pytest.fixture
def pairs(tmp_path) -> tuple[str, ...]:
    """Two label maps in the current folder, and the options that name their labels."""
    save(shapes.labelImage(LABELS), tmp_path / "ref.nii.gz")
    save(shapes.labelImage(OTHERS), tmp_path / "test.nii.gz")
    (tmp_path / "names.csv").write_text("1,liver\n2,heart\n3,cord\n")
    return "ref.nii.gz", "test.nii.gz", "--label-names", "names.csv"


def testConventions(run, pairs):
    chosen = [part for name in ("LIVER", "03") for part in ("--structure", name)]
    given = (*pairs, *chosen, "--pair", "5=4", "--structure", "5", "--tool", "MedPy", "-o", "out")
    assert run("conventions", *given)[0] == 0
    document = json.loads(Path("out/conventions.json").read_text())
    found = [(pair["reference"]["name"], pair["test"]["name"]) for pair in document["pairs"]]
    assert found == [("liver", "liver"), ("cord", "cord"), ("Label 5", "Label 4")]


def testStress(run, pairs):
    reference, _, *names = pairs
    given = ("stress", reference, *names, "--structure", "1", "--critical", "HEART=0.5", "-o", "out")
    assert run(*given)[0] == 0
    document = json.loads(Path("out/stress.json").read_text())
    assert document["reference"]["name"] == "liver" and document["settings"]["critical"] == {"heart": 0.5}
    assert Path("out/risky_liver.nrrd").is_file()
    # without names, labels are still meant by their number
    assert run("stress", reference, "--structure", "1", "--critical", "2", "-o", "out")[0] == 0
    assert Path("out/risky_Label_1.nrrd").is_file() and not Path("out/risky_liver.nrrd").exists()


@pytest.mark.parametrize("numbers", [True, False])
def testEveryOptionThatTakesANameTakesTheNumberOfALabel(run, pairs, numbers):
    """They come to the same, of compare and of batch."""
    liver, heart = ("1", "2") if numbers else ("liver", "heart")
    more = ("--critical", f"{heart}=0.5", "--set", f"labelWeights={liver}=3", "--pair", f"{liver}=4")
    more += ("--metrics", "overlap,hazard,agreement", "-o", "out")
    assert run("compare", *pairs, *more)[0] == 0
    document = metrics("out")
    assert document["settings"]["critical"] == {"heart": 0.5} and document["settings"]["labelWeights"] == {"liver": 3}
    found = [(pair["reference"]["name"], pair["test"]["name"]) for pair in document["pairs"]]
    assert found == [("liver", "Label 4"), ("heart", "heart"), ("cord", "cord")]
    hazard = [pair["measurements"]["SIS"]["value"] for pair in document["pairs"]]
    status, _, err = run("compare", *pairs, "--pair", "1=4", "--pair", "liver=2")
    assert status == 2 and says(err, "'liver'")
    Path("cases.csv").write_text("case,reference,test\na,ref.nii.gz,test.nii.gz\n")
    assert run("batch", "cases.csv", *pairs[2:], *more)[0] == 0
    (outcome,) = map(json.loads, Path("out/results.jsonl").read_text().splitlines())
    assert [pair["measurements"]["SIS"]["value"] for pair in outcome["pairs"]] == hazard
    assert [(pair["reference"]["name"], pair["test"]["name"]) for pair in outcome["pairs"]] == found


# Names in the header of a NIfTI file


def withTable(path: Path, *tables: str, order: str = "<", ecode: int = 0) -> Path:
    """Put texts into the header of a NIfTI file, as programs that write names of labels do."""
    data = path.read_bytes()
    path.unlink()
    extensions = b""
    for table in tables:
        text = table.encode()
        size = -(-(len(text) + 8) // 16) * 16
        extensions += struct.pack(f"{order}ii", size, ecode) + text.ljust(size - 8, b"\0")
    header = bytearray(data[:352])
    struct.pack_into(f"{order}f", header, 108, 352 + len(extensions))
    header[348] = 1
    (made := path.with_suffix(".nii.gz")).write_bytes(gzip.compress(bytes(header) + extensions + data[352:]))
    return made


def tableOf(**names: str) -> str:
    rows = "".join(f'<Label Key="{key[1:]}" Red="1"><![CDATA[{name}]]></Label>' for key, name in names.items())
    return (
        '<?xml version="1.0" encoding="UTF-8"?><CaretExtension><VolumeInformation Index="0"><LabelTable>'
        f"{rows}</LabelTable></VolumeInformation></CaretExtension>"
    )


TABLE = tableOf(_0="???", _1="liver", _5="kidney_left")


@pytest.mark.parametrize("tables", [(TABLE,), ("a comment", TABLE), (TABLE.replace(' encoding="UTF-8"', ""),)])
def testNamesInTheHeader(tmp_path, tables):
    path = withTable(save(shapes.labelImage(BOXES), tmp_path / "x.nii"), *tables, ecode=30)
    given = {1: "other", 2: "spleen"}
    assert [s.name for s in readStructures(path)] == ["liver", "Label 2", "kidney_left"]
    # what the file says comes first
    assert [s.name for s in readStructures(path, labelNames=given)] == ["liver", "spleen", "kidney_left"]
    assert readStructures(path, name="Kidney Left")[0].mask.count == 64
    only = withTable(save(shapes.labelImage({1: BOXES[1]}), tmp_path / "y.nii"), TABLE)
    assert [s.name for s in readStructures(only)] == ["liver"]


def testTablesThatAreNoHelp(tmp_path):
    for table in (
        TABLE[:-20],
        TABLE.replace('Key="5"', 'Key="five"'),
        TABLE.replace("<CaretExtension>", '<!DOCTYPE a [<!ENTITY b "c">]><CaretExtension>', 1),
        tableOf(_1="liver", _5="liver"),
        TABLE.replace('Key="5"', 'Key="1"'),
    ):
        path = withTable(save(shapes.labelImage(BOXES), tmp_path / "x.nii"), table)
        found = readStructures(path)
        assert [s.name for s in found] == ["Label 1", "Label 2", "Label 5"]
        (note,) = found[0].notes
        says(note)


def testExtensionsOfAWrongSize(tmp_path):
    made = withTable(save(shapes.labelImage(BOXES), tmp_path / "x.nii"), TABLE)
    data = bytearray(gzip.decompress(made.read_bytes()))
    for size in (0, 7, 8, 1 << 30, -16):
        struct.pack_into("<i", data, 352, size)
        made.write_bytes(gzip.compress(bytes(data)))
        assert [s.name for s in readStructures(made)] == ["Label 1", "Label 2", "Label 5"]


@pytest.mark.parametrize("enhancing", [3, 4])  # since 2023, and before
def testRegionsAreUnions(tmp_path, enhancing):
    array = np.zeros((8, 8, 8), np.uint8)
    array[1:7, 1:7, 1:7], array[2:5, 2:5, 2:5], array[2:4, 2:4, 2:4], array[7, 7, 7] = 2, 1, enhancing, 9
    path = save(shapes.imageOf(array), tmp_path / "a.nii.gz")
    assert list(read(path, labelNames="BraTS-2024"))[-3:-1] == ["TC", "WT"]
    counts = {s.name: s.mask.count for s in readStructures(path, labelNames="brats")}
    assert counts == {"NCR": 27 - 8, "ED": 216 - 27, "ET": 8, "TC": 27, "WT": 216, "Label 9": 1}
    names = {(1, enhancing): "core", enhancing: "spot"}
    counts = {s.name: s.mask.count for s in readStructures(path, labelNames=names)}
    assert counts == {"core": 27, "spot": 8, "Label 2": 216 - 27, "Label 9": 1}
    # a map with a single label has the regions of that label
    only = save(shapes.imageOf((array == 2) * np.uint8(2)), tmp_path / "b.nii.gz")
    assert [s.name for s in readStructures(only, labelNames="BraTS")] == ["ED", "WT"]


def testNamesThatAreKnown(tmp_path):
    for name, number, some in (
        ("TotalSegmentator", 117, {5: "liver", 51: "heart", 79: "spinal_cord", 90: "brain", 117: "costal_cartilages"}),
        ("totalsegmentator-v1", 104, {7: "aorta", 42: "esophagus", 93: "face", 104: "urinary_bladder"}),
        ("TotalSegmentator-MR", 50, {20: "intervertebral_discs", 29: "iliac_vena_right", 50: "brain"}),
        ("BraTS-2024", 5, {3: "ET", 4: "RC", None: "WT"}),
    ):
        array = np.broadcast_to(np.arange(1, number + 2, dtype=np.uint8)[:, None, None], (number + 1, 4, 4))
        found = named(save(shapes.imageOf(array), tmp_path / "all.nrrd"), name)
        assert len(found) == number and some.items() <= found.items()


def testFilesThatAreCalledLikeKnownNames(run, labels):
    """A file of that name is taken instead; one with another ending is another name."""
    Path("totalsegmentator.json").write_text(json.dumps(NAMES))
    assert named(labels, "totalsegmentator.json") == NAMES
    assert named(labels, "TotalSegmentator")[5] == "liver"
    Path("TotalSegmentator").write_text(json.dumps(NAMES))
    with refused("TotalSegmentator: ", *KINDS):
        named(labels, "TotalSegmentator")

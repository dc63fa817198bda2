"""The command observers: what it prints and writes, and what it refuses."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import redirect_stdout
from io import StringIO

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import run as run  # the fixture
from imagefiles import save
from sayings import says

from SegmentMetricsLib import Settings, __main__, compare, compareObservers, readStructures

NAMES = ["Müller", "B", "C", "KI"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three observers and a test with a folder each; the third lacks an organ, and one name has an umlaut."""
    folder = tmp_path_factory.mktemp("observers") / "case"
    for number, x in enumerate((0, 2, 4, 1), 1):
        (folder / f"o{number}").mkdir(parents=True)
        save(shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26)), folder / f"o{number}" / "Drüse.nrrd")
        if number != 3:
            save(shapes.box((5, 8, 8 + x), (9, 12, 14), (40, 26, 26)), folder / f"o{number}" / "Lens.nrrd")
    return [folder / f"o{n}" for n in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def written(folders):
    """The results of one run, and what it prints."""
    output = folders[0].parents[1] / "out"
    protocol = output.parent / "own.csv"
    given = [*folders[:3], "--test", folders[3], "--names", *NAMES, "--report", "--write-protocol", protocol]
    with redirect_stdout(StringIO()) as printed:
        assert __main__.main(["observers", *map(str, given), "--numbers-only", "-o", str(output)]) == 0
    return output, printed.getvalue()


def testDocument(written, folders):
    output, printed = written
    content = json.loads((output / "observers.json").read_text("utf-8"))
    assert content["schema"] == "segment-metrics-observers/1"
    assert (content["observers"], content["tests"]) == (NAMES[:3], NAMES[3:])
    gland, lens = content["structures"]
    assert gland["name"] == "Drüse"
    dice = [[None, 0.8, 0.6, 0.9], [0.8, None, 0.8, 0.9], [0.6, 0.8, None, 0.7], [0.9, 0.9, 0.7, None]]
    assert gland["matrix"]["DSC"] == dice
    assert [one["name"] for one in gland["leaveOneOut"]] == NAMES[:3] and lens["leaveOneOut"] == []
    (test,) = gland["tests"]
    assert (test["name"], test["rank"]["HD95"], test["isWithin"]["HD95"]) == ("KI", 1, True)
    assert (lens["having"], lens["consensus"], lens["variation"]) == (["Müller", "B"], None, None)
    assert lens["matrix"]["HD95"][2] == [None] * 4, "C lacks it"
    (lacking,) = [one for one in (*content["remarks"], *lens["remarks"]) if "Müller" in one]
    assert says(lacking, 2, 3, ": Müller, B.") in printed and says(gland["sentence"]) in printed
    assert lacking in (output / "report.html").read_text("utf-8")
    study = compareObservers(folders[:3], Settings(metrics="DSC"), tests=[folders[3]], names=NAMES)
    assert study.toDictionary()["structures"][0]["matrix"]["DSC"] == dice


def rulesOf(protocol) -> list[dict]:
    lines = protocol.read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def testFiles(written, folders):
    """The consensus is a segmentation that is read again, the map has the local SD, the tables hold the matrices."""
    output, _ = written
    (consensus,) = readStructures(output / "consensus_Drüse.seg.nrrd")
    assert consensus.name == "Drüse" and compare(consensus, folders[1] / "Drüse.nrrd")["HD"].value == 0
    assert SimpleITK.ReadImage(str(output / "consensus_Drüse.seg.nrrd")).GetSize() == (40, 26, 26)
    surface = shapes.readMesh(output / "variation_Drüse.vtp")
    assert surface.GetPointData().GetArray("LocalSD").GetRange()[1] == pytest.approx(2.0, abs=0.01)
    assert surface.GetPointData().HasArray("SignedDistance_Müller")
    matrix = [row for row in rowsOf(output / "matrix_HD.csv") if row["Structure"] == "Drüse"]
    assert [row["Reference"] for row in matrix] == NAMES
    assert [matrix[0][name] for name in NAMES] == ["", "2.0", "4.0", "1.0"]
    overview = rowsOf(output / "observers.csv")
    assert [(row["Structure"], row["Name"], row["Role"]) for row in overview[:4]] == [
        ("Drüse", name, "test" if name == "KI" else "observer") for name in NAMES
    ]
    assert [float(row["HD"]) for row in overview[:4]] == pytest.approx([3, 2, 3, 5 / 3])
    page = (output / "report.html").read_text("utf-8")
    for text in ("Drüse", "Müller", "<th>Observer</th>", '<span class="verdict pass">within</span>'):
        assert text in page
    rules = rulesOf(output.parent / "own.csv")
    assert {rule["Structure"] for rule in rules} == {"Drüse", "Lens"} and all(rule["Source"] for rule in rules)


def testProtocolInANewFolder(folders, run, tmp_path):
    """Its folder may be made by this run; and where no limit can be given, the results are kept."""
    path = tmp_path / "out" / "limits" / "own.csv"
    given = [*folders[:2], "--numbers-only", "-o", tmp_path / "out", "--write-protocol", path]
    assert run("observers", *given, "--metrics", "DSC")[0] == 0 and rulesOf(path)
    path.unlink()
    status, printed, problems = run("observers", *given, "--metrics", "TPR")
    assert status == 1 and says(problems).count("\n") == 1
    assert str(path) not in printed and not path.exists() and (tmp_path / "out" / "matrix_TPR.csv").exists()


def testSecondRunReplacesTheFirst(written, folders, run, tmp_path):
    output = tmp_path / "out"
    shutil.copytree(written[0], output)
    (output / "mine.txt").write_text("kept")
    status, _, _ = run("observers", *folders[:2], "--metrics", "DSC", "-o", output)
    assert status == 0
    assert {path.name for path in output.iterdir()} == {"mine.txt", "observers.json", "observers.csv", "matrix_DSC.csv"}
    # nothing outside the folder, and nothing of others
    kept = [tmp_path / "o1.seg.nrrd", tmp_path / "A.csv", output / "x.png"]
    for path in kept:
        path.write_text("kept")
    edited = {"files": {"consensus": "../o1.seg.nrrd", "picture": "x.png"}, "matrix": ["/../../A"]}
    document = {"schema": "segment-metrics-observers/1", "structures": [edited]}
    (output / "observers.json").write_text(json.dumps(document))
    assert run("observers", *folders[:2], "--metrics", "HD", "-o", output)[0] == 0
    assert all(path.read_text() == "kept" for path in kept)


@pytest.mark.nightly
def testProcessesGiveTheSame(folders, run, tmp_path):
    """With several processes, the numbers are those of one."""
    contents = []
    for workers in (1, 2):
        output = tmp_path / f"of{workers}"
        status, _, problems = run("observers", *folders[:3], "--numbers-only", "--workers", workers, "-o", output)
        assert (status, problems) == (0, "")
        contents.append(json.loads((output / "observers.json").read_text("utf-8"))["structures"])
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["o1", "o9"], ["o9: "]),
        (["o1", "o2", "--names", "A,B,C"], [" 3 ", " 2 "]),
        (["o1", "o2", "--structure", "Lense"], ["'Lense'"]),
        (["o1", "o2", "--write-protocol", "o1/Lens.nrrd/own.csv"], ["Lens.nrrd"]),
    ],
)
def testRefusals(given, names, folders, run, tmp_path):
    paths = [str(folders[0].parent / one) if one.startswith("o") else one for one in given]
    status, _, problems = run("observers", *paths, "-o", tmp_path / "out")
    assert status == 2 and says(problems, *names).count("\n") == 1
    assert not (tmp_path / "out").exists()


def testADamagedFileLeavesTheOthers(run, tmp_path):
    """It is named, the status tells, and the others are compared; with fewer than two left there is nothing."""
    files = [tmp_path / f"{name}.nrrd" for name in ("Anna", "Ben", "Chris", "KI")]
    for x, file in enumerate(files):
        save(shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26)), file)
    for damaged in (files[1], files[3]):
        damaged.write_bytes(damaged.read_bytes()[:300])
    given = [*files[:3], "--test", files[3], "--names", "A", "B", "C", "AI"]
    status, out, _ = run("observers", *given, "-o", tmp_path / "out")
    content = json.loads((tmp_path / "out" / "observers.json").read_text("utf-8"))
    assert status == 1 and content["observers"] == ["A", "C"] and content["tests"] == []
    assert content["structures"][0]["matrix"]["DSC"][0][1] == pytest.approx(0.8)
    for name, file in (("B", files[1]), ("AI", files[3])):
        (told,) = [line for line in out.splitlines() if str(file) in line]
        says(told, f"{name} ")
    status, _, problems = run("observers", *files[:2], "-o", tmp_path / "none")
    assert status == 2 and says(problems, "Ben.nrrd: ") and not (tmp_path / "none").exists()

"""The command line: what it prints and writes, whatever kinds of files it is given."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import shapes
import SimpleITK
from commandruns import BOX, metrics, valuesOf
from commandruns import pair as pair  # the fixtures
from commandruns import run as run
from imagefiles import save
from sayings import says

import SegmentMetricsLib


def testOnePair(run, pair):
    status, out, err = run("compare", *pair, "--output", "out", isDrawn=True)
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["HD"][-6:] == ["2.00", "mm"] * 3  # value and both directions
    assert rows["DSC"][-1] == "0.800" and rows["VoxelVolumeTest"][-2:] == ["0.72", "cm3"]
    # the sides of the patient have a table of their own
    plain = [key for key in valuesOf("out") if not re.fullmatch("(Min|Mean|Max)[RLAPSI]", key)]
    assert [key for key in rows if key in valuesOf("out")] == plain and len(plain) < len(valuesOf("out"))
    assert out.endswith(f" out{os.sep}\n")
    (told,) = metrics("out")["pairs"][0]["findings"]
    assert says(told["text"], "2 mm") in out
    files = {"distances_Label_1.vtp", "overlay_Label_1.png", "metrics.csv", "metrics.json", "metrics.schema.csv"}
    assert {path.name for path in Path("out").iterdir()} == files


def testNamesInLatin1(run, tmp_path):
    """Some programs write segment names that are not in Unicode."""
    array = SimpleITK.GetArrayFromImage(BOX)
    image = shapes.segmentation([array], [{"ID": "S1", "Name": "Niere_X", "LabelValue": 1, "Layer": 0}])
    path = save(image, tmp_path / "x.seg.nrrd")
    path.write_bytes(path.read_bytes().replace(b"Niere_X", b"Niere_\xfc"))
    status, out, err = run("compare", path, path, "--output", "out")
    assert (status, err) == (0, "") and "Niere_ü" in out
    assert metrics("out")["pairs"][0]["reference"]["name"] == "Niere_ü"


def testDemo(run):
    status, out, err = run("demo", "--tolerance", "3", "--metrics", "DSC,APL")
    assert (status, err) == (0, "")
    folder = Path("segment-metrics-demo")
    document = metrics(folder)
    assert len(document["pairs"]) == 8 and document["unmatched"] == {"reference": ["Submandibular_R"], "test": []}
    assert "reference: Submandibular_R" in out and "APL 3 mm" in out
    for given in document["pairs"]:
        assert 0.6 < given["measurements"]["DSC"]["value"] < 1
        # the files that the results name are there
        assert given["reference"]["file"] == str(folder / "observer1.seg.nrrd")
        assert Path(given["reference"]["file"]).is_file() and Path(given["test"]["file"]).is_file()
    assert (folder / "ct.nrrd").is_file()


@pytest.mark.parametrize("command", ["compare", "batch", "observers", "stress", "demo"])
def testHelpFitsAScreen(run, monkeypatch, command):
    assert run("--version") == (0, f"SegmentMetrics {SegmentMetricsLib.__version__}\n", "")
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = run(command, "--help")
    assert (status, err) == (0, "") and out.count("\n") <= 60
    parts = ("--structure ", "\n  --metrics ") if command in ("compare", "batch", "observers") else ()
    places = [out.index(text) for text in ("usage: ", *parts, "--set NAME=VALUE", says(out.splitlines()[-1]))]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), [": COMMAND (", " segment-metrics --help)"]),
        (("conventions", "a"), [": TEST (", " segment-metrics conventions --help)"]),
        (("compare", "a", "b", "--tolerance", "2;5"), ["--tolerance", "'2;5'", " segment-metrics compare --help)"]),
        (("demo", "--set", "cuts=1.5"), ["cuts", "'1.5'"]),
    ],
)
def testWrongArgumentsLeadToTheHelp(run, arguments, names):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "") and says(err, *names).count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="only Unix has pseudoterminals")
@pytest.mark.parametrize("lines, columns", [(0, 0), (24, 60)])
def testProgressOnTerminalsThatDoNotKnowTheirSize(run, pair, monkeypatch, lines, columns):
    import fcntl
    import struct
    import termios

    Path("cases.csv").write_text("case,reference,test\n1,{0},{1}\n2,{0},{1}\n3,{1},{0}\n".format(*pair))
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    with open(theirs, "w", encoding="utf-8") as terminal, open(ours, "rb", buffering=0) as shown:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert run("batch", "cases.csv", "--metrics", "overlap", "-o", "out")[0] == 0
        text = shown.read(10_000).decode()
    assert "0/3 [00:00<?, ?case/s]" in text and max(map(len, text.split("\r"))) <= (columns or 80)

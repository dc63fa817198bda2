"""The writers of single files: names, what replaces an earlier run, and texts that spreadsheets and JSON take."""

from __future__ import annotations

import json
import math

import pytest

from SegmentMetricsLib.show import writing


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["A", "a", "A_2", "a_2"], ["A", "a_2", "A_2_2", "a_2_3"]),
        (["a/b", "a\\b", "a:b", "a b"], ["a_b", "a_b_2", "a_b_3", "a_b_4"]),
        (["Ösophagus", "O\u0308sophagus", "ösophagus"], ["Ösophagus", "Ösophagus_2", "ösophagus_3"]),
        (["हृदय (बायाँ)"], ["हृदय_बायाँ"]),  # vowel signs belong to their letters
        (["❤*", "a<b>|c?"], ["structure", "a_b_c"]),
        (["肺" * 90], ["肺" * 66]),  # file systems count bytes
        (["-x", "GTV-1.5cm", "Label 5"], ["-x", "GTV-1.5cm", "Label_5"]),
        (["a\nb\x00c", "a\udcff"], ["a_b_c", "a"]),
    ],
)
def testFileNames(names, expected):
    assert writing.fileNames(names) == expected


def testResultsOfAnEarlierRunAreReplaced(tmp_path):
    """What else is in the folder stays."""
    unfinished, output = tmp_path / "unfinished", tmp_path / "out"
    new = {name: f"new {name}" for name in ("a.txt", "b.txt", "metrics.json")}
    for folder in (unfinished, output):
        folder.mkdir()
    for name, text in new.items():
        (unfinished / name).write_text(text)
    stale = {"distances_Liver.vtp", "overlay_Liver.png", "overlay_liver_2.png", "report.html"}
    for name in (*stale, "overlay_Other.png", "b.txt"):
        (output / name).write_text("old")
    pairs = [
        {"files": {"distances": "distances_Liver.vtp", "overlay": "overlay_Liver.png"}},
        {"files": {"overlay": "overlay_liver_2.png"}},
    ]
    content = {"schema": writing.SCHEMA, "pairs": pairs, "report": "report.html"}
    (output / "metrics.json").write_text(json.dumps(content))
    assert stale <= {path.name for path in writing.earlierResults(output)}
    writing.deliver(unfinished, output)
    assert {path.name: path.read_text() for path in output.iterdir()} == {**new, "overlay_Other.png": "old"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        "3",
        '{"schema": "another/1", "pairs": [{"files": {"overlay": "overlay_Liver.png"}}]}',
        '{"schema": "segment-metrics/1", "pairs": 5}',
        '{"schema": "segment-metrics/1", "pairs": [{"files": 5}]}',
        '{"schema": "segment-metrics/1", "pairs": [{"files": {"overlay": 5, "distances": "notes.txt"}}]}',
        '{"schema": "segment-metrics/1", "pairs": [{"files": {"overlay": "overlay_/../../Liver.png"}}]}',
        '{"schema": "segment-metrics/1"}',
        '{"schema": "segment-metrics/1", "pairs": []}',
        '{"schema": "segment-metrics/1", "pairs": [], "report": "../report.html"}',
    ],
)
def testFilesOfOthersAreNoEarlierResults(tmp_path, text):
    (tmp_path / "metrics.json").write_text(text)
    for name in ("overlay_Liver.png", "report.html"):
        (tmp_path / name).write_text("mine")
    assert writing.earlierResults(tmp_path) == []
    assert writing.earlierResults(tmp_path / "nowhere") == []


def testJsonRefusesWhatIsNotStrict(tmp_path):
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError):
            writing.writeJson({"value": value}, tmp_path / "metrics.json")
    assert not (tmp_path / "metrics.json").exists()


def testJsonOfNamesThatAreNoText(tmp_path):
    """File names need not be valid Unicode."""
    writing.writeJson({"name": "a\udcffb", "other": "Müller 左"}, tmp_path / "metrics.json")
    text = (tmp_path / "metrics.json").read_bytes().decode("utf-8")
    assert json.loads(text) == {"name": "a\udcffb", "other": "Müller 左"} and "Müller 左" in text


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("Liver", "Liver"),
        ("=1+1", "'=1+1"),
        ("Liver\t=1+1", "Liver =1+1"),
        ("Liver\n=1+1", "Liver =1+1"),
        ("Liver\r\n@SUM(1)", "Liver  @SUM(1)"),
        ("\t=1", "' =1"),
    ],
)
def testNamesArePastedAsOneCell(name, cell):
    """Numbers that begin with a sign stay numbers."""
    assert writing.pasteable([["Structure", "HD"], [name, "-1.5 mm"]]) == f"Structure\tHD\n{cell}\t-1.5 mm"

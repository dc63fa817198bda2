"""Results get file names of their own and are delivered together: all files or none."""

from __future__ import annotations

import json
import os

import pytest

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.show import writing

# File names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Liver"], ["Liver"]),
        (["Liver", "liver", "LIVER"], ["Liver", "liver_2", "LIVER_3"]),
        (["A", "a", "A_2", "a_2"], ["A", "a_2", "A_2_2", "a_2_3"]),
        (["a/b", "a\\b", "a:b", "a b"], ["a_b", "a_b_2", "a_b_3", "a_b_4"]),
        (["..", ".", "", " ", "///"], ["structure", *(f"structure_{n}" for n in range(2, 6))]),
        (["../../etc/passwd"], ["etc_passwd"]),
        (["左肺", "右肺"], ["左肺", "右肺"]),
        (["Ösophagus", "O\u0308sophagus", "ösophagus"], ["Ösophagus", "Ösophagus_2", "ösophagus_3"]),
        (["हृदय (बायाँ)"], ["हृदय_बायाँ"]),  # vowel signs belong to their letters
        (["❤*", "a<b>|c?"], ["structure", "a_b_c"]),
        (["肺" * 90], ["肺" * 66]),  # file systems count bytes
        (["CON", "nul", "com1.txt"], ["CON", "nul", "com1.txt"]),  # always behind "overlay_" and "distances_"
        (["-x", "GTV-1.5cm", "Label 5"], ["-x", "GTV-1.5cm", "Label_5"]),
        (["a\nb\x00c", "a\udcff"], ["a_b_c", "a"]),
        (["x" * 300, "x" * 200], ["x" * 80, "x" * 80 + "_2"]),
    ],
)
def testFileNames(names, expected):
    assert writing.fileNames(names) == expected
    assert len({name.lower() for name in expected}) == len(names)


# Delivery: all files or none


@pytest.fixture
def unfinished(tmp_path):
    folder = tmp_path / "unfinished"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "metrics.json"):
        (folder / name).write_text(f"new {name}")
    return folder


def contentOf(folder) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


NEW = {name: f"new {name}" for name in ("a.txt", "b.txt", "metrics.json")}


def testDeliveryKeepsForeignFiles(unfinished, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    (output / "b.txt").write_text("old")
    (output / "notes.txt").write_text("mine")
    writing.deliver(unfinished, output)
    assert contentOf(output) == {**NEW, "notes.txt": "mine"}


def testDeliveryMakesTheFolder(unfinished, tmp_path):
    writing.deliver(unfinished, tmp_path / "one" / "two")
    assert contentOf(tmp_path / "one" / "two") == NEW


def testAFolderInTheWay(unfinished, tmp_path):
    output = tmp_path / "out"
    (output / "b.txt").mkdir(parents=True)
    with pytest.raises(InputError, match=r"b\.txt: this is a folder"):
        writing.deliver(unfinished, output)
    assert [path.name for path in output.iterdir()] == ["b.txt"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=type)
@pytest.mark.parametrize(("exists", "last"), [*((True, n) for n in range(4)), *((False, n) for n in range(3))])
def testDeliveryThatFailsLeavesEverythingAsItWas(unfinished, tmp_path, monkeypatch, failure, exists, last):
    """last: how many files are moved before one is not; an old one makes room first."""
    output = tmp_path / "one" / "out"
    if exists:
        output.mkdir(parents=True)
        (output / "b.txt").write_text("old")
        (output / "notes.txt").write_text("mine")
    replace, calls = os.replace, []

    def failing(source, target):
        if len(calls) == last:
            monkeypatch.setattr(os, "replace", replace)
            raise failure
        calls.append(source)
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(type(failure)):
        writing.deliver(unfinished, output)
    if exists:
        assert contentOf(output) == {"b.txt": "old", "notes.txt": "mine"}
    else:
        assert not (tmp_path / "one").exists()


def testResultsOfAnEarlierRunAreReplaced(unfinished, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    stale = {"distances_Liver.vtp", "overlay_Liver.png", "overlay_liver_2.png", "report.html"}
    for name in (*stale, "overlay_Other.png"):
        (output / name).write_text("old")
    pairs = [
        {"files": {"distances": "distances_Liver.vtp", "overlay": "overlay_Liver.png"}},
        {"files": {"overlay": "overlay_liver_2.png"}},
    ]
    content = {"schema": writing.SCHEMA, "pairs": pairs, "report": "report.html"}
    (output / "metrics.json").write_text(json.dumps(content))
    assert stale <= {path.name for path in writing.earlierResults(output)}
    writing.deliver(unfinished, output)
    assert contentOf(output) == {**NEW, "overlay_Other.png": "old"}


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

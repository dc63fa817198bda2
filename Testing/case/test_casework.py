"""All structures of a case, from files or structures: comparisons, failures and verdicts are the same everywhere."""

from __future__ import annotations

import json

import pytest
import shapes
from commandruns import files as files  # the fixture

from SegmentMetricsLib import Settings, Structure, compare, compareCase, readStructures
from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.batch.cases import Task
from SegmentMetricsLib.batch.tasks import runCase
from SegmentMetricsLib.case import casework
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.model.inputs import labelMasks

OVERLAP = Settings(families="overlap")


def named(*names: str) -> list[Structure]:
    """Return boxes one voxel apart, each longer than the one before."""
    boxes = [shapes.box((2, 2, 2), (6, 6, 6 + number)) for number in range(len(names))]
    return [Structure(name, *labelMasks(box, 0.5).values()) for name, box in zip(names, boxes, strict=True)]


def testEachPairIsComparedAsByItself(files):
    case = compareCase(*files, OVERLAP)
    assert [one.reference.name for one in case] == ["Label 1", "Label 2", "Label 3"]
    for label, one in enumerate(case, 1):
        alone = compare(*files, OVERLAP, label=label)
        assert one.numbers == alone.numbers and one.findings == alone.findings
    assert case.unmatched == {"reference": ["Label 5"], "test": ["Label 4"]} and case.failures == {}
    assert case.remarks == ["Only in the reference: Label 5.", "Only in the test: Label 4."]
    assert case.judgment is None and not case.wasStopped


def testStructuresInPlaceOfFiles(files):
    case = compareCase(*files, OVERLAP)
    sets = [readStructures(path) for path in files]
    for given in (sets, (files[0], sets[1])):
        again = compareCase(*given, OVERLAP)
        assert [one.numbers for one in again] == [one.numbers for one in case] and again.remarks == case.remarks


def testEveryDoorGivesTheSameNumbers(files, withoutPictures, capsys):
    wanted = [one.toDictionary()["measurements"] for one in compareCase(*files, OVERLAP)]
    assert main(["compare", *files, "-o", "out", "--metrics", "overlap"]) == 0
    with open("out/metrics.json", encoding="utf-8") as file:
        written = json.load(file)
    outcome = runCase(Task("one", "", *files, settings=OVERLAP))
    for document in (written, outcome):
        assert [pair["measurements"] for pair in document["pairs"]] == wanted
        assert document["unmatched"] == {"reference": ["Label 5"], "test": ["Label 4"]}


def testChosenStructuresAndPairs():
    reference, test = named("Lens_L", "Lens_R", "Eye"), named("Left lens", "Lens_R", "Globe")
    chosen = compareCase(reference, test, OVERLAP, choices={"Eye": "Globe", "Lens_R": None})
    assert [(one.reference.name, one.test.name) for one in chosen] == [("Lens_L", "Left lens"), ("Eye", "Globe")]
    assert chosen.unmatched == {"reference": ["Lens_R"], "test": ["Lens_R"]}
    (only,) = compareCase(reference, test, OVERLAP, names=["lens r"])
    assert only.reference.name == "Lens_R"
    with pytest.raises(InputError, match="no structure named 'Nose'"):
        compareCase(reference, test, OVERLAP, names=["Nose"])


def testWhatCannotBeComparedIsAFailure(monkeypatch):
    original = casework.comparison.comparePair

    def failing(pair):
        if pair.reference.name == "B":
            raise MemoryError
        return original(pair)

    monkeypatch.setattr(casework.comparison, "comparePair", failing)
    protocol = parseProtocol("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.5\n", "limits")
    case = compareCase(named("A", "B", "C"), named("A", "B", "C"), OVERLAP, protocol=protocol)
    assert [one.reference.name for one in case] == ["A", "C"]
    assert case.failures == {"B": "this takes more memory than the computer has."}
    assert [(v.structure, v.verdict) for v in case.judgment.verdicts] == [
        ("A", "pass"), ("C", "pass"), ("B", "not evaluable")
    ]  # fmt: skip
    case.requireAny()
    with pytest.raises(InputError, match="B of  and B of : this takes more memory"):
        compareCase(named("B"), named("B"), OVERLAP).requireAny()


def testItCanBeStopped():
    sets, seen = (named("A", "B", "C"), named("A", "B", "C")), []

    def twice(*given):
        seen.append(given)
        return len(seen) < 3

    case = compareCase(*sets, OVERLAP, progress=twice)
    assert seen == [(0, 3, "A"), (1, 3, "B"), (2, 3, "C")]
    assert len(case) == 2 and case.wasStopped and case.findings == ("Stopped: 2 of 3 structures measured.",)
    assert case.failures == {"C": "The comparison was stopped before this pair was measured."}

    def cancel(number, *given):
        if number == first:
            raise Cancelled

    first = 1
    assert len(compareCase(*sets, OVERLAP, progress=cancel)) == 1
    first = 0
    with pytest.raises(Cancelled):
        compareCase(*sets, OVERLAP, progress=cancel)


def testNothingInCommonSaysWhatThereIs():
    low, high = named("Lung", "Heart"), [Structure(s.name[::-1], s.mask) for s in named("Lung", "Heart")]
    case = compareCase(low[:1], high[1:], OVERLAP, choices={"Lung": None})
    assert list(case) == [] and case.judgment is None
    assert case.findings[0] == "No structure has the same name in both: the reference has Lung; the test has traeH."

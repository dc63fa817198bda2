"""Which segments of two nodes belong together, before and while they are compared."""

from __future__ import annotations

import pytest
from segmentnodes import boxesNode, breakSegment

from SegmentMetricsLib.base.errors import InputError


def testPairsBeforeAnythingIsMeasured(scene):
    from SegmentMetricsLib import mrml

    reference, test = (
        boxesNode(scene, "Parotid_L", "Druse", "Brain"),
        boxesNode(scene, "left parotid", "Gland", "Brain"),
    )
    pairing = mrml.pairSegments(reference, test)
    assert [(m.reference.name, m.test.name, m.how) for m in pairing.pairs] == [
        ("Parotid_L", "left parotid", "spelling"), ("Brain", "Brain", "name")
    ]  # fmt: skip
    assert [s.name for s in pairing.unmatchedReference] == ["Druse"] and pairing.proposals == ()
    (proposal,) = mrml.proposePairs(reference, test)
    assert (proposal.reference.name, proposal.test.name, proposal.how) == ("Druse", "Gland", "overlap")
    assert proposal.confidence == pytest.approx(1)
    assert mrml.proposePairs(reference, test, choices={"Druse": None}) == []
    accepted = mrml.compareSegmentations(reference, test, choices={"Druse": "Gland"})
    assert len(accepted) == 3 and accepted.proposals == ()
    with pytest.raises(InputError, match="no structure named 'Nothing'"):
        mrml.pairSegments(reference, test, choices={"Druse": "Nothing"})
    with pytest.raises(InputError, match="There is no segmentation"):
        mrml.pairSegments(reference, None)


def testSomeOfManyComparisonsKeepWhatIsKnownAboutAll(scene):
    from SegmentMetricsLib import Settings, mrml

    nodes = boxesNode(scene, "A", "B", "C", "Left"), boxesNode(scene, "A", "B", "C", "Other")
    settings = Settings(families="boundary")
    every = mrml.compareSegmentations(*nodes, settings, choices={"Left": None})
    part = every[:2]
    assert type(part) is type(every) and [c.reference.name for c in part] == ["A", "B"] and len(every) == 3
    assert part.unmatched == every.unmatched == {"reference": ["Left"], "test": ["Other"]}
    assert part.remarks == every.remarks and every[1] is part[-1]


def testWhatCannotBeMeasuredIsPairedAllTheSame(scene, monkeypatch):
    """Else the structures that are left could be taken for each other: one on each side is a pair by itself."""
    from SegmentMetricsLib.mrml import comparing

    reference, test = boxesNode(scene, "Liver", "Kidney"), boxesNode(scene, "LIVER")
    breakSegment(monkeypatch, "Liver")
    found = comparing.compareSegmentations(reference, test)
    assert list(found) == [] and found.failures == {"Liver / LIVER": "Liver is broken."}
    assert found.unmatched == {"reference": ["Kidney"], "test": []}


def testChosenStructuresThatCannotBeMeasured(scene, monkeypatch):
    """They are failures; what they were to be compared with is neither unmatched nor taken for another one."""
    from SegmentMetricsLib.mrml import comparing

    reference, test = boxesNode(scene, "A", "B", "C"), boxesNode(scene, "X", "A", "C")
    breakSegment(monkeypatch, "X")
    result = comparing.compareSegmentations(reference, test, choices={"B": "X", "A": "A"})
    assert result.failures == {"B / X": "X is broken."}
    assert [(c.reference.name, c.test.name) for c in result] == [("A", "A"), ("C", "C")]
    assert result.unmatched == {"reference": [], "test": []}


def testProposalsLeaveOutWhatCannotBeMeasured(scene, monkeypatch):
    from SegmentMetricsLib.mrml import pairs

    reference, test = boxesNode(scene, "Druse", "Stone"), boxesNode(scene, "Gland", "Pebble")
    proposed = pairs.proposePairs(reference, test)
    assert {(m.reference.name, m.test.name) for m in proposed} == {("Druse", "Gland"), ("Stone", "Pebble")}
    breakSegment(monkeypatch, "Gland")
    assert [(m.reference.name, m.test.name) for m in pairs.proposePairs(reference, test)] == [("Stone", "Pebble")]

"""Structures of two sides find each other by their names."""

from __future__ import annotations

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.model import inputs, structures


def named(*names):
    """Return structures of these names; those that begin with a minus are empty."""
    images = {True: shapes.labelImage({}), False: shapes.box((2, 2, 2), (5, 5, 5))}
    return [inputs.structureFromImage(images[name.startswith("-")], name, None, 0.5) for name in names]


@pytest.mark.parametrize(
    ("reference", "test", "names", "pairs", "unmatched"),
    [
        ("A", "A", None, "A=A", "|"),
        ("A", "B", None, "A=B", "|"),
        ("A,B,C", "C,A,D", None, "A=A C=C", "B|D"),
        ("A,B", "C,D", None, "", "A,B|C,D"),
        ("A", "A,B", None, "A=A", "|B"),
        ("A", "B,C", None, "", "A|B,C"),
        ("A,B,C", "C,B,A", ("C", "A"), "A=A C=C", "|"),
        ("A,B,C", "A,B", ("C",), "", "C|"),
        # two names that were asked for are two structures, not a pair
        ("A,C", "B,C", ("A", "B"), "", "A|B"),
        # one structure on each side: either name means the pair
        ("A", "B", ("A",), "A=B", "|"),
        ("A", "B", ("B",), "A=B", "|"),
        # a name that occurs twice only matters when it is asked for
        ("A,A,B", "A,B", ("B",), "B=B", "|"),
        ("a", "A,B", None, "", "a|A,B"),
    ],
)
def testPairing(reference, test, names, pairs, unmatched):
    pairing = structures.pairByName(named(*reference.split(",")), named(*test.split(",")), names)
    assert " ".join(f"{a.name}={b.name}" for a, b in pairing.pairs) == pairs
    left = [",".join(s.name for s in side) for side in (pairing.unmatchedReference, pairing.unmatchedTest)]
    assert "|".join(left) == unmatched


def testAnImageWithoutLabelsLacksEverything(tmp_path):
    two = {1: ((2, 2, 2), (5, 5, 5)), 2: ((8, 8, 8), (9, 9, 9))}
    for name, boxes in (("two", two), ("zero", {})):
        SimpleITK.WriteImage(shapes.labelImage(boxes), str(tmp_path / f"{name}.nii.gz"))
    full, nothing = (readStructures(tmp_path / f"{name}.nii.gz") for name in ("two", "zero"))
    for pairing in (structures.pairByName(full, nothing), structures.pairByName(nothing, full)):
        assert [(a.name, b.name) for a, b in pairing.pairs] == [("Label 1", "Label 1"), ("Label 2", "Label 2")]
        assert all(a.isEmpty != b.isEmpty for a, b in pairing.pairs)
        assert not pairing.unmatchedReference and not pairing.unmatchedTest
    (chosen,) = structures.pairByName(full, nothing, ["Label 2"]).pairs
    assert chosen.reference.name == "Label 2" and chosen.test.isEmpty
    # in a folder it is the empty structure of its name
    folder = structures.pairByName(full, readStructures(tmp_path))
    assert not folder.pairs and "zero" in [s.name for s in folder.unmatchedTest]


def testPairingRefuses():
    with pytest.raises(
        ValueError, match=r"The reference has more than one structure named 'A'\. Rename all but the one"
    ):
        structures.pairByName(named("A", "A"), named("A", "B"))
    with pytest.raises(ValueError, match=r"The test has more than one structure named 'B'\."):
        structures.pairByName(named("A", "B"), named("B", "B"), ["B"])
    with pytest.raises(ValueError, match=r"no structure named 'Lver'; there are Liver, Spleen, Heart\."):
        structures.pairByName(named("Liver", "Spleen"), named("Heart"), ["Liver", "Lver"])

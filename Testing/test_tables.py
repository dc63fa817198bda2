"""Results as text: what a terminal shows of one pair."""

from __future__ import annotations

import shapes

from SegmentMetricsLib import Settings, compare, tables

# the test lacks a layer of the reference at i = 8, that is on the right, and adds one at k = 14, that is above
PAIR = shapes.box((8, 6, 6), (15, 14, 13), (24, 24, 24)), shapes.box((9, 6, 6), (15, 14, 14), (24, 24, 24))


def testSidesOfThePatientHaveATableOfTheirOwn():
    text = tables.pairTable(compare(*PAIR).record())
    main, sides = text.split("\n\n")
    assert "SignedMean" in main and "right side" not in main
    heading, _, mean, largest, smallest = sides.splitlines()
    assert heading.split() == ["Toward", "right", "left", "anterior", "posterior", "superior", "inferior"]
    assert mean.startswith("Signed mean ") and largest.startswith("Largest signed") and smallest.startswith("Smallest")
    assert largest.split()[-4:] == ["1.00", "mm", "0.00", "mm"] and smallest.split()[3:5] == ["-1.00", "mm"]


def testNoSidesWithoutTheSignedFamily():
    assert "Toward" not in tables.pairTable(compare(*PAIR, Settings(families="overlap")).record())

"""Small helpers for sentences."""

from __future__ import annotations

import pytest

from SegmentMetricsLib.base.texts import commaSeparated, counted, cutShort, shortest


def testListed():
    assert commaSeparated([]) == "none"
    assert commaSeparated("abc") == "a, b, c"
    assert commaSeparated(map(str, range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


@pytest.mark.parametrize(
    ("number", "text"), [(2.0, "2"), (2.5, "2.5"), (0.1, "0.1"), (1 / 3, "0.333333333333"), (100, "100")]
)
def testShortest(number, text):
    assert shortest(number) == text


def testCounted():
    assert counted(1, "triangle") == "1 triangle" and counted(0, "triangle") == "0 triangles"
    assert counted(2, "case was", "cases were") == "2 cases were"


def testSentencesThatAreTooMany():
    assert cutShort("ab") == ["a", "b"] and cutShort("abcd") == ["a", "b", "c", "d"]
    assert cutShort("abcde") == ["a", "b", "c", "There are 2 more like this."]

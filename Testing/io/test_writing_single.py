"""The writers of single files: what they refuse, and what they write about whatever a structure is called."""

from __future__ import annotations

import json
import math

import pytest
import shapes

from SegmentMetricsLib import compare
from SegmentMetricsLib.show import writing


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


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def testFormulasAreHarmless(text):
    assert writing.harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["Liver", "", "a=1", "Label 5", "'=1", "/data/x.nrrd", "5"])
def testOtherTextStaysAsItIs(text):
    assert writing.harmless(text) == text


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


def testSurfacesThatCannotBeWritten(tmp_path, capfd):
    result = compare(shapes.box((6, 6, 6), (9, 9, 9)), shapes.box((6, 6, 6), (9, 9, 8)))
    with pytest.raises(OSError, match="no such folder"):
        writing.writeSurfaces(result, tmp_path / "no such folder" / "x.vtp")
    assert capfd.readouterr() == ("", "")

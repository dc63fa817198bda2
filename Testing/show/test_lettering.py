"""Text on pictures is where it is wanted, fits, and has the letters that it can have."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from SegmentMetricsLib.show.pictures import lettering


def testTextIsWhereItIsWanted():
    canvas = np.full((60, 300, 3), 255, np.uint8)
    width = lettering.writeText(canvas, "HD95", (20, 40), 24)
    rows, columns = np.nonzero(canvas.max(axis=2) < 128)
    assert rows.max() == pytest.approx(39, abs=1)  # on the baseline
    assert columns.min() == pytest.approx(21, abs=2)
    assert columns.max() == pytest.approx(20 + width, abs=3)
    assert lettering.textWidth("HD95", 24) == pytest.approx(width, abs=2)


def testLongTextIsShortened():
    canvas = np.full((60, 400, 3), 255, np.uint8)
    assert lettering.writeText(canvas, "Submandibular gland, left", (0, 40), 24, width=120) <= 120
    assert (canvas[:, 125:] == 255).all()


def testTextBesideThePictureIsCutOff():
    canvas = np.full((20, 20, 3), 255, np.uint8)
    for position in ((-10, 10), (15, 10), (5, 0), (5, 30), (100, 100)):
        lettering.writeText(canvas, "Liver", position, 20)


def testScriptsAreDrawnByPillowWithAFontOfTheComputer(tmp_path, monkeypatch):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    makeFont(tmp_path / "squares.ttf", "肝臓L ")
    monkeypatch.setattr(lettering, "FONT_FILES", ("nowhere.ttf", str(tmp_path / "squares.ttf")))
    lettering._render.cache_clear()
    canvas = np.full((40, 200, 3), 255, np.uint8)
    width = lettering.writeText(canvas, "肝臓", (5, 30), 20)
    assert width == lettering.textWidth("肝臓", 20) > 25 and (canvas[20, 7:20] < 128).all(), "its letters are squares"
    # of a script that the font does not have, nothing is drawn, and beside others a question mark
    assert lettering.textWidth("ह", 20) == 0
    assert lettering.textWidth("ह L", 20) == lettering.textWidth("? L", 20) > 0
    lettering._render.cache_clear()


def testMissingCharacters(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    lettering._render.cache_clear()
    assert lettering.textWidth("肝臓", 20) == 0
    canvases = [np.full((40, 100, 3), 255, np.uint8) for _ in range(2)]
    for canvas, text in zip(canvases, ("肝 ö", "? ö"), strict=True):
        lettering.writeText(canvas, text, (5, 30), 20)
    np.testing.assert_array_equal(*canvases)
    lettering._render.cache_clear()


def makeFont(path: Path, characters: str) -> None:
    """Write a font whose letters are squares."""
    builders = pytest.importorskip("fontTools.fontBuilder")
    pens = pytest.importorskip("fontTools.pens.ttGlyphPen")
    names = {ord(character): f"letter{ord(character)}" for character in characters}
    pen = pens.TTGlyphPen(None)
    for n, corner in enumerate([(0, 0), (0, 800), (900, 800), (900, 0)]):
        (pen.lineTo if n else pen.moveTo)(corner)
    pen.closePath()
    square, nothing = pen.glyph(), pens.TTGlyphPen(None).glyph()
    order = [".notdef", *names.values()]
    builder = builders.FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf({name: nothing if name in (".notdef", names[ord(" ")]) else square for name in order})
    builder.setupHorizontalMetrics(dict.fromkeys(order, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(str(path))

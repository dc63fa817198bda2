"""Text on pictures, drawn with the font that comes with VTK, which is Latin only, or with one of the computer's."""

from __future__ import annotations

import functools
import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import vtkmodules.vtkRenderingFreeType  # noqa: F401 - without it no text is drawn
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_FONT_FILE
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkTextProperty, vtkTextRenderer

# At 72 dots per inch, font sizes are in pixels.
DPI = 72
# Where computers keep fonts, and those with many scripts, smaller files first.
FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
FONT_FILES = (
    "DejaVuSans.ttf",
    "LiberationSans-Regular.ttf",
    "arial.ttf",
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "AppleSDGothicNeo.ttc",
    "Arial Unicode.ttf",
    "msyh.ttc",
    "YuGothM.ttc",
    "msgothic.ttc",
    "malgun.ttf",
)
INK = (0.13, 0.15, 0.19)
PALE_INK = (0.42, 0.45, 0.50)


def writeText(
    canvas: np.ndarray,
    text: str,
    position: tuple[float, float],
    size: int,
    color: Sequence[float] = INK,
    bold: bool = False,
    width: float | None = None,
) -> int:
    """Write one line of text on a picture (height, width, 3) uint8 in place and return its width in pixels.

    Characters that no font has appear as question marks; a text of only such characters is left out. position: start of
    the line from the left and its baseline from the top, in pixels. width: maximum width in pixels, beyond which text
    is shortened with an ellipsis.
    """
    text, font = drawable(text)
    if width is not None:
        text = _shortened(text, size, bold, width, font)
    letters = _render(text, size, bold, font)
    height, wide = letters.shape
    x = round(position[0])
    y = round(position[1]) - height + _descent(size, bold, font)
    # clip the text to the picture
    rows = slice(max(y, 0), min(y + height, canvas.shape[0]))
    columns = slice(max(x, 0), min(x + wide, canvas.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        share = letters[rows.start - y : rows.stop - y, columns.start - x : columns.stop - x, None]
        part = canvas[rows, columns]
        canvas[rows, columns] = np.rint(part * (1 - share) + 255 * np.array(color) * share).astype(np.uint8)
    return wide


def drawable(text: str) -> tuple[str, str]:
    """Return a text as it can be drawn, "" if nothing of it can, and the file of the font for it, "" for VTK's own."""
    text = unicodedata.normalize("NFC", text)
    missing = {character for character in text if not _hasGlyph(character, "")}
    if not missing:
        return text, ""
    # letters that are written from right to left, or joined to others, would be drawn in wrong order and shape
    font = "" if any(map(_isArranged, missing)) else next((f for f in _fonts() if _hasAll(f, text)), "")
    shown = text if font else "".join("?" if character in missing else character for character in text)
    return (shown if any(map(str.isalnum, shown)) else ""), font


def _isArranged(character: str) -> bool:
    """Return whether a character is of a script whose letters have to be arranged, which VTK does not do."""
    return unicodedata.bidirectional(character) in ("R", "AL") or unicodedata.category(character).startswith("M")


def _hasAll(font: str, text: str) -> bool:
    return all(_hasGlyph(character, font) for character in set(text))


@functools.cache
def _fonts() -> tuple[str, ...]:
    """Return the files of this computer's fonts that are known to have many scripts, in the order of FONT_FILES."""
    found: dict[str, str] = {}
    for folder in FONT_FOLDERS:
        for place, _folders, names in os.walk(Path(folder).expanduser()):
            for name in sorted(set(names).intersection(FONT_FILES)):
                found.setdefault(name, str(Path(place) / name))
    return tuple(found[name] for name in FONT_FILES if name in found)


def textWidth(text: str, size: int, bold: bool = False, font: str = "") -> int:
    """Return the width of a line of text in pixels. font: a font file, "" for VTK's own."""
    if not text:
        return 0
    box = [0] * 4
    vtkTextRenderer.GetInstance().GetBoundingBox(_property(size, bold, font), text, box, DPI)
    return max(box[1] + 1, 0)


def _property(size: int, bold: bool, font: str) -> vtkTextProperty:
    result = vtkTextProperty()
    result.SetFontFamilyToArial()
    if font:
        result.SetFontFamily(VTK_FONT_FILE)
        result.SetFontFile(font)
    result.SetFontSize(int(size))
    result.SetBold(bold)
    result.SetColor(1, 1, 1)
    return result


def _render(text: str, size: int, bold: bool, font: str = "") -> np.ndarray:
    """Return the coverage (height, width) in [0, 1] of a line of text; all lines of one size have the same height."""
    dimensions = [0, 0]
    image = vtkImageData()
    renderer = vtkTextRenderer.GetInstance()
    if not text or not renderer.RenderString(_property(size, bold, font), text, image, dimensions, DPI):
        return np.zeros((0, 0))
    width, height, _ = image.GetDimensions()  # larger than the text
    opacity = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, 4)[..., 3]
    return opacity[: dimensions[1], : dimensions[0]][::-1] / 255


@functools.cache
def _descent(size: int, bold: bool, font: str) -> int:
    """Return the number of pixels that a line of text extends below its baseline."""
    letter = np.asarray(_render("H", size, bold, font).any(axis=1))
    return int(letter[::-1].argmax())


@functools.cache
def _hasGlyph(character: str, font: str) -> bool:
    return character.isspace() or bool(_render(character, 24, False, font).any())


def _shortened(text: str, size: int, bold: bool, width: float, font: str) -> str:
    if textWidth(text, size, bold, font) <= width:
        return text
    while text and textWidth(text + "...", size, bold, font) > width:
        text = text[:-1]
    return text.rstrip() + "..."

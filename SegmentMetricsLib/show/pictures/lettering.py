"""Text on pictures: with VTK's own font, which is Latin only, else with Pillow and a font of the computer."""

from __future__ import annotations

import functools
import unicodedata

import numpy as np
import vtkmodules.vtkRenderingFreeType  # noqa: F401 - without it no text is drawn
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkTextProperty, vtkTextRenderer

# At 72 dots per inch, font sizes are in pixels.
DPI = 72
# Fonts with many scripts, which Pillow finds where the computer keeps its fonts; smaller files first.
FONT_FILES = (
    *("DejaVuSans.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "NotoSansCJK-Regular.ttc"),
    *("NotoSansCJKsc-Regular.otf", "wqy-microhei.ttc", "wqy-zenhei.ttc", "DroidSansFallbackFull.ttf", "PingFang.ttc"),
    *("Hiragino Sans GB.ttc", "AppleSDGothicNeo.ttc", "Arial Unicode.ttf", "msyh.ttc", "YuGothM.ttc", "msgothic.ttc"),
    "malgun.ttf",
)


def textWidth(text: str, size: int, bold: bool = False) -> int:
    """Return the width of a line of text in pixels."""
    return render(text, size, bold)[0].shape[1]


@functools.lru_cache(256)
def render(text: str, size: int, bold: bool) -> tuple[np.ndarray, int]:
    """Return the coverage (height, width) in [0, 1] of a line of text, and the number of rows above its baseline.

    Characters that no font has appear as question marks; a text of only such characters has no pixels. size: pixels.
    """
    # without halves of surrogates, which VTK cannot take
    text = unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode()
    missing = {character for character in text if not _isLatin(character)}
    if missing and (found := _byPillow(text, size)):
        return found
    text = "".join("?" if character in missing else character for character in text)
    if not any(map(str.isalnum, text)) and missing:
        return np.zeros((0, 0)), 0
    return _byVtk(text, size, bold)


def _byVtk(text: str, size: int, bold: bool) -> tuple[np.ndarray, int]:
    """Return a line of text as render() does; all lines of one size have the same height."""
    look = vtkTextProperty()
    look.SetFontFamilyToArial()
    look.SetFontSize(int(size))
    look.SetBold(bold)
    look.SetColor(1, 1, 1)
    dimensions, image, renderer = [0, 0], vtkImageData(), vtkTextRenderer.GetInstance()
    if not text or not renderer.RenderString(look, text, image, dimensions, DPI):
        return np.zeros((0, 0)), 0
    width, height, _ = image.GetDimensions()  # larger than the text
    opacity = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, 4)[..., 3]
    box = [0] * 4
    renderer.GetBoundingBox(look, text, box, DPI)
    letters = opacity[: dimensions[1], : max(box[1] + 1, 0)][::-1] / 255
    used = np.flatnonzero((letters if text == "H" else _byVtk("H", size, bold)[0]).any(axis=1))
    return letters, int(used[-1]) + 1


@functools.cache
def _isLatin(character: str) -> bool:
    """Return whether VTK's font has a character."""
    return character.isspace() or bool(_byVtk(character, 24, False)[0].any())


def _byPillow(text: str, size: int) -> tuple[np.ndarray, int] | None:
    """Return a line of text as render() does, None without Pillow or a font that has all of its characters."""
    try:
        from PIL import ImageFont, features
    except ImportError:
        return None
    # without this library, letters that are written from right to left or joined would be in wrong order and shape
    isArranged = any(unicodedata.bidirectional(c) in ("R", "AL") or unicodedata.category(c)[0] == "M" for c in text)
    if isArranged and not features.check("raqm"):
        return None
    for name in FONT_FILES:
        try:
            font = ImageFont.truetype(name, size)
        except OSError:
            continue
        unknown = bytes(font.getmask("\U0010ffff"))
        if any(bytes(font.getmask(character)) == unknown for character in set(text) if not character.isspace()):
            continue
        mask, (left, top) = font.getmask2(text, "L", anchor="ls")
        letters = np.array(mask, np.uint8).reshape(mask.size[::-1]) / 255
        return np.pad(letters, ((0, 0), (max(left, 0), 0))), -top
    return None

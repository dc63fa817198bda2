"""Text on pictures, drawn with the font that comes with VTK."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import vtkmodules.vtkRenderingFreeType  # noqa: F401 - without it no text is drawn
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkTextProperty, vtkTextRenderer

# At 72 dots per inch, font sizes are in pixels.
DPI = 72
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

    Characters that the font does not have appear as question marks. position: start of the line from the left and its
    baseline from the top, in pixels. width: maximum width in pixels, beyond which text is shortened with an ellipsis.
    """
    text = "".join(character if _hasGlyph(character) else "?" for character in text)
    if width is not None:
        text = _shortened(text, size, bold, width)
    letters = _render(text, size, bold)
    height, wide = letters.shape
    x = round(position[0])
    y = round(position[1]) - height + _descent(size, bold)
    # clip the text to the picture
    rows = slice(max(y, 0), min(y + height, canvas.shape[0]))
    columns = slice(max(x, 0), min(x + wide, canvas.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        share = letters[rows.start - y : rows.stop - y, columns.start - x : columns.stop - x, None]
        part = canvas[rows, columns]
        canvas[rows, columns] = np.rint(part * (1 - share) + 255 * np.array(color) * share).astype(np.uint8)
    return wide


def textWidth(text: str, size: int, bold: bool = False) -> int:
    """Return the width of a line of text in pixels."""
    if not text:
        return 0
    box = [0] * 4
    vtkTextRenderer.GetInstance().GetBoundingBox(_property(size, bold), text, box, DPI)
    return max(box[1] + 1, 0)


def _property(size: int, bold: bool) -> vtkTextProperty:
    result = vtkTextProperty()
    result.SetFontFamilyToArial()
    result.SetFontSize(int(size))
    result.SetBold(bold)
    result.SetColor(1, 1, 1)
    return result


def _render(text: str, size: int, bold: bool) -> np.ndarray:
    """Return the coverage (height, width) in [0, 1] of a line of text; all lines of one size have the same height."""
    dimensions = [0, 0]
    image = vtkImageData()
    renderer = vtkTextRenderer.GetInstance()
    if not text or not renderer.RenderString(_property(size, bold), text, image, dimensions, DPI):
        return np.zeros((0, 0))
    width, height, _ = image.GetDimensions()  # larger than the text
    opacity = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, 4)[..., 3]
    return opacity[: dimensions[1], : dimensions[0]][::-1] / 255


@functools.cache
def _descent(size: int, bold: bool) -> int:
    """Return the number of pixels that a line of text extends below its baseline."""
    letter = _render("H", size, bold).any(axis=1)
    return int(letter[::-1].argmax())


@functools.cache
def _hasGlyph(character: str) -> bool:
    return character.isspace() or bool(_render(character, 24, False).any())


def _shortened(text: str, size: int, bold: bool, width: float) -> str:
    if textWidth(text, size, bold) <= width:
        return text
    while text and textWidth(text + "...", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "..."

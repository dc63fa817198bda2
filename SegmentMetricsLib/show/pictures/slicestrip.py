"""Slices for an overlay picture: both contours on the image, through the place of the largest distance."""

from __future__ import annotations

import numpy as np

from ...base.palettes import rgb
from ...model.grayimages import GrayImage
from ..rendering import Camera, draw, linesOf, plain
from ..report.gray import PRESETS, Gray
from ..report.slicepictures import ACROSS, DOWN, ON_IMAGE, captionOf, contoursOf, extentOf, windowsOf
from ..report.sliceviews import largestOf, picturesOf
from .lettering import INK, PALE_INK, textWidth, writeText

# Heights in pixels of the text above the slices and of the margin below them, and width of lines, for a scale of 1.
HEAD, FOOT, LINE = 56, 24, 1.6
# Pixels as they are.
FLAT = Camera(np.eye(3), np.zeros(3), np.zeros(2), 1.0)


def sliceStrip(comparison, image: GrayImage, width: int, scale: float, background: np.ndarray) -> np.ndarray | None:
    """Return the slices of a comparison beside each other as colors (height, width, 3), None if there are none.

    width: in pixels. scale: of text and lines. background: color as bytes (3,).
    """
    found = picturesOf(comparison)
    if not found:
        return None
    windows = windowsOf(found, largestOf(comparison).distance, extentOf(comparison))
    margin = round(28 * scale)
    across = min((width - 4 * margin) // 3, round(1.35 * ACROSS * scale))
    zoom = across / ACROSS
    down, head = round(DOWN * zoom), round(HEAD * scale)
    strip = np.tile(background.astype(np.uint8), (head + down + round(FOOT * scale), width, 1))
    gray = Gray(image)
    low, high = PRESETS[0].range if image.isHounsfield else image.range()
    left = (width - len(found) * across - (len(found) - 1) * margin) // 2
    for number, (picture, window, sides) in enumerate(zip(found, windows, contoursOf(found, windows), strict=True)):
        start = left + number * (across + margin)
        field = strip[head : head + down, start : start + across]
        values = gray.sample(window.planeOf(picture.view, picture.place, picture.at), down, across)
        shade = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1)) * 255
        field[:] = np.rint(shade)[..., None]
        for lines, color in zip(sides, ON_IMAGE, strict=True):
            for line in lines:
                points = np.pad(line.points * zoom, ((0, 0), (0, 1)))
                cells = np.stack([np.arange(len(points)), np.roll(np.arange(len(points)), -1)], axis=1)
                band = linesOf(points, cells, np.zeros(len(points)), np.array([0.0, 0.0, 1.0]), LINE * scale / 2)
                draw(field, band, FLAT, plain(color), isLit=False)
        writeText(
            strip, captionOf(picture.view, picture.at), (start, round(46 * scale)), max(round(14 * scale), 9), INK
        )
    size, x = max(round(14 * scale), 9), left
    for text, color in zip(("reference", "test"), ON_IMAGE, strict=True):
        strip[round(10 * scale) : round(14 * scale), x : x + round(26 * scale)] = np.rint(255 * np.array(rgb(color)))
        x += round(32 * scale)
        writeText(strip, text, (x, round(17 * scale)), size, PALE_INK)
        x += textWidth(text, size) + round(20 * scale)
    return strip

"""Slices for an overlay picture: both contours on the image, through the place of the largest distance."""

from __future__ import annotations

import numpy as np

from ..model.grayimages import GrayImage
from ..show.report.gray import PRESETS, Gray
from ..show.report.slicepictures import ACROSS, DOWN, ON_IMAGE, STEP, Window, drawn, windowsOf
from ..show.report.sliceviews import largestOf, picturesOf
from .lettering import INK, PALE_INK, textWidth, writeText

# Heights in pixels of the text above the slices and of the margin below them, and width of lines, for a scale of 1.
HEAD, FOOT, LINE = 56, 24, 1.6
# Samples of a line per pixel.
FINER = 3


def sliceStrip(comparison, image: GrayImage, width: int, scale: float, background: np.ndarray) -> np.ndarray | None:
    """Return the slices of a comparison beside each other as colors (height, width, 3), None if there are none.

    width: in pixels. scale: of text and lines. background: color as bytes (3,).
    """
    surfaces = [direction.surface for direction in comparison.knownDistances.directions]
    largest = largestOf(comparison)
    found = picturesOf(surfaces, largest)
    if not found:
        return None
    extent = max(float(np.max(high - low)) for low, high in (surface.box for surface in surfaces))
    windows = windowsOf(found, largest.distance, extent)
    margin = round(28 * scale)
    across = min((width - 4 * margin) // 3, round(1.35 * ACROSS * scale))
    zoom = across / ACROSS
    down, head = round(DOWN * zoom), round(HEAD * scale)
    strip = np.tile(background.astype(np.uint8), (head + down + round(FOOT * scale), width, 1))
    gray = Gray(image)
    left = (width - len(found) * across - (len(found) - 1) * margin) // 2
    for number, (picture, window, sides) in enumerate(zip(found, windows, drawn(found, windows), strict=True)):
        start = left + number * (across + margin)
        shown = _gray(gray, picture, window, (down, across))
        for lines, color in zip(sides, ON_IMAGE, strict=True):
            share = _coverage([line.points * STEP * zoom for line in lines], shown.shape[:2], LINE * scale)[..., None]
            shown = shown * (1 - share) + _color(color) * share
        strip[head : head + down, start : start + across] = np.rint(shown).astype(np.uint8)
        toward = "LPS"[picture.view.axis] if picture.at > 0 else "RAI"[picture.view.axis]
        caption = f"{picture.view.name.capitalize()}, {toward} {abs(picture.at):.1f} mm"
        writeText(strip, caption, (start, round(46 * scale)), max(round(14 * scale), 9), INK)
    size, x = max(round(14 * scale), 9), left
    for text, color in zip(("reference", "test"), ON_IMAGE, strict=True):
        strip[round(10 * scale) : round(14 * scale), x : x + round(26 * scale)] = _color(color).astype(np.uint8)
        x += round(32 * scale)
        writeText(strip, text, (x, round(17 * scale)), size, PALE_INK)
        x += textWidth(text, size) + round(20 * scale)
    return strip


def _gray(gray: Gray, picture, window: Window, shape: tuple[int, int]) -> np.ndarray:
    """Return a slice of the image in the window that is shown first, as colors (rows, columns, 3) in [0, 255]."""
    plane = window.planeOf(picture.view, picture.place, picture.at)
    rows, columns = shape
    right, down = plane.right * plane.width / columns, plane.down * plane.height / rows
    values = gray.image.sampled(plane.corner + right / 2 + down / 2, right, down, (columns, rows))
    first = PRESETS[0]
    low, high = first.level - first.width / 2, first.level + first.width / 2
    if not gray.image.isHounsfield:
        low, high = gray.image.range()
    shade = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1)) * 255
    return np.repeat(shade[..., None], 3, axis=2)


def _coverage(lines: list[np.ndarray], shape: tuple[int, int], width: float) -> np.ndarray:
    """Return the share (rows, columns) of each pixel that closed lines of a width cover. lines: x and y, pixels."""
    from scipy.ndimage import distance_transform_edt

    rows, columns = shape
    isOff = np.ones((rows * FINER, columns * FINER), bool)
    for points in lines:
        for start, end in zip(points, np.roll(points, -1, axis=0), strict=True):
            count = int(np.ceil(np.abs(end - start).max() * FINER)) + 1
            x, y = np.rint(np.linspace(start, end, count) * FINER - 0.5).astype(int).T
            isIn = (x >= 0) & (x < columns * FINER) & (y >= 0) & (y < rows * FINER)
            isOff[y[isIn], x[isIn]] = False
    if isOff.all():
        return np.zeros(shape)
    fine = np.clip(width * FINER / 2 + 0.5 - distance_transform_edt(isOff), 0, 1)
    return fine.reshape(rows, FINER, columns, FINER).mean(axis=(1, 3))


def _color(text: str) -> np.ndarray:
    """Return a color such as "#4fc3ff" as its parts (3,) in [0, 255]."""
    return np.array([int(text[n : n + 2], 16) for n in (1, 3, 5)], float)

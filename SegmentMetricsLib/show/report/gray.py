"""The image under the contours in a report: sampled in planes, as JPEG in the page, with windows to choose from.

A picture holds 256 codes. For a CT they are close together where soft tissue and brain are, and far apart in bone and
air, so that each window can be made of the same picture: a filter of the browser turns the codes into gray.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkJPEGWriter

from ...base.markup import Markup, fill, join
from ...model.grayimages import GrayImage
from ..rendering import imageOf
from .blocks import NOTHING

# Usual windows of a CT in Hounsfield units, from black to white; their widths are 400, 1500, 2000 and 80.
PRESETS = {"soft tissue": (-160, 240), "lung": (-1350, 150), "bone": (-600, 1400), "brain": (0, 80)}
AUTOMATIC = "automatic"
# Lung is what lies between these values, in Hounsfield units: air around a patient is darker, and fat is brighter.
LUNG = -950, -400
# Structures are first shown in the window of the lung if more than this fraction of the middle of their box is lung.
MUCH_LUNG = 0.3
# The window of what a picture shows extends between these percentiles of its values.
DARK, BRIGHT = 1, 99
# In the automatic window of a CT, what is below this, in Hounsfield units, counts only where it is most of a picture.
AIR = -300
# Codes of a CT: numbers of steps from one value, in Hounsfield units, to the next.
STEPS = ((-1024, 0), (-160, 40), (0, 50), (80, 80), (240, 46), (3071, 39))
QUALITY = 76


class Plane(NamedTuple):
    """A rectangle in the patient: corner (3,) LPS mm, unit vectors (3,) right and down, width and height in mm."""

    corner: np.ndarray
    right: np.ndarray
    down: np.ndarray
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Gray:
    """How an image is shown in a page."""

    image: GrayImage

    @cached_property
    def values(self) -> np.ndarray:
        """(256,) the ascending values that the codes stand for."""
        if not self.image.isHounsfield:
            return np.linspace(*self.image.range(), 256)
        ends = np.cumsum([count for _, count in STEPS])
        return np.interp(np.arange(256), ends, [value for value, _ in STEPS])

    @property
    def windows(self) -> list[str]:
        """The names of the windows to choose from."""
        return [*PRESETS, AUTOMATIC] if self.image.isHounsfield else [AUTOMATIC]

    def firstWindow(self, low: np.ndarray, high: np.ndarray) -> str:
        """Return the window in which what is in a box from low (3,) to high (3,), LPS mm, is first shown."""
        if not self.image.isHounsfield:
            return AUTOMATIC
        inward = (high - low) / 4  # what lies around a structure does not count
        values = self.image.crop(low + inward, high - inward, 0).values
        isLung = (values > LUNG[0]) & (values < LUNG[1])
        return "lung" if isLung.mean() > MUCH_LUNG else self.windows[0]

    def codes(self, plane: Plane, finest: float) -> np.ndarray:
        """Return the codes (rows, columns) in a plane, 0 beyond the image. finest: least size of pixels, mm."""
        pixel = max(finest, float(self.image.grid.worldSteps.min()))
        columns, rows = (max(int(np.ceil(side / pixel)), 1) for side in (plane.width, plane.height))
        codes = np.interp(self.sample(plane, rows, columns), self.values, np.arange(256))
        return np.rint(np.nan_to_num(codes)).astype(np.uint8)

    def sample(self, plane: Plane, rows: int, columns: int) -> np.ndarray:
        """Return the values (rows, columns) of pixels that fill a plane exactly, NaN beyond the image."""
        right, down = plane.right * plane.width / columns, plane.down * plane.height / rows
        return self.image.sample(plane.corner + right / 2 + down / 2, right, down, (columns, rows))

    def window(self, pictures: Sequence[np.ndarray]) -> tuple[float, float]:
        """Return the darkest and the brightest value of the automatic window of pictures, given by their codes."""
        counts = np.sum([np.bincount(codes.ravel(), minlength=256) for codes in pictures], axis=0)
        counts[0] = 0  # what lies beyond the image
        isAir = self.values < AIR
        if self.image.isHounsfield and counts[~isAir].sum() > counts[isAir].sum():
            counts[isAir] = 0
        if not counts.any():
            return float(self.values[0]), float(self.values[-1])
        below = np.cumsum(counts) / counts.sum() * 100
        low, high = (float(self.values[np.searchsorted(below, percent)]) for percent in (DARK, BRIGHT))
        return (low, high) if high > low else (float(self.values[0]), float(self.values[-1]))

    def filters(self, pictures: Sequence[np.ndarray] = (), name: str = "") -> Markup:
        """Return the SVG filters that turn codes into gray: of the windows that are the same for all structures.

        pictures: their codes, to get the filter of their automatic window instead. name: prefix of its ID.
        """
        windows: Mapping[str, tuple[float, float]] = PRESETS if self.image.isHounsfield else {}
        if pictures:
            windows = {AUTOMATIC: self.window(pictures)}
        channel, filters = '<feFunc$c type="table" tableValues="$table"/>', []
        whole = (
            '<filter id="$name" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">'
            "<feComponentTransfer>$channels</feComponentTransfer></filter>"
        )
        for window, (low, high) in windows.items():
            gray = np.clip((self.values - low) / (high - low), 0, 1)
            table = " ".join(f"{value:.3g}" for value in gray.tolist())
            channels = join(fill(channel, c=c, table=table) for c in "RGB")
            filters.append(fill(whole, name=idOf(window, name), channels=channels))
        drawing = '<svg class="filters" width="0" height="0" aria-hidden="true">$filters</svg>'
        return fill(drawing, filters=join(filters)) if filters else NOTHING


def idOf(window: str, name: str = "") -> str:
    """Return the ID of a window's filter. name: prefix for the automatic window, which pictures have of their own."""
    return f"{name}-{window}" if window == AUTOMATIC else f"window-{window.replace(' ', '-')}"


def jpeg(pixels: np.ndarray) -> str:
    """Return a picture of bytes, (rows, columns) of grays or (rows, columns, 3) of colors, as JPEG in base64."""
    writer = vtkJPEGWriter()
    writer.SetInputData(imageOf(pixels))
    writer.SetQuality(QUALITY)
    writer.WriteToMemoryOn()
    writer.Write()
    return base64.b64encode(vtk_to_numpy(writer.GetResult()).tobytes()).decode()

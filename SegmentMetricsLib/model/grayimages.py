"""The image on which contours were drawn, such as a CT: gray values on a grid of their own."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from ..base.errors import InputError
from ..geometry.grids import Grid

# An image of unknown kind is a CT if it has values below this: those of air, in Hounsfield units.
AIR = -100.0
# The percentiles of values between which the gray values of other images extend.
DARKEST, BRIGHTEST = 0.1, 99.9


def shownValues(values: np.ndarray) -> np.ndarray:
    """Return gray values with those that are not finite, as around a patient, as the lowest of the others.

    Large whole numbers become fractions: these are pictures, and small types are faster. Raises InputError if no value
    is finite.
    """
    if values.dtype.kind == "f":
        isFinite = np.isfinite(values)
        if not isFinite.any():
            raise InputError("none of its values is a number.")
        if not isFinite.all():
            values = np.where(isFinite, values, values[isFinite].min())
    return values if values.dtype.itemsize <= 2 else values.astype(np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class GrayImage:
    """Gray values in the patient.

    values: [k, j, i]. grid: of the voxels, LPS mm; it may be oblique. name: of the file or node, without a folder.
    modality: as in DICOM, "" if unknown. frameOfReference: of its coordinates, "" if unknown. patient: fingerprint of
    the patient's ID, "" if unknown. whole: grid of the image that this one was cropped from, None if it was not.
    remarks: sentences on what is shown of it.
    """

    values: np.ndarray
    grid: Grid
    _: KW_ONLY
    name: str = ""
    modality: str = ""
    frameOfReference: str = ""
    patient: str = ""
    whole: Grid | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<GrayImage {self.name!r} on {self.grid!r}>"

    @property
    def isHounsfield(self) -> bool:
        """Whether the values are in Hounsfield units, for which there are usual windows."""
        return self.modality == "CT" or (not self.modality and float(self.values.min()) <= AIR)

    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest value that matter, without outliers; they differ."""
        low, high = np.percentile(self.values, (DARKEST, BRIGHTEST))
        if low == high:
            low, high = float(self.values.min()), float(self.values.max())
        return float(low), float(high if high > low else low + 1)

    def crop(self, low: np.ndarray, high: np.ndarray, margin: float) -> GrayImage:
        """Return the part around a box from low (3,) to high (3,), LPS mm, or one voxel of it if they do not meet.

        margin: around the box, in mm.
        """
        corners = np.stack(np.meshgrid(*np.transpose([low - margin, high + margin]), indexing="ij"), axis=-1)
        index = self.grid.toIndex(corners.reshape(-1, 3))
        last = np.array(self.grid.size) - 1
        first = np.clip(np.floor(index.min(axis=0)), 0, last).astype(int)
        end = np.clip(np.ceil(index.max(axis=0)), 0, last).astype(int)
        i, j, k = (slice(a, b + 1) for a, b in zip(first, end, strict=True))
        grid = self.grid.resize(first, end)
        return replace(self, values=self.values[k, j, i].copy(), grid=grid, whole=self.whole or self.grid)

    def sample(self, corner: np.ndarray, right: np.ndarray, down: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Return the values (rows, columns) in a plane, linear between voxel centers, NaN beyond the voxels.

        corner: (3,) LPS position of the first pixel's center, mm. right, down: (3,) steps in mm to the next pixel of a
        row and of a column. size: columns, rows.
        """
        from scipy.ndimage import map_coordinates

        columns, rows = size
        # an affine map of pixels to voxels: three products instead of one per pixel
        steps = np.linalg.inv(self.grid.axes) @ np.column_stack([right, down])
        start = self.grid.toIndex(np.asarray(corner, float)[None])[0]
        u, v = np.arange(columns), np.arange(rows)[:, None]
        index = np.stack([start[axis] + steps[axis, 0] * u + steps[axis, 1] * v for axis in range(3)])
        last = np.reshape(np.array(self.grid.size) - 1, (3, 1, 1))
        isIn = ((index >= -0.5 - 1e-6) & (index <= last + 0.5 + 1e-6)).all(axis=0)
        found = map_coordinates(self.values, np.clip(index, 0, last)[::-1], np.float32, order=1, mode="nearest")
        return np.where(isIn, found, np.float32(np.nan))

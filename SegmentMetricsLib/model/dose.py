"""The dose of a plan, in Gy, at the points of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import SimpleITK

from ..base.errors import InputError, requireKind
from ..geometry.grids import Grid
from .inputs import valuesOf

# Part of a step between grid points by which a place may lie beyond the outermost ones through rounding.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Dose:
    """The dose of a plan, which is interpolated linearly between the points of its grid.

    Parameters
    ----------
    values : np.ndarray
        Dose in Gy at the points of the grid, indexed [k, j, i]; NaN where it is not known.
    grid : Grid
        The points at which it is given.
    file : str, optional
        The file that it was read from, "" without one.
    frameOfReference : str, optional
        UID of the frame of reference of its coordinates, "" if unknown.
    patient : str, optional
        Fingerprint of the patient's ID, "" if unknown.
    remarks : tuple[str, ...], optional
        Sentences on what was assumed or found while reading it.
    planes : np.ndarray | None, optional
        (n,) where the planes along k lie if their distances differ: ascending from 0 to n - 1, in steps of the grid,
        whose first and last planes are those of the dose. None if the distances are even.
    """

    values: np.ndarray
    grid: Grid
    file: str = ""
    frameOfReference: str = ""
    patient: str = ""
    remarks: tuple[str, ...] = ()
    planes: np.ndarray | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        # as exact as it is given; whole numbers of up to 16 bits are exact in single precision
        values = np.asarray(values, np.result_type(values, np.float32))
        if values.shape != tuple(reversed(self.grid.size)):
            raise InputError("The dose has another number of values than its grid has points.")
        if min(self.grid.size) < 2:
            raise InputError("The dose is known in one plane only; a volume is needed.")
        if (values < 0).any():
            raise InputError("The dose has negative values: it is not in Gy, or it is the difference of two plans.")
        isKnown = np.isfinite(values)
        if not isKnown.all():
            from scipy.ndimage import binary_opening

            # between points that are known in part there is nothing to interpolate
            isKnown = binary_opening(isKnown, np.ones((2, 2, 2), bool))
            if np.isinf(values).any() or not isKnown.any():
                raise InputError("The dose has values that are not numbers.")
            values = np.where(isKnown, values, np.nan).astype(values.dtype)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"<Dose up to {np.nanmax(self.values):.4g} Gy on {self.grid!r}>"

    @property
    def precision(self) -> float:
        """Fraction by which a value may be too small by rounding, in the file or while it is interpolated."""
        return 1e-9 + (2.0**-24 if self.values.dtype == np.float32 else 0)

    @cached_property
    def steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the points lie along i, j and k, in steps of the grid."""
        i, j, k = (np.arange(size, dtype=float) for size in self.grid.size)
        return i, j, k if self.planes is None else np.asarray(self.planes, float)

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The values, 0 where they are not known, and 1 there and 0 elsewhere, None if all are known."""
        isUnknown = np.isnan(self.values)
        if not isUnknown.any():
            return self.values, None
        return np.where(isUnknown, np.float32(0), self.values), isUnknown.astype(np.float32)

    @staticmethod
    def fromImage(image: SimpleITK.Image, **about) -> Dose:
        """Return a scalar 3D image of values in Gy as a dose.

        Parameters
        ----------
        image : SimpleITK.Image
            In three dimensions, with one number per voxel.
        **about
            The other fields, such as file.

        Returns
        -------
        Dose

        Raises
        ------
        ValueError
            For any other image, and for values that are not a dose.
        """
        requireKind(image, SimpleITK.Image, "The dose", "an image")
        if image.GetDimension() < 3 or image.GetNumberOfComponentsPerPixel() != 1:
            raise InputError("A dose must be an image in three dimensions with one number per voxel.")
        return Dose(valuesOf(image).copy(), Grid.fromImage(image), **about)

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the dose at points, and whether it is known there; beyond the grid, the nearest dose is returned.

        Parameters
        ----------
        points : np.ndarray
            (n, 3) LPS in mm.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            (n,) dose in Gy, and (n,) whether the point lies within the grid, where the dose is known.
        """
        return self.atSteps(self.grid.toIndex(points))

    def valuesAt(self, points: np.ndarray, otherwise: float = np.nan) -> np.ndarray:
        """Return the dose (n,) in Gy at points (n, 3), and another value where it is not known."""
        values, areKnown = self.at(points)
        return np.where(areKnown, values, otherwise)

    def atSteps(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same as at() for places (n, 3) in steps of the grid."""
        from scipy.ndimage import map_coordinates

        last = np.array(self.grid.size) - 1
        isWithin = np.asarray(((places >= -ROUNDING) & (places <= last + ROUNDING)).all(axis=1))
        i, j, k = places.T
        if self.planes is not None:
            k = np.interp(k, self.planes, np.arange(len(self.planes)))
        index = (k, j, i)
        doses, isUnknown = self._parts
        values = map_coordinates(doses, index, float, order=1, mode="nearest", prefilter=False)
        if isUnknown is not None:
            isWithin &= map_coordinates(isUnknown, index, float, order=1, mode="nearest", prefilter=False) <= ROUNDING
        return values, isWithin

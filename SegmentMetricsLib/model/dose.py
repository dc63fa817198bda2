"""The dose of a plan, in Gy, at the points of a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import SimpleITK

from ..base.errors import InputError, requireKind
from ..geometry.grids import Grid

# Part of a step between grid points by which a place may lie beyond the outermost ones through rounding.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Dose:
    """The dose of a plan, which is interpolated linearly between the points of its grid.

    Parameters
    ----------
    values : np.ndarray
        Dose in Gy at the points of the grid, indexed [k, j, i].
    grid : Grid
        The points at which it is known.
    file : str, optional
        That it was read from, "" if from none.
    frameOfReference : str, optional
        Of its coordinates, "" if unknown.
    patient : str, optional
        Fingerprint of the patient's ID, "" if unknown.
    remarks : tuple[str, ...], optional
        Sentences on what was assumed or found while reading it.
    """

    values: np.ndarray
    grid: Grid
    file: str = ""
    frameOfReference: str = ""
    patient: str = ""
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.values, np.float32)
        if values.shape != tuple(reversed(self.grid.size)):
            raise InputError("The dose has another number of values than its grid has points.")
        if min(self.grid.size) < 2:
            raise InputError("The dose is known in one plane only; a volume is needed.")
        if not np.isfinite(values).all():
            raise InputError("The dose has values that are not numbers.")
        if (values < 0).any():
            raise InputError("The dose has negative values: it is no dose in Gy, or that of a difference of plans.")
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"<Dose up to {self.values.max():.4g} Gy on {self.grid!r}>"

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
            For any other image, and for values that are no dose.
        """
        requireKind(image, SimpleITK.Image, "The dose", "an image")
        if image.GetDimension() != 3 or image.GetNumberOfComponentsPerPixel() != 1:
            raise InputError("A dose must be an image in three dimensions with one number per voxel.")
        return Dose(SimpleITK.GetArrayFromImage(image), Grid.fromImage(image), **about)

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the dose at points, and whether they lie within the grid; beyond it, the nearest dose is returned.

        Parameters
        ----------
        points : np.ndarray
            (n, 3) LPS in mm.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            (n,) dose in Gy, and (n,) whether the point lies within the grid.
        """
        from scipy.ndimage import map_coordinates

        index = self.grid.toIndex(points)
        last = np.array(self.grid.size) - 1
        isWithin = ((index >= -ROUNDING) & (index <= last + ROUNDING)).all(axis=1)
        values = map_coordinates(self.values, index.T[::-1], float, order=1, mode="nearest", prefilter=False)
        return values, np.asarray(isWithin)

"""The sampling grid of an image: the number of voxels and their positions in the patient."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import InputError, NoSegmentation

# Headers store single-precision numbers; grids whose voxels differ by less than this fraction of a voxel are the same.
SAME_LATTICE_TOLERANCE = 1e-3

# In voxels: far less than matters, far more than rounding errors.
SMALLEST_STEP = 2.0**-24

# Slicer's nodes are in RAS, files and this library in LPS; the matrix is its own inverse.
RAS_FROM_LPS = np.diag([-1.0, -1.0, 1.0, 1.0])

# Range of lengths in mm in or around a patient; numbers beyond it lose their digits, and are wrong anyway.
LARGEST_COORDINATE, SMALLEST_SPACING = 1e9, 1e-9


def requireScale(far: float, smallest: float = 1.0) -> None:
    """Raise InputError for coordinates implausibly far from the origin, or implausibly small voxels, in mm."""
    if not far <= LARGEST_COORDINATE:
        raise InputError(f"There are places {far:.3g} mm from the origin: check the header, or the unit of lengths.")
    if not smallest >= SMALLEST_SPACING:
        raise InputError(f"There are voxels of {smallest:.3g} mm: check the header, or the unit of lengths.")


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    """Voxel centers of an image in the patient coordinate system.

    Parameters
    ----------
    size : tuple[int, int, int]
        Number of voxels along i, j, k.
    matrix : np.ndarray
        4x4, voxel index (i, j, k, 1) to LPS millimeters; its columns may be rotated, left-handed or sheared.
    planar : bool, optional
        The grid is one slice, and structures on it are contours, not surfaces.
    isImage2D : bool, optional
        It is that of an image of two dimensions, which a volume of one slice is not. Equal grids may differ in it.

    Attributes
    ----------
    axes : np.ndarray
        (3, 3), whose columns are the steps from one voxel to the next along i, j, k, in mm.
    origin : np.ndarray
        (3,) LPS position of the first voxel's center, mm.
    spacing : np.ndarray
        (3,) distance between voxel centers along i, j, k, mm.
    flatAxis : int | None
        The axis with one slice of a planar grid, else None.

    Raises
    ------
    InputError
        For a size below one or a matrix that is not finite and invertible.
    """

    size: tuple[int, int, int]
    matrix: np.ndarray
    planar: bool = False
    isImage2D: bool = False
    axes: np.ndarray = field(init=False)
    origin: np.ndarray = field(init=False)
    spacing: np.ndarray = field(init=False)
    flatAxis: int | None = field(init=False)

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=float)
        if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
            raise InputError("The image geometry has values that are not numbers.")
        farthest = float(np.abs(matrix[:3]).max())
        requireScale(farthest)
        axes = matrix[:3, :3]
        spacing = np.linalg.norm(axes, axis=0)
        if (spacing == 0).any() or abs(np.linalg.det(axes)) < 1e-6 * spacing.prod():
            raise InputError("The image geometry is degenerate: its axes do not span space.")
        requireScale(farthest, float(spacing.min()))
        if len(self.size) != 3 or min(self.size) < 1:
            raise InputError(f"An image grid needs at least one voxel along each axis, not {tuple(self.size)}.")
        size = tuple(map(int, self.size))
        # all of them are shared, so callers must not change them
        for array in (matrix, spacing):
            array.setflags(write=False)
        known = {"axes": matrix[:3, :3], "origin": matrix[:3, 3], "spacing": spacing}
        flatAxis = size.index(1) if self.planar and 1 in size else None
        vars(self).update(size=size, matrix=matrix, flatAxis=flatAxis, **known)

    def __repr__(self) -> str:
        size, spacing = (" x ".join(f"{number:.6g}" for number in numbers) for numbers in (self.size, self.spacing))
        origin = ", ".join(f"{coordinate + 0.0:.6g}" for coordinate in self.origin)
        return f"<Grid of {size} voxels, {spacing} mm, from ({origin}) LPS>"

    @staticmethod
    def fromImage(image) -> Grid:
        """Return the grid of a 2D or 3D SimpleITK image; 2D images and images of one slice are planar.

        Axes behind the third have no effect if there is one place along each, such as one point in time.
        """
        whole = image.GetDimension()
        dimension = min(whole, 3)
        if dimension < 2 or any(size > 1 for size in image.GetSize()[3:]):
            raise NoSegmentation(f"Images of 2 or 3 dimensions can be compared; this one has {whole}.")
        matrix, direction = np.eye(4), np.reshape(image.GetDirection(), (whole, whole))
        with np.errstate(invalid="ignore"):  # values that are not finite are rejected below
            matrix[:dimension, :dimension] = (direction * np.array(image.GetSpacing()))[:dimension, :dimension]
        matrix[:dimension, 3] = image.GetOrigin()[:3]
        size = tuple(image.GetSize()[:3]) + (1,) * (3 - dimension)
        return Grid(size, matrix, planar=size.count(1) == 1, isImage2D=dimension == 2)

    @staticmethod
    def fromSlicerGeometry(text: str) -> Grid | None:
        """Return the grid that Slicer stores with a segmentation as its reference image geometry, None if it has none.

        text: the 16 numbers of the voxel-to-RAS matrix, row by row, and the 6 of the extent, separated by semicolons.
        """
        try:
            numbers = [float(number) for number in text.strip(";").split(";")]
        except ValueError:
            return None
        if len(numbers) != 22:
            return None
        low, high = numbers[16::2], numbers[17::2]
        if any(a > b for a, b in zip(low, high, strict=True)):
            return None
        matrix = RAS_FROM_LPS @ np.reshape(numbers[:16], (4, 4))
        return Grid((1, 1, 1), matrix).resize(low, high)

    @property
    def worldSteps(self) -> np.ndarray:
        """(3,) mm between voxels along the patient axes; for an oblique grid the smallest spacing along each."""
        along = np.abs(self.axes)
        isStraight = along.max(axis=0).sum() > (1 - 1e-6) * along.sum()
        return along.max(axis=1) if isStraight else np.full(3, self.spacing.min())

    @property
    def direction(self) -> np.ndarray:
        """(3, 3) array whose columns are the unit vectors along i, j, k."""
        return self.axes / self.spacing

    @property
    def sliceAxis(self) -> int:
        """The axis across the slices, independent of the order in which the axes are stored.

        It is the axis whose spacing differs from that of the other two, the coarsest one if all differ, and for cubic
        voxels the one closest to the patient's head-foot direction.
        """
        if self.flatAxis is not None:
            return self.flatAxis
        spacing = self.spacing
        alike = [axis for axis in range(3) if abs(spacing[axis - 2] - spacing[axis - 1]) <= 1e-3 * spacing[axis - 1]]
        if len(alike) == 1:
            return alike[0]
        if not alike:
            return int(spacing.argmax())
        along = np.round(np.abs(self.direction[2]), 6)
        return 2 - int(along[::-1].argmax())

    def slicesLast(self) -> Grid:
        """Return the grid with its axes reordered so that k runs across the slices; the voxels stay where they are."""
        axis = self.sliceAxis
        order = [*(other for other in range(3) if other != axis), axis]
        i, j, k = (self.size[one] for one in order)
        return Grid((i, j, k), self.matrix[:, [*order, 3]], self.planar)

    @cached_property
    def voxelSize(self) -> float:
        """Volume of a voxel in mm3, or area of a pixel in mm2 for a planar grid."""
        if self.planar:
            u, v = np.delete(self.axes, cast(int, self.flatAxis), axis=1).T
            return float(np.linalg.norm(np.cross(u, v)))
        return float(abs(np.linalg.det(self.axes)))

    @cached_property
    def isRectangular(self) -> bool:
        """Whether the axes are at right angles, as in every image unless a transform sheared it."""
        return bool(np.abs(self.direction.T @ self.direction - np.eye(3)).max() < 1e-6)

    def toWorld(self, index: ArrayLike) -> np.ndarray:
        """Return LPS positions (n, 3) in mm of voxel indices (n, 3) given in the order i, j, k."""
        # coordinate by coordinate: several times faster than point by point, and a point gets the same digits among
        # others as alone
        columns = np.asarray(index, float).T
        result = np.empty((columns.shape[1], 3))
        for (*steps, start), coordinate in zip(self.matrix[:3].tolist(), result.T, strict=True):
            # most images run along the patient's axes: all but one step are 0
            isBegun = False
            for column, step in zip(columns, steps, strict=True):
                if step and isBegun:
                    coordinate += column * step
                elif step:
                    np.multiply(column, step, out=coordinate)
                    isBegun = True
            coordinate += start
        return result

    def toIndex(self, points: np.ndarray) -> np.ndarray:
        """Return continuous voxel indices (n, 3) of LPS positions (n, 3) in mm."""
        # stored coordinate by coordinate, which is several times faster
        away = np.subtract(points, self.origin, order="F")
        return np.einsum("ij,kj->ik", away, np.linalg.inv(self.axes))

    def corners(self) -> np.ndarray:
        """(8, 3) LPS positions of the outer corners of the corner voxels, mm."""
        return self.toWorld(list(itertools.product(*[(-0.5, n - 0.5) for n in self.size])))

    def offsetOn(self, grid: Grid) -> tuple[int, int, int] | None:
        """Return the index of this grid's first voxel on another grid, or None if the voxels do not coincide.

        Two crops of one image share a lattice although their sizes and origins differ: they need no resampling.
        """
        if np.array_equal(self.matrix, grid.matrix):
            return 0, 0, 0
        shift = np.rint(grid.toIndex(self.origin[None])[0])
        moved = Grid(self.size, grid.matrix @ affine(np.eye(3), shift), self.planar)
        error = np.linalg.norm(moved.corners() - self.corners(), axis=1).max()
        if error > SAME_LATTICE_TOLERANCE * min(self.spacing.min(), grid.spacing.min()):
            return None
        i, j, k = shift.astype(int).tolist()
        return i, j, k

    def alongAxesOf(self, grid: Grid) -> tuple[Grid, tuple[int, ...], tuple[bool, ...]] | None:
        """Return this grid with its axes reordered and reversed to run like another grid's, their order, and reversals.

        The voxels stay where they are. order: which of this grid's axes becomes i, j, k. turned: whether it then runs
        backward. None if the axes of the two grids differ in any other way.
        """
        relation = np.linalg.inv(grid.axes) @ self.axes
        steps = np.rint(relation)
        order = np.abs(steps).argmax(axis=1)
        if (np.abs(steps) != np.eye(3)[order]).any() or len(set(order)) < 3:
            return None
        turned = steps[range(3), order] < 0
        size = np.array(self.size)[order]
        last = np.zeros(3)
        last[order] = np.where(turned, size - 1, 0)
        matrix = affine(self.axes[:, order] * np.where(turned, -1, 1), self.toWorld(last[None])[0])
        return Grid(tuple(size), matrix, self.planar), tuple(order.tolist()), tuple(turned.tolist())

    @property
    def hasUnitSlices(self) -> bool:
        """Whether a planar grid's slice is 1 mm thick."""
        return bool(abs(self.spacing[self.flatAxis] - 1) < 1e-9)

    def oneThick(self) -> Grid:
        """Return a planar grid with its slice 1 mm thick: the thickness is irrelevant for contours in a plane."""
        matrix = self.matrix.copy()
        matrix[:3, self.flatAxis] /= self.spacing[self.flatAxis]
        return Grid(self.size, matrix, planar=True)

    def plane(self, index: int, axis: int) -> Grid:
        """Return the slice of the grid with an index along an axis as a planar grid."""
        low, high = np.zeros(3, int), np.array(self.size) - 1
        low[axis] = high[axis] = index
        slab = self.resize(low, high)
        return Grid(slab.size, slab.matrix, planar=True)

    def resize(self, low, high) -> Grid:
        """Return the grid on the same lattice from voxel index low to high (both included)."""
        i, j, k = (int(b - a + 1) for a, b in zip(low, high, strict=True))
        return Grid((i, j, k), self.matrix @ affine(np.eye(3), low), self.planar)

    def divide(self, parts: Sequence[int]) -> Grid:
        """Return the grid with every voxel divided into as many parts along i, j, k, at its place."""
        i, j, k = (size * number for size, number in zip(self.size, parts, strict=True))
        division = affine(np.eye(3) / parts, (1 / np.array(parts) - 1) / 2)
        return Grid((i, j, k), self.matrix @ division, self.planar)

    def growTo(self, points: np.ndarray) -> Grid:
        """Return the grid extended by as many voxels as needed for its voxels to contain LPS points (n, 3)."""
        index = self.toIndex(points)
        # a point on the border of a voxel lies in it, whatever rounding says
        first = np.minimum(0, np.floor(index.min(axis=0) + 0.5 + 1e-6).astype(int))
        last = np.maximum(np.array(self.size) - 1, np.ceil(index.max(axis=0) - 0.5 - 1e-6).astype(int))
        if self.flatAxis is not None:
            first[self.flatAxis] = last[self.flatAxis] = 0
        return self.resize(first, last)

    def __eq__(self, other) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return (self.size, self.planar) == (other.size, other.planar) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.size, self.planar, tuple(self.matrix.ravel().tolist())))

    def toDictionary(self) -> dict:
        """Return the grid as plain values without loss; fromDictionary() restores it."""
        return {"size": list(self.size), "matrix": self.matrix.tolist(), "planar": self.planar}

    @staticmethod
    def fromDictionary(data: Mapping) -> Grid:
        """Return the grid described by toDictionary(). Raises InputError if the data are something else."""
        try:
            size, matrix, planar = data["size"], np.array(data["matrix"], float), data["planar"]
            if not (
                all(type(n) is int for n in size) and planar in (True, False) and (matrix[3] == (0, 0, 0, 1)).all()
            ):
                raise ValueError("This is not a grid.")
            return Grid(tuple(size), matrix, bool(planar))
        except (LookupError, TypeError, ValueError) as error:
            raise InputError("The evaluated grid needs a size, a matrix and whether it is planar.") from error

    def describe(self) -> dict:
        """Return the grid as plain numbers for files: size, spacing, origin, direction (row by row), LPS mm."""
        return {
            "size": list(self.size),
            "spacing": [round(float(s), 9) for s in self.spacing],
            "origin": [round(float(s), 9) for s in self.origin],
            "direction": [round(float(s), 9) for s in self.direction.ravel()],
        }


def affine(axes: ArrayLike, origin: ArrayLike) -> np.ndarray:
    """Return the 4x4 matrix whose columns are those of axes (3, 3) and an origin (3,)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = axes, origin
    return matrix


def roundIndex(index: np.ndarray) -> np.ndarray:
    """Return voxel indices (...) rounded to multiples of SMALLEST_STEP, so that they are equal wherever a grid lies.

    Used where rounding would decide: which voxel a place exactly between two belongs to, which side of a face a center
    lies on.
    """
    result = index / SMALLEST_STEP
    np.rint(result, out=result)
    result *= SMALLEST_STEP
    return result


def gridAround(points: np.ndarray, axes: np.ndarray, origin: np.ndarray) -> Grid:
    """Return the grid with axes (3, 3) and a voxel at origin that contains points (n, 3) and a voxel around them."""
    index = (np.asarray(points, float) - origin) @ np.linalg.inv(axes).T
    low = np.floor(index.min(axis=0)).astype(int) - 1
    high = np.ceil(index.max(axis=0)).astype(int) + 1
    return Grid((1, 1, 1), affine(axes, origin)).resize(low, high)

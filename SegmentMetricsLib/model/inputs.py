"""Conversion of images and polydata in memory to structures."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, cast

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError, NoSegmentation
from ..base.texts import SettingPlace, commaSeparated, shortest
from ..geometry import masks, meshing
from ..geometry.grids import Grid
from .structure import Structure

# A label map has few values; an image with more different values than this is a CT or MR, not a segmentation.
MOST_LABELS = 5000
# Images with more values than this are examined for intensities: equal labels are adjacent, equal intensities are not.
MOST_UNSUSPICIOUS_LABELS = 30
# The number of slices sampled for that, and of rows in each.
SLICES_LOOKED_AT, ROWS_LOOKED_AT = 16, 64
# Membership at or above which a voxel belongs to the measured surface if no threshold is given.
HALF = 0.5
# Memberships farther than this from 0 and 1 are undecided; largest fraction of a segmentation's voxels that are.
UNDECIDED, MOST_UNDECIDED = 0.1, 0.5
# By how much interpolation typically takes memberships beyond their range.
OVERSHOOT = 0.2
# By how much single-precision rounding may exceed the range of memberships.
ROUNDING = 1e-6
# Larger integers are not exact as double-precision floating-point numbers.
LARGEST_FLOAT_LABEL = 2**53
# Usual values of full membership above 1: percent, 8 bits and 16 bits.
FULL_MEMBERSHIPS = (100, 255, 65535)
NO_NUMBERS = "The image has values that are not numbers."
# Types that SimpleITK has no images of, and those that take their place.
REPLACED = {"bool": "uint8", "float16": "float32", "float96": "float64", "float128": "float64"}
# Makes an image of an array, as imageFromArray() does.
ToImage = Callable[[np.ndarray], SimpleITK.Image]


def requireUse(geometry: Mapping[str, Any], *given: object) -> None:
    """Raise InputError when arguments of a function are arrays of different shapes, or none is an array to place.

    geometry: arguments of imageFromArray() by name, None for those that were not given. Arrays have one geometry, so
    those of different shapes cannot be of one image.
    """
    shapes = dict.fromkeys(one.shape for one in given if isinstance(one, np.ndarray))
    if len(shapes) > 1:
        listed = " and ".join(map(str, shapes))
        raise InputError(f"Arrays can be compared if their shapes are equal, not {listed}; give images instead.")
    idle = [name for name, value in geometry.items() if value is not None]
    if idle and not shapes:
        raise InputError(f"The {idle[0]} is for arrays, and there are none: images and files have their own.")


def imageFromArray(
    array: np.ndarray,
    spacing: float | Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    direction: Sequence | np.ndarray | None = None,
) -> SimpleITK.Image:
    """Return an array [k, j, i] (or [j, i] for contours in a plane) as an image.

    spacing: of the voxels along i, j, k in mm, or one number for all. origin: LPS position of voxel 0, 0, 0 in mm, 0
    when None. direction: matrix, or its numbers row by row, whose columns are the unit vectors along i, j, k; the axes
    of the patient when None. Arrays in a plane have two of each instead of three. Raises InputError.
    """
    if array.ndim not in (2, 3):
        raise InputError(f"An array needs 2 or 3 dimensions, [j, i] or [k, j, i]; this one has {array.ndim}.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"An array needs numbers as its values, not {array.dtype.name}.")
    if not array.size:
        raise InputError(f"The array has no voxels: its shape is {array.shape}.")
    if spacing is None:
        raise InputError("An array does not say how large its voxels are: give the spacing along i, j, k in mm.")
    axes = array.ndim
    steps = _numbers(spacing, "spacing", axes)
    if not (steps > 0).all():
        raise InputError("The spacing must be greater than 0 mm.")
    native = np.dtype(REPLACED.get(array.dtype.name, array.dtype.name))
    image = SimpleITK.GetImageFromArray(np.ascontiguousarray(array, native))
    image.SetSpacing(steps.tolist())
    if origin is not None:
        image.SetOrigin(_numbers(origin, "origin", axes).tolist())
    if direction is not None:
        direction = _numbers(direction, "direction", axes * axes).reshape(axes, axes)
        if not np.allclose(direction.T @ direction, np.eye(axes), atol=1e-3):
            raise InputError("The direction must be of unit vectors at right angles to each other.")
        image.SetDirection(direction.ravel().tolist())
    return image


def _numbers(given, what: str, count: int) -> np.ndarray:
    """Return numbers of a geometry as an array (count,); one number counts for each axis of a spacing."""
    try:
        # texts and truth values would be taken for numbers
        numbers = np.asarray(given, float).ravel() if np.asarray(given).dtype.kind in "iuf" else np.array([np.nan])
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if what == "spacing" and np.ndim(given) == 0:
        numbers = np.repeat(numbers, count)
    if not np.isfinite(numbers).all():
        raise InputError(f"The {what} must be of finite numbers, not {given!r}.")
    if len(numbers) != count:
        raise InputError(f"The {what} of an array needs {count} numbers here, not {len(numbers)}.")
    return numbers


def structureFromImage(
    image: SimpleITK.Image,
    name: str,
    label: int | None,
    threshold: float | None,
    maximum: int | None = None,
    canChoose: bool = True,
    ignored: int | None = None,
) -> Structure:
    """Return the structure in a mask, a membership image, or one label of a label map.

    label: of a label map; it has no meaning for membership images. threshold, maximum: see Settings. canChoose: whether
    the caller could have given a label. ignored: a label that is no structure. Raises ValueError when a label is needed
    or invalid, and when the image is not a segmentation.
    """
    if label is not None:
        label = positiveLabel(label)
    if image.GetPixelIDTypeAsString().startswith("label of"):  # there are no voxels to look at
        raise InputError("The image is a list of labeled objects without voxels; make it a label map first.")
    memberships = membershipsOf(image, maximum)
    if memberships is not None:
        return structureFromMemberships(name, memberships, threshold)
    threshold = HALF if threshold is None else threshold
    if label is not None:
        mask, others = labelMask(image, label, threshold)
        # the note distinguishes a mistyped label from a structure that was not drawn
        note = f"Label {label} does not occur in the {name}, which has {listLabels(others)}."
        return Structure(name, mask, otherLabels=others if mask.isEmpty else None, notes=(note,) if others else ())
    found = {number: mask for number, mask in labelMasks(image, threshold).items() if number != ignored}
    if len(found) > 1:
        advice = "say which one to compare (label=...)" if canChoose else f"give one alone, as in image == {min(found)}"
        raise InputError(f"The image has {len(found)} {listLabels(found)}: {advice}.")
    return Structure(name, next(iter(found.values())) if found else masks.Mask.empty(Grid.fromImage(image)))


def listLabels(labels: Collection[int | str]) -> str:
    """Return the first labels of an image, in words."""
    shown = commaSeparated(map(str, labels))
    return f"labels ({shown})" if len(labels) > 1 else f"label {shown}" if labels else "no label"


def structureFromMemberships(name: str, memberships: masks.Mask, threshold: float | None) -> Structure:
    """Return a structure whose voxels count in part, or with a threshold, that of the voxels at or above it."""
    notes: tuple[str, ...] = ()
    undecided = np.count_nonzero((memberships.voxels > UNDECIDED) & (memberships.voxels < 1 - UNDECIDED))
    if undecided > MOST_UNDECIDED * math.prod(memberships.grid.size):
        between = f"{UNDECIDED:g} and {1 - UNDECIDED:g}"
        notes = (f"most values lie between {between}: it may be an image of intensities instead of memberships",)
    if threshold is not None:
        return Structure(name, memberships.cut(threshold), notes=notes)
    return Structure(name, memberships.cut(HALF), memberships=memberships, notes=notes)


def membershipsOf(image: SimpleITK.Image, maximum: int | None = None) -> masks.Mask | None:
    """Return the voxels of a membership image, None for a mask or a label map.

    maximum: full membership of images with values above 1; None if such values are not memberships. Raises
    NoSegmentation, a ValueError, when an image with values above 1 also has negative ones, or ones above the maximum.
    """
    array = SimpleITK.GetArrayViewFromImage(image)
    if image.GetNumberOfComponentsPerPixel() != 1 or array.dtype.kind not in ("fiu" if maximum is not None else "f"):
        return None
    if not array.size:
        return None  # reported when looking for labels
    grid, array = Grid.fromImage(image), valuesOf(image)
    low, high = spanOf(array)
    if high > 1 and maximum is not None:
        if low < 0 or high > maximum:
            raise NoSegmentation(
                f"The image is not a map of memberships from 0 to {maximum}: it has values from {low:g} to {high:g}."
            )
        # single precision is exact enough for integers of 8 or 16 bits
        array = array / np.float32(maximum) if array.dtype.itemsize < 4 else array / maximum
    elif array.dtype.kind != "f" or not _areMemberships(low, high) or (array == np.rint(array)).all():
        return None
    else:
        array = array.clip(0, 1)
    return masks.Mask.ofMemberships(array, grid)


def valuesOf(image: SimpleITK.Image) -> np.ndarray:
    """Return a view of the values [k, j, i] of an image that has one value per voxel, and a Grid."""
    return SimpleITK.GetArrayViewFromImage(image).reshape(Grid.fromImage(image).size[::-1])


def _areMemberships(low: float, high: float) -> bool:
    """Return whether values from low to high are memberships in [0, 1], apart from rounding."""
    return low >= -ROUNDING and high <= 1 + ROUNDING


def structureFromPolyData(polyData: vtkPolyData, name: str) -> Structure:
    """Return the structure of a surface or planar contours in LPS mm."""
    return Structure(name, givenSurface=meshing.fromPolyData(polyData), surfaceKind="imported")


def labelMasks(image: SimpleITK.Image, threshold: float) -> dict[int, masks.Mask]:
    """Return the mask of every label of an image, {1: mask} for memberships.

    threshold: membership at or above which a voxel belongs to the structure. Raises NoSegmentation, a ValueError, for
    images that are not segmentations: vector images, fractional values outside [0, 1], negative values, or too many
    different values for labels.
    """
    labels, peaks = _labelsOf(image, threshold)
    found = masks.fromLabels(labels, Grid.fromImage(image), peaks)
    if len(found) > MOST_LABELS:
        raise NoSegmentation(f"The image is not a label map: it has {len(found)} different values.")
    return found


def labelMask(image: SimpleITK.Image, label: int, threshold: float) -> tuple[masks.Mask, tuple[int, ...]]:
    """Return the mask of one label of an image, faster than labelMasks(), and the labels that occur if it does not.

    The mask is then empty; otherwise the labels are (). The threshold and errors are as for labelMasks(), except that
    the number of labels is not limited.
    """
    labels, peaks = _labelsOf(image, threshold)
    mask = masks.oneOfLabels(labels, label, Grid.fromImage(image), peaks)
    return mask, tuple(masks.boxesOfLabels(labels)) if mask.isEmpty else ()


def _labelsOf(image: SimpleITK.Image, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels [k, j, i] of an image, 1 for memberships, and the largest label (k,) of every slice."""
    if image.GetNumberOfComponentsPerPixel() != 1:
        raise NoSegmentation("The image has several values per voxel; a segmentation has one.")
    if not image.GetNumberOfPixels():
        raise NoSegmentation(f"The image has no voxels: its size is {' x '.join(map(str, image.GetSize()))}.")
    array = valuesOf(image)
    if array.dtype.kind == "c":
        raise NoSegmentation("The image has complex values; a segmentation has labels.")
    if array.dtype.kind == "f":
        low, high = spanOf(array)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise NoSegmentation(NO_NUMBERS)
        if _areMemberships(low, high):
            array = (array >= threshold).view(np.uint8)
            return array, masks.peaksOf(array)
        whole = wholeNumbers(array, low, high)
        if whole is None:
            raise NoSegmentation(
                "The image is neither a label map nor a map of memberships in [0, 1]: "
                f"it has values from {shortest(low + 0.0)} to {shortest(high)}.{_ifScaled(low, high)}"
            )
        array = whole
    peaks = masks.peaksOf(array)
    low, high = 0 if array.dtype.kind == "u" else array.min(), peaks.max()
    if low < 0:
        raise NoSegmentation(f"The image is not a label map: it has negative values, from {low} to {high}.")
    if high > MOST_UNSUSPICIOUS_LABELS and _looksLikeIntensities(array):
        raise NoSegmentation(
            f"The image is not a label map: its values, up to {high}, change from voxel to voxel like those of a CT or "
            f"MR image.{_ifScaled(float(low), float(high))}"
        )
    return array, peaks


def _ifScaled(low: float, high: float) -> str:
    """Return advice on treating values from low to high as memberships above 1, "" if they are unlikely to be."""
    if low >= -OVERSHOOT and high <= 1 + OVERSHOOT:
        return " If they are memberships that interpolation took beyond these limits, clip them to [0, 1]."
    full = next((full for full in FULL_MEMBERSHIPS if full / 2 < high <= full), 0)
    if low < 0 or not full:
        return ""
    where = SettingPlace(f"--set membershipMaximum={full}", f"membershipMaximum={full}")
    return f" If they are memberships and {full} means full membership, say so {where}."


def positiveLabel(label: object) -> int:
    """Return the number of a label. Raises InputError for anything but a whole number from 1."""
    try:
        number = operator.index(cast(SupportsIndex, label))
    except TypeError:
        number = 0
    if number < 1 or isinstance(label, bool):
        raise InputError(f"A label must be a whole number from 1, not {label!r}.")
    return number


def spanOf(array: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest value of an array, both NaN if any value is."""
    lows, highs = zip(*((part.min(), part.max()) for part in _parts(array)), strict=True)
    return float(np.min(lows)), float(np.max(highs))


def wholeNumbers(array: np.ndarray, low: float, high: float) -> np.ndarray | None:
    """Return floating-point numbers as uint8 if they fit, else as int64; None if not all of them are whole and exact.

    low, high: the smallest and the largest of them, as spanOf() returns them.
    """
    if not max(-low, high) <= LARGEST_FLOAT_LABEL:  # also not a number
        return None
    whole = np.empty(array.shape, np.uint8 if low >= 0 and high <= 255 else np.int64)
    for given, result in zip(_parts(array), _parts(whole), strict=True):
        result[:] = given
        if (result != given).any():
            return None
    return whole


def _parts(array: np.ndarray) -> Iterator[np.ndarray]:
    """Return an iterator over an array in parts that fit in the processor's cache, for several passes over each."""
    numbers = array.reshape(-1)
    return (numbers[first : first + masks.BLOCK] for first in range(0, len(numbers), masks.BLOCK))


def _looksLikeIntensities(array: np.ndarray) -> bool:
    """Return whether most values of an image [k, j, i] are scattered: their neighbors in the slice have other values.

    Only some rows are sampled. This prevents thousands of gray values from being compared as separate labels.
    """
    slices, rows = (
        np.unique(np.linspace(0, count - 1, most).astype(int))
        for count, most in zip(array.shape, (SLICES_LOOKED_AT, ROWS_LOOKED_AT))
    )
    asked = array[np.ix_(slices, rows)]
    # the last row has no row below
    pairs = (asked[..., 1:], asked[..., :-1]), (asked[:, :-1], array[np.ix_(slices, rows[:-1] + 1)])
    values = np.unique(asked)
    if np.count_nonzero(values) <= MOST_UNSUSPICIOUS_LABELS:
        return False
    neighbors, alike = np.zeros((2, len(values)))
    for first, second in pairs:
        areInside = (first != 0) & (second != 0)
        numbers = np.searchsorted(values, first[areInside])
        neighbors += np.bincount(numbers, minlength=len(values))
        alike += np.bincount(numbers[first[areInside] == second[areInside]], minlength=len(values))
    met = neighbors > 0
    return bool(met.any()) and float(np.median(alike[met] / neighbors[met])) < 0.5

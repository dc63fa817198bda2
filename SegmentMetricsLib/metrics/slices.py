"""How the segments differ in every slice of the reference, as a table and a chart.

The profile covers the slices that at least one of the two is in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..base.plain import toPlain
from ..base.texts import coordinateText, shortest
from ..geometry.grids import Grid
from ..geometry.slabs import normalOf
from ..geometry.slicing import SliceStack
from ..geometry.surfaces import elementCenters
from . import boundary, effort, overlap
from .effort import solidOf
from .metric import Family, quantity
from .nearcontour import NearContour
from .pair import Pair
from .sliceareas import SliceAreas, areasOf

FAMILY = Family(110)
# The segments of contours are halved up to this many times, like those of single contours, as long as there are at most
# this many pieces.
MOST_SUBDIVISIONS, MOST_PIECES = 5, 100_000
# Slices lie along an axis if this component of their unit normal is at least this large.
ALONG_AN_AXIS = 1 - 1e-6
# Difference in mm up to which two coordinates are the same: the headers of images are rounded.
SAME_COORDINATE = 1e-2
PAIRED = "Mean distance of the points that the Medical Similarity Index pairs; infinite if contours cannot be paired"
FOLLOWED = "How well the test's contours follow the reference's; 0 if they cannot be paired one by one"
ADDED = "Length of the reference's contour that lies farther than {tolerance} mm from the test's"
# Columns of a table of slices: key -> title, unit, description.
COLUMNS = {
    "DSC": ("Dice similarity coefficient", "", "Overlap of the two in the slice"),
    "HD": ("Hausdorff distance", "mm", "Largest distance between the contours, in the plane of the slice"),
    "MASD": ("Mean average surface distance", "mm", "Mean distance between the contours, over both directions"),
    "AreaReference": ("Area of the reference", "mm2", "Area of the reference's voxels in the slice"),
    "AreaTest": ("Area of the test", "mm2", "Area of the test's voxels, or of a mesh, in the slice"),
    "AreaDifference": ("Area difference", "mm2", "Area of the test minus that of the reference"),
    "MSI": ("Medical Similarity Index", "", FOLLOWED),
    "MeanBLD": ("Mean bidirectional local distance", "mm", PAIRED),
    "MeanBLD_pixel": ("Mean bidirectional local distance in pixels", "pixel", PAIRED),
    "APL_{tolerance}mm": ("Added path length, {tolerance} mm", "mm", ADDED),
}


@dataclass(frozen=True)
class SliceRow:
    """How two structures differ in one slice.

    index: of the slice in the reference's image, 0 for contours in one plane. position: of the slice along its normal,
    LPS in mm, greater toward L, P or S. place: LPS in mm of the place where the contours differ most; the center of the
    contour if only one structure is in the slice. only: "reference" or "test" if the other one is not in the slice,
    else "". values: the numbers by the keys of COLUMNS, with the tolerance in mm in those of the added path length. HD
    and MASD are measured in the plane of the slice, and infinite if one structure is not in it. MSI and MeanBLD are
    only there if the similarity family was measured, the latter as MeanBLD_pixel if it is in pixels.
    """

    index: int
    position: float
    place: tuple[float, float, float]
    only: str
    values: Mapping[str, float]

    def __getitem__(self, key: str) -> float:
        return self.values[key]

    def toDictionary(self) -> dict:
        """Return the row for JSON: null for distances that are infinite because `only` one is in the slice."""
        own = {"index": self.index, "position": self.position, "place": list(self.place), "only": self.only}
        return {**own, **toPlain(self.values)}

    @staticmethod
    def fromDictionary(data: Mapping) -> SliceRow:
        """Return the row that toDictionary() described."""
        values: dict[str, Any] = {key: math.inf if value is None else value for key, value in data.items()}
        index, position, place, only = (values.pop(name) for name in ("index", "position", "place", "only"))
        return SliceRow(index, position, tuple(place), only, values)


def columnOf(key: str) -> tuple[str, str, str]:
    """Return title, unit and description of a column of a table of slices, one of the keys of SliceRow.values."""
    if key.startswith("APL_"):
        words = {"tolerance": key.removeprefix("APL_").removesuffix("mm")}
        title, unit, description = (text.format(**words) for text in COLUMNS["APL_{tolerance}mm"])
        return title, unit, description
    return COLUMNS[key]


def profile(
    areasOfSlices: SliceAreas, stacks: tuple[SliceStack, SliceStack], beyond: Mapping[float, np.ndarray], grid: Grid
) -> tuple[SliceRow, ...]:
    """Return the rows of two structures, in ascending order of position.

    areasOfSlices, stacks: of the reference and the test, in the slices along the k axis of a grid. beyond: for each
    tolerance in mm, the length (m,) in mm of each segment of the reference's stack that lies farther than that from the
    test's.
    """
    first, counts, both = areasOfSlices.first, areasOfSlices.areas, areasOfSlices.shared
    pixel = float(np.linalg.norm(np.cross(grid.axes[:, 0], grid.axes[:, 1])))
    normal = normalOf(grid.axes)
    distances = [_slicewise(*order, counts, first) for order in (stacks, stacks[::-1])]
    largest, means, places = map(np.array, zip(*distances, strict=True))
    added = {t: np.bincount(stacks[0].numbers - first, lengths, len(both)) for t, lengths in beyond.items()}
    rows = []
    for number in np.flatnonzero(counts.any(axis=0)).tolist():
        reference, test = counts[:, number].tolist()
        if reference and test:
            only, place = "", places[largest[:, number].argmax(), number]
            hausdorff, mean = float(largest[:, number].max()), float(means[:, number].sum()) / 2
        else:
            only, hausdorff, mean = "reference" if reference else "test", math.inf, math.inf
            place = areasOfSlices.center(0 if reference else 1, first + number)
        position = float(grid.toWorld([[0, 0, first + number]])[0] @ normal)
        dice, areas = 2 * both[number].item() / (reference + test), (reference * pixel, test * pixel)
        lengths = {tolerance: float(some[number]) for tolerance, some in added.items()}
        values = _valuesOf(dice, hausdorff, mean, areas, lengths)
        rows.append(SliceRow(int(first + number), position, tuple(place.tolist()), only, values))
    return tuple(sorted(rows, key=lambda row: row.position))


def _slicewise(
    source: SliceStack, target: SliceStack, counts: np.ndarray, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distances in mm from the contours of one stack to those of the other in the same slice.

    They are the largest (n,), of the corners and of the middles of the segments' pieces, the mean (n,), weighted by
    length, and the LPS places (n, 3) of the largest, in every slice.
    """
    contours, slices, count = source.contours, source.numbers - first, counts.shape[1]
    inShared = np.all(counts, axis=0)[slices]
    total = np.bincount(slices[inShared], contours.sizes[inShared], count)
    largest, mean, places = np.zeros(count), np.zeros(count), np.zeros((count, 3))
    numbers, starts = np.unique(slices, return_index=True)
    places[numbers] = contours.points[contours.cells[starts, 0]]
    # a segment of both contours has the distance 0
    segments = np.flatnonzero(inShared & ~np.isin(source.keys, target.keys))
    if len(segments):
        cells = contours.cells[segments]
        subdivisions = int(min(MOST_SUBDIVISIONS, np.log2(max(1, MOST_PIECES / len(segments)))))
        centers = elementCenters(contours.points, cells, subdivisions)
        # in closed contours, every corner starts one segment
        points = np.concatenate([contours.points[cells[:, 0]], centers])
        ofCenters = np.repeat(slices[segments], len(centers) // len(cells))
        owners = np.concatenate([slices[segments], ofCenters])
        distances, _ = NearContour(target.contours).nearest(points, math.inf)
        np.maximum.at(largest, owners, distances)
        sizes = np.repeat(contours.sizes[segments] * len(cells) / len(centers), len(centers) // len(cells))
        weighted = np.bincount(ofCenters, sizes * distances[len(cells) :], count)
        np.divide(weighted, total, out=mean, where=total > 0)
        farthest = np.flatnonzero((distances == largest[owners]) & (distances > 0))
        numbers, starts = np.unique(owners[farthest], return_index=True)
        places[numbers] = points[farthest[starts]]
    return largest, mean, places - np.arange(first, first + count)[:, None] * source.shift


def axisOf(normal: np.ndarray) -> int | None:
    """Return the LPS axis along which slices with a unit normal (3,) lie, None if they are oblique."""
    axis = int(np.abs(normal).argmax())
    return axis if abs(normal[axis]) > ALONG_AN_AXIS else None


def axisOfRows(rows: Sequence[SliceRow]) -> int | None:
    """Return the LPS axis along which the slices of a profile lie, None if they are oblique.

    The profile does not have their normal, but the positions of slices along an axis are the coordinates of their
    places.
    """
    places, positions = np.array([row.place for row in rows]), np.array([[row.position] for row in rows])
    fits = np.flatnonzero(np.abs(places - positions).max(axis=0) < SAME_COORDINATE)
    return int(fits[-1]) if len(fits) else None


def slicePosition(position: float, axis: int | None) -> str:
    """Return the position of a slice in mm: "S 12.5" as in Slicer's views, or if the slices are oblique "12.5"."""
    return f"{position:.1f}" if axis is None else coordinateText(position, axis, 1)


def needsOfProfile(pair: Pair) -> tuple[str, ...]:
    """Return the names of what the profile of a pair needs that findings and results can use, too."""
    return ("distances", "crispCounts") if pair.dimension == 2 and not pair.emptiness else ()


@quantity()
def profileRows(pair: Pair) -> tuple[SliceRow, ...]:
    """Return a row for every slice of the reference that either structure is in; one row for contours in one plane.

    The slices are those of the reference's image, in its own orientation; a test on another lattice, or given as a
    mesh, is cut by their planes. If the reference is empty, the slices are those of the test. What the similarity
    family measured in a slice is in its row. Raises Undefined if both structures are empty or the reference is a mesh.
    """
    beyond = {t: pair.find("lengthsBeyond", {"tolerance": t}) for t in pair.settings.tolerances}
    if pair.dimension == 2 and not pair.emptiness:
        rows: tuple[SliceRow, ...] = (_ofContours(pair, beyond),)
    else:
        sides, stacks = pair["slicedSides"], pair["sliceStacks"]
        reference, test = (solidOf(pair, which, side) for which, side in enumerate(sides))
        areas = areasOf((reference, test), stacks)
        rows = profile(areas, stacks, beyond, sides[0].grid)
    found = pair.findIfNeeded("sliceSimilarity")
    if found is None:
        return rows
    key = "MeanBLD" if found.unit == "mm" else f"MeanBLD_{found.unit}"
    missing = {"MSI": 0.0, key: math.inf}
    values = {s.index: {"MSI": s.score, key: math.inf if s.meanBLD is None else s.meanBLD} for s in found.slices}
    return tuple(replace(row, values={**row.values, **values.get(row.index, missing)}) for row in rows)


def _ofContours(pair: Pair, beyond: Mapping[float, np.ndarray]) -> SliceRow:
    """Return the row of two contours in one plane, neither empty. beyond: as for profile()."""
    place = max(pair.distances.directions, key=lambda d: d.largest).largestPlace
    counts = pair.crispCounts
    pixel = 1.0 if counts.unit == "area" else pair.masks[0].grid.voxelSize
    normal = cast(np.ndarray, pair.reference.surface.normal)
    normal = normal * np.sign(normal[np.abs(normal).argmax()])
    values = _valuesOf(
        overlap.dice(counts),
        float(boundary.hausdorff(pair.distances)),
        float(boundary.meanAverageSurfaceDistance(pair.distances)),
        (counts.reference * pixel, counts.test * pixel),
        {t: effort.addedPathLength(lengths) for t, lengths in beyond.items()},
    )
    return SliceRow(0, float(place @ normal), tuple(place.tolist()), "", values)


def _valuesOf(
    dice: float, hausdorff: float, mean: float, areas: tuple[float, float], lengths: Mapping[float, float]
) -> dict[str, float]:
    """Return the values of a row. areas: mm2. lengths: added path lengths in mm by tolerance."""
    paths = {f"APL_{shortest(tolerance)}mm": length for tolerance, length in lengths.items()}
    numbers = (dice, hausdorff, mean, *areas, areas[1] - areas[0])
    return {**dict(zip(COLUMNS, numbers)), **paths}

"""Surfaces as pictures, with arrays alone: on any computer, without a graphics driver, and in any thread.

A report is made in a thread inside Slicer, where no window of a graphics driver may be opened, and on servers that have
no driver; so a z-buffer draws all pictures of files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGWriter

from ..base.palettes import rgb

# Most samples that are looked at together.
MOST_SAMPLES = 1 << 17
# Neighboring pixels that differ by more than this, of 255, are an edge.
EDGE = 24
# Brightness of what is seen from its side, and the direction of the light: right, down, to the viewer.
AMBIENT, LIGHT = 0.6, np.array((-0.2, -0.45, 0.87), np.float32)
# Samples this close to a side of a triangle are in it, as no hole may be between two triangles.
HAIR = 1e-4
# zlib's level: higher ones take much longer and save little.
PNG_COMPRESSION = 2
Color = str | Callable[[np.ndarray], np.ndarray]
Direction = Sequence[float] | np.ndarray


class Shape(NamedTuple):
    """Triangles to be drawn.

    points: (n, 3) LPS mm. triangles: (m, 3). values: (n,), which have colors. isClosed: whether triangles face outward,
    so that the inside is never seen.
    """

    points: np.ndarray
    triangles: np.ndarray
    values: np.ndarray
    isClosed: bool = True


class Camera(NamedTuple):
    """From where something is seen, by parallel rays.

    axes: (3, 3) unit vectors as rows, LPS: to the right and downward in the picture, and to the viewer. center: (3,)
    LPS mm, which is at the pixels `at` (2,). scale: pixels per mm.
    """

    axes: np.ndarray
    center: np.ndarray
    at: np.ndarray
    scale: float

    def places(self, points: np.ndarray) -> np.ndarray:
        """Return points (n, 3) as pixels to the right, down and to the viewer (n, 3)."""
        places = (points - self.center) @ self.axes.T * self.scale
        places[:, :2] += self.at
        return places


def axesToward(direction: Direction) -> np.ndarray:
    """Return the axes of a Camera for a direction (3,) to the viewer, LPS.

    Up is toward the patient's head, or toward the front if seen from the head or the feet.
    """
    toward = np.asarray(direction, float) / np.linalg.norm(direction)
    down = np.array([0.0, 0.0, -1.0]) if abs(toward[2]) < 0.99 else np.array([0.0, 1.0, 0.0])
    right = np.cross(toward, down)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, toward), toward])


def fit(points: np.ndarray, direction: Direction, size: tuple[int, int], area: Sequence[float]) -> Camera:
    """Return the camera in whose picture points (n, 3), LPS mm, fill an area.

    direction: (3,) to the viewer, LPS. size: width and height in pixels. area: left, top, right, bottom as fractions.
    """
    axes = axesToward(direction)
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    box = np.reshape(area, (2, 2)) * size
    scale = float(((box[1] - box[0]) / np.maximum((high - low)[:2], 1e-6)).min())
    return Camera(axes, (low + high) / 2 @ axes, box.mean(axis=0), scale)


def normalsOf(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (n, 3) of points, of length 1, or 0: the mean of those of their triangles by area."""
    first, second, third = (points.take(corner, axis=0) for corner in triangles.T)
    ofTriangles = np.cross(second - first, third - first)
    normals = np.zeros((len(points), 3), ofTriangles.dtype)
    for corner in triangles.T:
        for axis in range(3):
            normals[:, axis] += np.bincount(corner, ofTriangles[:, axis], minlength=len(points))
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


def draw(
    canvas: np.ndarray, shape: Shape, camera: Camera, color: Color, isLit: bool = True, finer: int = 2
) -> np.ndarray:
    """Draw a shape on a picture (height, width, 3) uint8 in place, and return the share of each pixel that it covers.

    color: of all, as #rrggbb, or what returns the colors (n, 3) in [0, 255] of values (n,). isLit: whether sides that
    face away from the light are darker. finer: samples of a pixel along each axis.
    """
    whole, places = np.zeros(canvas.shape[:2], np.float32), camera.places(shape.points)
    # only what the shape reaches
    low = np.maximum(np.floor(places.min(axis=0)).astype(int)[:2], 0).tolist()
    high = np.ceil(places.max(axis=0)).astype(int)[:2].tolist()
    part = tuple(slice(first, max(end, first)) for first, end in zip(low[::-1], high[::-1], strict=True))
    field = canvas[part]
    height, width = (finer * side for side in field.shape[:2])
    if not height * width:
        return whole
    places[:, :2] -= low
    nearest, normals, values = _samples((places * finer).astype(np.float32), shape, (width, height))
    covered = np.flatnonzero(nearest > -np.inf)
    colors = 255 * np.array(rgb(color)) if isinstance(color, str) else color(values[covered])
    if isLit:
        lit = normals[covered]
        # surfaces of either orientation look the same
        facing = np.sign(lit[:, 2]) * (lit @ LIGHT) / np.maximum(np.sqrt(np.einsum("ij,ij->i", lit, lit)), 1e-12)
        colors = (AMBIENT + (1 - AMBIENT) * np.clip(facing, 0, 1))[:, None] * colors
    drawn = np.zeros((height * width, 4), np.float32)
    drawn[covered, :3], drawn[covered, 3] = colors, 1
    drawn = drawn.reshape(height // finer, finer, width // finer, finer, 4)
    sums = np.zeros_like(drawn[:, 0, :, 0])
    for row, column in np.ndindex(finer, finer):  # NumPy is slow to sum along short axes
        sums += drawn[:, row, :, column]
    sums /= finer**2
    field[:] = np.rint(field * (1 - sums[..., 3:]) + sums[..., :3])
    whole[part] = sums[..., 3]
    return whole


def _samples(places: np.ndarray, shape: Shape, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the depth (s,), normal (s, 3) and value (s,) of what is in front of each sample of a picture.

    Where there is nothing, the depth is -inf. places: (n, 3) float32 of the points, in samples.
    """
    ofPoints = np.column_stack([normalsOf(places, shape.triangles), shape.values]).astype(np.float32)
    first, second, third = (places.take(corner, axis=0) for corner in shape.triangles.T)
    u, v = second - first, third - first
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    isSeen = np.abs(area) > 1e-9
    if shape.isClosed:  # so that half of it is hidden
        isSeen &= area * np.sign(np.einsum("ij,ij->", np.cross(u, v), first, dtype=float)) > 0
    # the samples whose centers are in the box around each triangle
    start, end = (choose(choose(first, second), third)[:, :2] for choose in (np.minimum, np.maximum))
    start = np.maximum(np.ceil(start - 0.5).astype(int), 0)
    wide, tall = (np.minimum(np.floor(end - 0.5).astype(int) + 1, size) - start).clip(0).T
    counts = np.where(isSeen, wide * tall, 0)
    chosen = np.flatnonzero(counts)
    counts, wide = counts[chosen], wide[chosen].astype(np.int32)
    left, top = start[chosen].astype(np.int32).T
    firstX, firstY, depths = first[chosen].T
    (uX, uY), (vX, vY) = ((side[chosen, :2] / area[chosen, None]).T for side in (u, v))
    uDepths, vDepths = u[chosen, 2], v[chosen, 2]
    one, two, three = (ofPoints.take(corner, axis=0) for corner in shape.triangles[chosen].T)
    two -= one
    three -= one
    nearest = np.full(size[0] * size[1], -np.inf, np.float32)
    seen = np.zeros((len(nearest), 4), np.float32)
    before = np.cumsum(counts) - counts
    for part in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(before // MOST_SAMPLES)) + 1):
        which = np.repeat(part, counts[part])
        ahead = (before[part] - before[part[:1]]).astype(np.int32)
        inBox = np.arange(len(which), dtype=np.int32) - np.repeat(ahead, counts[part])
        row, column = np.divmod(inBox, wide.take(which))
        column += left.take(which)
        row += top.take(which)
        # the shares of the second and the third corner
        x = column.astype(np.float32) + np.float32(0.5) - firstX.take(which)
        y = row.astype(np.float32) + np.float32(0.5) - firstY.take(which)
        s = x * vY.take(which) - y * vX.take(which)
        t = y * uX.take(which) - x * uY.take(which)
        isIn = np.flatnonzero((s >= -HAIR) & (t >= -HAIR) & (s + t <= 1 + HAIR))
        which, s, t, sample = which.take(isIn), s.take(isIn), t.take(isIn), (row * size[0] + column).take(isIn)
        depth = depths.take(which) + s * uDepths.take(which) + t * vDepths.take(which)
        np.maximum.at(nearest, sample, depth)
        front = np.flatnonzero(depth == nearest.take(sample))
        which, s, t = which.take(front), s.take(front)[:, None], t.take(front)[:, None]
        seen[sample.take(front)] = one.take(which, axis=0) + s * two.take(which, axis=0) + t * three.take(which, axis=0)
    return nearest, seen[:, :3], seen[:, 3]


def smoothEdges(picture: np.ndarray) -> None:
    """Soften the edges in a picture (height, width, 3) uint8 in place, as cheaper than drawing it with more samples."""
    light = picture[..., 1].astype(np.int16)
    across, down = (np.abs(np.diff(light, axis=axis)) > EDGE for axis in (1, 0))
    isEdge = across[1:-1, :-1] | across[1:-1, 1:] | down[:-1, 1:-1] | down[1:, 1:-1]
    rows, columns = (places + 1 for places in np.nonzero(isEdge))
    around = [(rows - 1, columns), (rows + 1, columns), (rows, columns - 1), (rows, columns + 1)]
    sums = sum((picture[place].astype(np.uint16) for place in around), 4 * picture[rows, columns].astype(np.uint16))
    picture[rows, columns] = (sums + 4) // 8


def interpolate(values: np.ndarray, low: float, high: float, palette: Sequence[str]) -> np.ndarray:
    """Return the colors (n, 3) from 0 to 255 of values (n,) on a scale of equally spaced colors from low to high."""
    stops, channels = np.linspace(low, high, len(palette)), 255 * np.array(list(map(rgb, palette))).T
    return np.stack([np.interp(values, stops, channel) for channel in channels], axis=1)


def linesOf(points: np.ndarray, cells: np.ndarray, values: np.ndarray, toward: np.ndarray, radius: float) -> Shape:
    """Return lines between points as flat bands with round ends.

    points: (n, 3). cells: (m, 2) ends of the lines. values: (n,) of the points. toward: (3,) to the viewer. radius:
    half of their width, in the unit of the points.
    """
    start, end = points[cells[:, 0]], points[cells[:, 1]]
    beside = np.cross(end - start, toward)
    beside *= radius / np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-12)
    along = np.cross(toward, beside)
    # half a circle around the one end, and half a circle around the other
    half = [np.cos(turn) * along + np.sin(turn) * beside for turn in np.linspace(-np.pi / 2, np.pi / 2, 7)]
    corners = np.stack([*(end + step for step in half), *(start - step for step in half)], axis=1)
    fan = np.array([(0, number, number + 1) for number in range(1, 2 * len(half) - 1)])
    triangles = corners.shape[1] * np.arange(len(cells))[:, None, None] + fan
    ofCorners = np.repeat(values[cells[:, ::-1]], len(half), axis=1)
    return Shape(corners.reshape(-1, 3), triangles.reshape(-1, 3), ofCorners.ravel(), isClosed=False)


def imageOf(pixels: np.ndarray) -> vtkImageData:
    """Return pixels (height, width) or (height, width, 3) uint8, top row first, as an image of VTK."""
    height, width = pixels.shape[:2]
    image = vtkImageData()
    image.SetDimensions(width, height, 1)
    scalars = np.ascontiguousarray(pixels[::-1]).reshape(height * width, -1)
    image.GetPointData().SetScalars(numpy_to_vtk(scalars, deep=True))
    return image


def writePng(pixels: np.ndarray, path: str | Path) -> Path:
    """Write (height, width, 3) uint8 RGB, top row first, as PNG and return the path. Raises OSError."""
    path = Path(path)
    writer = vtkPNGWriter()
    writer.SetCompressionLevel(PNG_COMPRESSION)
    writer.SetWriteToMemory(True)
    writer.SetInputData(imageOf(pixels))
    writer.Write()
    path.write_bytes(bytes(memoryview(writer.GetResult())))
    return path

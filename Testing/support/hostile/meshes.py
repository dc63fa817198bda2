"""Meshes: damaged files, and triangles that make no proper surface."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import numpy as np
import shapes
from vtkmodules.util.numpy_support import vtk_to_numpy

from . import REMARK, Measured, Row
from .builders import written

# The reference is the box from 0 to 10 mm; this one lies 2 mm further along x.
BOX = shapes.boxMesh((2, 0, 0), (12, 10, 10))
CORNERS = vtk_to_numpy(BOX.GetPoints().GetData()).astype(float)
CELLS = vtk_to_numpy(BOX.GetPolys().GetConnectivityArray()).reshape(-1, 3)
FAR = len(CORNERS)
MOVED = {"DSC": 0.8, "VolumeTest": 1000}
# In the half of a face that is missing the center of the circle within is farthest, between its sides.
NO_INSIDE = {"HD": 10 - 50**0.5, "VolumeReference": 1000}
NO_INSIDE |= dict.fromkeys(("DSC", "BIoU_2mm", "VolumeTest", "VolumeDifference", "VoxelVolumeTest"), "undefined")


def reference(folder: Path) -> Path:
    return shapes.writeMesh(shapes.boxMesh((0, 0, 0), (10, 10, 10)), folder / "reference.vtp")


def mesh(*given):
    """Return what writes polygons and lines between points."""
    return lambda folder: shapes.writeMesh(shapes.meshOf(*given), folder / "odd.vtp")


def boxes(*bounds, turned=()):
    """Return what writes boxes, each given by its corners, as one mesh; the turned ones face inward."""
    points, cells = [], []
    for number, (low, high) in enumerate(bounds):
        box = shapes.boxMesh(low, high)
        own = vtk_to_numpy(box.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        cells.append(own[:, :: -1 if number in turned else 1] + sum(map(len, points)))
        points.append(vtk_to_numpy(box.GetPoints().GetData()))
    return mesh(np.concatenate(points), np.concatenate(cells))


def changed(suffix: str, *changes: tuple[bytes, bytes], ascii: bool = True):
    """Return what writes the box and replaces words in the file."""

    def make(folder: Path) -> Path:
        path = shapes.writeMesh(BOX, folder / f"odd{suffix}", ascii=ascii)
        data = path.read_bytes()
        for old, new in changes:
            if old not in data:
                raise LookupError(f"{old!r} is not in the file")
            data = data.replace(old, new)
        path.write_bytes(data)
        return path

    return make


def solid(folder: Path) -> Path:
    """Write the box as binary STL whose free text begins as that of a text file does."""
    path = shapes.writeMesh(BOX, folder / "odd.stl")
    path.write_bytes(b"solid" + path.read_bytes()[5:])
    return path


def ply(header: str, body: str = ""):
    """Return what writes a PLY file with three points, or what the header says instead."""
    return written("odd.ply", f"ply\nformat ascii 1.0\n{header}end_header\n{body}")


XYZ = "property float x\nproperty float y\nproperty float z\n"
LIST = "property list uchar int vertex_indices\n"
TRIANGLE = f"element vertex 3\n{XYZ}element face 1\n{LIST}"
THREE = "0 0 0\n1 0 0\n0 1 0\n"
TETRAHEDRON = "v 0 0 0\nv 9 0 0\nv 0 9 0\nv 0 0 9\n"
LAUGHS = '<!ENTITY a "ha">' + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))

NOISE = np.random.default_rng(1).bytes(3000)
DISTANCES = ("--metrics", "boundary,overlap")

POINTS = [
    Row("a NaN point", mesh([*CORNERS, (nan, 0, 0)], [*CELLS, (0, 1, FAR)])),
    Row("a NaN point that no triangle has", mesh([*CORNERS, (nan, 0, 0)], CELLS)),
    Row("a point at infinity", mesh([*CORNERS, (inf, 0, 0)], [*CELLS, (0, 1, FAR)])),
    Row("one point at 1e30 mm", mesh([*CORNERS, (1e30, 0, 0)], [*CELLS, (0, 1, FAR)]), ("1e+30 mm",)),
    Row("all points at 1e200 mm", mesh(1e200 * CORNERS, CELLS), ("1.2e+201 mm",)),
    Row("smaller than any voxel", mesh(1e-30 * CORNERS, CELLS), Measured({"DSC": 0}, REMARK)),
    Row("points that are not there", mesh(CORNERS, [*CELLS, (0, 1, FAR)])),
    Row("points before the first", mesh(CORNERS, [*CELLS, (0, 1, -1)])),
    Row("duplicate points", mesh(CORNERS[CELLS].reshape(-1, 3), np.arange(CELLS.size).reshape(-1, 3)), Measured(MOVED)),
    Row("points only", written("odd.obj", "v 1 2 3\nv 2 3 4\nv 3 4 5\n")),
]

TRIANGLES = [
    Row("open", mesh(CORNERS, CELLS[:-1]), Measured(NO_INSIDE, (*REMARK, "3")), options=DISTANCES),
    Row("inverted", mesh(CORNERS, CELLS[:, ::-1]), Measured(MOVED, REMARK)),
    Row(
        "half of it inverted",
        mesh(CORNERS, np.where(np.arange(len(CELLS))[:, None] % 2, CELLS, CELLS[:, ::-1])),
        Measured(MOVED, (*REMARK, "6", "12")),
    ),
    Row(
        "non-manifold: two boxes on one edge",
        boxes(((2, 0, 0), (12, 10, 10)), ((12, 10, 0), (22, 20, 10))),
        Measured({"VolumeTest": 2000, "DSC": 2 * 800 / 3000}, (*REMARK, "1")),
    ),
    Row(
        "self-intersecting: two boxes in each other",
        boxes(((2, 0, 0), (10, 10, 10)), ((6, 1, 1), (12, 9, 9))),
        Measured({"DSC": "undefined", "VolumeTest": "undefined"}, REMARK),
    ),
    Row("stored twice", mesh(CORNERS, [*CELLS, *CELLS]), Measured(MOVED, (*REMARK, "12"))),
    Row(
        "with a cavity",
        boxes(((2, 0, 0), (12, 10, 10)), ((4, 2, 2), (10, 8, 8)), turned=(1,)),
        Measured({"VolumeTest": 1000 - 216}),
    ),
    Row(
        "zero-area triangles",
        mesh([*CORNERS, (7, 5, 5)], [*CELLS, (0, 0, 1), (0, 1, 1), (FAR, FAR, FAR)]),
        Measured(MOVED, (*REMARK, "3")),
    ),
    Row("zero-area triangles only", mesh([(1, 1, 1)] * 3, [(0, 1, 2)])),
    Row("lines to a point that is not there", mesh(CORNERS[:3], [], [(0, 1, 3, 0)])),
    Row("lines only, open", mesh(CORNERS, [], [(0, 1, 2)])),
    Row("lines only, bent", mesh(CORNERS, [], [(0, 1, 2, 5, 0)])),
    Row(
        "lines only, a contour",
        lambda folder: shapes.writeMesh(shapes.loops([(0, 0), (4, 0), (4, 3)]), folder / "odd.vtp"),
    ),
    Row("lines beside triangles", mesh(CORNERS, CELLS, [(0, 1)]), Measured(MOVED)),
]

FILES = [
    Row("STL of text", written("odd.stl", "hello, this is a letter")),
    Row("STL of words", written("odd.stl", "solid x\nfacet normal 0 0 0\nouter loop\nvertex a b c\n")),
    Row("STL of zeros", written("odd.stl", bytes(1000))),
    Row("binary STL that begins as text does", solid, Measured(MOVED)),
    Row("OBJ, a number of a million digits", written("odd.obj", f"{TETRAHEDRON}f {'1' * 10**6} 2 3\n")),
    Row(
        "OBJ, materials elsewhere",
        written("odd.obj", f"mtllib ../../../etc/passwd\n{TETRAHEDRON}f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"),
        Measured({"VolumeTest": 9**3 / 6}),
    ),
    Row("OBJ of text", written("odd.obj", "hello, this is a letter")),
    Row("STL of noise", written("odd.stl", NOISE)),
    Row("STL of nothing", written("odd.stl", "solid x\nendsolid x\n")),
    Row("PLY of points only", ply(f"element vertex 3\n{XYZ}", THREE)),
    Row("VTP of noise", written("odd.vtp", NOISE)),
    Row("VTP of 10^7 points", changed(".vtp", (b'NumberOfPoints="24"', b'NumberOfPoints="9999999"'))),
    Row("VTP of -5 points", changed(".vtp", (b'NumberOfPoints="24"', b'NumberOfPoints="-5"'))),
    Row("VTP of 10^7 triangles", changed(".vtp", (b'NumberOfPolys="12"', b'NumberOfPolys="9999999"'))),
    Row("VTP of 101 coordinates", changed(".vtp", (b'Components="3"', b'Components="101"'))),
    Row("VTP of another kind", changed(".vtp", (b'"PolyData"', b'"ImageData"'))),
    Row("VTP that names a file", changed(".vtp", (b"<VTKFile", b'<!DOCTYPE x SYSTEM "/etc/passwd"><VTKFile'))),
    Row("VTP that unfolds without end", written("odd.vtp", f"<!DOCTYPE x [{LAUGHS}]><VTKFile>&j;</VTKFile>")),
    Row("VTP 100,000 levels deep", written("odd.vtp", '<VTKFile type="PolyData">' + "<a>" * 100_000)),
    Row("PLY of -1 triangles", ply(TRIANGLE.replace("face 1", "face -1"), THREE)),
    Row("PLY, a list of 10^15 points", ply(TRIANGLE, f"{THREE}1e15 0 1 2\n")),
    Row("PLY, a million rows of nothing", ply(f"element nothing 1000000\n{TRIANGLE}", f"{THREE}3 0 1 2\n")),
]

ROWS = [
    Row(f"a mesh: {row.given}", row.make, row.outcome, reference, row.options or ("--metrics", "overlap"))
    for row in (*POINTS, *TRIANGLES, *FILES)
]

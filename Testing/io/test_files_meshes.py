"""Meshes of every kind in, and one sentence for every one that cannot be used."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import shapes
from imagefiles import middleOf, refusal
from shapes import meshOf
from vtkmodules.vtkFiltersSources import vtkCubeSource

from SegmentMetricsLib import compare, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.io import reading as files
from SegmentMetricsLib.io.formats import ply, stl


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".vtp", ".STL"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("space", ["", "LPS", "RAS"])
def testMeshesOfEveryKind(tmp_path, suffix, ascii, space):
    path = shapes.writeMesh(shapes.boxMesh((10, 20, 30), (14, 26, 38)), tmp_path / f"Box.v2{suffix}", space, ascii)
    (structure,) = readStructures(path)
    assert (structure.name, structure.file, structure.surfaceKind) == ("Box.v2", str(path), "imported")
    assert middleOf(structure) == pytest.approx((-12, -23, 34) if space == "RAS" else (12, 23, 34))
    assert structure.surface.volume == pytest.approx(4 * 6 * 8)
    assert structure.surface.isClosed and structure.surface.repairs == ()
    assert structure.mask is None and structure.samplingGrid is None


def testMeshOfPolygons(tmp_path):
    source = vtkCubeSource()
    source.Update()  # six squares, whose corners are not shared
    path = shapes.writeMesh(source.GetOutput(), tmp_path / "squares.vtp")
    (structure,) = readStructures(path)
    assert structure.surface.isClosed and structure.surface.volume == pytest.approx(1)


def testContoursInAFile(tmp_path):
    path = shapes.writeMesh(shapes.loops([(0, 0), (4, 0), (4, 3), (0, 3)], z=7), tmp_path / "rectangle.vtp")
    (structure,) = readStructures(path)
    assert structure.dimension == 2 and structure.surface.volume == pytest.approx(12)


# PLY


def plyText(faces, order="ascii", vertices=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), newline="\n") -> bytes:
    """Return a PLY file as other programs write them: double coordinates, colors, flags behind the faces' corners."""
    header = [
        "ply",
        f"format {order} 1.0",
        "comment made by hand",
        "obj_info nothing",
        f"element vertex {len(vertices)}",
        "property double x",
        "property float64 y",
        "property float z",
        "property uchar red",
        f"element face {len(faces)}",
        "property list uint8 int32 vertex_indices",
        "property short flag",
        "end_header",
    ]
    header = (newline.join(header) + newline).encode()
    if order == "ascii":
        rows = [f"{x} {y} {z} 255" for x, y, z in vertices] + [f"{len(f)} {' '.join(map(str, f))} 3" for f in faces]
        return header + (newline.join(rows) + newline).encode()
    sign = "<" if order == "binary_little_endian" else ">"
    body = b"".join(struct.pack(f"{sign}ddfB", *vertex, 255) for vertex in vertices)
    return header + body + b"".join(struct.pack(f"{sign}B{len(f)}ih", len(f), *f, 3) for f in faces)


TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian", "binary_big_endian"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def testPlyOfOtherPrograms(tmp_path, order, newline):
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(TETRAHEDRON, order, newline=newline))
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(1 / 6) and structure.surface.isClosed


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian"])
def testPlyOfMixedPolygons(tmp_path, order):
    # a pyramid on a square, with a face of two corners that has no area
    vertices = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, 3))
    faces = ((0, 3, 2, 1), (0, 1, 4), (1, 2), (1, 2, 4), (2, 3, 4), (3, 0, 4))
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(faces, order, vertices))
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(4) and structure.surface.isClosed


def testPlyKeepsDoublePrecision(tmp_path):
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(TETRAHEDRON, "ascii", ((123.4567890123, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))))
    polyData, comments = ply.read(path)
    assert polyData.GetPoint(0)[0] == 123.4567890123 and comments == "made by hand"


def ascii(text: str) -> bytes:
    return f"ply\nformat ascii 1.0\n{text}".encode()


XYZ = "property float x\nproperty float y\nproperty float z\n"


@pytest.mark.parametrize(
    "content",
    [
        b"not a mesh",
        b"ply\nend_header\n"[:6],
        plyText(TETRAHEDRON).replace(b"ascii", b"EBCDIC"),
        plyText(TETRAHEDRON).replace(b"float64", b"float128"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face 5"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face 99999999999999999999"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face four"),
        plyText(TETRAHEDRON).replace(b"property double x\n", b""),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"3 0 2 one"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"3 0 2 nan"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"300 0 2 1"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"4294967296 0 2 1"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"2.5 0 2 1"),
        ascii(f"element vertex 1\n{XYZ}property float x\nend_header\n0 0 0 0\n"),
    ],
)
def testDamagedPly(tmp_path, content):
    path = tmp_path / "x.ply"
    path.write_bytes(content)
    assert refusal(path) == "the file is damaged or incomplete."


def testPlyCutOff(tmp_path):
    """Behind every byte of its rows; a missing line end at the end is no harm. The fuzzer cuts binary files."""
    whole = plyText(TETRAHEDRON)
    path = tmp_path / "x.ply"
    for length in (1, 3, 50, 100, *range(whole.index(b"end_header"), len(whole) - 2)):
        path.write_bytes(whole[:length])
        assert refusal(path) == "the file is damaged or incomplete.", length


# Meshes that cannot be used


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".vtp"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.8, 0.99])
def testMeshesCutOff(tmp_path, capfd, suffix, ascii, share):
    whole = shapes.writeMesh(shapes.ballMesh(10, resolution=12), tmp_path / f"whole{suffix}", "LPS", ascii)
    data = whole.read_bytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(data[: int(len(data) * share)])
    # a .obj holds no count: what is cut at the end of a line is open, which a finding tells
    if suffix == ".obj":
        try:
            assert not readStructures(path)[0].surface.isClosed
        except files.UnusableFile:
            refusal(path)
    else:
        assert "damaged" in refusal(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [b"VTK", b"solid of a program that writes numbers"])
def testBinaryStlCutOff(tmp_path, name):
    """Told from the number of triangles: VTK 9.5 reads those that are there as if they were all."""
    path = tmp_path / "x.stl"
    whole = name.ljust(80) + struct.pack("<I", 4) + bytes(4 * 50)
    for length in (0, 83, 84, 84 + 50, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="damaged"):
            stl.check(path)
    for more in (b"", b"what some programs add"):
        path.write_bytes(whole + more)
        stl.check(path)


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("polyData", "message"),
    [
        (meshOf(CORNERS), "the mesh has no cells: no triangles and no contour lines."),
        (meshOf([]), "the mesh has no cells: no triangles and no contour lines."),
        (meshOf(CORNERS, [(0, 1, 3)]), "The surface has triangles or lines between points that do not exist."),
        (meshOf(CORNERS, [(0, 1, -1)]), "The surface has triangles or lines between points that do not exist."),
        (
            meshOf(CORNERS, [], [(0, 1, 3, 0)]),
            "The surface has triangles or lines between points that do not exist.",
        ),
        (
            meshOf([*CORNERS, (0, 0, np.nan)], [(0, 1, 3)]),
            "The surface has points whose coordinates are not numbers.",
        ),
        (
            meshOf([*CORNERS, (np.inf, 0, 0)], [(0, 1, 2)]),
            "The surface has points whose coordinates are not numbers.",
        ),
        (meshOf(CORNERS, [(0, 1, 1)]), "The surface has no triangle with an area."),
        (meshOf(CORNERS, [], [(0, 1, 2)]), "The contour lines are not closed."),
        (
            meshOf([*CORNERS, (0, 0, 1)], [], [(0, 1, 2, 3, 0)]),
            "The contour lines do not lie in one plane.",
        ),
    ],
)
def testMeshesThatCannotBeCompared(tmp_path, polyData, message):
    assert refusal(shapes.writeMesh(polyData, tmp_path / "x.vtp")) == message
    # the same in memory
    if "no cells" not in message:
        with pytest.raises(ValueError) as caught:
            compare(polyData, shapes.ballMesh(3))
        assert str(caught.value) == f"The reference cannot be compared. {message}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cloud.ply", ascii(f"element vertex 3\n{XYZ}end_header\n0 0 0\n1 0 0\n0 1 0\n"), "the mesh has no cells"),
        ("cloud.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "the mesh has no cells"),
        ("none.stl", b"solid x\nendsolid x\n", "the mesh has no cells"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "The surface has triangles or lines between points"),
        ("text.obj", b"hello, this is a letter\n", "the file cannot be read as a mesh: it is damaged"),
        ("text.stl", b"hello, this is a letter\n", "the file cannot be read as a mesh: it is damaged"),
        ("text.vtp", b"hello, this is a letter\n", "the file cannot be read as a mesh: it is damaged"),
        ("noise.stl", np.random.default_rng(0).bytes(3000), "the file cannot be read as a mesh: it is damaged"),
        ("noise.vtp", np.random.default_rng(0).bytes(3000), "the file cannot be read as a mesh: it is damaged"),
        ("noise.ply", np.random.default_rng(0).bytes(3000), "the file is damaged or incomplete."),
    ],
)
def testMeshFilesThatCannotBeUsed(tmp_path, capfd, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path).startswith(message)
    assert capfd.readouterr() == ("", "")

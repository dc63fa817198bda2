"""Meshes of every kind in, and one sentence for every one that cannot be used."""

from __future__ import annotations

import struct

import pytest
import shapes
from imagefiles import middleOf, refusal
from vtkmodules.vtkFiltersSources import vtkCubeSource

from SegmentMetricsLib import readStructures


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


def testPolygonsAndContours(tmp_path):
    source = vtkCubeSource()
    source.Update()  # six squares, whose corners are not shared
    (structure,) = readStructures(shapes.writeMesh(source.GetOutput(), tmp_path / "squares.vtp"))
    assert structure.surface.isClosed and structure.surface.volume == pytest.approx(1)
    rectangle = shapes.loops([(0, 0), (4, 0), (4, 3), (0, 3)], z=7)
    (structure,) = readStructures(shapes.writeMesh(rectangle, tmp_path / "rectangle.vtp"))
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
    assert readStructures(path)[0].surface.points.max() == 123.4567890123


# What is changed in the text of a good file.
DAMAGES = [
    *(("ascii", "EBCDIC"), ("float64", "float128"), ("property double x\n", ""), ("double x", "float y")),
    *(("element face 4", f"element face {count}") for count in ("5", "99999999999999999999", "four")),
    *(("3 0 2 1", row) for row in ("3 0 2 one", "3 0 2 nan", "300 0 2 1", "4294967296 0 2 1", "2.5 0 2 1")),
    ("3 0 2 1", "3 0 1 inf"),
]


def testDamagedPly(tmp_path):
    path, whole = tmp_path / "x.ply", plyText(TETRAHEDRON)
    for content in (b"not a mesh", b"ply\nen", *(whole.replace(*(one.encode() for one in pair)) for pair in DAMAGES)):
        path.write_bytes(content)
        assert content != whole and refusal(path) == "the file is damaged or incomplete.", content


def testPlyCutOff(tmp_path):
    """Behind every byte of its rows; a missing line end at the end is no harm. The fuzzer cuts binary files."""
    whole = plyText(TETRAHEDRON)
    path = tmp_path / "x.ply"
    for length in (1, 3, 50, 100, *range(whole.index(b"end_header"), len(whole) - 2)):
        path.write_bytes(whole[:length])
        assert refusal(path) == "the file is damaged or incomplete.", length


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
        except ValueError:
            refusal(path)
    else:
        assert "damaged" in refusal(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [b"VTK", b"solid of a program that writes numbers"])
def testBinaryStlCutOff(tmp_path, name):
    """Told from the number of triangles: VTK 9.5 reads those that are there as if they were all."""
    path = shapes.writeMesh(shapes.boxMesh((0, 0, 0), (2, 3, 5)), tmp_path / "x.stl")
    whole = name.ljust(80) + path.read_bytes()[80:]
    for length in (83, 84, 84 + 50, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "damaged" in refusal(path)
    for more in (b"", bytes(50)):
        path.write_bytes(whole + more)
        assert readStructures(path)[0].surface.volume == pytest.approx(30)

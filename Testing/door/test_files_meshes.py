"""Meshes of every kind in, and one sentence for every one that cannot be used."""

from __future__ import annotations

import base64
import re
import struct

import numpy as np
import pytest
import shapes
from imagefiles import middleOf, refusal
from sayings import says
from tiers import rarely, throughout
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkFiltersSources import vtkCubeSource
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

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


def testSurfacesOfSegmentsHaveTheNamesOfTheSegments(tmp_path):
    """Slicer numbers the files next to a .seg.vtm in the order of the segments, which differs between observers."""
    for number, name in enumerate(("Liver", "Lesion", "Lesion")):
        mesh = shapes.boxMesh((10, 20, 30), (14, 26, 38))
        for key, value in {"ID": f"S{number}", "Name": name, "Color": "1 0.5 0"}.items():
            array = vtkStringArray()
            array.SetName(f"Segment_{key}")
            array.InsertNextValue(value)
            mesh.GetFieldData().AddArray(array)
        shapes.writeMesh(mesh, tmp_path / f"organs_{number}.vtp")
    (liver,) = readStructures(tmp_path / "organs_0.vtp")
    assert (liver.name, liver.segmentID, liver.color) == ("Liver", "S0", (1.0, 0.5, 0.0))
    assert {one.name for one in readStructures(tmp_path)} == {"Liver", "organs_1", "organs_2"}
    (tmp_path / "organs_1.vtp").write_text("damaged")  # it may be any segment
    structures = readStructures(tmp_path)
    assert {one.name for one in structures} == {"Liver", "Lesion"} and {*structures.lost} == {"organs_1", ""}


def testPolygonsAndContours(tmp_path):
    source = vtkCubeSource()
    source.Update()  # six squares, whose corners are not shared
    (structure,) = readStructures(shapes.writeMesh(source.GetOutput(), tmp_path / "squares.vtp"))
    assert structure.surface.isClosed and structure.surface.volume == pytest.approx(1)
    rectangle = shapes.loops([(0, 0), (4, 0), (4, 3), (0, 3)], z=7)
    (structure,) = readStructures(shapes.writeMesh(rectangle, tmp_path / "rectangle.vtp"))
    assert structure.dimension == 2 and structure.surface.volume == pytest.approx(12)


# PLY


CORNERS = ((0, 0, 0), (123.4567890123, 0, 0), (0, 1, 0), (0, 0, 1))


def plyText(faces, order="ascii", vertices=CORNERS, newline="\n") -> bytes:
    """Return a PLY file as other programs write them: double coordinates, colors, flags behind the faces' corners."""
    header = ["ply", f"format {order} 1.0", "comment made by hand", "obj_info nothing"]
    header += [f"element vertex {len(vertices)}", "property double x", "property float64 y", "property float z"]
    header += ["property uchar red", f"element face {len(faces)}", "property list uint8 int32 vertex_indices"]
    header = (newline.join([*header, "property short flag", "end_header"]) + newline).encode()
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
    assert structure.surface.volume == pytest.approx(123.4567890123 / 6) and structure.surface.isClosed
    assert structure.surface.points.max() == 123.4567890123, "in double precision"


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian"])
def testPlyOfMixedPolygons(tmp_path, order):
    # a pyramid on a square, with a face of two corners that has no area
    vertices = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, 3))
    faces = ((0, 3, 2, 1), (0, 1, 4), (1, 2), (1, 2, 4), (2, 3, 4), (3, 0, 4))
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(faces, order, vertices))
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(4) and structure.surface.isClosed


# What is changed in the text of a good file.
DAMAGES = [
    *(("ascii", "EBCDIC"), ("float64", "float128"), ("property double x\n", ""), ("double x", "float y")),
    *(("element face 4", f"element face {count}") for count in ("5", "99999999999999999999", "four")),
    *(("3 0 2 1", row) for row in ("3 0 2 one", "3 0 2 nan", "300 0 2 1", "4294967296 0 2 1", "2.5 0 2 1")),
    ("3 0 2 1", "3 0 1 inf"),
]


def testDamagedPly(tmp_path):
    path, whole, told = tmp_path / "x.ply", plyText(TETRAHEDRON), set()
    for content in (b"not a mesh", b"ply\nen", *(whole.replace(*(one.encode() for one in pair)) for pair in DAMAGES)):
        path.write_bytes(content)
        assert content != whole
        told.add(refusal(path))
    (said,) = told
    says(said)


def testPlyCutOff(tmp_path):
    """Behind every byte of its rows; a missing line end at the end is no harm. The fuzzer cuts binary files."""
    whole = plyText(TETRAHEDRON)
    path, told = tmp_path / "x.ply", set()
    for length in (1, 3, 50, 100, *range(whole.index(b"end_header"), len(whole) - 2)):
        path.write_bytes(whole[:length])
        told.add(refusal(path))
    (said,) = told
    says(said)


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
        says(refusal(path))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [b"VTK", b"solid of a program that writes numbers"])
def testBinaryStlCutOff(tmp_path, name):
    """Told from the number of triangles: VTK 9.5 reads those that are there as if they were all."""
    path = shapes.writeMesh(shapes.boxMesh((0, 0, 0), (2, 3, 5)), tmp_path / "x.stl")
    whole = name.ljust(80) + path.read_bytes()[80:]
    for length in (83, 84, 84 + 50, len(whole) - 1):
        path.write_bytes(whole[:length])
        says(refusal(path))
    for more in (b"", bytes(50)):
        path.write_bytes(whole + more)
        assert readStructures(path)[0].surface.volume == pytest.approx(30)


# OBJ: every legible way to write a corner

POINTS = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\n"
FACES = ((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))


def faces(form: str) -> str:
    return "".join("f " + " ".join(form.format(n, n - 5) for n in face) + "\n" for face in FACES)


@pytest.mark.parametrize(
    "text",
    [
        POINTS + faces("{0}"),
        # the mark at the beginning that some programs write before texts
        "\ufeff# made elsewhere\n" + POINTS + faces("{0}"),
        # texture and normal numbers
        *(
            POINTS + "vt 0 0\n" * 4 + "vn 0 0 1\n" * 4 + faces(form)
            for form in ("{0}/{0}", "{0}/{0}/{0}", "{0}//{0}", "{0}//", "{0}/")
        ),
        # counted back from the last point
        POINTS + faces("{1}"),
        POINTS + faces("{1}/{1}/{1}"),
        # windows line ends, tabs, blank lines, no end of the last line
        (POINTS + faces("{0}")).replace("\n", "\r\n").replace(" ", "\t  ").strip(),
        # comments, groups, materials that are nowhere, and lines that go on
        f"# SPACE=LPS\nmtllib none.mtl\no one # name\n{POINTS}g a b\nusemtl red\ns off\n"
        + faces("{0}").replace("f 1 3 2\n", "f 1 \\\n3 \\\r\n 2 # face\n"),
        # points with colors or weights, normals and textures without use
        POINTS.replace("\n", " 0.1 0.2 0.3\n") + "vn 0 0 1\nvt 0 0\nvp 1\n" + faces("{0}/1/1"),
        POINTS.replace("\n", " 1.0\n") + faces("{0}"),
        # faces before their points, and the old name of faces
        faces("{0}").replace("f ", "fo ") + POINTS,
    ],
)
def testAnObjTetrahedron(tmp_path, text):
    path = tmp_path / "tetrahedron.obj"
    path.write_bytes(text.encode())
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(1000 / 6) and structure.surface.openEdges == 0
    assert len(structure.surface.points) == 4 and len(structure.surface.cells) == 4


def testGroupsOfAnObjAreOneStructure(tmp_path):
    """Slicer writes all segments of a segmentation into one file, without their names."""
    (tmp_path / "organs.obj").write_text(f"{POINTS}g grp1\nf 1 3 2\nf 1 2 4\ng grp843\nf 1 4 3\nf 2 3 4\n")
    (structure,) = readStructures(tmp_path / "organs.obj")
    assert says(*structure.notes) and structure.surface.isClosed


def testObjLinesAreContours(tmp_path):
    path = tmp_path / "contour.obj"
    path.write_text("v 0 0 5\nv 4 0 5\nv 4 3 5\nv 0 3 5\nl 1 2 3 -1 1\n")
    (structure,) = readStructures(path)
    assert structure.dimension == 2 and structure.surface.volume == pytest.approx(12)


@throughout(
    "text",
    [
        *(POINTS + f"f {face}\n" for face in ("1 2", "1", "0 1 2", "1 2 -5", "1 2 3/a", "1 2 3/1/1/1", "1 2 5")),
        *(POINTS + f"f {face}\n" for face in ("1 2 x", "1 2 1.5", f"1 2 {10**30}", "1/1 2/1 /1", "1 2 nan")),
        *(f"v 0 0{end}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" for end in ("", " zero", " nan")),
        *(POINTS + line for line in ("l 1\n", "q 1 2 3\n", "surf 0 1 0 1 1 2 3\nend\n")),
    ],
)
def testObjThatCannotBeUsed(tmp_path, text):
    path = tmp_path / "bad.obj"
    path.write_text(text)
    says(refusal(path))


# VTP: all forms that VTK writes, and arrays that say that they are larger than the file can hold

BOX = shapes.boxMesh((0, 0, 0), (2, 3, 5))


def writeVtp(path, mode="Appended", compressor="ZLib", header="64", order="Little", isEncoded=False, mesh=BOX):
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(mesh)
    getattr(writer, f"SetDataModeTo{mode}")()
    getattr(writer, f"SetCompressorTypeTo{compressor}")()
    getattr(writer, f"SetHeaderTypeToUInt{header}")()
    getattr(writer, f"SetByteOrderTo{order}Endian")()
    writer.SetEncodeAppendedData(isEncoded)
    writer.Write()
    return path


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
@pytest.mark.parametrize("compressor", ["None", "ZLib", "LZ4", "LZMA"])
@pytest.mark.parametrize(("header", "order", "isEncoded"), [("32", "Big", True), ("64", "Little", False)])
def testVtpInAllForms(tmp_path, mode, compressor, header, order, isEncoded):
    (structure,) = readStructures(writeVtp(tmp_path / "box.vtp", mode, compressor, header, order, isEncoded))
    assert structure.surface.volume == pytest.approx(30)


@pytest.mark.parametrize("compressor", ["ZLib", *rarely(("None", "LZ4", "LZMA"))])
def testVtpOfManyBlocks(tmp_path, compressor):
    """Arrays of several blocks, one of them of equal values, which are packed most closely."""
    mesh = shapes.ballMesh(10, resolution=200)
    flat = np.zeros((mesh.GetNumberOfPoints(), 3))
    array = numpy_to_vtk(flat, deep=True)
    array.SetName("Nothing")
    mesh.GetPointData().AddArray(array)
    (structure,) = readStructures(writeVtp(tmp_path / "ball.vtp", compressor=compressor, mesh=mesh))
    assert structure.surface.volume == pytest.approx(4 / 3 * np.pi * 1000, rel=1e-3)


def testVtpSizesThatTheFileCannotHold(tmp_path):
    path = writeVtp(tmp_path / "box.vtp")
    data = path.read_bytes()
    begin = data.index(b"_", data.index(b"<AppendedData")) + 1
    points = begin + int(re.search(rb'Name="Points".*?offset="(\d+)"', data, re.DOTALL)[1])
    for place in (0, 16, 24):  # number of blocks, size of the only one, and of its packed form
        changed = bytearray(data)
        struct.pack_into("<Q", changed, points + place, 10**6)
        path.write_bytes(changed)
        says(refusal(path))


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
@pytest.mark.parametrize("value", [10**6, -1])
def testVtpCellsThatTheFileCannotHold(tmp_path, mode, value):
    path = writeVtp(tmp_path / "box.vtp", mode, "None")
    data = path.read_bytes()
    # the last cell ends at the 36th corner
    if mode == "Ascii":
        changed = re.sub(rb"\b36\b(?=\s*</DataArray>)", str(value).encode(), data)
    elif mode == "Appended":
        changed = data.replace(struct.pack("<2q", 33, 36), struct.pack("<2q", 33, value))
    else:
        text = re.findall(rb"<DataArray[^>]*offsets[^>]*>\s*(\S+)\s*<", data)[-1]
        decoded = base64.b64decode(text)
        changed = data.replace(text, base64.b64encode(decoded[:-8] + struct.pack("<q", value)))
    assert changed != data
    path.write_bytes(changed)
    says(refusal(path))

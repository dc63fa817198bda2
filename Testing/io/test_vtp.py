"""VTP meshes in all forms that VTK writes, and arrays that say that they are larger than the file can hold."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
import shapes
from imagefiles import refusal
from tiers import rarely
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from SegmentMetricsLib import readStructures

BOX = shapes.boxMesh((0, 0, 0), (2, 3, 5))
NO_MESH = "the file cannot be read as a mesh: it is damaged, or of a different kind than its name says."


def write(path, mode="Appended", compressor="ZLib", header="64", order="Little", isEncoded=False, mesh=BOX):
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
def testAllForms(tmp_path, mode, compressor, header, order, isEncoded):
    (structure,) = readStructures(write(tmp_path / "box.vtp", mode, compressor, header, order, isEncoded))
    assert structure.surface.volume == pytest.approx(30)


@pytest.mark.parametrize("compressor", ["ZLib", *rarely(("None", "LZ4", "LZMA"))])
def testManyBlocks(tmp_path, compressor):
    """Arrays of several blocks, one of them of equal values, which are packed most closely."""
    mesh = shapes.ballMesh(10, resolution=200)
    flat = np.zeros((mesh.GetNumberOfPoints(), 3))
    from vtkmodules.util.numpy_support import numpy_to_vtk

    array = numpy_to_vtk(flat, deep=True)
    array.SetName("Nothing")
    mesh.GetPointData().AddArray(array)
    (structure,) = readStructures(write(tmp_path / "ball.vtp", compressor=compressor, mesh=mesh))
    assert structure.surface.volume == pytest.approx(4 / 3 * np.pi * 1000, rel=1e-3)


def testSizesThatTheFileCannotHold(tmp_path):
    path = write(tmp_path / "box.vtp")
    data = path.read_bytes()
    begin = data.index(b"_", data.index(b"<AppendedData")) + 1
    points = begin + int(re.search(rb'Name="Points".*?offset="(\d+)"', data, re.DOTALL)[1])
    for place in (0, 16, 24):  # number of blocks, size of the only one, and of its packed form
        changed = bytearray(data)
        struct.pack_into("<Q", changed, points + place, 10**6)
        path.write_bytes(changed)
        assert refusal(path) == NO_MESH


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
@pytest.mark.parametrize("value", [10**6, -1])
def testCellsThatTheFileCannotHold(tmp_path, mode, value):
    path = write(tmp_path / "box.vtp", mode, "None")
    data = path.read_bytes()
    # the last cell ends at the 36th corner
    if mode == "Ascii":
        changed = re.sub(rb"\b36\b(?=\s*</DataArray>)", str(value).encode(), data)
    elif mode == "Appended":
        changed = data.replace(struct.pack("<2q", 33, 36), struct.pack("<2q", 33, value))
    else:
        import base64

        text = re.findall(rb"<DataArray[^>]*offsets[^>]*>\s*(\S+)\s*<", data)[-1]
        decoded = base64.b64decode(text)
        changed = data.replace(text, base64.b64encode(decoded[:-8] + struct.pack("<q", value)))
    assert changed != data
    path.write_bytes(changed)
    assert refusal(path) == NO_MESH

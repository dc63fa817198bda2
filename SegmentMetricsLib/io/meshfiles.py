"""Reading meshes in the coordinate system noted in the file."""

from __future__ import annotations

from pathlib import Path

from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError
from ..geometry import meshing
from ..model.structures import Structure
from . import stlheaders, vtpheaders
from .messages import quiet


def readMesh(path: Path, suffix: str, name: str) -> Structure:
    """Return the structure of a mesh file. suffix: of the file, in lower case. Raises InputError if it is no mesh."""
    polyData, inRas = readPolyData(path, suffix)
    if polyData.GetNumberOfCells() == 0:
        raise InputError("the mesh has no cells: no triangles and no contour lines.")
    surface = meshing.fromPolyData(polyData)
    if inRas:
        surface = meshing.transformed(surface, lambda points: points * (-1, -1, 1))
    return Structure(name, givenSurface=surface, surfaceKind="imported", file=str(path))


def readPolyData(path: Path, suffix: str) -> tuple[vtkPolyData, bool]:
    """Return a mesh file's polydata, and whether a note in the file says that it is in RAS; the default is LPS."""
    if suffix == ".ply":
        from .ply import readPly

        polyData, note = readPly(path)
        return polyData, "SPACE=RAS" in note
    if suffix == ".obj":
        from .obj import readObj

        polyData, note = readObj(path)
        return polyData, "SPACE=RAS" in note
    if suffix == ".vtp":
        vtpheaders.check(path)
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader as Reader
    else:
        stlheaders.check(path)
        from vtkmodules.vtkIOGeometry import vtkSTLReader as Reader
    reader = Reader()
    reader.SetFileName(str(path))
    with quiet() as messages:
        reader.Update()
    polyData = reader.GetOutput()
    if polyData is None or "ERROR:" in messages.GetOutput():
        raise InputError(vtpheaders.NO_MESH)
    # Slicer notes the coordinate system in the header or in the field data
    if suffix == ".vtp":
        space = polyData.GetFieldData().GetAbstractArray("SPACE")
        note = f"SPACE={space.GetValue(0)}" if space is not None and space.GetNumberOfValues() else ""
    else:
        note = reader.GetHeader() or ""
    if isinstance(note, bytes):  # VTK could not decode the header
        note = note.decode("latin-1")
    return polyData, "SPACE=RAS" in note

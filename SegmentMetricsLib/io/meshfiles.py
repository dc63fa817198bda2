"""Reading meshes in the coordinate system noted in the file."""

from __future__ import annotations

from pathlib import Path

from ..base.errors import InputError
from ..geometry import meshing
from ..model.structure import Structure
from .formats.table import MESHES


def readMesh(path: Path, suffix: str, name: str) -> Structure:
    """Return the structure of a mesh file. suffix: of the file, in lower case. Raises InputError if it is no mesh."""
    polyData, note = next(one for one in MESHES if one.suffix == suffix).read(path)
    if polyData.GetNumberOfCells() == 0:
        raise InputError("the mesh has no cells: no triangles and no contour lines.")
    surface = meshing.fromPolyData(polyData)
    if "SPACE=RAS" in note:  # Slicer's note; the default is LPS
        surface = meshing.transformed(surface, lambda points: points * (-1, -1, 1))
    return Structure(name, givenSurface=surface, surfaceKind="imported", file=str(path))

"""Reading meshes with readers of VTK, whose messages become errors."""

from __future__ import annotations

from pathlib import Path

from vtkmodules.vtkCommonDataModel import vtkPolyData

from ...base.errors import InputError
from ..messages import quiet

NO_MESH = "the file cannot be read as a mesh: it is damaged, or of a different kind than its name says."


def readBy(reader, path: Path) -> vtkPolyData:
    """Return what a reader of VTK, which keeps its header, reads from a file. Raises InputError if that is no mesh."""
    reader.SetFileName(str(path))
    with quiet() as messages:
        reader.Update()
    polyData = reader.GetOutput()
    if polyData is None or "ERROR:" in messages.GetOutput():
        raise InputError(NO_MESH)
    return polyData

"""Reading meshes with readers of VTK, whose messages become errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import VTK_ID_TYPE
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

from ...base.errors import InputError
from ...geometry.surfaces import doublePoints
from ..messages import quiet

# Where each cell begins in the list of their corners and where the last one ends, and the corners.
Cells = tuple[np.ndarray, np.ndarray]
# A mesh, a text that may hold a note on its coordinate system, and remarks for readers of the results.
ReadMesh = tuple[vtkPolyData, str, tuple[str, ...]]
NO_CELLS: Cells = (np.zeros(1, np.int64), np.zeros(0, np.int64))
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


def polyDataOf(points: np.ndarray, polygons: Cells, lines: Cells = NO_CELLS) -> vtkPolyData:
    """Return a mesh. points: (n, 3). polygons, lines: where each begins among their corners and where the last ends."""
    polyData = vtkPolyData()
    polyData.SetPoints(doublePoints(points))
    for give, cells in ((polyData.SetPolys, polygons), (polyData.SetLines, lines)):
        array = vtkCellArray()
        array.SetData(*(numpy_to_vtk(a.astype(np.int64), deep=True, array_type=VTK_ID_TYPE) for a in cells))
        give(array)
    return polyData

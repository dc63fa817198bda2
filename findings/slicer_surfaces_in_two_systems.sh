#!/bin/sh
# Slicer writes the surface of a segment in RAS and the same surface as a model in LPS.
# Guess: a segmentation whose source is a closed surface is saved (.seg.vtm, with a .vtp per segment) in the coordinates in which the same
#        program saves a model of that surface as .vtp: left, posterior, superior, as all of its files are by default.
# Seen:  the model is in LPS, and its file says so in the field SPACE. The segment is in RAS, and its file does not say anything; the storage
#        node has no setting for it either. Who compares the two by another program, the segments of one observer with the models of
#        another for instance, finds a structure that is 100 mm left of the middle 200 mm off, and mirrored. Slicer reads back both as
#        they were.
# Version: slicer-core 5.13.31053.0 (VTK 9.6.2).
# Output:
#   in Slicer (RAS): center [100.  50. -30.]
#   model.vtp:       center [-100.  -50.  -30.], SPACE is LPS
#   segment's .vtp:  center [100.  50. -30.], SPACE is missing
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check slicer-core==5.13.31053.0
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import sys
from pathlib import Path

import numpy as np
import slicer
import vtk

folder = Path(sys.argv[1])
scene = slicer.mrmlScene = slicer.vtkMRMLScene()
application, segmentations = slicer.vtkSlicerApplicationLogic(), slicer.vtkSlicerSegmentationsModuleLogic()
application.SetMRMLScene(scene)
segmentations.SetMRMLScene(scene)


def centerOf(surface):
    return np.round(np.reshape(surface.GetBounds(), (3, 2)).mean(axis=1), 3)


def readSurface(path):
    """Return the center of the surface in a file, and what its field SPACE says."""
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    space = reader.GetOutput().GetFieldData().GetAbstractArray("SPACE")
    return centerOf(reader.GetOutput()), "missing" if space is None else space.GetValue(0)


source = vtk.vtkSphereSource()
source.SetCenter(100, 50, -30)
source.SetRadius(10)
source.Update()
ball = source.GetOutput()

model = scene.AddNewNodeByClass("vtkMRMLModelNode", "Ball")
model.SetAndObservePolyData(ball)
storage = slicer.vtkMRMLModelStorageNode()
storage.SetFileName(str(folder / "model.vtp"))
assert storage.WriteData(model)

segmentation = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Segmentation")
segmentation.SetSourceRepresentationToClosedSurface()
segmentation.AddSegmentFromClosedSurfaceRepresentation(ball, "Ball", [1.0, 0.0, 0.0])
storage = slicer.vtkMRMLSegmentationStorageNode()
storage.SetFileName(str(folder / "segments.seg.vtm"))
assert storage.WriteData(segmentation)
(path,) = folder.glob("segments.seg/*.vtp")

found = readSurface(folder / "model.vtp"), readSurface(path)
print(f"in Slicer (RAS): center {centerOf(ball)}")
print(f"model.vtp:       center {found[0][0]}, SPACE is {found[0][1]}")
print(f"segment's .vtp:  center {found[1][0]}, SPACE is {found[1][1]}")
assert np.allclose(centerOf(ball), [100, 50, -30], atol=0.1)
assert np.allclose(found[0][0], centerOf(ball) * [-1, -1, 1]) and found[0][1] == "LPS", found
assert np.allclose(found[1][0], centerOf(ball)) and found[1][1] == "missing", found
PYTHON

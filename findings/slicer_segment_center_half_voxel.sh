#!/bin/sh
# Slicer's center of a segment is up to half a voxel, or half a slice, off.
# Guess: GetSegmentCenter() of a segment is the center of the box around it: exactly its center for a block of voxels.
# Seen:  the middle of the box is counted in whole voxels and rounded down. A block that is an even number of voxels wide is
#        reported half a voxel low along each such axis: 2.5 mm with slices of 5 mm. One that is odd is right. The same block, one
#        slice taller, jumps by half a slice more than it should. The distance between two centers is off accordingly.
# Version: slicer-core 5.13.31053.0 (VTK 9.6.2).
# Output:
#   3 slices: center [10. 10. 25.], middle of the block [10. 10. 25.]
#   4 slices: center [10. 10. 25.], middle of the block [10.  10.  27.5]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check slicer-core==5.13.31053.0
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import slicer
from vtk.util.numpy_support import numpy_to_vtk

scene = slicer.mrmlScene = slicer.vtkMRMLScene()
application, segmentations = slicer.vtkSlicerApplicationLogic(), slicer.vtkSlicerSegmentationsModuleLogic()
application.SetMRMLScene(scene)
segmentations.SetMRMLScene(scene)
found = {}
for slices in (3, 4):
    array = np.zeros((20, 20, 20), np.uint8)
    array[4 : 4 + slices, 8:13, 8:13] = 1
    image = slicer.vtkOrientedImageData()
    image.SetDimensions(20, 20, 20)
    image.SetSpacing(1, 1, 5)
    image.GetPointData().SetScalars(numpy_to_vtk(array.ravel(), deep=True))
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Block")
    identifier = node.AddSegmentFromBinaryLabelmapRepresentation(image, "Block", [1.0, 0.0, 0.0], "")
    found[slices] = np.array(node.GetSegmentCenter(identifier))
    middle = np.argwhere(array).mean(axis=0)[::-1] * (1, 1, 5)
    print(f"{slices} slices: center {found[slices]}, middle of the block {middle}")
    assert np.allclose(middle, [10, 10, 25 if slices == 3 else 27.5])
assert np.allclose(found[3], [10, 10, 25]) and np.allclose(found[4], [10, 10, 25]), found
PYTHON

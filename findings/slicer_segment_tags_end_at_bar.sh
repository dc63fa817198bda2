#!/bin/sh
# Slicer cuts a segment's tag off at the first vertical bar.
# Guess: the tags of a segment, free texts under a name, come back from a .seg.nrrd as they were set; what separates them in the
#        header is escaped, as line breaks are.
# Seen:  a line break comes back, a bar does not: "agreed | boost: 66 Gy" is "agreed " afterwards, a tag whose NAME has a bar is gone.
#        Colons in the text are kept. WriteData() and ReadData() report success, and the header still holds the whole text.
# Version: slicer-core 5.13.31053.0 (VTK 9.6.2).
# Output:
#   Comment  'agreed | boost: 66 Gy' comes back as 'agreed '
#   Lines    'one\ntwo' comes back as 'one\ntwo'
#   A|B      'kept' comes back as None
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check slicer-core==5.13.31053.0
FOLDER="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import os

import slicer
import vtk

scene = slicer.mrmlScene = slicer.vtkMRMLScene()
application, segmentations = slicer.vtkSlicerApplicationLogic(), slicer.vtkSlicerSegmentationsModuleLogic()
application.SetMRMLScene(scene)
segmentations.SetMRMLScene(scene)

image = slicer.vtkOrientedImageData()
image.SetDimensions(10, 10, 10)
image.AllocateScalars(vtk.VTK_UNSIGNED_CHAR, 1)
image.GetPointData().GetScalars().Fill(0)
for k in range(3, 6):
    image.SetScalarComponentFromDouble(k, 5, 5, 0, 1)
written = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Written")
identifier = written.AddSegmentFromBinaryLabelmapRepresentation(image, "GTV", [1.0, 0.0, 0.0], "")
tags = {"Comment": "agreed | boost: 66 Gy", "Lines": "one\ntwo", "A|B": "kept"}
for name, text in tags.items():
    written.GetSegmentation().GetSegment(identifier).SetTag(name, text)
read = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Read")
path = os.path.join(os.environ["FOLDER"], "tags.seg.nrrd")
for work, node in (("WriteData", written), ("ReadData", read)):
    storage = slicer.vtkMRMLSegmentationStorageNode()
    scene.AddNode(storage)
    storage.SetFileName(path)
    assert getattr(storage, work)(node), work
with open(path, "rb") as file:
    assert b"boost: 66 Gy" in file.read()
found = {}
for name, text in tags.items():
    value = vtk.reference("")
    found[name] = str(value) if read.GetSegmentation().GetNthSegment(0).GetTag(name, value) else None
    print(f"{name:8} {text!r} comes back as {found[name]!r}")
assert found == {"Comment": "agreed ", "Lines": "one\ntwo", "A|B": None}, found
PYTHON

#!/bin/sh
# ITK's dilation of label sets by a radius of one voxel in mm does nothing.
# Guess: LabelSetDilateImageFilter with a radius of 1 mm on voxels of 1 mm adds the six face neighbors of a voxel; a radius of
#        1 voxel (UseImageSpacing off) is the same thing there. The erosion takes off one layer.
# Seen:  in mm a voxel at exactly the radius is left out, so 1 mm adds nothing and takes nothing off, and 2 mm does what 1 mm should.
#        In voxels the same filter with the same 1 adds 18 neighbors, those across edges included. A margin that is a multiple of the
#        spacing, as margins are, is one layer short: on 1 mm voxels 5 mm reach 4 mm.
# Version: itk-labelerodedilate 1.3.3 with ITK 5.4.7 and NumPy 2.4.6.
# Output:
#   1 in mm    : a voxel becomes 1, a cube of 1331 becomes 1331
#   2 in mm    : a voxel becomes 27, a cube of 1331 becomes 729
#   1 in voxels: a voxel becomes 19, a cube of 1331 becomes 729
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check itk-labelerodedilate==1.3.3 itk==5.4.7 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import itk
import numpy as np


def count(name, array, radius, inMm):
    tool = getattr(itk, f"LabelSet{name}ImageFilter").New(itk.image_from_array(array))
    tool.SetRadius([radius] * 3)
    tool.SetUseImageSpacing(inMm)
    tool.Update()
    return int(np.count_nonzero(itk.array_from_image(tool.GetOutput())))


voxel, cube = np.zeros((2, 21, 21, 21), np.uint8)
voxel[10, 10, 10] = 1
cube[5:16, 5:16, 5:16] = 1
found = []
for radius, inMm in ((1, True), (2, True), (1, False)):
    found.append((count("Dilate", voxel, radius, inMm), count("Erode", cube, radius, inMm)))
    unit = "mm    " if inMm else "voxels"
    print(f"{radius} in {unit}: a voxel becomes {found[-1][0]}, a cube of {cube.sum()} becomes {found[-1][1]}")
assert found == [(1, 1331), (27, 729), (19, 729)], found
PYTHON

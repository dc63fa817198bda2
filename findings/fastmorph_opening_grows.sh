#!/bin/sh
# fastmorph's opening with a ball adds voxels to a mask.
# Guess: spherical_open, an erosion followed by a dilation, never has a voxel that the mask lacks, and an erosion by a radius of one
#        voxel takes off the outermost layer.
# Seen:  the erosion keeps voxels whose distance to the background EQUALS the radius, so a radius of 1 takes nothing off and one of
#        2 a single layer; the dilation adds all voxels up to that distance. A cube of 11 voxels grows from 1331 to 2057 voxels when it
#        is "opened" by 1, to 1817 by 2. The closing has the same size, and is nothing but the dilation at radius 1.
# Version: fastmorph 1.10.0 with edt 3.1.2 and NumPy 2.4.6.
# Output:
#   radius 1: eroded 1331, opened 2057, closed 2057 of 1331 voxels
#   radius 2: eroded  729, opened 1817, closed 1817 of 1331 voxels
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check fastmorph==1.10.0 edt==3.1.2 scipy==1.17.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import fastmorph
import numpy as np

cube = np.zeros((21, 21, 21), np.uint8)
cube[5:16, 5:16, 5:16] = 1
sizes = {}
for radius in (1, 2):
    steps = (fastmorph.spherical_erode, fastmorph.spherical_open, fastmorph.spherical_close)
    sizes[radius] = [int(np.count_nonzero(step(cube, radius=radius))) for step in steps]
    eroded, opened, closed = sizes[radius]
    print(f"radius {radius}: eroded {eroded:4d}, opened {opened}, closed {closed} of {cube.sum()} voxels")
assert sizes == {1: [1331, 2057, 2057], 2: [729, 1817, 1817]}, sizes
assert sizes[1][1] > cube.sum(), "the opening no longer grows"
PYTHON

#!/bin/sh
# A mesh that zmesh closes at the edge of the image lies one voxel off.
# Guess: Mesher.mesh(labels, close=True) adds a lid where a label touches the edge of the image, as its description says; the rest
#        of the surface stays where it is.
# Seen:  every mesh is moved by one voxel along all three axes, and so is that of a label far from the edge. With voxels of
#        1 x 1 x 5 mm a box from 3.5 to 7.5 voxels lies at 4.5 to 8.5, 5 mm off along the slices. Distances between a mesh made
#        with and one made without close are wrong by that, without a word.
# Version: zmesh 1.15.0 with NumPy 2.4.6.
# Output:
#   open   [ 3.5  4.5 27.5] [ 7.5  9.5 67.5]
#   closed [ 4.5  5.5 32.5] [ 8.5 10.5 72.5]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check zmesh==1.15.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import zmesh

labels = np.zeros((20, 20, 20), np.uint32)
labels[4:8, 5:10, 6:14] = 1  # far from the edge of the image
spacing = np.array([1.0, 1.0, 5.0])
corners = {}
for close in (False, True):
    mesher = zmesh.Mesher(tuple(spacing))
    mesher.mesh(labels, close=close)
    points = mesher.get(1, normals=False, reduction_factor=0).vertices
    corners[close] = points.min(axis=0), points.max(axis=0)
    print("closed" if close else "open  ", *corners[close])
moved = [after - before for before, after in zip(corners[False], corners[True])]
assert np.allclose(corners[False][0], (np.array([4, 5, 6]) - 0.5) * spacing), corners
assert np.allclose(moved, [spacing, spacing]), moved
PYTHON

#!/bin/sh
# PyVista leaves the direction of a NRRD image out.
# Guess: pyvista.read() puts the mask of a NRRD file where SimpleITK puts it, as it does with the same mask in an MHA file with
#        flipped axes, and as an image of PyVista can have a direction.
# Seen:  the lengths of the "space directions" become the spacing, and nothing is left of where they point. A mask whose first two axes
#        run to the right and to the front, as in an image made from NIfTI, is turned around and lies 43 mm off, in an image of only
#        20 x 48 x 48 mm. Only images that run left, back and up are right. No warning.
# Version: PyVista 0.49.1 with VTK 9.7.2, SimpleITK 2.5.7 and NumPy 2.4.6.
# Output:
#   left, back, up:   center [18. 40. 45.] mm, from MHA [18. 40. 45.] mm, from NRRD [18. 40. 45.] mm
#   right, front, up: center [ 2.  0. 45.] mm, from MHA [ 2.  0. 45.] mm, from NRRD [18. 40. 45.] mm
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    pyvista==0.49.1 vtk==9.7.2 SimpleITK==2.5.7 numpy==2.4.6
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import sys

import numpy as np
import pyvista
import SimpleITK

array = np.zeros((16, 24, 20), np.uint8)
array[3:8, 5:16, 4:13] = 1
middle = np.argwhere(array).mean(axis=0)[::-1].tolist()
off = {}
for name, direction in (("left, back, up:  ", np.eye(3)), ("right, front, up:", np.diag([-1.0, -1.0, 1.0]))):
    image = SimpleITK.GetImageFromArray(array)
    image.SetSpacing((1, 2, 3))
    image.SetOrigin((10, 20, 30))
    image.SetDirection(direction.ravel().tolist())
    center, found = image.TransformContinuousIndexToPhysicalPoint(middle), {}
    for extension in ("mha", "nrrd"):
        path = f"{sys.argv[1]}/mask.{extension}"
        SimpleITK.WriteImage(image, path)
        assert np.allclose(SimpleITK.ReadImage(path).TransformContinuousIndexToPhysicalPoint(middle), center)
        read = pyvista.read(path)
        found[extension] = read.points[read.active_scalars > 0].mean(axis=0)
        off[name.strip(" :"), extension] = float(np.linalg.norm(found[extension] - center))
    mha, nrrd = np.round(found["mha"], 1), np.round(found["nrrd"], 1)
    print(f"{name} center {np.round(center, 1)} mm, from MHA {mha} mm, from NRRD {nrrd} mm")
wrong = off.pop(("right, front, up", "nrrd"))
assert max(off.values()) < 1e-3, off
assert abs(wrong - 43.081) < 0.01, wrong
PYTHON

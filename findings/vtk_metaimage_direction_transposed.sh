#!/bin/sh
# VTK turns an oblique MHA image backward.
# Guess: vtkMetaImageReader, which takes the direction of an image from its file, puts a mask of an oblique MHA file where SimpleITK
#        puts it.
# Seen:  it takes the matrix transposed. What SimpleITK turns by 20 degrees VTK turns by -20 degrees, so a small mask lies 17 mm off,
#        and in an image of sagittal slices the three axes change places. Straight images and flipped axes are right, as their
#        matrices are symmetric. Nothing is said. PyVista's read() uses this reader. (In VTK 9.6.2 it leaves the direction out.)
# Version: VTK 9.7.2 with SimpleITK 2.5.7 and NumPy 2.4.6.
# Output:
#   straight: center [18. 40. 45.] mm, in VTK [18. 40. 45.] mm
#   flipped : center [ 2.  0. 45.] mm, in VTK [ 2.  0. 45.] mm
#   oblique : center [18.  33.7 50.9] mm, in VTK [18.  43.9 37.3] mm
#   sagittal: center [25. 28. 50.] mm, in VTK [30. 35. 38.] mm
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check vtk==9.7.2 SimpleITK==2.5.7 numpy==2.4.6
"$folder/venv/bin/python" - "$folder/mask.mha" <<'PYTHON'
import sys

import numpy as np
import SimpleITK
from vtk import vtkMetaImageReader

path = sys.argv[1]
cosine, sine = np.cos(np.radians(20)), np.sin(np.radians(20))
directions = {
    "straight": np.eye(3),
    "flipped ": np.diag([-1.0, -1.0, 1.0]),
    "oblique ": np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]]),
    "sagittal": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
}
array = np.zeros((16, 24, 20), np.uint8)
array[3:8, 5:16, 4:13] = 1
middle = np.argwhere(array).mean(axis=0)[::-1].tolist()
off = {}
for name, direction in directions.items():
    image = SimpleITK.GetImageFromArray(array)
    image.SetSpacing((1, 2, 3))
    image.SetOrigin((10, 20, 30))
    image.SetDirection(direction.ravel().tolist())
    SimpleITK.WriteImage(image, path)
    center = SimpleITK.ReadImage(path).TransformContinuousIndexToPhysicalPoint(middle)
    reader = vtkMetaImageReader()
    reader.SetFileName(path)
    reader.Update()
    found = [0.0, 0.0, 0.0]
    reader.GetOutput().TransformContinuousIndexToPhysicalPoint(middle, found)
    print(f"{name}: center {np.round(center, 1)} mm, in VTK {np.round(found, 1)} mm")
    matrix = reader.GetOutput().GetDirectionMatrix()
    read = [[matrix.GetElement(i, j) for j in range(3)] for i in range(3)]
    assert np.allclose(read, direction.T, atol=1e-5), read
    off[name.strip()] = float(np.linalg.norm(np.subtract(found, center)))
assert off["straight"] < 1e-3 and off["flipped"] < 1e-3, off
assert abs(off["oblique"] - 17.101) < 0.01 and abs(off["sagittal"] - 14.765) < 0.01, off
PYTHON

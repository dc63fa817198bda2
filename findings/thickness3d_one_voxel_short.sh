#!/bin/sh
# ITK's medial thickness is one voxel short, so that the thinnest walls and vessels have none.
# Guess: MedialThicknessImageFilter3D gives the width of a structure along its center line: 3 mm for a rod that is three voxels of 1 mm
#        wide, 1 mm for one of a single voxel.
# Seen:  the width is measured from the center of the outermost voxel on one side to that on the other: 2 mm for three voxels, 4 for
#        five. A rod of one voxel has 0, which is what the background has, so it is not found at all. A cortical wall or a vessel of
#        three voxels is a third too thin. The coarser the image, the thinner the same structure: 9 mm are 8 on voxels of 1 mm and
#        6 on voxels of 3 mm.
# Version: itk-thickness3d 6.0.0 with ITK 5.4.7 and NumPy 2.4.6.
# Output:
#   voxels of 1 mm: a rod of 1 mm has 0 mm, 3 mm has 2 mm, 5 mm has 4 mm, 9 mm has 8 mm
#   voxels of 3 mm: a rod of 3 mm has 0 mm, 9 mm has 6 mm, 15 mm has 12 mm
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check itk-thickness3d==6.0.0 itk==5.4.7 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import itk
import numpy as np

found = {}
for size, widths in ((1.0, (1, 3, 5, 9)), (3.0, (1, 3, 5))):
    said = []
    for width in widths:
        array = np.zeros((50, 20, 20), np.float32)
        array[5:45, 5 : 5 + width, 5 : 5 + width] = 1
        image = itk.image_from_array(array)
        image.SetSpacing([size] * 3)
        thickness = itk.MedialThicknessImageFilter3D.New(image)
        thickness.Update()
        values = itk.array_from_image(thickness.GetOutput())
        widest = float(values[25].max()) + 0.0  # in the middle of the rod
        found[width, size] = widest
        said.append(f"{width * size:g} mm has {widest:g} mm")
    print(f"voxels of {size:g} mm: a rod of {', '.join(said)}")
assert all(np.isclose(widest, (width - 1) * size) for (width, size), widest in found.items()), found
PYTHON

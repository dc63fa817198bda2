#!/bin/sh
# ITK's bone morphometry divides by the spacing of the wrong axis.
# Guess: BoneMorphometryFeaturesFilter counts the surfaces that it crosses along x, y and z and divides each count by the spacing of
#        that axis. Plates of 6 mm, 18 mm apart, get much the same thickness and separation on voxels of 1 x 1 x 3 mm as on
#        cubes of 1 mm, whichever axis they are stacked along.
# Seen:  crossings along x are divided by the spacing of z, and those along z by that of x; y is right. Cubic voxels hide it. With
#        slices of 3 mm the thickness (TbTh) of the same plates is 16.2 mm if they are stacked along x and 2.9 mm if along z, and
#        their separation (TbSp) 32.4 and 5.9 mm. On cubes of 1 mm it is 8.1 and 16.2 mm for all three.
# Version: itk-bonemorphometry 1.5.1 with ITK 5.4.7 and NumPy 2.4.6.
# Output:
#   x: TbTh  8.1 mm on cubes, 16.2 mm with slices of 3 mm
#   y: TbTh  8.1 mm on cubes,  7.6 mm with slices of 3 mm
#   z: TbTh  8.1 mm on cubes,  2.9 mm with slices of 3 mm
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check itk-bonemorphometry==1.5.1 itk==5.4.7 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import itk
import numpy as np


def measureThickness(axis, spacing):
    """Return TbTh in mm of plates of 6 mm, 18 mm apart, stacked along the axis in a cube of 108 mm."""
    size = [round(108 / step) for step in spacing]
    isPlate = np.arange(size[axis]) * spacing[axis] % 18 < 6
    shape = [1, 1, 1]
    shape[2 - axis] = -1  # arrays are in the order z, y, x
    array = np.broadcast_to(isPlate.reshape(shape), size[::-1]).astype(np.float32)
    image = itk.image_from_array(array)
    image.SetSpacing(spacing)
    features = itk.BoneMorphometryFeaturesFilter.New(image)
    features.SetThreshold(0.5)
    features.Update()
    assert abs(features.GetBVTV() - 1 / 3) < 1e-6
    return features.GetTbTh()


found = {}
for axis, name in enumerate("xyz"):
    found[name] = [measureThickness(axis, spacing) for spacing in ([1.0, 1.0, 1.0], [1.0, 1.0, 3.0])]
    print(f"{name}: TbTh {found[name][0]:4.1f} mm on cubes, {found[name][1]:4.1f} mm with slices of 3 mm")
assert np.allclose([found[name][0] for name in "xyz"], 8.1), found
assert abs(found["x"][1] - 16.2) < 0.01 and abs(found["z"][1] - 2.928) < 0.01, found
PYTHON

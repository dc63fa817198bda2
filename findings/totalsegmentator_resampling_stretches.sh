#!/bin/sh
# TotalSegmentator's resampling moves a structure, the farther from the first slice the more.
# Guess: change_spacing of a label map from slices of 5 mm to 1 mm leaves each structure where it is, or at worst half a slice off
#        all over, as the origin of the image is kept.
# Seen:  the centers of the first and of the last voxel of old and new image are laid upon each other, but the affine says 1 mm. So
#        all is stretched, here by 109/105: a block at 12.5 mm comes to 13 mm, one at 87.5 mm to 91 mm. At the last slice it is
#        4 mm, as many mm as a slice has, less one, however many slices there are. In the plane, where nothing was to change,
#        nothing does. With crop_resample=True it is half a slice, 2 mm, all over.
# Version: TotalSegmentator 2.18.0 with SciPy 1.17.1, nibabel 5.4.2 and NumPy 2.4.6.
# Output:
#   block at [ 9.5  9.5 12.5] mm, afterwards at [ 9.5  9.5 13. ] mm
#   block at [ 9.5  9.5 52.5] mm, afterwards at [ 9.5  9.5 54.5] mm
#   block at [ 9.5  9.5 87.5] mm, afterwards at [ 9.5  9.5 91. ] mm
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# without its dependencies: the resampling needs neither networks nor reports
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check numpy==2.4.6 scipy==1.17.1 nibabel==5.4.2 joblib==1.6.0 tqdm==4.70.1
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps TotalSegmentator==2.18.0
"$folder/venv/bin/python" - <<'PYTHON'
import nibabel
import numpy as np
from totalsegmentator.resampling import change_spacing


def findCenter(image):
    return nibabel.affines.apply_affine(image.affine, np.argwhere(np.asarray(image.dataobj) > 0.5).mean(axis=0))


found = {}
for first in (2, 10, 17):
    array = np.zeros((20, 20, 22), np.uint8)
    array[5:15, 5:15, first : first + 2] = 1
    image = nibabel.Nifti1Image(array, np.diag([1.0, 1.0, 5.0, 1.0]))
    before, after = findCenter(image), findCenter(change_spacing(image, 1.0))
    found[first] = after - before
    print(f"block at {before} mm, afterwards at {after} mm")
assert np.allclose([found[2], found[10], found[17]], [[0, 0, 0.5], [0, 0, 2], [0, 0, 3.5]]), found
PYTHON

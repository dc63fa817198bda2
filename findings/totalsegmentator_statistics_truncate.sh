#!/bin/sh
# TotalSegmentator's mean intensity drops the decimals of every voxel.
# Guess: get_basic_statistics gives the mean of the image within a structure, rounded to its five decimals: 2.9 for a PET in SUV
#        that is 2.9 throughout, 0.7 for an image that was scaled to 0 to 1.
# Seen:  the image is cut to whole numbers first: 2.9 becomes 2.0 and 0.7 becomes 0.0. With normalized_intensities=True it is
#        scaled only after that. Nothing is said, and the result has five decimals.
# Version: TotalSegmentator 2.18.0 with nibabel 5.4.2 and NumPy 2.4.6.
# Output:
#   an image of 2.9 has a mean of 2.0
#   an image of 0.7 has a mean of 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# without its dependencies: the statistics need neither networks nor reports
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check numpy==2.4.6 scipy==1.17.1 nibabel==5.4.2 tqdm==4.70.1
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps TotalSegmentator==2.18.0
"$folder/venv/bin/python" - <<'PYTHON'
import nibabel
import numpy as np
from totalsegmentator.map_to_binary import class_map
from totalsegmentator.statistics import get_basic_statistics

segmentation = np.zeros((40, 40, 40), np.uint8)
segmentation[10:20, 10:20, 10:20] = 1
name = class_map["total"][1]
found = {}
for value in (2.9, 0.7):
    image = nibabel.Nifti1Image(np.full((40, 40, 40), value, np.float32), np.eye(4))
    statistics = get_basic_statistics(segmentation, image, quiet=True)[name]
    assert statistics["volume"] == 1000
    found[value] = float(statistics["intensity"])
    print(f"an image of {value} has a mean of {found[value]}")
assert found == {2.9: 2.0, 0.7: 0.0}, found
PYTHON

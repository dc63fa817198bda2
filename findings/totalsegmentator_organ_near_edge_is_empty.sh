#!/bin/sh
# TotalSegmentator reports 0 mm3 for a whole organ that comes near the edge of the image.
# Guess: get_basic_statistics leaves out what the edge of the image cuts off, so that no volume is given for it; an organ that ends two
#        voxels before the edge is whole and has its volume.
# Seen:  an organ with a voxel among the outer three layers, on any of the six sides, has a volume of 0.0 and an intensity of 0.0, as if
#        it had not been found. It is not marked, so the mean of a cohort counts it as 0 mm3. The same organ, one voxel farther
#        inside, has its 1000 mm3.
# Version: TotalSegmentator 2.18.0 with nibabel 5.4.2 and NumPy 2.4.6.
# Output:
#   0 voxels of background before the edge: 0.0 mm3
#   2 voxels of background before the edge: 0.0 mm3
#   3 voxels of background before the edge: 1000.0 mm3
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

image = nibabel.Nifti1Image(np.full((40, 40, 40), 50, np.int16), np.eye(4))
name = class_map["total"][1]
found = {}
for gap in (0, 2, 3):
    segmentation = np.zeros((40, 40, 40), np.uint8)
    segmentation[gap : gap + 10, 10:20, 10:20] = 1
    found[gap] = float(get_basic_statistics(segmentation, image, quiet=True)[name]["volume"])
    print(f"{gap} voxels of background before the edge: {found[gap]} mm3")
assert found == {0: 0.0, 2: 0.0, 3: 1000.0}, found
PYTHON

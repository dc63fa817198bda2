#!/bin/sh
# StarDist scores an image without objects, rightly left empty, as a complete failure.
# Guess: matching_dataset(by_image=True) takes the mean over the images; one that has no object, in which none was found, counts as
#        1 or is left out, so that perfect predictions have an F1 of 1.0.
# Seen:  such an image has an F1, precision, recall and panoptic quality of 0. Four perfect predictions of which three are rightly empty
#        have a mean F1 of 0.25; with by_image=False the same four have 1.0. The more images without disease a cohort has, the
#        worse a perfect model looks. Nothing is said of it.
# Version: stardist 0.9.2 with NumPy 2.4.6.
# Output:
#   by image: F1 0.25, panoptic quality 0.25
#   pooled:   F1 1.0, panoptic quality 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check stardist==0.9.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from stardist.matching import matching_dataset

empty = np.zeros((20, 20), int)
lesion = empty.copy()
lesion[2:8, 2:8] = 1
images = [lesion, empty, empty, empty]
found = []
for name, byImage in (("by image:", True), ("pooled:  ", False)):
    result = matching_dataset(images, images, by_image=byImage, show_progress=False)
    found.append((float(result.f1), float(result.panoptic_quality)))
    print(f"{name} F1 {found[-1][0]}, panoptic quality {found[-1][1]}")
assert found == [(0.25, 0.25), (1.0, 1.0)], found
PYTHON

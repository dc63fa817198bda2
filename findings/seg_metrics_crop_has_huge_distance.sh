#!/bin/sh
# seg-metrics reports a distance of 1.8e19 for a structure that fills its image, as a crop to its box does.
# Guess: the Hausdorff distance of a mask that fills a cropped image is that of its outer voxels, or an error, nan or inf.
# Seen:  hd, hd95 and msd are 1.8e19, a finite number, with which a cohort's mean can be computed. With one voxel of background
#        around both, the distances are right. If both masks fill the image, all three are 0. Nothing is said.
#        The borders are those of SimpleITK's LabelContour filter, which finds none where a label has no other voxel beside it; the
#        distance to nothing is the root of the largest number in single precision.
# Version: seg-metrics 1.2.8 with SimpleITK 2.5.7.
# Output:
#   cropped: hd 1.84e+19, hd95 1.84e+19, msd 1.84e+19
#   with a margin: hd 3.31, hd95 3.23, msd 1.59
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check seg-metrics==1.2.8 SimpleITK==2.5.7 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from seg_metrics import seg_metrics

reference = np.ones((6, 7, 8), np.uint8)
test = np.zeros_like(reference)
test[1:5, 1:6, 1:7] = 1
found = {}
for name, margin in (("cropped", 0), ("with a margin", 1)):
    (values,) = seg_metrics.write_metrics(
        labels=[1], gdth_img=np.pad(reference, margin), pred_img=np.pad(test, margin), spacing=[1.2, 0.7, 3.0],
        metrics=["hd", "hd95", "msd"], verbose=False,
    )
    found[name] = [f"{key} {float(values[key][0]):.3g}" for key in ("hd", "hd95", "msd")]
    print(f"{name}: {', '.join(found[name])}")
assert found["cropped"] == ["hd 1.84e+19", "hd95 1.84e+19", "msd 1.84e+19"], found
assert found["with a margin"] == ["hd 3.31", "hd95 3.23", "msd 1.59"], found
PYTHON

#!/bin/sh
# torchmetrics' Hausdorff distance is wrong for an image that is wider than high.
# Guess: hausdorff_distance of two masks does not depend on how much background lies around them: 3 pixels in an image of 30 x 30
#        pixels is 3 pixels in one of 30 x 31 as well.
# Seen:  distances are put back into the image as if it had as many columns as rows. With one column more the same pair has 15 pixels,
#        with 20 x 40 pixels 9.49. An image that is higher than wide raises an IndexError. Only square images are right, with any
#        spacing; nothing is said of that, and the documentation's example is square.
# Version: torchmetrics 1.9.0 with torch 2.13.0 on the processor. (torch is a large install.)
# Output:
#   30 x 30 pixels: 3.00
#   30 x 31 pixels: 15.00
#   20 x 40 pixels: 9.49
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check torchmetrics==1.9.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from torchmetrics.functional.segmentation import hausdorff_distance

found = {}
for shape in ((30, 30), (30, 31), (20, 40)):
    reference, test = torch.zeros(2, 1, 2, *shape, dtype=torch.int64)
    reference[0, 1, 5:12, 5:12] = 1
    test[0, 1, 7:12, 5:15] = 1
    reference[0, 0], test[0, 0] = 1 - reference[0, 1], 1 - test[0, 1]
    found[shape] = round(float(hausdorff_distance(test, reference, num_classes=2)), 2)
    print(f"{shape[0]} x {shape[1]} pixels: {found[shape]:.2f}")
assert found == {(30, 30): 3.0, (30, 31): 15.0, (20, 40): 9.49}, found
PYTHON

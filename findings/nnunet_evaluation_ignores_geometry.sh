#!/bin/sh
# nnU-Net's evaluation compares voxel by voxel, wherever the images lie.
# Guess: compute_metrics of two files checks that they lie on one grid, as nnU-Net's own check of a data set does, and stops or
#        resamples if not: a mask that another program wrote with turned axes has a Dice of 1 with itself.
# Seen:  the arrays are compared as they are stored. The same mask, stored with two axes turned (RAS for LPS, as other programs write
#        it), has a Dice of 0. A mask that lies 500 mm away on voxels of 2 x 2 x 2 instead of 1 x 1 x 3 mm has a Dice of 1. Neither
#        is mentioned. (One of its readers, NibabelIOWithReorient, turns the axes; the evaluation of a folder takes SimpleITKIO for .nii.gz.)
# Version: nnunetv2 2.8.1 with torch 2.14.1 on the processor and SimpleITK 2.5.7. (torch is a large install.)
# Output:
#   the same mask, axes turned: Dice 0.0
#   500 mm away, other voxels: Dice 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check nnunetv2==2.8.1 torch==2.14.1 SimpleITK==2.5.7
FOLDER="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import os

import numpy as np
import SimpleITK
from nnunetv2.evaluation.evaluate_predictions import compute_metrics
from nnunetv2.imageio.reader_writer_registry import determine_reader_writer_from_file_ending

array = np.zeros((10, 20, 20), np.uint8)
array[2:5, 3:9, 3:9] = 1
reference = SimpleITK.GetImageFromArray(array)
reference.SetSpacing((1, 1, 3))
elsewhere = SimpleITK.Image(reference)
elsewhere.SetOrigin((500, 0, 0))
elsewhere.SetSpacing((2, 2, 2))
images = {"reference": reference, "turned": SimpleITK.DICOMOrient(reference, "RAS"), "elsewhere": elsewhere}
paths = {name: os.path.join(os.environ["FOLDER"], f"{name}.nii.gz") for name in images}
for name, image in images.items():
    SimpleITK.WriteImage(image, paths[name])
reader = determine_reader_writer_from_file_ending(".nii.gz", paths["reference"], verbose=False)()
found = {}
for name, text in (("turned", "the same mask, axes turned"), ("elsewhere", "500 mm away, other voxels")):
    metrics = compute_metrics(paths["reference"], paths[name], reader, [1])["metrics"][1]
    found[name] = float(metrics["Dice"])
    print(f"{text}: Dice {found[name]}")
assert found == {"turned": 0.0, "elsewhere": 1.0}, found
PYTHON

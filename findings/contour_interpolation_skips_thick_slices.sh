#!/bin/sh
# Interpolation between drawn slices leaves the gap beside two neighboring slices empty.
# Guess: itk.morphological_contour_interpolator fills every gap between drawn slices, as "the output has all in-between slices
#        also segmented": with the slices 2, 3 and 12 drawn, 4 to 11 are filled.
# Seen:  only slices that have no drawn slice next to them count as drawn. Who draws one slice more, 3 beside 2, gets nothing between 3
#        and 12: the structure has a gap of 8 slices, and 951 voxels instead of 3487. With 2, 3, 7 and 12 the gap is between 3 and 7
#        alone. Naming the axis does not help. A comment in the header says how slices are found, not what follows from it.
#        Segment Editor's "Fill between slices" in 3D Slicer, and ITK-SNAP, use this filter.
# Version: itk-morphologicalcontourinterpolation 2.1.2 with ITK 5.4.7 and NumPy 2.4.6.
# Output:
#   drawn [2, 12]: filled 2-12, 3487 voxels
#   drawn [2, 3, 12]: filled 2-3 12, 951 voxels
#   drawn [2, 3, 7, 12]: filled 2-3 7-12, 2536 voxels
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    itk-morphologicalcontourinterpolation==2.1.2 itk==5.4.7 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import itk
import numpy as np

y, x = np.mgrid[:61, :61]
disc = (x - 30) ** 2 + (y - 30) ** 2 <= 10**2
filled, voxels = {}, {}
for drawn in ((2, 12), (2, 3, 12), (2, 3, 7, 12)):
    array = np.zeros((16, 61, 61), np.uint8)
    array[list(drawn)] = disc
    result = itk.array_from_image(itk.morphological_contour_interpolator(itk.image_from_array(array), axis=2))
    filled[drawn] = [int(k) for k in np.flatnonzero(result.any(axis=(1, 2)))]
    voxels[drawn] = int(np.count_nonzero(result))
    runs = np.split(filled[drawn], np.flatnonzero(np.diff(filled[drawn]) > 1) + 1)
    text = " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    print(f"drawn {list(drawn)}: filled {text}, {voxels[drawn]} voxels")
assert filled[2, 12] == list(range(2, 13)), filled
assert filled[2, 3, 12] == [2, 3, 12], filled
assert filled[2, 3, 7, 12] == [2, 3, *range(7, 13)], filled
assert list(voxels.values()) == [3487, 951, 2536], voxels
PYTHON

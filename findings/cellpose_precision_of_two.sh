#!/bin/sh
# Cellpose's average precision is 2.0 for cells that fill the field of view.
# Guess: average_precision(masks, masks) of a label image with itself is 1.0 at every threshold, whether there is background or not.
# Seen:  the cells are counted as "different values less one", the one being the background. Where cells fill the whole field, as in
#        tissue or in a cropped tile, there is none, so a cell is missing in both counts: 4 true positives, -1 false positives and
#        -1 false negatives make 4 / (4 - 1 - 1) = 2.0. A prediction that merges two of the four has 1.5 at IoU 0.5. One pixel
#        of background, anywhere, and it is 1.0.
# Version: cellpose 4.2.1.1 with torch 2.14.1 on the processor. (torch is a large install.)
# Output:
#   no background:  AP 2.0, false positives -1.0, false negatives -1.0
#   one pixel of background: AP 1.0, false positives 0.0, false negatives 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check cellpose==4.2.1.1 torch==2.14.1
"$folder/venv/bin/python" - <<'PYTHON'
import warnings

import numpy as np
from cellpose import metrics

warnings.simplefilter("ignore")  # 0 / 0 for the background that is not there
cells = np.zeros((20, 20), np.int32)
cells[:10, :10], cells[:10, 10:], cells[10:, :10], cells[10:, 10:] = 1, 2, 3, 4
withBackground = cells.copy()
withBackground[0, 0] = 0
found = {}
for name, masks in (("no background: ", cells), ("one pixel of background:", withBackground)):
    precision, _, extra, missed = (float(values[0]) for values in metrics.average_precision(masks, masks))
    found[name] = precision, extra, missed
    print(f"{name} AP {precision}, false positives {extra}, false negatives {missed}")
assert list(found.values()) == [(2.0, -1.0, -1.0), (1.0, 0.0, 0.0)], found
PYTHON

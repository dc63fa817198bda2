"""torchmetrics' segmentation metrics, of flat images."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import HD, IOU, Convention, Number
from ..elements import Voxels, faceBorder
from ..rules import largestDistance

CONVENTION = Convention(
    key="torchmetrics",
    tool="torchmetrics",
    version="1.9.0",
    source="https://github.com/Lightning-AI/torchmetrics",
    elements=Voxels(faceBorder, single=True),
    numbers={
        HD: Number(
            largestDistance,
            "hausdorff_distance",
            "largest distance between border pixels of a square image; on a wider one the tool mixes up pixels, and it "
            "stops for a higher one",
            dimension=2,
        ),
        **overlaps("dice_score", "mean_iou"),
    },
    oneEmpty={HD: math.inf, "": 0.0},
    bothEmpty={HD: "the tool stops with a RuntimeError", IOU: -1.0, "": math.nan},
)

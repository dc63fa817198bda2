"""MedPy's binary metrics."""

from __future__ import annotations

from ..bandrules import overlaps
from ..convention import ASSD, DISTANCES, DSC, HD, HDP, IOU, MASD, Convention, Number
from ..elements import Voxels, faceBorder
from ..rules import largestDistance, pooledMean, pooledPercentile, testToReferenceMean

STOPS = "the tool stops with a RuntimeError"
OF_NOTHING = "the tool divides by zero: 1.0 with NumPy up to 2.2, undefined from NumPy 2.3 on"

CONVENTION = Convention(
    key="MedPy",
    tool="MedPy",
    version="0.5.2",
    source="https://github.com/loli/medpy",
    elements=Voxels(faceBorder),
    numbers={
        HD: Number(largestDistance, "hd", "largest distance between border voxels"),
        HDP: Number(
            pooledPercentile,
            "hd95",
            "{percentile}th percentile over the pooled distances of both directions, border voxels counted alike",
        ),
        MASD: Number(testToReferenceMean, "asd", "mean from the test's border voxels to the reference alone"),
        ASSD: Number(pooledMean, "assd", "mean over the border voxels of both"),
        **overlaps("dc", "jc"),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, STOPS), "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, STOPS), DSC: OF_NOTHING, IOU: 1.0, "": STOPS},
)

"""panoptica's distances of one structure, or of one matched instance; its presets for instances are in the settings."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import ASSD, HD, HDP, NSD, Convention, Number
from ..elements import Voxels, faceBorder, inSmallestSteps
from ..rules import largestDistance, meanOfMeans, meanShareWithinOne, pooledPercentile

STOPS = "the tool stops with a NotImplementedError"
SPACING = "in voxels for whole structures, and with reversed spacing for SimpleITK images, .nii.gz and .mha files"

CONVENTION = Convention(
    key="panoptica-distances",
    tool="panoptica",
    version="2.1.7",
    source="https://github.com/BrainLesion/panoptica",
    elements=Voxels(faceBorder),
    numbers={
        HD: Number(largestDistance, "sq_hd", f"largest distance between border voxels; {SPACING}"),
        HDP: Number(
            pooledPercentile,
            "sq_hd95",
            "{percentile}th percentile over the pooled distances of both directions, border voxels counted alike; "
            f"{SPACING}",
        ),
        ASSD: Number(meanOfMeans, "sq_assd", f"mean of the two directed MEANS over border voxels; {SPACING}"),
        NSD: Number(
            meanShareWithinOne,
            "sq_nsd",
            "mean of both shares of border voxels within the SMALLEST VOXEL SPACING, whatever the tolerance",
            inSmallestSteps,
        ),
        **overlaps("sq_dsc", "sq"),
    },
    oneEmpty={ASSD: math.inf, HD: STOPS, HDP: STOPS, NSD: STOPS, "": 0.0},
    bothEmpty={HD: STOPS, HDP: STOPS, NSD: STOPS, "": math.nan},
)

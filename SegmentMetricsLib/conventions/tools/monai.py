"""MONAI's metrics."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import ASSD, DSC, HD, HDP, IOU, MASD, NSD, Convention, Number
from ..elements import Voxels, faceBorder
from ..rules import fractionWithin, largestDistance, linearPercentile, pooledMean, testToReferenceMean

LEFT_OUT = "the tool reports nan, which the mean of a cohort leaves out, so a missed structure lowers it; HD is inf"

CONVENTION = Convention(
    key="MONAI",
    tool="MONAI",
    version="1.6.1",
    source="https://github.com/Project-MONAI/MONAI",
    elements=Voxels(faceBorder, single=True),
    numbers={
        HD: Number(largestDistance, "HausdorffDistanceMetric", "largest distance between border voxels"),
        HDP: Number(
            linearPercentile,
            "HausdorffDistanceMetric(percentile={percentile})",
            "percentile of each direction over border voxels, all counted alike, interpolated; the larger one",
        ),
        MASD: Number(
            testToReferenceMean,
            "SurfaceDistanceMetric",
            "mean from the test's border voxels to the reference alone, unless symmetric=True",
        ),
        ASSD: Number(pooledMean, "SurfaceDistanceMetric(symmetric=True)", "mean over the border voxels of both"),
        NSD: Number(
            fractionWithin, "SurfaceDiceMetric", "share of border voxels, all counted alike, unless use_subvoxels=True"
        ),
        **overlaps("DiceMetric", "MeanIoU"),
    },
    oneEmpty={HD: math.inf, HDP: LEFT_OUT, MASD: math.inf, ASSD: math.inf, "": 0.0},
    referenceEmpty={DSC: math.nan, IOU: math.nan},
)

"""The Metrics Reloaded package."""

from __future__ import annotations

import math

from ..bandrules import VoxelBands, nearBorder, overlaps
from ..convention import ASSD, BIOU, DISTANCES, HD, HDP, MASD, NSD, Convention, Number
from ..elements import Voxels, faceBorder, masks
from ..rules import fractionWithin, largestDistance, linearPercentile, meanOfMeans, pooledMean

WRONG = "the program measures to an empty border and gives a meaningless number"

CONVENTION = Convention(
    key="MetricsReloaded",
    tool="Metrics Reloaded",
    version="repository, 2026",
    source="https://github.com/Project-MONAI/MetricsReloaded",
    elements=Voxels(faceBorder),
    numbers={
        HD: Number(largestDistance, "measured_hausdorff_distance", "largest distance between border voxels"),
        HDP: Number(
            linearPercentile,
            "measured_hausdorff_distance_perc",
            "percentile of each direction over border voxels, all counted alike, interpolated; the larger one",
        ),
        MASD: Number(meanOfMeans, "measured_masd", "mean of the two directed means over border voxels"),
        ASSD: Number(pooledMean, "measured_average_distance", "mean over the border voxels of both"),
        NSD: Number(fractionWithin, "normalised_surface_distance", "share of border voxels, all counted alike"),
        BIOU: Number(
            VoxelBands(nearBorder),
            "boundary_iou",
            "voxels closer than {tolerance} VOXELS to their own border voxels: the spacing is ignored",
            masks,
        ),
        **overlaps("dsc", "intersection_over_union"),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, math.nan), NSD: WRONG, "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, 0.0), "": 1.0},
)

"""Google DeepMind's surface-distance."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import ASSD, DISTANCES, HD, HDP, MASD, NSD, Convention, Number
from ..elements import Corners
from ..rules import fractionWithin, largestDistance, meanOfMeans, pooledMean, weightedPercentile

WHERE = "from voxel corners, each weighted by the area of its marching cubes' triangles"

CONVENTION = Convention(
    key="DeepMind",
    tool="Google DeepMind surface-distance",
    version="0.1",
    source="https://github.com/google-deepmind/surface-distance",
    elements=Corners(),
    numbers={
        HD: Number(largestDistance, "compute_robust_hausdorff(100)", f"largest distance of either direction, {WHERE}"),
        HDP: Number(
            weightedPercentile,
            "compute_robust_hausdorff({percentile})",
            f"larger directed percentile without interpolation, {WHERE}",
        ),
        MASD: Number(meanOfMeans, "compute_average_surface_distance", f"mean of its two directed means, {WHERE}"),
        ASSD: Number(pooledMean, "compute_surface_distances", f"weighted mean over both boundaries, {WHERE}"),
        NSD: Number(fractionWithin, "compute_surface_dice_at_tolerance", f"share of both boundaries' area, {WHERE}"),
        **overlaps("compute_dice_coefficient"),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, math.inf), MASD: math.nan, "": 0.0},
    bothEmpty={HD: math.inf, HDP: math.inf, "": math.nan},
)

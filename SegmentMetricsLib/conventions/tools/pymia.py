"""pymia's evaluation metrics."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import HD, HDP, MASD, NSD, Convention, Number
from ..elements import Corners, Voxels, faceBorder, foreground
from ..rules import fractionWithin, largestDistance, meanOfMeans, weightedPercentile

WHERE = "from voxel corners weighted by area, as DeepMind's code does"

CONVENTION = Convention(
    key="pymia",
    tool="pymia",
    version="0.3.4",
    source="https://github.com/rundherum/pymia",
    elements=Corners(isSolid=True),
    numbers={
        HD: Number(largestDistance, "HDRFDST", f"largest distance of either direction, {WHERE}"),
        HDP: Number(weightedPercentile, "HDRFDST{percentile}", f"larger directed percentile, {WHERE}"),
        MASD: Number(
            meanOfMeans,
            "AVGDIST",
            "mean of the directed means over ALL voxels of the structures, which are 0 in the overlap",
            Voxels(foreground, faceBorder, zeroInside=True),
        ),
        NSD: Number(fractionWithin, "SURFDICE", f"share of both boundaries' area, {WHERE}"),
        **overlaps("DICE", "JACRD"),
    },
    oneEmpty={HD: math.inf, HDP: math.inf, MASD: math.inf, "": 0.0},
    bothEmpty={HD: math.inf, HDP: math.inf, MASD: math.inf, NSD: -math.inf, "": 1.0},
)

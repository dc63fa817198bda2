"""seg-metrics."""

from __future__ import annotations

from ..bandrules import overlaps
from ..convention import ASSD, DISTANCES, HD, HDP, Convention, Number
from ..elements import Voxels, fullBorderWithin
from ..rules import largestDistance, pooledMean, pooledPercentile

WHERE = "between voxels that touch the outside, even if only at a corner"

CONVENTION = Convention(
    key="seg-metrics",
    tool="seg-metrics",
    version="1.2.8",
    source="https://github.com/Jingnan-Jia/segmentation_metrics",
    elements=Voxels(fullBorderWithin, single=True),
    numbers={
        HD: Number(largestDistance, "hd", f"largest distance {WHERE}"),
        HDP: Number(
            pooledPercentile, "hd95", f"{{percentile}}th percentile of the pooled distances of both directions, {WHERE}"
        ),
        ASSD: Number(pooledMean, "msd", f"mean of the pooled distances of both directions, {WHERE}"),
        **overlaps("dice", "jaccard"),
    },
    oneEmpty={"": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, 0.0), "": 1.0},
    atEdge="on the stored image it would not count the voxels at the edge as border",
)

"""MeshMetrics 1.4.1."""

from __future__ import annotations

import math

from ..bandrules import dice, jaccard
from ..convention import ASSD, BIOU, DISTANCES, DSC, HD, HDP, IOU, MASD, NSD, Convention, Number, each
from ..elements import masks
from ..meshes import MeshBands, Meshes
from ..rules import largest, meanOfMeans, pooledMean, shareWithinTies, weightedPercentile

WHERE = "from the centers of marching cubes' triangles to the other surface"

CONVENTION = Convention(
    key="MeshMetrics-1.4.1",
    tool="MeshMetrics",
    version="1.4.1",
    source="https://pypi.org/project/pymeshmetrics",
    elements=Meshes(subdivisions=0, segments=0),
    numbers={
        HD: Number(largest, "hd", f"largest distance {WHERE}"),
        HDP: Number(weightedPercentile, "hd({percentile})", f"larger directed percentile by area {WHERE}"),
        MASD: Number(meanOfMeans, "masd", f"mean of the two directed means by area {WHERE}"),
        ASSD: Number(pooledMean, "assd", f"mean by area over both boundaries {WHERE}"),
        NSD: Number(shareWithinTies, "nsd({tolerance})", f"share of both boundaries' area {WHERE}"),
        BIOU: Number(
            MeshBands(1),
            "biou({tolerance})",
            "voxel centers inside and closer than the tolerance to the own surface",
            masks,
        ),
        DSC: Number(dice, "dsc", "overlap of the voxels", masks),
        IOU: Number(jaccard, "iou", "overlap of the voxels", masks),
    },
    oneEmpty={**each(DISTANCES, math.inf), "": 0.0},
    bothEmpty={**each(DISTANCES, 0.0), "": 1.0},
)

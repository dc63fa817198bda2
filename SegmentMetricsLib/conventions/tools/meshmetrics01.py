"""MeshMetrics 0.1, the version of the paper."""

from __future__ import annotations

import math

from ..bandrules import dice, jaccard
from ..convention import ASSD, BIOU, DISTANCES, DSC, HD, HDP, IOU, MASD, NSD, Convention, Number, each
from ..elements import masks
from ..meshes import MeshBands, Meshes
from ..rules import largest, meanOfMeans, pooledMean, shareWithinTies, weightedPercentile

WHERE = "from the centers of marching cubes' triangles, cut into four, to the other surface"

CONVENTION = Convention(
    key="MeshMetrics-0.1",
    tool="MeshMetrics",
    version="0.1.0",
    source="doi:10.48550/arXiv.2410.02630, https://github.com/gasperpodobnik/MeshMetrics",
    elements=Meshes(subdivisions=1, segments=5),
    numbers={
        HD: Number(largest, "hd", f"largest distance {WHERE}"),
        HDP: Number(weightedPercentile, "hd({percentile})", f"larger directed percentile by area {WHERE}"),
        MASD: Number(meanOfMeans, "masd", f"mean of the two directed means by area {WHERE}"),
        ASSD: Number(pooledMean, "assd", f"mean by area over both boundaries {WHERE}"),
        NSD: Number(shareWithinTies, "nsd({tolerance})", f"share of both boundaries' area {WHERE}"),
        BIOU: Number(
            MeshBands(None),
            "biou({tolerance})",
            "exact overlap of the bands inside the two surfaces",
            masks,
            notReproducible="the program's grid of five points along each voxel errs by up to 2 %pt, in steps",
        ),
        DSC: Number(dice, "dsc", "overlap of the voxels", masks),
        IOU: Number(jaccard, "iou", "overlap of the voxels", masks),
    },
    oneEmpty={**each(DISTANCES, math.inf), "": 0.0},
    bothEmpty={"": math.nan},
)

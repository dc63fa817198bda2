"""MeshMetrics: 0.1, the version of the paper; 1.4.1; and the repository in 2026, with surface nets."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..bandrules import VoxelBands, overlaps
from ..convention import ASSD, BIOU, DISTANCES, HD, HDP, MASD, NSD, Convention, Number
from ..elements import masks
from ..facenets import faces, nearFaces
from ..meshes import Meshes, exactBands, nearSurface
from ..rules import fractionWithinTies, largestDistance, meanOfMeans, pooledMean, weightedPercentile


def numbersOf(where: str, how: str, bands: Callable[..., float], notReproducible: str = "") -> dict[str, Number]:
    """Return the numbers that every generation reports, by key.

    where: text on the elements that distances are measured from and to. how, bands: of boundary IoU.
    """
    return {
        HD: Number(largestDistance, "hd", f"largest distance {where}"),
        HDP: Number(weightedPercentile, "hd({percentile})", f"larger directed percentile by area {where}"),
        MASD: Number(meanOfMeans, "masd", f"mean of the two directed means by area {where}"),
        ASSD: Number(pooledMean, "assd", f"mean by area over both boundaries {where}"),
        NSD: Number(fractionWithinTies, "nsd({tolerance})", f"share of both boundaries' area {where}"),
        BIOU: Number(bands, "biou({tolerance})", how, masks, notReproducible),
        **overlaps("dsc", "iou"),
    }


CENTERS = "voxel centers inside and closer than the tolerance to the own surface"
ONE_EMPTY, BOTH_EMPTY = ({**dict.fromkeys(DISTANCES, far), "": share} for far, share in ((math.inf, 0.0), (0.0, 1.0)))
PAPER = Convention(
    key="MeshMetrics-0.1",
    tool="MeshMetrics",
    version="0.1.0",
    source="doi:10.48550/arXiv.2410.02630, https://github.com/gasperpodobnik/MeshMetrics",
    elements=Meshes(subdivisions=1, segments=5),
    numbers=numbersOf(
        "from the centers of marching cubes' triangles, cut into four, to the other surface",
        "exact overlap of the bands inside the two surfaces",
        exactBands,
        "the program's grid of five points along each voxel errs by up to 2 %pt, in steps",
    ),
    oneEmpty=ONE_EMPTY,
)
PACKAGE = Convention(
    key="MeshMetrics-1.4.1",
    tool="MeshMetrics",
    version="1.4.1",
    source="https://pypi.org/project/pymeshmetrics",
    elements=Meshes(subdivisions=0, segments=0),
    numbers=numbersOf(
        "from the centers of marching cubes' triangles to the other surface", CENTERS, VoxelBands(nearSurface)
    ),
    oneEmpty=ONE_EMPTY,
    bothEmpty=BOTH_EMPTY,
)
REPOSITORY = Convention(
    key="MeshMetrics-surfacenets",
    tool="MeshMetrics",
    version="0.2.1",
    source="https://github.com/gasperpodobnik/MeshMetrics",
    elements=faces,
    numbers=numbersOf(
        "from the centers of the triangles of voxel faces to the other voxel faces", CENTERS, VoxelBands(nearFaces)
    ),
    oneEmpty=ONE_EMPTY,
    bothEmpty=BOTH_EMPTY,
)

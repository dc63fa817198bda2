"""Anima's segmentation performance analyzer."""

from __future__ import annotations

from ..convention import ASSD, HD, MASD, Convention, Number
from ..elements import Voxels, faceBorder, faceBorderWithin, foreground
from ..rules import largerMean, largestDistance, pooledMean

CONVENTION = Convention(
    key="Anima",
    tool="Anima",
    version="repository, 2024 (read, not run)",
    source="https://github.com/Inria-Empenn/Anima-Public",
    elements=Voxels(faceBorderWithin),
    numbers={
        HD: Number(
            largestDistance,
            "HausdorffDistance",
            "largest distance of all voxels of the structures",
            Voxels(foreground, faceBorder, zeroInside=True),
        ),
        MASD: Number(largerMean, "ContourMeanDistance", "the LARGER of the two directed means over border voxels"),
        ASSD: Number(
            pooledMean,
            "SurfaceDistance",
            "mean over the border voxels of both",
            notReproducible="the program keeps the smallest distance found so far from one voxel to the next",
        ),
    },
    atEdge="on the stored image it would not count the voxels at the edge as border",
)

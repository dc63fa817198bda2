"""MISeval."""

from __future__ import annotations

from ..bandrules import overlaps
from ..convention import DISTANCES, DSC, HD, Convention, Number
from ..elements import Voxels, faceBorder
from ..rules import largestDistance

CONVENTION = Convention(
    key="MISeval",
    tool="MISeval",
    version="1.3.0",
    source="https://github.com/frankkramer-lab/miseval",
    elements=Voxels(faceBorder, faceBorder, zeroInside=True, inVoxels=True),
    numbers={
        HD: Number(
            largestDistance,
            "AHD",
            "largest distance of border voxels to the other structure, in VOXELS: the spacing is ignored. Its metric "
            "HD is not a distance: it takes the rows of the image for points",
            unit="voxel",
        ),
        **overlaps("DSC", "IoU"),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, "the tool reports a meaningless number"), "": 0.0},
    bothEmpty={DSC: 1.0, "": 0.0},
)

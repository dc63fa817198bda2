"""MISeval."""

from __future__ import annotations

from ..bandrules import dice, jaccard
from ..convention import DISTANCES, DSC, HD, IOU, Convention, Number, each
from ..elements import Voxels, faceBorder, masks
from ..rules import largest

CONVENTION = Convention(
    key="MISeval",
    tool="MISeval",
    version="1.3.0",
    source="https://github.com/frankkramer-lab/miseval",
    elements=Voxels(faceBorder, faceBorder, zeroInside=True, inVoxels=True),
    numbers={
        HD: Number(
            largest,
            "AHD",
            "largest distance of border voxels to the other structure, in VOXELS: the spacing is ignored. Its metric "
            "HD is no distance: it takes the rows of the image for points",
            unit="voxel",
        ),
        DSC: Number(dice, "DSC", "overlap of the voxels", masks),
        IOU: Number(jaccard, "IoU", "overlap of the voxels", masks),
    },
    oneEmpty={**each(DISTANCES, "the tool reports a number without meaning"), "": 0.0},
    bothEmpty={DSC: 1.0, "": 0.0},
)

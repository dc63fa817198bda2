"""Plastimatch, which SlicerRT's segment comparison calls."""

from __future__ import annotations

import numpy as np

from ..bandrules import dice
from ..convention import DSC, HD, HDP, MASD, Convention, Number
from ..elements import masks
from ..propagation import Propagated
from ..rules import largest, meanOfMeans, meanOrdinal

WHERE = "between border voxels by an approximate distance transform"
LARGEST = float(np.finfo(np.float32).max)

CONVENTION = Convention(
    key="Plastimatch",
    tool="Plastimatch (SlicerRT)",
    version="1.10.0",
    source="https://plastimatch.org",
    elements=Propagated(),
    numbers={
        HD: Number(largest, "Hausdorff distance (boundary)", f"largest distance {WHERE}"),
        HDP: Number(
            meanOrdinal,
            "Percent Hausdorff distance (boundary)",
            f"MEAN of the two directed percentiles, {WHERE}",
        ),
        MASD: Number(
            meanOfMeans, "Avg average Hausdorff distance (boundary)", f"mean of the two directed means, {WHERE}"
        ),
        DSC: Number(dice, "DICE", "overlap of the voxels", masks),
    },
    oneEmpty={HD: LARGEST, DSC: 0.0, "": LARGEST / 2},
    bothEmpty={"": "the tool stops with an error"},
)

"""Plastimatch, which SlicerRT's segment comparison calls."""

from __future__ import annotations

import numpy as np

from ..bandrules import overlaps
from ..convention import DSC, HD, HDP, MASD, Convention, Number
from ..propagation import propagate
from ..rules import largestDistance, meanOfMeans, meanOrdinal

WHERE = "between border voxels by an approximate distance transform"
LARGEST = float(np.finfo(np.float32).max)

CONVENTION = Convention(
    key="Plastimatch",
    tool="Plastimatch (SlicerRT)",
    version="1.10.0",
    source="https://plastimatch.org",
    elements=propagate,
    numbers={
        HD: Number(largestDistance, "Hausdorff distance (boundary)", f"largest distance {WHERE}"),
        HDP: Number(
            meanOrdinal, "Percent Hausdorff distance (boundary)", f"MEAN of the two directed percentiles, {WHERE}"
        ),
        MASD: Number(
            meanOfMeans, "Avg average Hausdorff distance (boundary)", f"mean of the two directed means, {WHERE}"
        ),
        **overlaps("DICE"),
    },
    oneEmpty={HD: LARGEST, DSC: 0.0, "": LARGEST / 2},
    bothEmpty={"": "the tool stops with an error"},
)

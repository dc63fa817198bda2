"""grand-challenge-metrics, formerly evalutils, which scores many challenges."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import ASSD, HD, HDP, MASD, Convention, Number
from ..elements import Voxels, faceBorder, foreground, fullBorderWithin
from ..rules import largerMean, largestDistance, lowerRank

STOPS = "the tool stops with an error"
MADE_UP = "the tool measures to a point outside the image; its number grows with the background around the structure"

CONVENTION = Convention(
    key="grand-challenge-metrics",
    tool="grand-challenge-metrics",
    version="0.6.0",
    source="https://pypi.org/project/grand-challenge-metrics",
    elements=Voxels(faceBorder),
    numbers={
        HD: Number(largestDistance, "hausdorff_distance", "largest distance between border voxels"),
        HDP: Number(
            lowerRank,
            "percentile_hausdorff_distance",
            "{percentile} % rank of each direction over border voxels, rounded down, not interpolated; the larger one. "
            "The tool takes the percentile as a fraction",
        ),
        MASD: Number(
            largerMean,
            "mean_contour_distance",
            "larger of the directed means from voxels that touch the outside, even if only at a corner, to the other "
            "structure, which are 0 in the overlap",
            Voxels(fullBorderWithin, foreground),
        ),
        ASSD: Number(largerMean, "modified_hausdorff_distance", "LARGER of the two directed means over border voxels"),
        **overlaps("dice_from_confusion_matrix", "jaccard_from_confusion_matrix"),
    },
    oneEmpty={HD: STOPS, HDP: STOPS, MASD: MADE_UP, ASSD: MADE_UP, "": 0.0},
    bothEmpty={HD: STOPS, HDP: STOPS, "": math.nan},
    referenceEmpty={MASD: math.nan, ASSD: math.nan},
    atEdge="on the stored image mean_contour_distance would not count the voxels at the edge as border",
)

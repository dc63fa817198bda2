"""SimpleITK's (and ITK's) filters."""

from __future__ import annotations

import math
import sys

from ..bandrules import overlaps
from ..convention import DISTANCES, DSC, HD, IOU, MASD, Convention, Number
from ..elements import Voxels, faceBorder, foreground
from ..rules import largestDistance, meanOfMeans

STOPS = "the filter stops with an exception"

CONVENTION = Convention(
    key="SimpleITK",
    tool="SimpleITK",
    version="2.5.7",
    source="https://simpleitk.org",
    elements=Voxels(foreground, faceBorder, zeroInside=True),
    numbers={
        HD: Number(
            largestDistance,
            "HausdorffDistanceImageFilter.GetHausdorffDistance",
            "largest distance of all voxels of the structures, not of their borders only",
        ),
        MASD: Number(
            meanOfMeans,
            "HausdorffDistanceImageFilter.GetAverageHausdorffDistance",
            "mean of the directed means over ALL voxels of the structures, which are 0 in the overlap",
        ),
        **overlaps(
            "LabelOverlapMeasuresImageFilter.GetDiceCoefficient",
            "LabelOverlapMeasuresImageFilter.GetJaccardCoefficient",
        ),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, STOPS), "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, STOPS), DSC: math.inf, IOU: sys.float_info.max, "": STOPS},
)

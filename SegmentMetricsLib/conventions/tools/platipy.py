"""platipy's comparison of labels, for radiotherapy."""

from __future__ import annotations

import math

from ..bandrules import overlaps
from ..convention import ASSD, DISTANCES, HD, HDP, MASD, NSD, Convention, Number
from ..elements import Cropped, Voxels, faceBorder, faceBorderWithin, foreground, fullBorderWithin
from ..rules import betweenMaxima, fractionWithin, largestDistance, pooledMean

STOPS = "the tool stops with an exception"
# SimpleITK draws contours within the image only; distances are to the contour of voxels that touch even at a corner.
CONTOURS = Voxels(faceBorderWithin, fullBorderWithin, single=True)
EVERYTHING, CORNERS = Voxels(foreground, faceBorder, zeroInside=True), Voxels(fullBorderWithin, single=True)
OF_ALL = "largest distance of all voxels of the structures, not of their borders only"
OF_MAXIMA = "{percentile} % of the way between the two directed MAXIMA, so one stray voxel decides it"
OF_CROPPED = "mean over both contours in the box around them, which removes their flat ends; unless auto_crop=False"
OF_CORNERS = "share of the voxels that touch the outside, even if only at a corner; 3 mm in compute_surface_metrics"

CONVENTION = Convention(
    key="platipy",
    tool="platipy",
    version="0.7.2",
    source="https://github.com/pyplati/platipy",
    elements=CONTOURS,
    numbers={
        HD: Number(largestDistance, "hausdorffDistance", OF_ALL, EVERYTHING),
        HDP: Number(betweenMaxima, "hausdorffDistance{percentile}", OF_MAXIMA),
        MASD: Number(pooledMean, "compute_metric_masd", OF_CROPPED, Cropped(CONTOURS), dimension=3),
        ASSD: Number(pooledMean, "meanSurfaceDistance", "mean over the border voxels of both"),
        NSD: Number(fractionWithin, "compute_surface_dsc(tau={tolerance})", OF_CORNERS, CORNERS),
        **overlaps("DSC", "fractionOverlap"),
    },
    oneEmpty={**dict.fromkeys(DISTANCES, STOPS), MASD: math.nan, "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, STOPS), "": math.nan},
    atEdge="on the stored image it would not count the voxels at the edge as border",
)

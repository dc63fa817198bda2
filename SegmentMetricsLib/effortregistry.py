"""The registry's entries of the effort family."""

from __future__ import annotations

import math

from . import effort
from .definitions import OURS, Definition, Empty

VAASSEN = "Vaassen et al., doi:10.1016/j.phro.2019.12.001"

EFFORT = (
    Definition(
        "APL_{tolerance}mm", "Added path length, {tolerance} mm", "mm", 0, math.inf, "lower", "effort", VAASSEN,
        Empty.COMPUTED,
        "Length of the reference's contours, slice by slice, that lies farther than {tolerance} mm from the test's: "
        "what somebody has to draw to correct the test.",
        lambda pair, tolerance: pair.addedPathLength(tolerance), symmetric=False, identity=0,
        hint="Choose it to judge how long corrections take; only what is missing from the reference counts.",
    ),
    Definition(
        "RelativeAPL_{tolerance}mm", "Added path length relative to the reference, {tolerance} mm", "", 0, 1, "lower",
        "effort", VAASSEN, Empty.COMPUTED,
        "Share of the length of the reference's contours that lies farther than {tolerance} mm from the test's.",
        lambda pair, tolerance: effort.shareOf(pair.outlines, pair.addedPathLength(tolerance)), symmetric=False,
        identity=0,
    ),
    *(
        Definition(
            f"CentroidShift{side}", f"Shift of the centroid toward {word}", "mm", -math.inf, math.inf, "", "effort",
            OURS, Empty.COMPUTED,
            f"How far the test's center of mass lies toward {word} of the reference's.",
            lambda pair, side=side: effort.centroidShift(*pair.structuresWithInside, side), symmetric=False, identity=0,
        )
        for side, word in (("R", "right"), ("A", "anterior"), ("S", "superior"))
    ),
)  # fmt: skip

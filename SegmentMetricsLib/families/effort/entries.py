"""The registry's entries of the effort family."""

from __future__ import annotations

import math
from functools import partial

from ...comparison.definitions import OURS, Definition, Empty
from . import formulas as effort
from .ofpair import addedPathLength, centroidShift, outlinesOf

VAASSEN = "Vaassen et al., doi:10.1016/j.phro.2019.12.001"

EFFORT = (
    Definition(
        key="APL_{tolerance}mm", title="Added path length, {tolerance} mm", family="effort", source=VAASSEN,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Length of the reference's contours, slice by slice, that lies farther than {tolerance} mm from "
        "the test's: what has to be drawn to correct the test.",
        compute=addedPathLength,
        symmetric=False, isMain=True, identity=0, trend="falling",
        hint="Choose it to judge how long corrections take; only what is missing from the reference counts.",
        formula=r"\mathrm{APL}_\tau = \sum_s \lvert \lbrace x \in \partial A_s : d(x, \partial B_s) > \tau "
        r"\rbrace \rvert",
        code="families.effort.formulas.addedPathLength",
        steps=("families.effort.formulas.lengthsBeyond",),
        deviation="The source counts pixels of the contour; here it is a length in mm, measured to the contour "
        "itself.",
    ),
    Definition(
        key="RelativeAPL_{tolerance}mm", title="Added path length relative to the reference, {tolerance} mm",
        family="effort", source=VAASSEN,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Share of the length of the reference's contours that lies farther than {tolerance} mm from the "
        "test's.",
        compute=lambda pair, tolerance: effort.relativeAddedPathLength(
            pair.once(outlinesOf), addedPathLength(pair, tolerance)
        ),
        symmetric=False, heading="Relative APL", identity=0, trend="falling",
        hint="Choose it to compare the effort between structures of different size.",
        formula=r"\mathrm{RelativeAPL}_\tau = \frac{\mathrm{APL}_\tau}{\sum_s \lvert \partial A_s \rvert}",
        code="families.effort.formulas.relativeAddedPathLength",
    ),
    *(
        Definition(
            key=f"CentroidShift{side}", title=f"Shift of the centroid toward {word}", family="effort", source=OURS,
            unit="mm", low=-math.inf, high=math.inf, better="", empty=Empty.COMPUTED,
            description=f"How far the test's center of mass lies toward {word} of the reference's: that of the voxels, "
            "or, if either structure is a mesh, of what the surfaces enclose.",
            compute=partial(centroidShift, side=side),
            symmetric=False, heading=f"Center to {short}", identity=0,
            hint="Tells a shift from a change of size; 0 for concentric structures of any size.",
            formula=r"\mathrm{CentroidShift}_k = (c_B - c_A) \cdot e_k", code="families.effort.formulas.centroidShift",
            steps=("families.effort.formulas.centroid",),
        )
        for side, word, short in (("R", "right", "right"), ("A", "anterior", "ant."), ("S", "superior", "sup."))
    ),
)  # fmt: skip

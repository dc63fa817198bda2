"""The registry's entries of the boundary family."""

from __future__ import annotations

import math

from ...comparison.definitions import CHENG, NIKOLOV, REVOLUTIONS, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as boundary
from .ofpair import bandsOf

BOUNDARY = (
    Definition(
        key="HD", title="Hausdorff distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Largest distance from any place of one contour to the other contour.",
        compute=lambda pair: boundary.hausdorff(pair.distances),
        needs=(Workspace.distances,),
        isMain=True, identity=0,
        hint="One outlier determines it: choose it when every error counts, else HD95 or a mean.",
        formula=r"\mathrm{HD} = \max\left(\max_{x \in \partial A} d(x, \partial B), \; \max_{y \in \partial B} "
        r"d(y, \partial A)\right)",
        code="families.boundary.formulas.hausdorff",
        steps=("distances.field.Field.largest",),
    ),
    Definition(
        key="HD{percentile}", title="Hausdorff distance, {percentile}th percentile",
        family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Distance that {percentile} % of either contour's area does not exceed; the larger of the two "
        "directions.",
        compute=lambda pair, percentile: boundary.percentileHausdorff(pair.distances, percentile),
        needs=(Workspace.distances,),
        isMain=True, identity=0, trend="rising",
        hint="Ignores the worst errors, up to the share it leaves out: look at HD, too, where one of them matters.",
        formula=r"\mathrm{HD}_p = \max\left(Q_p(\partial A, \partial B), \; Q_p(\partial B, \partial A)\right) \\ "
        r"Q_p(X, Y) = \min\left\lbrace t : \lvert \lbrace x \in X : d(x, Y) \le t \rbrace \rvert \ge "
        r"\frac{p}{100} \lvert X \rvert \right\rbrace",
        code="families.boundary.formulas.percentileHausdorff",
        steps=("distances.field.Field.percentile",),
    ),
    Definition(
        key="MASD", title="Mean average surface distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance to the other contour, averaged over the two directions.",
        compute=lambda pair: boundary.meanAverageSurfaceDistance(pair.distances),
        needs=(Workspace.distances,),
        isMain=True, identity=0,
        hint="Choose it for the typical distance of the contours; a few large errors vanish among many small ones.",
        formula=r"\mathrm{MASD} = \frac{1}{2} \left(\frac{1}{\lvert \partial A \rvert} \int_{\partial A} d(x, "
        r"\partial B) \, dx + "
        r"\frac{1}{\lvert \partial B \rvert} \int_{\partial B} d(y, \partial A) \, dy\right)",
        code="families.boundary.formulas.meanAverageSurfaceDistance",
        steps=("distances.field.Field.mean",),
    ),
    Definition(
        key="ASSD", title="Average symmetric surface distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance to the other contour over the area of both contours together.",
        compute=lambda pair: boundary.averageSymmetricSurfaceDistance(pair.distances),
        needs=(Workspace.distances,),
        identity=0,
        hint="Like MASD, but the larger contour counts more.",
        formula=r"\mathrm{ASSD} = \frac{\int_{\partial A} d(x, \partial B) \, dx + \int_{\partial B} d(y, "
        r"\partial A) \, dy}"
        r"{\lvert \partial A \rvert + \lvert \partial B \rvert}",
        code="families.boundary.formulas.averageSymmetricSurfaceDistance",
        steps=("distances.field.Field.mean",),
    ),
    Definition(
        key="NSD_{tolerance}mm", title="Normalized surface distance (surface Dice), {tolerance} mm",
        family="boundary", source=NIKOLOV,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Share of both contours' area that lies within {tolerance} mm of the other contour.",
        compute=lambda pair, tolerance: boundary.normalizedSurfaceDistance(pair.distances, tolerance),
        needs=(Workspace.distances,),
        isMain=True, identity=1, trend="rising",
        hint="Choose the tolerance from how far observers differ; below the voxel size it punishes the sampling.",
        formula=r"\mathrm{NSD}_\tau = \frac{\lvert \lbrace x \in \partial A : d(x, \partial B) \le \tau \rbrace "
        r"\rvert + "
        r"\lvert \lbrace y \in \partial B : d(y, \partial A) \le \tau \rbrace \rvert}{\lvert \partial A "
        r"\rvert + \lvert \partial B \rvert}",
        code="families.boundary.formulas.normalizedSurfaceDistance",
        steps=("distances.field.Field.sizeWithin",),
    ),
    Definition(
        key="BIoU_{tolerance}mm", title="Boundary intersection over union, {tolerance} mm",
        family="boundary", source=CHENG,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Overlap of the two bands that lie inside the contours and closer than {tolerance} mm to them.",
        compute=lambda pair, tolerance: pair.once(bandsOf, tolerance).overlap,
        needs=(Workspace.masks,),
        isMain=True, identity=1, trend="any",
        hint="Choose it for errors at the contour of large structures; the band of a thin one is all of it.",
        formula=r"\mathrm{BIoU}_\tau = \frac{\lvert A_\tau \cap B_\tau \rvert}{\lvert A_\tau \cup B_\tau "
        r"\rvert}, \quad "
        r"X_\tau = \lbrace x \in X : d(x, \partial X) < \tau \rbrace",
        code="families.boundary.bands.sizes.Bands.overlap",
        steps=("families.boundary.bands.methods.bands",),
    ),
)  # fmt: skip

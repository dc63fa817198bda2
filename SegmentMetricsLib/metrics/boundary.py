"""Boundary metrics: unsigned distances between two contours.

Every function takes the distances in both directions between two non-empty boundaries. Elements are weighted by their
size. The numbers of one direction, such as its mean or a percentile, are defined by distances.field.Field.
Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630 and MeshMetrics, arXiv:2509.05670.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..base.errors import Undefined
from ..distances.bounded import combined
from ..distances.surfacedistances import SurfaceDistances, withTies
from ..geometry import voxelization
from ..model.structures import REFERENCE_AND_TEST
from .bands.methods import bands
from .bands.sizes import Bands
from .metric import CHENG, NIKOLOV, REVOLUTIONS, Definition, Empty
from .pair import Workspace
from .values import Directed

if TYPE_CHECKING:
    from .pair import Workspace


def hausdorff(distances: SurfaceDistances) -> Directed:
    """Return the Hausdorff distance in mm: the largest distance of any element to the other boundary."""
    there, back = (direction.largest for direction in distances.directions)
    return Directed(combined(max, there, back), there, back)


def percentileHausdorff(distances: SurfaceDistances, percent: float) -> Directed:
    """Return the percentile Hausdorff distance in mm, which `percent` of either boundary does not exceed.

    Weighted by element size, without interpolation. percent: in (0, 100].
    """
    there, back = (direction.percentile(percent) for direction in distances.directions)
    return Directed(combined(max, there, back), there, back)


def meanAverageSurfaceDistance(distances: SurfaceDistances) -> Directed:
    """Return MASD in mm: the mean of the two directed mean distances."""
    there, back = (direction.mean for direction in distances.directions)
    return Directed(combined(lambda a, b: (a + b) / 2, there, back), there, back)


def averageSymmetricSurfaceDistance(distances: SurfaceDistances) -> Directed:
    """Return ASSD in mm: the mean distance over both boundaries together."""
    sizes = [direction.totalSize for direction in distances.directions]
    there, back = (direction.mean for direction in distances.directions)
    pooled = combined(lambda a, b: (a * sizes[0] + b * sizes[1]) / (sizes[0] + sizes[1]), there, back)
    return Directed(pooled, there, back)


def normalizedSurfaceDistance(distances: SurfaceDistances, tolerance: float) -> Directed:
    """Return NSD, the surface Dice, in [0, 1]: the fraction of both boundaries that lies within a tolerance in mm.

    A distance that equals the tolerance counts as within. Source: Nikolov et al., arXiv:1809.04430.
    """
    limit = withTies(tolerance)
    sizes = [direction.sizeWithin(limit) for direction in distances.directions]
    totals = [direction.totalSize for direction in distances.directions]
    pooled = combined(lambda *parts: sum(parts) / sum(totals), *sizes)
    return Directed(pooled, *(size / whole for size, whole in zip(sizes, totals)))


def shareOfTies(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the fraction of both boundaries, in [0, 1], whose distance equals the tolerance in mm."""
    sizes = [d.sizeBetween(withTies(tolerance, -1), withTies(tolerance)) for d in distances.directions]
    return sum(sizes) / sum(direction.totalSize for direction in distances.directions)


def bandsOf(pair: Workspace, tolerance: float) -> Bands:
    """Return the overlap of the two boundary bands for a tolerance in mm."""
    pair.requireClosed(*pair.structures)
    masks = pair.masks
    if any(s.mask is not None and s.givenSurface is not None for s in pair.structures):
        # the measured surfaces decide where to look, not the voxels from which they were made
        masks = tuple(voxelization.maskOf(s.surface, masks[0].grid) for s in pair.structures)
    for which, mask in zip(REFERENCE_AND_TEST, masks, strict=True):
        if mask.isEmpty:
            raise Undefined(f"the {which} encloses no voxel, so there is no telling where its band lies")
    pair.forgetIfLarge()
    return bands(pair.boundaries, masks, tolerance)


BOUNDARY = (
    Definition(
        key="HD", title="Hausdorff distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Largest distance from any place of one contour to the other contour.",
        compute=lambda pair: hausdorff(pair.distances),
        needs=(Workspace.distances,),
        isMain=True, identity=0,
        hint="One outlier determines it: choose it when every error counts, else HD95 or a mean.",
        formula=r"\mathrm{HD} = \max\left(\max_{x \in \partial A} d(x, \partial B), \; \max_{y \in \partial B} "
        r"d(y, \partial A)\right)",
        code="metrics.boundary.hausdorff",
        steps=("distances.field.Field.largest",),
    ),
    Definition(
        key="HD{percentile}", title="Hausdorff distance, {percentile}th percentile",
        family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Distance that {percentile} % of either contour's area does not exceed; the larger of the two "
        "directions.",
        compute=lambda pair, percentile: percentileHausdorff(pair.distances, percentile),
        needs=(Workspace.distances,),
        isMain=True, identity=0, trend="rising",
        hint="Ignores the worst errors, up to the share it leaves out: look at HD, too, where one of them matters.",
        formula=r"\mathrm{HD}_p = \max\left(Q_p(\partial A, \partial B), \; Q_p(\partial B, \partial A)\right) \\ "
        r"Q_p(X, Y) = \min\left\lbrace t : \lvert \lbrace x \in X : d(x, Y) \le t \rbrace \rvert \ge "
        r"\frac{p}{100} \lvert X \rvert \right\rbrace",
        code="metrics.boundary.percentileHausdorff",
        steps=("distances.field.Field.percentile",),
    ),
    Definition(
        key="MASD", title="Mean average surface distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance to the other contour, averaged over the two directions.",
        compute=lambda pair: meanAverageSurfaceDistance(pair.distances),
        needs=(Workspace.distances,),
        isMain=True, identity=0,
        hint="Choose it for the typical distance of the contours; a few large errors vanish among many small ones.",
        formula=r"\mathrm{MASD} = \frac{1}{2} \left(\frac{1}{\lvert \partial A \rvert} \int_{\partial A} d(x, "
        r"\partial B) \, dx + "
        r"\frac{1}{\lvert \partial B \rvert} \int_{\partial B} d(y, \partial A) \, dy\right)",
        code="metrics.boundary.meanAverageSurfaceDistance",
        steps=("distances.field.Field.mean",),
    ),
    Definition(
        key="ASSD", title="Average symmetric surface distance", family="boundary", source=REVOLUTIONS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance to the other contour over the area of both contours together.",
        compute=lambda pair: averageSymmetricSurfaceDistance(pair.distances),
        needs=(Workspace.distances,),
        identity=0,
        hint="Like MASD, but the larger contour counts more.",
        formula=r"\mathrm{ASSD} = \frac{\int_{\partial A} d(x, \partial B) \, dx + \int_{\partial B} d(y, "
        r"\partial A) \, dy}"
        r"{\lvert \partial A \rvert + \lvert \partial B \rvert}",
        code="metrics.boundary.averageSymmetricSurfaceDistance",
        steps=("distances.field.Field.mean",),
    ),
    Definition(
        key="NSD_{tolerance}mm", title="Normalized surface distance (surface Dice), {tolerance} mm",
        family="boundary", source=NIKOLOV,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Share of both contours' area that lies within {tolerance} mm of the other contour.",
        compute=lambda pair, tolerance: normalizedSurfaceDistance(pair.distances, tolerance),
        needs=(Workspace.distances,),
        isMain=True, identity=1, trend="rising",
        hint="Choose the tolerance from how far observers differ; below the voxel size it punishes the sampling.",
        formula=r"\mathrm{NSD}_\tau = \frac{\lvert \lbrace x \in \partial A : d(x, \partial B) \le \tau \rbrace "
        r"\rvert + "
        r"\lvert \lbrace y \in \partial B : d(y, \partial A) \le \tau \rbrace \rvert}{\lvert \partial A "
        r"\rvert + \lvert \partial B \rvert}",
        code="metrics.boundary.normalizedSurfaceDistance",
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
        code="metrics.bands.sizes.Bands.overlap",
        steps=("metrics.bands.methods.bands",),
    ),
)  # fmt: skip

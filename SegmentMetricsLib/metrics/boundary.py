"""How far the contours lie apart.

Boundary metrics: unsigned distances between two contours, and the overlap of the bands along them. The functions take
the distances in both directions between two non-empty boundaries, whose elements are weighted by their size. The
numbers of one direction, such as its mean or a percentile, are defined by distances.field.Field.
Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630 and MeshMetrics, arXiv:2509.05670.
"""

from __future__ import annotations

from functools import partial

from ..distances.bounded import combine
from ..distances.surfacedistances import SurfaceDistances, withTies
from .bands import Bands
from .bands.methods import bands
from .metric import CHENG, NIKOLOV, REVOLUTIONS, Empty, Family, Value, formula, hint, metric, quantity
from .pair import MANY_ELEMENTS, Pair

FAMILY = Family(10)
# What the distances have in common, and what the shares.
ofDistance = partial(metric, source=REVOLUTIONS, unit="mm", best=0, empty=Empty.INFINITE)
ofShare = partial(metric, best=1, empty=Empty.ZERO, isMain=True)


@ofDistance("HD: Hausdorff distance", isMain=True)
@hint("One outlier determines it: choose it when every error counts, else HD95 or a mean.")
@formula(
    r"\mathrm{HD} = \max\left(\max_{x \in \partial A} d(x, \partial B), \; \max_{y \in \partial B} "
    r"d(y, \partial A)\right)",
    "distances.field.Field.largest",
)
def hausdorff(distances: SurfaceDistances) -> Value:
    """Largest distance from any place of one contour to the other contour."""
    toTest, toReference = (direction.largest for direction in distances.directions)
    return Value(combine(max, toTest, toReference), toTest, toReference)


@ofDistance("HD{percentile}: Hausdorff distance, {percentile}th percentile", isMain=True, trend="rising")
@hint("Ignores the worst errors, up to the share it leaves out: look at HD, too, where one of them matters.")
@formula(
    r"\mathrm{HD}_p = \max\left(Q_p(\partial A, \partial B), \; Q_p(\partial B, \partial A)\right) \\ "
    r"Q_p(X, Y) = \min\left\lbrace t : \lvert \lbrace x \in X : d(x, Y) \le t \rbrace \rvert \ge "
    r"\frac{p}{100} \lvert X \rvert \right\rbrace",
    "distances.field.Field.percentile",
)
def percentileHausdorff(distances: SurfaceDistances, percentile: float) -> Value:
    """Distance that {percentile} % of either contour's area does not exceed; the larger of the two directions.

    percentile: in (0, 100].

    Examples
    --------
    >>> masks = (Mask.fromArray(np.ones((1, n, n)), Grid((9, 9, 1), np.eye(4))) for n in (5, 8))
    >>> distances = BoundaryPair(*map(meshing.fromMask, masks)).measure()
    >>> f"{percentileHausdorff(distances, 95):.3f}"
    '3.053'
    """
    toTest, toReference = (direction.percentile(percentile) for direction in distances.directions)
    return Value(combine(max, toTest, toReference), toTest, toReference)


@ofDistance("MASD: Mean average surface distance", isMain=True)
@hint("Choose it for the typical distance of the contours; a few large errors vanish among many small ones.")
@formula(
    r"\mathrm{MASD} = \frac{1}{2} \left(\frac{1}{\lvert \partial A \rvert} \int_{\partial A} d(x, \partial B) "
    r"\, dx + \frac{1}{\lvert \partial B \rvert} \int_{\partial B} d(y, \partial A) \, dy\right)",
    "distances.field.Field.mean",
)
def meanAverageSurfaceDistance(distances: SurfaceDistances) -> Value:
    """Mean distance to the other contour, averaged over the two directions."""
    toTest, toReference = (direction.mean for direction in distances.directions)
    return Value(combine(lambda a, b: (a + b) / 2, toTest, toReference), toTest, toReference)


@ofDistance("ASSD: Average symmetric surface distance")
@hint("Like MASD, but the larger contour counts more.")
@formula(
    r"\mathrm{ASSD} = \frac{\int_{\partial A} d(x, \partial B) \, dx + \int_{\partial B} d(y, \partial A) \, "
    r"dy}{\lvert \partial A \rvert + \lvert \partial B \rvert}",
    "distances.field.Field.mean",
)
def averageSymmetricSurfaceDistance(distances: SurfaceDistances) -> Value:
    """Mean distance to the other contour over the area of both contours together."""
    sizes = [direction.totalSize for direction in distances.directions]
    toTest, toReference = (direction.mean for direction in distances.directions)
    pooled = combine(lambda a, b: (a * sizes[0] + b * sizes[1]) / (sizes[0] + sizes[1]), toTest, toReference)
    return Value(pooled, toTest, toReference)


@ofShare("NSD_{tolerance}mm: Normalized surface distance (surface Dice), {tolerance} mm", NIKOLOV, trend="rising")
@hint("Choose the tolerance from how far observers differ; below the voxel size it punishes the sampling.")
@formula(
    r"\mathrm{NSD}_\tau = \frac{\lvert \lbrace x \in \partial A : d(x, \partial B) \le \tau \rbrace \rvert + "
    r"\lvert \lbrace y \in \partial B : d(y, \partial A) \le \tau \rbrace \rvert}{\lvert \partial A \rvert + \lvert "
    r"\partial B \rvert}",
    "distances.field.Field.size",
)
def normalizedSurfaceDistance(distances: SurfaceDistances, tolerance: float) -> Value:
    """Share of both contours' area that lies within {tolerance} mm of the other contour."""
    # a distance that equals the tolerance counts as within
    limit = withTies(tolerance)
    sizes = [direction.sizeWithin(limit) for direction in distances.directions]
    totals = [direction.totalSize for direction in distances.directions]
    pooled = combine(lambda *parts: sum(parts) / sum(totals), *sizes)
    toTest, toReference = (size / whole for size, whole in zip(sizes, totals))
    return Value(pooled, toTest, toReference)


def shareOfTies(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the fraction of both boundaries, in [0, 1], whose distance equals the tolerance in mm."""
    limits = withTies(tolerance, -1), withTies(tolerance)
    ties = sum(direction.sizeBetween(*limits) for direction in distances.directions)
    return ties / sum(direction.totalSize for direction in distances.directions)


@quantity()
def boundaryBands(pair: Pair, tolerance: float) -> Bands:
    """Return the overlap of the two boundary bands for a tolerance in mm."""
    pair.requireClosed(*pair.structures)
    # of the measured surfaces, not of the voxels from which smooth ones were made
    volumes = [s.mask.size if s.mask and s.givenSurface is None else s.surface.volume for s in pair.structures]
    pair.forget(MANY_ELEMENTS)
    return bands(pair.boundaries, pair.overlapGrid.grid, volumes, tolerance)


@ofShare("BIoU_{tolerance}mm: Boundary intersection over union, {tolerance} mm", CHENG, trend="any")
@hint("Choose it for errors at the contour of large structures; the band of a thin one is all of it.")
@formula(
    r"\mathrm{BIoU}_\tau = \frac{\lvert A_\tau \cap B_\tau \rvert}{\lvert A_\tau \cup B_\tau \rvert}, \quad "
    r"X_\tau = \lbrace x \in X : d(x, \partial X) < \tau \rbrace",
    "metrics.bands.methods.bands",
)
def boundaryIntersectionOverUnion(boundaryBands: Bands) -> float:
    """Overlap of the two bands that lie inside the contours and closer than {tolerance} mm to them."""
    return boundaryBands.overlap

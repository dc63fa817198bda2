"""The confusion matrix: counts of the voxels that two structures share and do not share, or their areas."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import Undefined
from ..geometry import contours
from ..geometry.masks import Mask, boxAround
from ..geometry.surfaces import Surface
from ..model.structures import REFERENCE_AND_TEST

# A grid that exceeds the union of both structures by at most this fraction does so by rounding only: a single voxel is
# a larger fraction of any image.
SIZE_ROUNDING = Fraction(1, 10**10)
WITHOUT_GRID = "contours without an image have no grid on which true negatives could be counted"


# A whole number, a fraction or a floating-point number.
Amount = Any


@dataclass(frozen=True)
class Counts:
    """The confusion matrix of two structures: voxel counts of two masks, or areas of contours in mm2.

    Counts of masks on one lattice are whole numbers. With memberships, or grids turned against each other, voxels count
    fractionally. The formulas take whole numbers, exact fractions and floating-point numbers.

    truePositive: in both. falsePositive: in the test only. falseNegative: in the reference only. unit: what is counted.
    voxels: number of voxels in the evaluated grid; None without a grid. productSum, squareSum: sums of the products of
    both memberships and of the squares of both; None where all are 0 or 1.
    """

    truePositive: Amount
    falsePositive: Amount
    falseNegative: Amount
    unit: str = "voxel"
    voxels: Amount | None = None
    productSum: Fraction | None = None
    squareSum: Fraction | None = None

    def exactly(self, size: float | None) -> Counts:
        """Return the same as fractions, with a number of voxels in the evaluated grid.

        A number that is below the union of both structures, or above it by rounding only, is set to the union.
        """
        both, over, under = map(Fraction, (self.truePositive, self.falsePositive, self.falseNegative))
        covered = both + over + under
        voxels = None if size is None else Fraction(size)
        if voxels is not None and voxels <= covered * (1 + SIZE_ROUNDING):
            voxels = covered
        return Counts(both, over, under, self.unit, voxels)

    @property
    def reference(self) -> Amount:
        """Size of the reference."""
        return self.truePositive + self.falseNegative

    @property
    def test(self) -> Amount:
        """Size of the test."""
        return self.truePositive + self.falsePositive

    @property
    def products(self) -> Amount:
        """Sum of the products of both memberships."""
        return self.truePositive if self.productSum is None else self.productSum

    @property
    def squares(self) -> Amount:
        """Sum of the squares of both memberships."""
        return self.reference + self.test if self.squareSum is None else self.squareSum

    @property
    def size(self) -> Amount:
        """Number of voxels in the evaluated grid. Raises Undefined without a grid."""
        if self.voxels is None:
            raise Undefined(WITHOUT_GRID)
        return self.voxels

    @property
    def trueNegative(self) -> Amount:
        """Number of voxels in neither structure. Raises Undefined without a grid."""
        return self.size - self.truePositive - self.falsePositive - self.falseNegative

    @property
    def outsideReference(self) -> Amount:
        return self.size - self.reference

    @property
    def outsideTest(self) -> Amount:
        return self.size - self.test


def ratio(part: Amount, whole: Amount, counts: Counts, otherwise: str = "") -> float:
    """Return a quotient of counts.

    Raises Undefined if the denominator is 0, for the reason `otherwise`, or for the one that the counts tell.
    """
    if whole:
        return float(part / whole)
    hollow = [which for which in REFERENCE_AND_TEST if not getattr(counts, which)]
    if otherwise or not hollow:
        raise Undefined(otherwise or "the denominator of its formula is 0")
    who = "both structures enclose" if len(hollow) == 2 else f"the {hollow[0]} encloses"
    raise Undefined(f"{who} no {counts.unit}")


def count(reference: Mask, test: Mask) -> Counts:
    """Return the numbers of voxels that two masks on one lattice share and do not share."""
    both = int(np.count_nonzero(reference.voxels & test.block(reference.low, reference.high)))
    return Counts(both, test.count - both, reference.count - both)


def areas(reference: Surface, test: Surface) -> Counts:
    """Return the areas that two contours in one plane share and do not share."""
    both = min(contours.sharedArea(reference, test), reference.volume, test.volume)
    return Counts(both, test.volume - both, reference.volume - both, "area")


def countMemberships(reference: Mask, test: Mask, voxels: float) -> Counts:
    """Return the exact counts of memberships in [0, 1] on one lattice; for binary masks they are those of count().

    voxels: in the evaluated grid.
    """
    low, high = boxAround(reference, test)
    sums = np.zeros(5)
    # slice by slice, to avoid a copy of the box
    for k in range(low[2], high[2] + 1):
        f, g = (mask.block((*low[:2], k), (*high[:2], k)).astype(float) for mask in (reference, test))
        parts = (np.minimum(f, g), np.maximum(g - f, 0), np.maximum(f - g, 0), f * g)
        sums += *(part.sum() for part in parts), (f * f).sum() + (g * g).sum()
    both, over, under, products, squares = map(Fraction, sums)
    return Counts(both, over, under, "voxel", max(Fraction(voxels), both + over + under), products, squares)

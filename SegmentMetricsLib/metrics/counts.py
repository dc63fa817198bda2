"""Counts of the voxels that two structures share and do not share, or their areas, and the confusion matrix of both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..base.errors import Undefined
from ..geometry import contours
from ..geometry.masks import Mask, boxAround, slicesOf
from ..geometry.surfaces import Surface

# Slices processed at a time, so that temporary arrays are small compared with the masks.
LAYERS = 16
# A grid that exceeds the union of both structures by at most this fraction does so by rounding only: a single voxel is
# a larger fraction of any image.
SIZE_ROUNDING = Fraction(1, 10**10)
WITHOUT_GRID = "contours without an image have no grid on which true negatives could be counted"


@dataclass(frozen=True)
class Counts:
    """Overlap of two structures: voxel counts of two masks, or areas of contours in mm2.

    Counts of masks on one lattice are exact integers. With memberships, or grids turned against each other, voxels
    count fractionally.

    truePositive: in both. falsePositive: in the test only. falseNegative: in the reference only. unit: what is counted.
    """

    truePositive: float
    falsePositive: float
    falseNegative: float
    unit: str = "voxel"

    @property
    def reference(self) -> float:
        """Size of the reference."""
        return self.truePositive + self.falseNegative

    @property
    def test(self) -> float:
        """Size of the test."""
        return self.truePositive + self.falsePositive


def count(reference: Mask, test: Mask) -> Counts:
    """Return the numbers of voxels that two masks on one lattice share and do not share."""
    both = 0
    if not reference.isEmpty and not test.isEmpty:
        low, high = np.maximum(reference.low, test.low), np.minimum(reference.high, test.high)
        if (low <= high).all():
            one, other = (mask.voxels[slicesOf(low - mask.low, high - mask.low)] for mask in (reference, test))
            for first in range(0, len(one), LAYERS):
                both += int(np.count_nonzero(one[first : first + LAYERS] & other[first : first + LAYERS]))
    return Counts(both, test.count - both, reference.count - both)


def areas(reference: Surface, test: Surface) -> Counts:
    """Return the areas that two contours in one plane share and do not share."""
    both = min(contours.sharedArea(reference, test), reference.volume, test.volume)
    return Counts(both, test.volume - both, reference.volume - both, "area")


@dataclass(frozen=True)
class Table:
    """The confusion matrix of two structures; memberships between 0 and 1 count fractionally.

    truePositive: in both. falsePositive: in the test only. falseNegative: in the reference only. voxels: number of
    voxels in the evaluated grid, possibly fractional; None without a grid. products: sum of the products of both
    memberships. squares: sum of the squares of both.
    """

    truePositive: Fraction
    falsePositive: Fraction
    falseNegative: Fraction
    voxels: Fraction | None
    products: Fraction
    squares: Fraction
    unit: str = "voxel"

    @staticmethod
    def of(counts: Counts, size: float | None) -> Table:
        """Return the table of two masks, or of contours without a grid.

        A number of voxels that is below the union of both structures, or above it by rounding only, is set to the
        union.
        """
        both, over, under = map(Fraction, (counts.truePositive, counts.falsePositive, counts.falseNegative))
        covered = both + over + under
        voxels = None if size is None else Fraction(size)
        if voxels is not None and voxels <= covered * (1 + SIZE_ROUNDING):
            voxels = covered
        return Table(both, over, under, voxels, both, 2 * both + over + under, counts.unit)

    @staticmethod
    def ofMemberships(reference: Mask, test: Mask, voxels: float) -> Table:
        """Return the table of memberships in [0, 1] on one lattice; for binary masks it is that of their counts."""
        low, high = boxAround(reference, test)
        sums = np.zeros(5)
        # slice by slice, to avoid a copy of the box
        for k in range(low[2], high[2] + 1):
            box = (*low[:2], k), (*high[:2], k)
            f, g = (mask.block(*box).astype(float) for mask in (reference, test))
            both = np.minimum(f, g).sum()
            more = np.maximum(g - f, 0).sum(), np.maximum(f - g, 0).sum()
            sums += both, *more, (f * g).sum(), (f * f).sum() + (g * g).sum()
        both, over, under, products, squares = map(Fraction, sums)
        return Table(both, over, under, max(Fraction(voxels), both + over + under), products, squares)

    @property
    def reference(self) -> Fraction:
        return self.truePositive + self.falseNegative

    @property
    def test(self) -> Fraction:
        return self.truePositive + self.falsePositive

    @property
    def size(self) -> Fraction:
        """Number of voxels in the evaluated grid. Raises Undefined without a grid."""
        if self.voxels is None:
            raise Undefined(WITHOUT_GRID)
        return self.voxels

    @property
    def trueNegative(self) -> Fraction:
        """Number of voxels in neither structure. Raises Undefined without a grid."""
        return self.size - self.truePositive - self.falsePositive - self.falseNegative

    @property
    def outsideReference(self) -> Fraction:
        return self.size - self.reference

    @property
    def outsideTest(self) -> Fraction:
        return self.size - self.test

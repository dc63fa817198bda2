"""How much volume the segments share, and how large they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.errors import Undefined
from ..geometry import contours
from ..geometry.masks import Mask, boxAround
from ..geometry.surfaces import Surface
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from .metric import OURS, TAHA, VOLUME, Empty, Family, Named, each, formula, hint, metric

FAMILY = Family(30)
# Volumes that differ by less than this fraction differ by rounding only: a single voxel is a larger fraction of any
# image.
VOLUME_ROUNDING = 1e-12
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


# What differs between the two structures: words of texts, and the letter in formulas.
BOTH = {"which": ("reference", "test"), "Which": ("Reference", "Test"), "X": ("A", "B")}
# What the shares have in common, and what the volumes.
ofShare = partial(metric, source=TAHA, best=1, empty=Empty.ZERO)
ofVolume = partial(metric, source=OURS, unit=VOLUME, empty=Empty.COMPUTED, symmetric=False)


@ofShare("DSC: Dice similarity coefficient", isMain=True, alias="DICE")
@hint("Small or thin structures: few voxels change it much, prefer distances. It does not see shapes.")
@formula(r"\mathrm{DSC} = \frac{2 \mathrm{TP}}{2 \mathrm{TP} + \mathrm{FP} + \mathrm{FN}}")
def dice(counts: Counts) -> float:
    """Twice the shared volume over the sum of both volumes, counted in voxels.

    Examples
    --------
    >>> reference, test = np.arange(6) < 3, np.arange(6) > 0  # masks of any shape
    >>> dice(Counts((reference & test).sum(), (test & ~reference).sum(), (reference & ~test).sum()))
    0.5
    """
    return ratio(2 * counts.truePositive, counts.reference + counts.test, counts)


@ofShare("IoU: Intersection over union (Jaccard)", alias="JACRD")
@hint("Ranks as the Dice coefficient does and never exceeds it: report one of the two.")
@formula(r"\mathrm{IoU} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}")
def intersectionOverUnion(counts: Counts) -> float:
    """Shared volume over the volume that either one covers, counted in voxels."""
    either = counts.truePositive + counts.falsePositive + counts.falseNegative
    return ratio(counts.truePositive, either, counts)


@ofShare("{short}: {name}", symmetric=False)
@formula(r"\mathrm{{short}} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{{lacking}}}")
@each(
    short=("TPR", "PPV"),
    name=("Sensitivity (recall)", "Precision (positive predictive value)"),
    heading=("Sensitivity", "Precision"),
    alias=("SNSVTY", "PRCISON"),
    whole=("reference", "test"),
    lacking=("FN", "FP"),
    what=("Share of the reference that the test covers", "Share of the test that lies in the reference"),
    hint=(
        "Choose it when missing a part matters most; drawing too much raises it, so look at PPV, too.",
        "Choose it when adding too much matters most; drawing too little raises it, so look at TPR, too.",
    ),
)
def shareOf(counts: Counts, whole: str) -> float:
    """{what}, counted in voxels."""
    return ratio(counts.truePositive, getattr(counts, whole), counts)


@ofVolume(
    "Volume{Which}: Volume of the {which}",
    isMain=True,
    areaTitle="Area of the {which}",
    areaDescription="Area that the {which}'s contour encloses.",
)
@hint("Enclosed by the boundary; for small structures it differs from the voxel volume.")
@formula(
    r"\mathrm{Volume{Which}} = \frac{1}{3} \int_{\partial {X}} x \cdot \nu(x) \, dx",
    "geometry.meshing.MaskSurface.volume",
)
@each(
    **BOTH,
    structure=(Named("closedSide", 0), Named("closedSide", 1)),
    heading=("Volume ref.", "Volume test"),
    concept=(None, ("RNU0", "IBSI", "Volume of Mesh")),
)
def enclosedVolume(structure: Structure) -> float:
    """Volume that the {which}'s closed surface encloses."""
    return structure.surface.volume


@ofVolume(
    "VolumeDifference: Volume difference",
    identity=0,
    low=-math.inf,
    heading="Volume diff.",
    areaTitle="Area difference",
    areaDescription="Area of the test minus area of the reference, of the contours.",
)
@hint("Choose it when volume is what matters; it can be 0 without any overlap.")
@formula(r"\mathrm{VolumeDifference} = \mathrm{VolumeTest} - \mathrm{VolumeReference}")
@each(closedReference=(Named("closedSide", 0),), closedTest=(Named("closedSide", 1),))
def volumeDifference(closedReference: Structure, closedTest: Structure) -> float:
    """Volume of the test minus volume of the reference, of the closed surfaces."""
    reference, test = enclosedVolume(closedReference), enclosedVolume(closedTest)
    return 0.0 if abs(test - reference) <= VOLUME_ROUNDING * max(reference, test) else test - reference


@ofVolume(
    "VoxelVolume{Which}: Voxel volume of the {which}",
    areaTitle="Voxel area of the {which}",
    areaDescription="Number of the {which}'s voxels times the voxel size.",
)
@hint("The volume of tools that count voxels; memberships count from 0.5, or from the threshold.")
@formula(r"\mathrm{VoxelVolume{Which}} = v \, n_{X}", "geometry.masks.Mask.size")
@each(
    **BOTH,
    voxels=(Named("voxelsOf", 0), Named("voxelsOf", 1)),
    heading=("Voxel vol. ref.", "Voxel vol. test"),
    concept=(None, ("YEKZ", "IBSI", "Volume from Voxel Summation")),
)
def voxelVolume(voxels: Mask | None) -> float:
    """Number of the {which}'s voxels times the voxel size."""
    return 0.0 if voxels is None else voxels.size

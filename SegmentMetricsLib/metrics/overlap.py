"""How much volume the segments share, and how large they are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ..base.errors import Undefined
from ..geometry.masks import Mask
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from .counts import Counts
from .metric import OURS, TAHA, VOLUME, Empty, Family, Named, metric, quantity

if TYPE_CHECKING:
    from .pair import Pair

FAMILY = Family(30)
# Volumes that differ by less than this fraction differ by rounding only: a single voxel is a larger fraction of any
# image.
VOLUME_ROUNDING = 1e-12


@metric(
    "DSC",
    "Dice similarity coefficient",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    isMain=True,
    hint="Small or thin structures: few voxels change it much, prefer distances. It does not see shapes.",
    formula=r"\mathrm{DSC} = \frac{2 \mathrm{TP}}{2 \mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
    alias="DICE",
)
def dice(counts: Counts) -> float:
    """Twice the shared volume over the sum of both volumes, counted in voxels.

    Examples
    --------
    >>> reference, test = np.arange(6) < 3, np.arange(6) > 0  # masks of any shape
    >>> dice(Counts((reference & test).sum(), (test & ~reference).sum(), (reference & ~test).sum()))
    0.5
    """
    return _ratio(2 * counts.truePositive, counts.reference + counts.test, counts)


@metric(
    "IoU",
    "Intersection over union (Jaccard)",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    hint="Ranks as the Dice coefficient does and never exceeds it: report one of the two.",
    formula=r"\mathrm{IoU} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
    alias="JACRD",
)
def intersectionOverUnion(counts: Counts) -> float:
    """Shared volume over the volume that either one covers, counted in voxels."""
    either = counts.truePositive + counts.falsePositive + counts.falseNegative
    return _ratio(counts.truePositive, either, counts)


@metric(
    "TPR",
    "Sensitivity (recall)",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    symmetric=False,
    heading="Sensitivity",
    hint="Choose it when missing a part matters most; drawing too much raises it, so look at PPV, too.",
    formula=r"\mathrm{TPR} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}",
    alias="SNSVTY",
)
def sensitivity(counts: Counts) -> float:
    """Share of the reference that the test covers, counted in voxels."""
    return _ratio(counts.truePositive, counts.reference, counts)


@metric(
    "PPV",
    "Precision (positive predictive value)",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    symmetric=False,
    heading="Precision",
    hint="Choose it when adding too much matters most; drawing too little raises it, so look at TPR, too.",
    formula=r"\mathrm{PPV} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}",
    alias="PRCISON",
)
def precision(counts: Counts) -> float:
    """Share of the test that lies in the reference, counted in voxels."""
    return _ratio(counts.truePositive, counts.test, counts)


def _ratio(part: float | Fraction, whole: float | Fraction, counts: Counts) -> float:
    """Return a quotient. Raises Undefined if the denominator is 0; the counts tell the reason."""
    if whole:
        return float(part / whole)
    hollow = [which for which in REFERENCE_AND_TEST if not getattr(counts, which)]
    if not hollow:
        raise Undefined("the denominator of its formula is 0")
    who = "both structures enclose" if len(hollow) == 2 else f"the {hollow[0]} encloses"
    raise Undefined(f"{who} no {counts.unit}")


@metric(
    "Volume{Which}",
    "Volume of the {which}",
    OURS,
    unit=VOLUME,
    empty=Empty.COMPUTED,
    symmetric=False,
    isMain=True,
    areaTitle="Area of the {which}",
    areaDescription="Area that the {which}'s contour encloses.",
    hint="Of the boundary; for small structures it differs from the voxel volume.",
    formula=r"\mathrm{Volume{Which}} = \frac{1}{3} \int_{\partial {X}} x \cdot \nu(x) \, dx",
    steps=("geometry.meshing.MaskSurface.volume",),
    variants=(
        {"which": "reference", "Which": "Reference", "X": "A", "structure": Named("closedReference"),
         "heading": "Volume ref."},
        {"which": "test", "Which": "Test", "X": "B", "structure": Named("closedTest"), "heading": "Volume test",
         "concept": ("RNU0", "IBSI", "Volume of Mesh")},
    ),
)  # fmt: skip
def enclosedVolume(structure: Structure) -> float:
    """Volume that the {which}'s closed surface encloses."""
    return structure.surface.volume


@quantity()
def referenceVolume(closedReference: Structure) -> float:
    """Return the volume in mm3 (area in mm2) that the reference's surface encloses."""
    return enclosedVolume(closedReference)


@quantity()
def testVolume(closedTest: Structure) -> float:
    """Return the volume in mm3 (area in mm2) that the test's surface encloses."""
    return enclosedVolume(closedTest)


@metric(
    "VolumeDifference",
    "Volume difference",
    OURS,
    unit=VOLUME,
    identity=0,
    low=-math.inf,
    empty=Empty.COMPUTED,
    symmetric=False,
    heading="Volume diff.",
    areaTitle="Area difference",
    areaDescription="Area of the test minus area of the reference, of the contours.",
    hint="Choose it when volume is what matters; it can be 0 without any overlap.",
    formula=r"\mathrm{VolumeDifference} = \mathrm{VolumeTest} - \mathrm{VolumeReference}",
)
def volumeDifference(referenceVolume: float, testVolume: float) -> float:
    """Volume of the test minus volume of the reference, of the closed surfaces.

    0 if they differ by rounding only.
    """
    difference = testVolume - referenceVolume
    return 0.0 if abs(difference) <= VOLUME_ROUNDING * max(referenceVolume, testVolume) else difference


@quantity()
def referenceVoxels(pair: Pair) -> Mask | None:
    """Return the voxels of the reference, None for an empty mesh."""
    return pair.voxelsOf(0)


@quantity()
def testVoxels(pair: Pair) -> Mask | None:
    """Return the voxels of the test, None for an empty mesh."""
    return pair.voxelsOf(1)


@metric(
    "VoxelVolume{Which}",
    "Voxel volume of the {which}",
    OURS,
    unit=VOLUME,
    empty=Empty.COMPUTED,
    symmetric=False,
    areaTitle="Voxel area of the {which}",
    areaDescription="Number of the {which}'s voxels times the voxel size.",
    hint="The volume of tools that count voxels; memberships count from 0.5, or from the threshold.",
    formula=r"\mathrm{VoxelVolume{Which}} = v \, n_{X}",
    steps=("geometry.masks.Mask.size",),
    variants=(
        {"which": "reference", "Which": "Reference", "X": "A", "voxels": Named("referenceVoxels"),
         "heading": "Voxel vol. ref."},
        {"which": "test", "Which": "Test", "X": "B", "voxels": Named("testVoxels"), "heading": "Voxel vol. test",
         "concept": ("YEKZ", "IBSI", "Volume from Voxel Summation")},
    ),
)  # fmt: skip
def voxelVolume(voxels: Mask | None) -> float:
    """Number of the {which}'s voxels times the voxel size."""
    return 0.0 if voxels is None else voxels.size

"""Overlap of two structures: shared voxels, or shared area of contours."""

from __future__ import annotations

import math

from ..base.errors import Undefined
from ..model.structures import REFERENCE_AND_TEST
from .counts import Counts
from .metric import OURS, TAHA, Definition, Empty, ofMasks
from .pair import Workspace

# Volumes that differ by less than this fraction differ by rounding only: a single voxel is a larger fraction of any
# image.
VOLUME_ROUNDING = 1e-12


def dice(counts: Counts) -> float:
    """Return the Dice similarity coefficient 2 TP / (2 TP + FP + FN) in [0, 1] (Dice 1945)."""
    return _ratio(2 * counts.truePositive, counts.reference + counts.test, counts)


def intersectionOverUnion(counts: Counts) -> float:
    """Return TP / (TP + FP + FN) in [0, 1] (Jaccard 1912)."""
    either = counts.truePositive + counts.falsePositive + counts.falseNegative
    return _ratio(counts.truePositive, either, counts)


def diceOf(jaccard: float) -> float:
    """Return the Dice coefficient 2 J / (1 + J) in [0, 1] that belongs to a Jaccard index J in [0, 1]."""
    return float(2 * jaccard / (1 + jaccard))


def sensitivity(counts: Counts) -> float:
    """Return the share of the reference that the test found, TP / (TP + FN) in [0, 1]."""
    return _ratio(counts.truePositive, counts.reference, counts)


def precision(counts: Counts) -> float:
    """Return the share of the test that is in the reference, TP / (TP + FP) in [0, 1]."""
    return _ratio(counts.truePositive, counts.test, counts)


def volumeDifference(reference: float, test: float) -> float:
    """Return the test's volume minus the reference's, in their unit; 0 if they differ by rounding only."""
    difference = test - reference
    return 0.0 if abs(difference) <= VOLUME_ROUNDING * max(reference, test) else difference


def _ratio(part: float, whole: float, counts: Counts) -> float:
    """Return a quotient. Raises Undefined if the denominator is 0; the counts tell the reason."""
    if whole:
        return part / whole
    hollow = [which for which in REFERENCE_AND_TEST if not getattr(counts, which)]
    if not hollow:
        raise Undefined("the denominator of its formula is 0")
    who = "both structures enclose" if len(hollow) == 2 else f"the {hollow[0]} encloses"
    raise Undefined(f"{who} no {counts.unit}")


OVERLAP = (
    Definition(
        key="DSC", title="Dice similarity coefficient", family="overlap", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Twice the shared volume over the sum of both volumes, counted in voxels.",
        compute=lambda pair: dice(pair.counts),
        needs=(Workspace.counts,),
        isMain=True, identity=1,
        hint="Small or thin structures: few voxels change it much, prefer distances. It does not see shapes.",
        formula=r"\mathrm{DSC} = \frac{2 \mathrm{TP}}{2 \mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
        code="metrics.overlap.dice", alias="DICE",
    ),
    Definition(
        key="IoU", title="Intersection over union (Jaccard)", family="overlap", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Shared volume over the volume that either one covers, counted in voxels.",
        compute=lambda pair: intersectionOverUnion(pair.counts),
        needs=(Workspace.counts,),
        identity=1,
        hint="Ranks as the Dice coefficient does and never exceeds it: report one of the two.",
        formula=r"\mathrm{IoU} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
        code="metrics.overlap.intersectionOverUnion", alias="JACRD",
    ),
    Definition(
        key="TPR", title="Sensitivity (recall)", family="overlap", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Share of the reference that the test covers, counted in voxels.",
        compute=lambda pair: sensitivity(pair.counts),
        needs=(Workspace.counts,),
        symmetric=False, heading="Sensitivity", identity=1,
        hint="Choose it when missing a part matters most; drawing too much raises it, so look at PPV, too.",
        formula=r"\mathrm{TPR} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}",
        code="metrics.overlap.sensitivity", alias="SNSVTY",
    ),
    Definition(
        key="PPV", title="Precision (positive predictive value)", family="overlap", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Share of the test that lies in the reference, counted in voxels.",
        compute=lambda pair: precision(pair.counts),
        needs=(Workspace.counts,),
        symmetric=False, heading="Precision", identity=1,
        hint="Choose it when adding too much matters most; drawing too little raises it, so look at TPR, too.",
        formula=r"\mathrm{PPV} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}",
        code="metrics.overlap.precision", alias="PRCISON",
    ),
    Definition(
        key="VolumeReference", title="Volume of the reference", family="overlap", source=OURS,
        unit="mm3", low=0, high=math.inf, better="", empty=Empty.COMPUTED, emptiness=ofMasks,
        description="Volume that the reference's closed surface encloses.",
        compute=lambda pair: pair.volume(0),
        symmetric=False, isMain=True, heading="Volume ref.", identity=None,
        areaTitle="Area of the reference",
        areaDescription="Area that the reference's contour encloses.",
        hint="Of the boundary; for small structures it differs from the voxel volume.",
        formula=r"\mathrm{VolumeReference} = \frac{1}{3} \int_{\partial A} x \cdot \nu(x) \, dx",
        code="geometry.meshing.MaskSurface.volume",
    ),
    Definition(
        key="VolumeTest", title="Volume of the test", family="overlap", source=OURS,
        unit="mm3", low=0, high=math.inf, better="", empty=Empty.COMPUTED, emptiness=ofMasks,
        description="Volume that the test's closed surface encloses.",
        compute=lambda pair: pair.volume(1),
        symmetric=False, isMain=True, heading="Volume test", identity=None,
        areaTitle="Area of the test",
        areaDescription="Area that the test's contour encloses.",
        hint="Of the boundary; for small structures it differs from the voxel volume.",
        formula=r"\mathrm{VolumeTest} = \frac{1}{3} \int_{\partial B} x \cdot \nu(x) \, dx",
        code="geometry.meshing.MaskSurface.volume",
    ),
    Definition(
        key="VolumeDifference", title="Volume difference", family="overlap", source=OURS,
        unit="mm3", low=-math.inf, high=math.inf, better="", empty=Empty.COMPUTED, emptiness=ofMasks,
        description="Volume of the test minus volume of the reference, of the closed surfaces.",
        compute=lambda pair: volumeDifference(pair.volume(0), pair.volume(1)),
        symmetric=False, heading="Volume diff.", identity=0,
        areaTitle="Area difference",
        areaDescription="Area of the test minus area of the reference, of the contours.",
        hint="Choose it when volume is what matters; it can be 0 without any overlap.",
        formula=r"\mathrm{VolumeDifference} = \mathrm{VolumeTest} - \mathrm{VolumeReference}",
        code="metrics.overlap.volumeDifference",
    ),
    Definition(
        key="VoxelVolumeReference", title="Voxel volume of the reference", family="overlap", source=OURS,
        unit="mm3", low=0, high=math.inf, better="", empty=Empty.COMPUTED, emptiness=ofMasks,
        description="Number of the reference's voxels times the voxel size.",
        compute=lambda pair: pair.voxelVolume(0),
        symmetric=False, heading="Voxel vol. ref.", identity=None,
        areaTitle="Voxel area of the reference",
        areaDescription="Number of the reference's voxels times the voxel size.",
        hint="The volume of tools that count voxels; memberships count from 0.5, or from the threshold.",
        formula=r"\mathrm{VoxelVolumeReference} = v \, n_A",
        code="geometry.masks.Mask.size",
    ),
    Definition(
        key="VoxelVolumeTest", title="Voxel volume of the test", family="overlap", source=OURS,
        unit="mm3", low=0, high=math.inf, better="", empty=Empty.COMPUTED, emptiness=ofMasks,
        description="Number of the test's voxels times the voxel size.",
        compute=lambda pair: pair.voxelVolume(1),
        symmetric=False, heading="Voxel vol. test", identity=None,
        areaTitle="Voxel area of the test",
        areaDescription="Number of the test's voxels times the voxel size.",
        hint="The volume of tools that count voxels; memberships count from 0.5, or from the threshold.",
        formula=r"\mathrm{VoxelVolumeTest} = v \, n_B",
        code="geometry.masks.Mask.size",
    ),
)  # fmt: skip

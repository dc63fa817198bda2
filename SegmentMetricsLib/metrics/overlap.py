"""How much volume the segments share, and how large they are."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ..geometry.masks import Mask
from ..model.structure import Structure
from .counts import Counts, ratio
from .metric import OURS, TAHA, VOLUME, Empty, Family, metric, quantity

if TYPE_CHECKING:
    from .pair import Pair

FAMILY = Family(30)
# Volumes that differ by less than this fraction differ by rounding only: a single voxel is a larger fraction of any
# image.
VOLUME_ROUNDING = 1e-12
# What the shares have in common, and what the volumes.
ofShare = partial(metric, source=TAHA, best=1, empty=Empty.ZERO)
ofVolume = partial(metric, source=OURS, unit=VOLUME, empty=Empty.COMPUTED, symmetric=False)


@ofShare(
    "DSC",
    "Dice similarity coefficient",
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
    return ratio(2 * counts.truePositive, counts.reference + counts.test, counts)


@ofShare(
    "IoU",
    "Intersection over union (Jaccard)",
    hint="Ranks as the Dice coefficient does and never exceeds it: report one of the two.",
    formula=r"\mathrm{IoU} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
    alias="JACRD",
)
def intersectionOverUnion(counts: Counts) -> float:
    """Shared volume over the volume that either one covers, counted in voxels."""
    either = counts.truePositive + counts.falsePositive + counts.falseNegative
    return ratio(counts.truePositive, either, counts)


@ofShare(
    "TPR",
    "Sensitivity (recall)",
    symmetric=False,
    heading="Sensitivity",
    hint="Choose it when missing a part matters most; drawing too much raises it, so look at PPV, too.",
    formula=r"\mathrm{TPR} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}",
    alias="SNSVTY",
)
def sensitivity(counts: Counts) -> float:
    """Share of the reference that the test covers, counted in voxels."""
    return ratio(counts.truePositive, counts.reference, counts)


@ofShare(
    "PPV",
    "Precision (positive predictive value)",
    symmetric=False,
    heading="Precision",
    hint="Choose it when adding too much matters most; drawing too little raises it, so look at TPR, too.",
    formula=r"\mathrm{PPV} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}",
    alias="PRCISON",
)
def precision(counts: Counts) -> float:
    """Share of the test that lies in the reference, counted in voxels."""
    return ratio(counts.truePositive, counts.test, counts)


@quantity()
def closedStructure(pair: Pair, number: int) -> Structure:
    """Return the reference (0) or the test (1). Raises Undefined if its surface has no inside."""
    pair.requireClosed(pair.structures[number])
    return pair.structures[number]


@ofVolume(
    "Volume{Which}",
    "Volume of the {which}",
    isMain=True,
    areaTitle="Area of the {which}",
    areaDescription="Area that the {which}'s contour encloses.",
    hint="Of the boundary; for small structures it differs from the voxel volume.",
    formula=r"\mathrm{Volume{Which}} = \frac{1}{3} \int_{\partial {X}} x \cdot \nu(x) \, dx",
    steps=("geometry.meshing.MaskSurface.volume",),
    variants=(
        {"which": "reference", "Which": "Reference", "X": "A", "number": 0, "heading": "Volume ref."},
        {"which": "test", "Which": "Test", "X": "B", "number": 1, "heading": "Volume test",
         "concept": ("RNU0", "IBSI", "Volume of Mesh")},
    ),
)  # fmt: skip
def enclosedVolume(closedStructure: Structure) -> float:
    """Volume that the {which}'s closed surface encloses."""
    return closedStructure.surface.volume


@quantity()
def enclosedVolumes(closedStructures: tuple[Structure, Structure]) -> tuple[float, float]:
    """Return the volumes in mm3 (areas in mm2) that both surfaces enclose."""
    reference, test = map(enclosedVolume, closedStructures)
    return reference, test


@ofVolume(
    "VolumeDifference",
    "Volume difference",
    identity=0,
    low=-math.inf,
    heading="Volume diff.",
    areaTitle="Area difference",
    areaDescription="Area of the test minus area of the reference, of the contours.",
    hint="Choose it when volume is what matters; it can be 0 without any overlap.",
    formula=r"\mathrm{VolumeDifference} = \mathrm{VolumeTest} - \mathrm{VolumeReference}",
)
def volumeDifference(enclosedVolumes: tuple[float, float]) -> float:
    """Volume of the test minus volume of the reference, of the closed surfaces.

    0 if they differ by rounding only.
    """
    reference, test = enclosedVolumes
    return 0.0 if abs(test - reference) <= VOLUME_ROUNDING * max(reference, test) else test - reference


@quantity()
def ownVoxels(pair: Pair, number: int) -> Mask | None:
    """Return the voxels of the reference (0) or the test (1), None for an empty mesh."""
    return pair.voxelsOf(number)


@ofVolume(
    "VoxelVolume{Which}",
    "Voxel volume of the {which}",
    areaTitle="Voxel area of the {which}",
    areaDescription="Number of the {which}'s voxels times the voxel size.",
    hint="The volume of tools that count voxels; memberships count from 0.5, or from the threshold.",
    formula=r"\mathrm{VoxelVolume{Which}} = v \, n_{X}",
    steps=("geometry.masks.Mask.size",),
    variants=(
        {"which": "reference", "Which": "Reference", "X": "A", "number": 0, "heading": "Voxel vol. ref."},
        {"which": "test", "Which": "Test", "X": "B", "number": 1, "heading": "Voxel vol. test",
         "concept": ("YEKZ", "IBSI", "Volume from Voxel Summation")},
    ),
)  # fmt: skip
def voxelVolume(ownVoxels: Mask | None) -> float:
    """Number of the {which}'s voxels times the voxel size."""
    return 0.0 if ownVoxels is None else ownVoxels.size

"""The registry's entries of the overlap family."""

from __future__ import annotations

import math

from ..definitions import OURS, TAHA, Definition, Empty, ofMemberships
from ..metrics import overlap

OVERLAP = (
    Definition(
        "DSC", "Dice similarity coefficient", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Twice the shared volume over the sum of both volumes, counted in voxels.",
        lambda pair: overlap.dice(pair.weightedCounts),
        isMain=True, identity=1,
        emptiness=ofMemberships,
        hint="Small or thin structures: few voxels change it much, prefer distances. It does not see shapes.",
        formula=r"\mathrm{DSC} = \frac{2 \mathrm{TP}}{2 \mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
        code="metrics.overlap.dice",
    ),
    Definition(
        "IoU", "Intersection over union (Jaccard)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Shared volume over the volume that either one covers, counted in voxels.",
        lambda pair: overlap.intersectionOverUnion(pair.weightedCounts),
        identity=1,
        emptiness=ofMemberships,
        hint="Ranks as the Dice coefficient does, always below it: report one of the two.",
        formula=r"\mathrm{IoU} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}",
        code="metrics.overlap.intersectionOverUnion",
    ),
    Definition(
        "TPR", "Sensitivity (recall)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Share of the reference that the test covers, counted in voxels.",
        lambda pair: overlap.sensitivity(pair.weightedCounts), symmetric=False,
        heading="Sensitivity", identity=1,
        emptiness=ofMemberships,
        hint="Choose it when missing a part matters most; drawing too much raises it, so look at PPV, too.",
        formula=r"\mathrm{TPR} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}",
        code="metrics.overlap.sensitivity",
    ),
    Definition(
        "PPV", "Precision (positive predictive value)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Share of the test that lies in the reference, counted in voxels.",
        lambda pair: overlap.precision(pair.weightedCounts), symmetric=False,
        heading="Precision", identity=1,
        emptiness=ofMemberships,
        hint="Choose it when adding too much matters most; drawing too little raises it, so look at TPR, too.",
        formula=r"\mathrm{PPV} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}",
        code="metrics.overlap.precision",
    ),
    Definition(
        "VolumeReference", "Volume of the reference", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume that the reference's closed surface encloses.",
        lambda pair: pair.volume(0), symmetric=False,
        isMain=True, heading="Volume ref.", identity=None,
        hint="Of the boundary; for small structures it differs from the voxel volume.",
        formula=r"\mathrm{VolumeReference} = \frac{1}{3} \int_{\partial A} x \cdot \nu(x) \, dx",
        code="geometry.surfaces.Surface.volume",
        steps=("geometry.surfaces.Surface.sizesAndVolume",),
    ),
    Definition(
        "VolumeTest", "Volume of the test", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume that the test's closed surface encloses.",
        lambda pair: pair.volume(1), symmetric=False,
        isMain=True, heading="Volume test", identity=None,
        hint="Of the boundary; for small structures it differs from the voxel volume.",
        formula=r"\mathrm{VolumeTest} = \frac{1}{3} \int_{\partial B} x \cdot \nu(x) \, dx",
        code="geometry.surfaces.Surface.volume",
        steps=("geometry.surfaces.Surface.sizesAndVolume",),
    ),
    Definition(
        "VolumeDifference", "Volume difference", "mm3", -math.inf, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume of the test minus volume of the reference, of the closed surfaces.",
        lambda pair: overlap.volumeDifference(pair.volume(0), pair.volume(1)), symmetric=False,
        heading="Volume diff.", identity=0,
        hint="Choose it when volume is what matters; it can be 0 without any overlap.",
        formula=r"\mathrm{VolumeDifference} = \mathrm{VolumeTest} - \mathrm{VolumeReference}",
        code="metrics.overlap.volumeDifference",
    ),
    Definition(
        "VoxelVolumeReference", "Voxel volume of the reference", "mm3", 0, math.inf, "", "overlap", OURS,
        Empty.COMPUTED,
        "Number of the reference's voxels times the voxel size.",
        lambda pair: pair.voxelVolume(0), symmetric=False,
        heading="Voxel vol. ref.", identity=None,
        hint="What tools report that count voxels; memberships count from 0.5, or the threshold, on.",
        formula=r"\mathrm{VoxelVolumeReference} = v \, n_A",
        code="geometry.masks.Mask.size",
    ),
    Definition(
        "VoxelVolumeTest", "Voxel volume of the test", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Number of the test's voxels times the voxel size.",
        lambda pair: pair.voxelVolume(1), symmetric=False,
        heading="Voxel vol. test", identity=None,
        hint="What tools report that count voxels; memberships count from 0.5, or the threshold, on.",
        formula=r"\mathrm{VoxelVolumeTest} = v \, n_B",
        code="geometry.masks.Mask.size",
    ),
)  # fmt: skip

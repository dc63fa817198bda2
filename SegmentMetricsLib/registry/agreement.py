"""The registry's entries of the agreement family."""

from __future__ import annotations

import math

from ..definitions import TAHA, Definition, Empty, ofMemberships
from ..metrics import agreement

FIX_THE_GRID = "Depends on the voxels outside both: fix the evaluated grid to compare cases."
LARGE_BACKGROUND = (
    "Near its best value for any small structure in a large image: " + FIX_THE_GRID[0].lower() + FIX_THE_GRID[1:]
)

AGREEMENT = (
    Definition(
        "TNR", "Specificity (true negative rate)", "", 0, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "Share of the voxels outside the reference that are outside the test, too.",
        lambda pair: agreement.specificity(pair.table), symmetric=False, identity=1,
        dependsOnGrid=True, hint=LARGE_BACKGROUND,
        emptiness=ofMemberships,
    ),
    Definition(
        "FPR", "Fallout (false positive rate)", "", 0, 1, "lower", "agreement", TAHA, Empty.COUNTED,
        "Share of the voxels outside the reference that are in the test.",
        lambda pair: agreement.fallout(pair.table), symmetric=False, identity=0,
        dependsOnGrid=True, hint=LARGE_BACKGROUND,
        emptiness=ofMemberships,
    ),
    Definition(
        "FNR", "Miss rate (false negative rate)", "", 0, 1, "lower", "agreement", TAHA, Empty.ONE,
        "Share of the reference that the test lacks, counted in voxels.",
        lambda pair: agreement.missRate(pair.table), symmetric=False, identity=0,
        hint="Choose it when missing a part of the structure matters more than adding to it.",
        emptiness=ofMemberships,
    ),
    Definition(
        "FMS_{beta}", "F-measure, beta {beta}", "", 0, 1, "higher", "agreement", TAHA, Empty.ZERO,
        "Weighted harmonic mean of precision and sensitivity, with beta {beta}; beta 1 is the Dice coefficient, a "
        "larger one favors sensitivity.",
        lambda pair, beta: agreement.fMeasure(pair.table, beta), symmetric=False, identity=1, trend="any",
        hint="Small structures: one voxel changes it much, prefer distances.",
        emptiness=ofMemberships,
    ),
    Definition(
        "ACC", "Accuracy", "", 0, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "Share of all voxels of the evaluated grid on which the two agree.",
        lambda pair: agreement.accuracy(pair.table), identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        emptiness=ofMemberships,
    ),
    Definition(
        "GCE", "Global consistency error", "", 0, 1, "lower", "agreement", TAHA, Empty.COUNTED,
        "Share of voxels in error, where neither segmentation merely refines the other.",
        lambda pair: agreement.globalConsistencyError(pair.table), identity=0,
        dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "VS", "Volumetric similarity", "", 0, 1, "higher", "agreement", TAHA, Empty.ZERO,
        "How alike the two volumes are, wherever they lie, counted in voxels.",
        lambda pair: agreement.volumetricSimilarity(pair.table), identity=1,
        hint="Choose it when the volume is what matters; it can be perfect without any overlap.",
        emptiness=ofMemberships,
    ),
    Definition(
        "RI", "Rand index", "", 0, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "Share of all pairs of voxels that both segmentations join or both separate.",
        lambda pair: agreement.randIndex(pair.table), identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        emptiness=ofMemberships,
    ),
    Definition(
        "ARI", "Adjusted Rand index", "", -1, 1, "higher", "agreement", TAHA, Empty.ZERO,
        "Rand index corrected for chance: 0 is what random segmentations reach.",
        lambda pair: agreement.adjustedRandIndex(pair.table), identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "MI", "Mutual information", "bit", 0, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "How much knowing whether a voxel is in one structure tells about the other; larger for larger structures.",
        lambda pair: agreement.mutualInformation(pair.table), identity=None, dependsOnGrid=True,
        hint="Compare it between tests of one reference only. " + FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "VOI", "Variation of information", "bit", 0, 2, "lower", "agreement", TAHA, Empty.COUNTED,
        "How much the two segmentations do not tell about each other.",
        lambda pair: agreement.variationOfInformation(pair.table), identity=0,
        dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "ICC", "Interclass correlation", "", -1, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "How much voxels differ from each other rather than between the two segmentations.",
        lambda pair: agreement.interclassCorrelation(pair.table), identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "PBD", "Probabilistic distance", "", 0, math.inf, "lower", "agreement", TAHA, Empty.INFINITE,
        "Difference of the memberships over twice their product, summed over all voxels.",
        lambda pair: agreement.probabilisticDistance(pair.table), identity=0,
        note=lambda pair: "" if pair.table.products else "the two do not overlap",
        hint="Made for memberships; infinite without overlap.",
        emptiness=ofMemberships,
    ),
    Definition(
        "KAP", "Cohen's kappa", "", -1, 1, "higher", "agreement", TAHA, Empty.ZERO,
        "Agreement beyond chance: 0 is what random segmentations of these sizes reach.",
        lambda pair: agreement.kappa(pair.table), identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
    Definition(
        "AUC", "Area under the ROC curve", "", 0, 1, "higher", "agreement", TAHA, Empty.COUNTED,
        "Mean of sensitivity and specificity: the area under the curve through the one point that a segmentation has.",
        lambda pair: agreement.areaUnderCurve(pair.table), symmetric=False, identity=1,
        dependsOnGrid=True, hint=FIX_THE_GRID,
        emptiness=ofMemberships,
    ),
)  # fmt: skip

"""The registry's entries of the hazard family."""

from __future__ import annotations

from . import hazard
from .definitions import Definition, Empty

BEYOND_DICE = "Beyond Dice: SIS and STAR"

HAZARD = (
    Definition(
        "RFN", "Missed hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard in the reference, high near critical structures, that the test misses.",
        lambda pair: hazard.missedShare(pair.hazardErrors), symmetric=False, identity=0,
    ),
    Definition(
        "RFP", "Added hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard outside the reference that the test covers.",
        lambda pair: hazard.addedShare(pair.hazardErrors), symmetric=False, identity=0, dependsOnGrid=True,
    ),
    Definition(
        "SIS", "Safety impact score", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Weighted mean of the missed and the added hazard.",
        lambda pair: hazard.safetyImpactScore(pair.hazardErrors, pair.settings.hazardBalance),
        symmetric=False, identity=0, dependsOnGrid=True,
    ),
    Definition(
        "STAR", "Tail risk", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Mean hazard of the most hazardous missed and added voxels: how bad the worst errors are.",
        lambda pair: hazard.tailRisk(pair.hazardErrors, pair.settings.hazardBalance, pair.settings.hazardTail),
        symmetric=False, identity=0,
        hint="Looks at the worst errors only: one voxel in a critical structure shows.",
    ),
    Definition(
        "wDice", "Dice weighted by hazard", "", 0, 1, "higher", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Dice coefficient in which every voxel counts by its hazard.",
        lambda pair: hazard.weightedDice(pair.hazardErrors), identity=1,
    ),
)  # fmt: skip

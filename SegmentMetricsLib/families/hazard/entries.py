"""The registry's entries of the hazard family."""

from __future__ import annotations

from ...comparison.definitions import Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as hazard
from .ofpair import emptyCriticals, errorsOf

# Known by its title alone: docs/guide/which-number.md says so.
BEYOND_DICE = "Beyond Dice: SIS and STAR"

# The settings behind symbols of the formulas: the weight of missed hazard, and those that decide the hazard of a voxel.
BALANCE = ((r"\lambda", ("hazardBalance",)),)
HAZARD_OF_VOXELS = (
    ("w_i", ("critical", "hazardKernel", "hazardReach", "hazardPower", "hazardDecay", "hazardCombination")),
)


HAZARD = (
    Definition(
        key="RFN", title="Missed hazard", family="hazard", source=BEYOND_DICE,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Share of the hazard in the reference, high near critical structures, that the test misses.",
        compute=lambda pair: hazard.missedShare(pair.once(errorsOf)),
        needs=(Workspace.masks, errorsOf,),
        symmetric=False, identity=0, note=emptyCriticals,
        hint="Choose it when missing a part near a critical structure matters most.",
        formula=r"\mathrm{RFN} = \frac{\sum_{i \in A \setminus B} w_i}{\sum_{i \in A} w_i + \varepsilon}",
        code="families.hazard.formulas.missedShare",
        steps=("families.hazard.formulas.field", "families.hazard.formulas.Kernel.at"),
        symbols=HAZARD_OF_VOXELS,
    ),
    Definition(
        key="RFP", title="Added hazard", family="hazard", source=BEYOND_DICE,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Share of the hazard outside the reference that the test covers.",
        compute=lambda pair: hazard.addedShare(pair.once(errorsOf)),
        needs=(Workspace.masks, errorsOf,),
        symmetric=False, identity=0, dependsOnGrid=True, note=emptyCriticals,
        hint="Choose it when adding near a critical structure matters most. Fix the evaluated grid.",
        formula=r"\mathrm{RFP} = \frac{\sum_{i \in B \setminus A} w_i}{\sum_{i \notin A} w_i + \varepsilon}",
        code="families.hazard.formulas.addedShare",
        steps=("families.hazard.formulas.field", "families.hazard.formulas.Kernel.at"),
        symbols=HAZARD_OF_VOXELS,
    ),
    Definition(
        key="SIS", title="Safety impact score", family="hazard", source=BEYOND_DICE,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Weighted mean of the missed and the added hazard.",
        compute=lambda pair: hazard.safetyImpactScore(pair.once(errorsOf), pair.settings.hazardBalance),
        needs=(Workspace.masks, errorsOf,),
        symmetric=False, isMain=True, identity=0, dependsOnGrid=True, note=emptyCriticals,
        hint="A mean over all errors, in which a few grave ones vanish: look at STAR, too. Fix the evaluated grid.",
        formula=r"\mathrm{SIS} = \lambda \, \mathrm{RFN} + (1 - \lambda) \, \mathrm{RFP}",
        code="families.hazard.formulas.safetyImpactScore",
        steps=("families.hazard.formulas.missedShare", "families.hazard.formulas.addedShare"),
        symbols=BALANCE,
    ),
    Definition(
        key="STAR", title="Tail risk", family="hazard", source=BEYOND_DICE,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Mean hazard of the most hazardous missed and added voxels: how bad the worst errors are.",
        compute=lambda pair: hazard.tailRisk(
            pair.once(errorsOf), pair.settings.hazardBalance, pair.settings.hazardTail
        ),
        needs=(Workspace.masks, errorsOf,),
        symmetric=False, isMain=True, identity=0, note=emptyCriticals,
        hint="Looks at the worst errors only: one voxel in a critical structure shows.",
        formula=r"\mathrm{STAR} = \lambda \, C_\alpha(A \setminus B) + (1 - \lambda) \, C_\alpha(B \setminus A) \\ "
        r"C_\alpha(E) = q + \frac{1}{\alpha \lvert E \rvert} \sum_{i \in E} \max(w_i - q, 0), \quad "
        r"C_\alpha(\emptyset) = 0 \\ "
        r"q = \min\left\lbrace t : \lvert \lbrace i \in E : w_i \le t \rbrace \rvert \ge (1 - \alpha) "
        r"\lvert E \rvert \right\rbrace",
        code="families.hazard.formulas.tailRisk",
        steps=("families.hazard.formulas.tailMean",),
        symbols=(*BALANCE, (r"\alpha", ("hazardTail",)), *HAZARD_OF_VOXELS),
        deviation="Equation 7 of the source sums every hazard from q on and can exceed 1. Here it is the exact "
        "mean of the worst share, the last voxel counted in part; both are equal where that share is a "
        "whole number of voxels and nothing ties.",
    ),
    Definition(
        key="wDice", title="Dice weighted by hazard", family="hazard", source=BEYOND_DICE,
        unit="", low=0, high=1, better="higher", empty=Empty.COMPUTED,
        description="Dice coefficient in which every voxel counts by its hazard.",
        compute=lambda pair: hazard.weightedDice(pair.once(errorsOf)),
        needs=(Workspace.masks, errorsOf,),
        isMain=True, identity=1, note=emptyCriticals,
        hint="Choose it when overlap matters near critical structures only; elsewhere errors hardly count.",
        formula=r"\mathrm{wDice} = \frac{2 \sum_{i \in A \cap B} w_i}{\sum_{i \in A} w_i + \sum_{i \in B} w_i}",
        code="families.hazard.formulas.weightedDice",
        steps=("families.hazard.formulas.field", "families.hazard.formulas.Kernel.at"),
        symbols=HAZARD_OF_VOXELS,
        deviation="The source adds a small number to the denominator; here it is undefined where neither "
        "structure has any hazard.",
    ),
)  # fmt: skip

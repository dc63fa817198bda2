"""The registry's entries of the agreement family."""

from __future__ import annotations

import math

from ...comparison.definitions import TAHA, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as agreement

FIX_THE_GRID = "Depends on the voxels outside both: fix the evaluated grid to compare cases."
LARGE_BACKGROUND = (
    "Near its best value for any small structure in a large image: " + FIX_THE_GRID[0].lower() + FIX_THE_GRID[1:]
)
EXCHANGED = "Equation 1 of the source exchanges FP and FN; elsewhere they are as here."
NOT_A_SHARE = "A count, not a share: it grows with the structure and with finer voxels."
COUNTS = (
    Definition(
        key="TP", title="True positives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="higher", empty=Empty.COMPUTED,
        description="Number of voxels in both; memberships count in part.",
        compute=lambda pair: agreement.shared(pair.table),
        needs=(Workspace.table,),
        identity=None, hint=NOT_A_SHARE, alias="TP",
        formula=r"\mathrm{TP} = \sum_i \min(f_{A,i}, f_{B,i})",
        code="families.agreement.formulas.shared",
    ),
    Definition(
        key="FP", title="False positives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Number of voxels of the test outside the reference; memberships count in part.",
        compute=lambda pair: agreement.added(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, hint=NOT_A_SHARE, alias="FP",
        formula=r"\mathrm{FP} = \sum_i \max(f_{B,i} - f_{A,i}, 0)",
        code="families.agreement.formulas.added",
        deviation=EXCHANGED,
    ),
    Definition(
        key="FN", title="False negatives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Number of voxels of the reference outside the test; memberships count in part.",
        compute=lambda pair: agreement.missed(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, hint=NOT_A_SHARE, alias="FN",
        formula=r"\mathrm{FN} = \sum_i \max(f_{A,i} - f_{B,i}, 0)",
        code="families.agreement.formulas.missed",
        deviation=EXCHANGED,
    ),
    Definition(
        key="TN", title="True negatives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="higher", empty=Empty.COMPUTED,
        description="Number of voxels of the evaluated grid in neither; memberships count in part.",
        compute=lambda pair: agreement.outside(pair.table),
        needs=(Workspace.table,),
        identity=None, dependsOnGrid=True, hint=FIX_THE_GRID, alias="TN",
        formula=r"\mathrm{TN} = \sum_i \min(1 - f_{A,i}, 1 - f_{B,i}) = n - \mathrm{TP} - \mathrm{FP} - \mathrm{FN}",
        code="families.agreement.formulas.outside",
        steps=("comparison.counts.Table.trueNegative",),
    ),
)  # fmt: skip

AGREEMENT = (
    *COUNTS,
    Definition(
        key="TNR", title="Specificity (true negative rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of the voxels outside the reference that are outside the test, too.",
        compute=lambda pair: agreement.specificity(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{TNR} = \frac{\mathrm{TN}}{\mathrm{TN} + \mathrm{FP}}",
        code="families.agreement.formulas.specificity", alias="SPCFTY",
    ),
    Definition(
        key="FPR", title="Fallout (false positive rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.COUNTED,
        description="Share of the voxels outside the reference that are in the test.",
        compute=lambda pair: agreement.fallout(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{FPR} = \frac{\mathrm{FP}}{\mathrm{TN} + \mathrm{FP}} = 1 - \mathrm{TNR}",
        code="families.agreement.formulas.fallout", alias="FALLOUT",
    ),
    Definition(
        key="FNR", title="Miss rate (false negative rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.ONE,
        description="Share of the reference that the test lacks, counted in voxels.",
        compute=lambda pair: agreement.missRate(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0,
        hint="Choose it when missing a part of the structure matters more than adding to it.",
        formula=r"\mathrm{FNR} = \frac{\mathrm{FN}}{\mathrm{TP} + \mathrm{FN}} = 1 - \mathrm{TPR}",
        code="families.agreement.formulas.missRate",
    ),
    Definition(
        key="FMS_{beta}", title="F-measure, beta {beta}", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Weighted harmonic mean of precision and sensitivity, with beta {beta}; beta 1 is the Dice "
        "coefficient, a larger one favors sensitivity.",
        compute=lambda pair, beta: agreement.fMeasure(pair.table, beta),
        needs=(Workspace.table,),
        symmetric=False, identity=1, trend="any",
        hint="Small structures: one voxel changes it much, prefer distances.",
        formula=r"\mathrm{FMS}_\beta = \frac{(\beta^2 + 1) \cdot \mathrm{PPV} \cdot \mathrm{TPR}}{\beta^2 \cdot "
        r"\mathrm{PPV} + \mathrm{TPR}}",
        code="families.agreement.formulas.fMeasure", alias="FMEASR",
    ),
    Definition(
        key="ACC", title="Accuracy", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of all voxels of the evaluated grid on which the two agree.",
        compute=lambda pair: agreement.accuracy(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{ACC} = \frac{\mathrm{TP} + \mathrm{TN}}{n}",
        code="families.agreement.formulas.accuracy", alias="ACURCY",
    ),
    Definition(
        key="GCE", title="Global consistency error", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.COUNTED,
        description="Share of voxels in error, where neither segmentation merely refines the other.",
        compute=lambda pair: agreement.globalConsistencyError(pair.table),
        needs=(Workspace.table,),
        identity=0, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{GCE} = \frac{1}{n} \min(E_{AB}, E_{BA}) \\ "
        r"E_{AB} = \frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FN}} + "
        r"\frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FP}}, \quad "
        r"E_{BA} = \frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FP}} + "
        r"\frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FN}}",
        code="families.agreement.formulas.globalConsistencyError", alias="GCOERR",
    ),
    Definition(
        key="VS", title="Volumetric similarity", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="How alike the two volumes are, wherever they lie, counted in voxels.",
        compute=lambda pair: agreement.volumetricSimilarity(pair.table),
        needs=(Workspace.table,),
        identity=1,
        hint="Choose it when the volume is what matters; it can be perfect without any overlap.",
        formula=r"\mathrm{VS} = 1 - \frac{\lvert \mathrm{FN} - \mathrm{FP} \rvert}{2 \mathrm{TP} + \mathrm{FP} + "
        r"\mathrm{FN}}",
        code="families.agreement.formulas.volumetricSimilarity", alias="VOLSMTY",
    ),
    Definition(
        key="RI", title="Rand index", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of all pairs of voxels that both segmentations join or both separate.",
        compute=lambda pair: agreement.randIndex(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{RI} = \frac{a + d}{a + b + c + d}",
        code="families.agreement.formulas.randIndex", alias="RNDIND",
        steps=("families.agreement.formulas.pairsOfVoxels",),
        deviation="The source prints a + b as the numerator. Rand's definition, and the source's own program, "
        "have a + d.",
    ),
    Definition(
        key="ARI", title="Adjusted Rand index", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.ZERO,
        description="Rand index corrected for chance: 0 is what random segmentations reach.",
        compute=lambda pair: agreement.adjustedRandIndex(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{ARI} = \frac{2 (ad - bc)}{c^2 + b^2 + 2ad + (a + d)(c + b)}",
        code="families.agreement.formulas.adjustedRandIndex", alias="ADJRIND",
        steps=("families.agreement.formulas.pairsOfVoxels",),
    ),
    Definition(
        key="MI", title="Mutual information", family="agreement", source=TAHA,
        unit="bit", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="How much knowing whether a voxel is in one structure tells about the other; larger for larger "
        "structures.",
        compute=lambda pair: agreement.mutualInformation(pair.table),
        needs=(Workspace.table,),
        identity=None, dependsOnGrid=True,
        hint="Compare it between tests of one reference only. " + FIX_THE_GRID,
        formula=r"\mathrm{MI} = H(A) + H(B) - H(A, B)",
        code="families.agreement.formulas.mutualInformation", alias="MUTINF",
        steps=("families.agreement.formulas.entropies",),
    ),
    Definition(
        key="VOI", title="Variation of information", family="agreement", source=TAHA,
        unit="bit", low=0, high=2, better="lower", empty=Empty.COUNTED,
        description="How much information the two segmentations do not share.",
        compute=lambda pair: agreement.variationOfInformation(pair.table),
        needs=(Workspace.table,),
        identity=0, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{VOI} = H(A) + H(B) - 2 \, \mathrm{MI} = 2 H(A, B) - H(A) - H(B)",
        code="families.agreement.formulas.variationOfInformation", alias="VARINFO",
        steps=("families.agreement.formulas.entropies",),
        deviation="The source exchanges the probabilities of the two backgrounds in print: that of the "
        "reference's is (TN + FP) / n, that of the test's (TN + FN) / n.",
    ),
    Definition(
        key="ICC", title="Interclass correlation", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.COUNTED,
        description="How much of the variation lies between voxels rather than between the two segmentations.",
        compute=lambda pair: agreement.interclassCorrelation(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{ICC} = \frac{\mathrm{MS}_b - \mathrm{MS}_w}{\mathrm{MS}_b + \mathrm{MS}_w} \\ "
        r"\mathrm{MS}_b = \frac{2}{n - 1} \sum_i (m_i - \mu)^2, \quad "
        r"\mathrm{MS}_w = \frac{1}{n} \sum_i \left((f_{A,i} - m_i)^2 + (f_{B,i} - m_i)^2\right) \\ "
        r"m_i = \frac{f_{A,i} + f_{B,i}}{2}, \quad \mu = \frac{1}{n} \sum_i m_i",
        code="families.agreement.formulas.interclassCorrelation", alias="ICCORR",
        deviation="The source's own program mixes memberships up to 1 with memberships up to 255 and gives "
        "another number.",
    ),
    Definition(
        key="PBD", title="Probabilistic distance", family="agreement", source=TAHA,
        unit="", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Difference of the memberships over twice their product, summed over all voxels.",
        compute=lambda pair: agreement.probabilisticDistance(pair.table),
        needs=(Workspace.table,),
        identity=0,
        note=lambda pair: "" if pair.table.products else "the two do not overlap",
        hint="Made for memberships; infinite without overlap.",
        formula=r"\mathrm{PBD} = \frac{\sum_i \lvert f_{A,i} - f_{B,i} \rvert}{2 \sum_i f_{A,i} \, f_{B,i}}",
        code="families.agreement.formulas.probabilisticDistance", alias="PROBDST",
        deviation="The source's own program gives 1/255 of it.",
    ),
    Definition(
        key="KAP", title="Cohen's kappa", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.ZERO,
        description="Agreement beyond chance: 0 is what random segmentations of these sizes reach.",
        compute=lambda pair: agreement.kappa(pair.table),
        needs=(Workspace.table,),
        isMain=True, identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{KAP} = \frac{f_a - f_c}{n - f_c} \\ "
        r"f_a = \mathrm{TP} + \mathrm{TN}, \quad "
        r"f_c = \frac{(\mathrm{TN} + \mathrm{FN})(\mathrm{TN} + \mathrm{FP}) + (\mathrm{FP} + "
        r"\mathrm{TP})(\mathrm{FN} + \mathrm{TP})}{n}",
        code="families.agreement.formulas.kappa", alias="KAPPA",
    ),
    Definition(
        key="AUC", title="Area under the ROC curve", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Mean of sensitivity and specificity: the area under the curve through the one point that a "
        "segmentation has.",
        compute=lambda pair: agreement.areaUnderCurve(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{AUC} = 1 - \frac{\mathrm{FPR} + \mathrm{FNR}}{2}",
        code="families.agreement.formulas.areaUnderCurve", alias="AUC",
        steps=("families.agreement.formulas.fallout", "families.agreement.formulas.missRate"),
    ),
)  # fmt: skip

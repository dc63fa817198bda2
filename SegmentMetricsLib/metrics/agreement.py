"""Agreement of two structures voxel by voxel: metrics of their confusion matrix.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Functions note where the printed
article has errors. All arithmetic is exact until the last step, because the squares of counts such as 5e8 voxels exceed
the precision of floating-point numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..base.errors import Undefined
from .counts import Table
from .metric import TAHA, Definition, Empty
from .pair import Workspace

WITHOUT_VOXELS = "contours without an image have no voxels that could be counted"


def shared(table: Table) -> float:
    """Return TP, the voxels in both structures, from 0; memberships count in part. Undefined without voxels."""
    return _counted(table, table.truePositive)


def added(table: Table) -> float:
    """Return FP, the voxels of the test alone, from 0; memberships count in part. Undefined without voxels."""
    return _counted(table, table.falsePositive)


def missed(table: Table) -> float:
    """Return FN, the voxels of the reference alone, from 0; memberships count in part. Undefined without voxels."""
    return _counted(table, table.falseNegative)


def outside(table: Table) -> float:
    """Return TN, the voxels of the evaluated grid in neither, from 0; memberships count in part."""
    return float(table.trueNegative)


def _counted(table: Table, voxels: Fraction) -> float:
    if table.voxels is None:
        raise Undefined(WITHOUT_VOXELS)
    return float(voxels)


def specificity(table: Table) -> float:
    """Return TN / (TN + FP) in [0, 1]; undefined when the reference fills the grid."""
    return _ratio(table.trueNegative, table.outsideReference, "the reference fills the whole evaluated grid")


def fallout(table: Table) -> float:
    """Return the false positive rate FP / (TN + FP) in [0, 1]; undefined when the reference fills the grid."""
    return _ratio(table.falsePositive, table.outsideReference, "the reference fills the whole evaluated grid")


def missRate(table: Table) -> float:
    """Return the false negative rate FN / (TP + FN) in [0, 1]; 1 when one structure is empty."""
    return _ratio(table.falseNegative, table.reference, f"the reference encloses no {table.unit}")


def fMeasure(table: Table, beta: float) -> float:
    """Return (b2 + 1) PPV TPR / (b2 PPV + TPR) in [0, 1], closer to TPR for beta above 1; 0 if one is empty.

    With PPV = TP / (TP + FP) and TPR = TP / (TP + FN), this is (b2 + 1) TP / ((b2 + 1) TP + b2 FN + FP).
    """
    weight = Fraction(beta) ** 2
    both = (1 + weight) * table.truePositive
    return _ratio(both, both + weight * table.falseNegative + table.falsePositive, _noVoxel(table))


def accuracy(table: Table) -> float:
    """Return (TP + TN) / n in [0, 1]."""
    return float((table.truePositive + table.trueNegative) / table.size)


def globalConsistencyError(table: Table) -> float:
    """Return the global consistency error in [0, 1] (Martin 2001), 0 where one segmentation refines the other.

    Undefined when a structure is empty or fills the grid.
    """
    both, neither = table.truePositive, table.trueNegative

    def refinement(lost: Fraction, gained: Fraction, inside: Fraction, outside: Fraction) -> Fraction:
        if not inside or not outside:
            raise Undefined("a structure is empty or fills the whole evaluated grid")
        return lost * (lost + 2 * both) / inside + gained * (gained + 2 * neither) / outside

    errors = (
        refinement(table.falseNegative, table.falsePositive, table.reference, table.outsideReference),
        refinement(table.falsePositive, table.falseNegative, table.test, table.outsideTest),
    )
    return float(min(errors) / table.size)


def volumetricSimilarity(table: Table) -> float:
    """Return 1 - |FN - FP| / (2 TP + FP + FN) in [0, 1], regardless of overlap; 0 when one structure is empty."""
    whole = table.reference + table.test
    return _ratio(whole - abs(table.falseNegative - table.falsePositive), whole, _noVoxel(table))


def pairsOfVoxels(table: Table) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return how many voxel pairs both partitions join (a), the reference only (b), the test only (c), and none (d)."""
    if table.size < 2:
        raise Undefined("the evaluated grid has one voxel, so there are no pairs of voxels")
    cells = (table.truePositive, table.falsePositive, table.trueNegative, table.falseNegative)
    squares = sum((cell**2 for cell in cells), Fraction())
    together = sum((cell * (cell - 1) for cell in cells), Fraction()) / 2
    inReference = (table.reference**2 + table.outsideReference**2 - squares) / 2
    inTest = (table.test**2 + table.outsideTest**2 - squares) / 2
    apart = table.size * (table.size - 1) / Fraction(2) - together - inReference - inTest
    return together, inReference, inTest, apart


def randIndex(table: Table) -> float:
    """Return (a + d) / (a + b + c + d), the fraction of voxel pairs on which the two agree, in [0, 1] (Rand 1971).

    The source prints (a + b) as the numerator; Rand's definition and the source's own program use (a + d).
    """
    together, inReference, inTest, apart = pairsOfVoxels(table)
    return float((together + apart) / (together + inReference + inTest + apart))


def adjustedRandIndex(table: Table) -> float:
    """Return the Rand index corrected for chance, in [-1, 1] (Hubert 1985); 0 when one structure is empty."""
    a, b, c, d = pairsOfVoxels(table)
    whole = c**2 + b**2 + 2 * a * d + (a + d) * (c + b)
    isFull = table.truePositive == table.size
    why = "fill the whole evaluated grid" if isFull else "part the two voxels of the evaluated grid"
    return _ratio(2 * (a * d - b * c), whole, f"both structures {why}")


def _entropy(size: Fraction, *cells: Fraction) -> float:
    """Return the entropy in bits of a partition of `size` voxels into cells."""
    return math.fsum(float(-cell / size) * _log2(cell, size) for cell in cells if cell > 0)


def _log2(part: Fraction, whole: Fraction) -> float:
    # close to 1, the logarithm depends on the difference from 1, which is exact here
    return math.log1p(float((part - whole) / whole)) / math.log(2) if 2 * part > whole else math.log2(part / whole)


def entropies(table: Table) -> tuple[float, float, float]:
    """Return the entropies H(A), H(B) and H(A, B) in bits of both partitions and of the two together."""
    return (
        _entropy(table.size, table.reference, table.outsideReference),
        _entropy(table.size, table.test, table.outsideTest),
        _entropy(table.size, table.truePositive, table.falsePositive, table.trueNegative, table.falseNegative),
    )


def mutualInformation(table: Table) -> float:
    """Return H(A) + H(B) - H(A, B), the information both segmentations share, in bits, [0, 1]; 0 if one is empty."""
    reference, test, joint = entropies(table)
    return max(reference + test - joint, 0.0)


def variationOfInformation(table: Table) -> float:
    """Return 2 H(A, B) - H(A) - H(B), the information the two do not share, in bits, [0, 2] (Meila 2003).

    The printed source swaps the probabilities of the two backgrounds.
    """
    reference, test, joint = entropies(table)
    return max(2 * joint - (reference + test), 0.0)


def interclassCorrelation(table: Table) -> float:
    """Return (MSb - MSw) / (MSb + MSw) of the memberships, in [-1, 1] (Shrout 1979).

    A voxel with the memberships f and g has the mean m = (f + g) / 2. The sum of m2 is that of (f2 + 2 f g + g2) / 4;
    the sum of (f - m)2 + (g - m)2 is that of (f2 - 2 f g + g2) / 2.
    The source's own program mixes memberships up to 1 with memberships up to 255 and gives a different number.
    """
    size = table.size
    if size < 2:
        raise Undefined("the evaluated grid has one voxel, so nothing varies between voxels")
    sumOfMeans, sumOfTheirSquares = (table.reference + table.test) / 2, (table.squares + 2 * table.products) / 4
    between = 2 / (size - 1) * (sumOfTheirSquares - sumOfMeans**2 / size)
    within = 1 / size * (table.squares - 2 * table.products) / 2
    return _ratio(between - within, between + within, "both structures fill the whole evaluated grid")


def probabilisticDistance(table: Table) -> float:
    """Return sum |f_g - f_t| / (2 sum f_g f_t), in [0, inf], infinite without overlap (Gerig 2001).

    The source's own program gives 1/255 of this value.
    """
    difference = table.falsePositive + table.falseNegative
    if not table.products:
        if not difference:
            raise Undefined(_noVoxel(table))
        return math.inf
    return float(difference / (2 * table.products))


def kappa(table: Table) -> float:
    """Return Cohen's kappa in [-1, 1] (Cohen 1960), the agreement beyond chance; 0 when one structure is empty."""
    agreed = table.truePositive + table.trueNegative
    chance = (table.outsideTest * table.outsideReference + table.test * table.reference) / table.size
    return _ratio(agreed - chance, table.size - chance, "both structures fill the whole evaluated grid")


def areaUnderCurve(table: Table) -> float:
    """Return the area under the receiver operating curve of one segmentation, 1 - (FPR + FNR) / 2, in [0, 1]."""
    return 1 - (fallout(table) + missRate(table)) / 2


def _noVoxel(table: Table) -> str:
    return f"both structures enclose no {table.unit}"


def _ratio(part: Fraction, whole: Fraction, otherwise: str) -> float:
    """Return a quotient. Raises Undefined with the reason when the denominator is 0."""
    if not whole:
        raise Undefined(otherwise)
    return float(part / whole)


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
        compute=lambda pair: shared(pair.table),
        needs=(Workspace.table,),
        identity=None, hint=NOT_A_SHARE, alias="TP",
        formula=r"\mathrm{TP} = \sum_i \min(f_{A,i}, f_{B,i})",
        code="metrics.agreement.shared",
    ),
    Definition(
        key="FP", title="False positives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Number of voxels of the test outside the reference; memberships count in part.",
        compute=lambda pair: added(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, hint=NOT_A_SHARE, alias="FP",
        formula=r"\mathrm{FP} = \sum_i \max(f_{B,i} - f_{A,i}, 0)",
        code="metrics.agreement.added",
        deviation=EXCHANGED,
    ),
    Definition(
        key="FN", title="False negatives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Number of voxels of the reference outside the test; memberships count in part.",
        compute=lambda pair: missed(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, hint=NOT_A_SHARE, alias="FN",
        formula=r"\mathrm{FN} = \sum_i \max(f_{A,i} - f_{B,i}, 0)",
        code="metrics.agreement.missed",
        deviation=EXCHANGED,
    ),
    Definition(
        key="TN", title="True negatives", family="agreement", source=TAHA,
        unit="voxels", low=0, high=math.inf, better="higher", empty=Empty.COMPUTED,
        description="Number of voxels of the evaluated grid in neither; memberships count in part.",
        compute=lambda pair: outside(pair.table),
        needs=(Workspace.table,),
        identity=None, dependsOnGrid=True, hint=FIX_THE_GRID, alias="TN",
        formula=r"\mathrm{TN} = \sum_i \min(1 - f_{A,i}, 1 - f_{B,i}) = n - \mathrm{TP} - \mathrm{FP} - \mathrm{FN}",
        code="metrics.agreement.outside",
        steps=("metrics.counts.Table.trueNegative",),
    ),
)  # fmt: skip

AGREEMENT = (
    *COUNTS,
    Definition(
        key="TNR", title="Specificity (true negative rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of the voxels outside the reference that are outside the test, too.",
        compute=lambda pair: specificity(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{TNR} = \frac{\mathrm{TN}}{\mathrm{TN} + \mathrm{FP}}",
        code="metrics.agreement.specificity", alias="SPCFTY",
    ),
    Definition(
        key="FPR", title="Fallout (false positive rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.COUNTED,
        description="Share of the voxels outside the reference that are in the test.",
        compute=lambda pair: fallout(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{FPR} = \frac{\mathrm{FP}}{\mathrm{TN} + \mathrm{FP}} = 1 - \mathrm{TNR}",
        code="metrics.agreement.fallout", alias="FALLOUT",
    ),
    Definition(
        key="FNR", title="Miss rate (false negative rate)", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.ONE,
        description="Share of the reference that the test lacks, counted in voxels.",
        compute=lambda pair: missRate(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=0,
        hint="Choose it when missing a part of the structure matters more than adding to it.",
        formula=r"\mathrm{FNR} = \frac{\mathrm{FN}}{\mathrm{TP} + \mathrm{FN}} = 1 - \mathrm{TPR}",
        code="metrics.agreement.missRate",
    ),
    Definition(
        key="FMS_{beta}", title="F-measure, beta {beta}", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Weighted harmonic mean of precision and sensitivity, with beta {beta}; beta 1 is the Dice "
        "coefficient, a larger one favors sensitivity.",
        compute=lambda pair, beta: fMeasure(pair.table, beta),
        needs=(Workspace.table,),
        symmetric=False, identity=1, trend="any",
        hint="Small structures: one voxel changes it much, prefer distances.",
        formula=r"\mathrm{FMS}_\beta = \frac{(\beta^2 + 1) \cdot \mathrm{PPV} \cdot \mathrm{TPR}}{\beta^2 \cdot "
        r"\mathrm{PPV} + \mathrm{TPR}}",
        code="metrics.agreement.fMeasure", alias="FMEASR",
    ),
    Definition(
        key="ACC", title="Accuracy", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of all voxels of the evaluated grid on which the two agree.",
        compute=lambda pair: accuracy(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{ACC} = \frac{\mathrm{TP} + \mathrm{TN}}{n}",
        code="metrics.agreement.accuracy", alias="ACURCY",
    ),
    Definition(
        key="GCE", title="Global consistency error", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="lower", empty=Empty.COUNTED,
        description="Share of voxels in error, where neither segmentation merely refines the other.",
        compute=lambda pair: globalConsistencyError(pair.table),
        needs=(Workspace.table,),
        identity=0, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{GCE} = \frac{1}{n} \min(E_{AB}, E_{BA}) \\ "
        r"E_{AB} = \frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FN}} + "
        r"\frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FP}}, \quad "
        r"E_{BA} = \frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FP}} + "
        r"\frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FN}}",
        code="metrics.agreement.globalConsistencyError", alias="GCOERR",
    ),
    Definition(
        key="VS", title="Volumetric similarity", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="How alike the two volumes are, wherever they lie, counted in voxels.",
        compute=lambda pair: volumetricSimilarity(pair.table),
        needs=(Workspace.table,),
        identity=1,
        hint="Choose it when the volume is what matters; it can be perfect without any overlap.",
        formula=r"\mathrm{VS} = 1 - \frac{\lvert \mathrm{FN} - \mathrm{FP} \rvert}{2 \mathrm{TP} + \mathrm{FP} + "
        r"\mathrm{FN}}",
        code="metrics.agreement.volumetricSimilarity", alias="VOLSMTY",
    ),
    Definition(
        key="RI", title="Rand index", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Share of all pairs of voxels that both segmentations join or both separate.",
        compute=lambda pair: randIndex(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=LARGE_BACKGROUND,
        formula=r"\mathrm{RI} = \frac{a + d}{a + b + c + d}",
        code="metrics.agreement.randIndex", alias="RNDIND",
        steps=("metrics.agreement.pairsOfVoxels",),
        deviation="The source prints a + b as the numerator. Rand's definition, and the source's own program, "
        "have a + d.",
    ),
    Definition(
        key="ARI", title="Adjusted Rand index", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.ZERO,
        description="Rand index corrected for chance: 0 is what random segmentations reach.",
        compute=lambda pair: adjustedRandIndex(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{ARI} = \frac{2 (ad - bc)}{c^2 + b^2 + 2ad + (a + d)(c + b)}",
        code="metrics.agreement.adjustedRandIndex", alias="ADJRIND",
        steps=("metrics.agreement.pairsOfVoxels",),
    ),
    Definition(
        key="MI", title="Mutual information", family="agreement", source=TAHA,
        unit="bit", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="How much knowing whether a voxel is in one structure tells about the other; larger for larger "
        "structures.",
        compute=lambda pair: mutualInformation(pair.table),
        needs=(Workspace.table,),
        identity=None, dependsOnGrid=True,
        hint="Compare it between tests of one reference only. " + FIX_THE_GRID,
        formula=r"\mathrm{MI} = H(A) + H(B) - H(A, B)",
        code="metrics.agreement.mutualInformation", alias="MUTINF",
        steps=("metrics.agreement.entropies",),
    ),
    Definition(
        key="VOI", title="Variation of information", family="agreement", source=TAHA,
        unit="bit", low=0, high=2, better="lower", empty=Empty.COUNTED,
        description="How much information the two segmentations do not share.",
        compute=lambda pair: variationOfInformation(pair.table),
        needs=(Workspace.table,),
        identity=0, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{VOI} = H(A) + H(B) - 2 \, \mathrm{MI} = 2 H(A, B) - H(A) - H(B)",
        code="metrics.agreement.variationOfInformation", alias="VARINFO",
        steps=("metrics.agreement.entropies",),
        deviation="The source exchanges the probabilities of the two backgrounds in print: that of the "
        "reference's is (TN + FP) / n, that of the test's (TN + FN) / n.",
    ),
    Definition(
        key="ICC", title="Interclass correlation", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.COUNTED,
        description="How much of the variation lies between voxels rather than between the two segmentations.",
        compute=lambda pair: interclassCorrelation(pair.table),
        needs=(Workspace.table,),
        identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{ICC} = \frac{\mathrm{MS}_b - \mathrm{MS}_w}{\mathrm{MS}_b + \mathrm{MS}_w} \\ "
        r"\mathrm{MS}_b = \frac{2}{n - 1} \sum_i (m_i - \mu)^2, \quad "
        r"\mathrm{MS}_w = \frac{1}{n} \sum_i \left((f_{A,i} - m_i)^2 + (f_{B,i} - m_i)^2\right) \\ "
        r"m_i = \frac{f_{A,i} + f_{B,i}}{2}, \quad \mu = \frac{1}{n} \sum_i m_i",
        code="metrics.agreement.interclassCorrelation", alias="ICCORR",
        deviation="The source's own program mixes memberships up to 1 with memberships up to 255 and gives "
        "another number.",
    ),
    Definition(
        key="PBD", title="Probabilistic distance", family="agreement", source=TAHA,
        unit="", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Difference of the memberships over twice their product, summed over all voxels.",
        compute=lambda pair: probabilisticDistance(pair.table),
        needs=(Workspace.table,),
        identity=0,
        note=lambda pair: "" if pair.table.products else "the two do not overlap",
        hint="Made for memberships; infinite without overlap.",
        formula=r"\mathrm{PBD} = \frac{\sum_i \lvert f_{A,i} - f_{B,i} \rvert}{2 \sum_i f_{A,i} \, f_{B,i}}",
        code="metrics.agreement.probabilisticDistance", alias="PROBDST",
        deviation="The source's own program gives 1/255 of it.",
    ),
    Definition(
        key="KAP", title="Cohen's kappa", family="agreement", source=TAHA,
        unit="", low=-1, high=1, better="higher", empty=Empty.ZERO,
        description="Agreement beyond chance: 0 is what random segmentations of these sizes reach.",
        compute=lambda pair: kappa(pair.table),
        needs=(Workspace.table,),
        isMain=True, identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{KAP} = \frac{f_a - f_c}{n - f_c} \\ "
        r"f_a = \mathrm{TP} + \mathrm{TN}, \quad "
        r"f_c = \frac{(\mathrm{TN} + \mathrm{FN})(\mathrm{TN} + \mathrm{FP}) + (\mathrm{FP} + "
        r"\mathrm{TP})(\mathrm{FN} + \mathrm{TP})}{n}",
        code="metrics.agreement.kappa", alias="KAPPA",
    ),
    Definition(
        key="AUC", title="Area under the ROC curve", family="agreement", source=TAHA,
        unit="", low=0, high=1, better="higher", empty=Empty.COUNTED,
        description="Mean of sensitivity and specificity: the area under the curve through the one point that a "
        "segmentation has.",
        compute=lambda pair: areaUnderCurve(pair.table),
        needs=(Workspace.table,),
        symmetric=False, identity=1, dependsOnGrid=True, hint=FIX_THE_GRID,
        formula=r"\mathrm{AUC} = 1 - \frac{\mathrm{FPR} + \mathrm{FNR}}{2}",
        code="metrics.agreement.areaUnderCurve", alias="AUC",
        steps=("metrics.agreement.fallout", "metrics.agreement.missRate"),
    ),
)  # fmt: skip

"""How often the two agree voxel by voxel, also corrected for chance; most depend on the image size.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Functions note where the article has
errors. All arithmetic is exact until the last step, because the squares of counts such as 5e8 voxels exceed the
precision of floating-point numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..base.errors import Undefined
from .metric import TAHA, Empty, Family, metric
from .overlap import Amount, Counts

FAMILY = Family(40)
FIX_THE_GRID = "Depends on the voxels outside both: fix the evaluated grid to compare cases."
LARGE_BACKGROUND = (
    "Near its best value for any small structure in a large image: " + FIX_THE_GRID[0].lower() + FIX_THE_GRID[1:]
)
EXCHANGED = "Equation 1 of the source exchanges FP and FN; elsewhere they are as here."
NOT_A_SHARE = "A count, not a share: it grows with the structure and with finer voxels."
WITHOUT_VOXELS = "contours without an image have no voxels that could be counted"


@metric(
    "TP",
    "True positives",
    TAHA,
    unit="voxels",
    better="higher",
    empty=Empty.COMPUTED,
    alias="TP",
    hint=NOT_A_SHARE,
    formula=r"\mathrm{TP} = \sum_i \min(f_{A,i}, f_{B,i})",
)
def shared(exactCounts: Counts) -> float:
    """Number of voxels in both; memberships count in part."""
    return _counted(exactCounts, exactCounts.truePositive)


@metric(
    "FP",
    "False positives",
    TAHA,
    unit="voxels",
    best=0,
    empty=Empty.COMPUTED,
    symmetric=False,
    alias="FP",
    hint=NOT_A_SHARE,
    formula=r"\mathrm{FP} = \sum_i \max(f_{B,i} - f_{A,i}, 0)",
    deviation=EXCHANGED,
)
def added(exactCounts: Counts) -> float:
    """Number of voxels of the test outside the reference; memberships count in part."""
    return _counted(exactCounts, exactCounts.falsePositive)


@metric(
    "FN",
    "False negatives",
    TAHA,
    unit="voxels",
    best=0,
    empty=Empty.COMPUTED,
    symmetric=False,
    alias="FN",
    hint=NOT_A_SHARE,
    formula=r"\mathrm{FN} = \sum_i \max(f_{A,i} - f_{B,i}, 0)",
    deviation=EXCHANGED,
)
def missed(exactCounts: Counts) -> float:
    """Number of voxels of the reference outside the test; memberships count in part."""
    return _counted(exactCounts, exactCounts.falseNegative)


@metric(
    "TN",
    "True negatives",
    TAHA,
    unit="voxels",
    better="higher",
    empty=Empty.COMPUTED,
    dependsOnGrid=True,
    alias="TN",
    steps=("metrics.overlap.Counts.trueNegative",),
    hint=FIX_THE_GRID,
    formula=r"\mathrm{TN} = \sum_i \min(1 - f_{A,i}, 1 - f_{B,i}) = n - \mathrm{TP} - \mathrm{FP} - \mathrm{FN}",
)
def outside(exactCounts: Counts) -> float:
    """Number of voxels of the evaluated grid in neither; memberships count in part."""
    return float(exactCounts.trueNegative)


def _counted(counts: Counts, voxels: Amount) -> float:
    if counts.voxels is None:
        raise Undefined(WITHOUT_VOXELS)
    return float(voxels)


@metric(
    "TNR",
    "Specificity (true negative rate)",
    TAHA,
    best=1,
    empty=Empty.COUNTED,
    symmetric=False,
    dependsOnGrid=True,
    alias="SPCFTY",
    hint=LARGE_BACKGROUND,
    formula=r"\mathrm{TNR} = \frac{\mathrm{TN}}{\mathrm{TN} + \mathrm{FP}}",
)
def specificity(exactCounts: Counts) -> float:
    """Share of the voxels outside the reference that are outside the test, too.

    TN / (TN + FP) in [0, 1]; undefined when the reference fills the grid.
    """
    return _ratio(
        exactCounts.trueNegative, exactCounts.outsideReference, "the reference fills the whole evaluated grid"
    )


@metric(
    "FPR",
    "Fallout (false positive rate)",
    TAHA,
    best=0,
    empty=Empty.COUNTED,
    symmetric=False,
    dependsOnGrid=True,
    alias="FALLOUT",
    hint=LARGE_BACKGROUND,
    formula=r"\mathrm{FPR} = \frac{\mathrm{FP}}{\mathrm{TN} + \mathrm{FP}} = 1 - \mathrm{TNR}",
)
def fallout(exactCounts: Counts) -> float:
    """Share of the voxels outside the reference that are in the test.

    The false positive rate FP / (TN + FP) in [0, 1]; undefined when the reference fills the grid.
    """
    return _ratio(
        exactCounts.falsePositive, exactCounts.outsideReference, "the reference fills the whole evaluated grid"
    )


@metric(
    "FNR",
    "Miss rate (false negative rate)",
    TAHA,
    best=0,
    empty=Empty.ONE,
    symmetric=False,
    hint="Choose it when missing a part of the structure matters more than adding to it.",
    formula=r"\mathrm{FNR} = \frac{\mathrm{FN}}{\mathrm{TP} + \mathrm{FN}} = 1 - \mathrm{TPR}",
)
def missRate(exactCounts: Counts) -> float:
    """Share of the reference that the test lacks, counted in voxels.

    The false negative rate FN / (TP + FN) in [0, 1]; 1 when one structure is empty.
    """
    return _ratio(exactCounts.falseNegative, exactCounts.reference, f"the reference encloses no {exactCounts.unit}")


@metric(
    "FMS_{beta}",
    "F-measure, beta {beta}",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    symmetric=False,
    trend="any",
    alias="FMEASR",
    hint="Small structures: one voxel changes it much, prefer distances.",
    formula=r"\mathrm{FMS}_\beta = \frac{(\beta^2 + 1) \cdot \mathrm{PPV} \cdot \mathrm{TPR}}{\beta^2 \cdot "
    r"\mathrm{PPV} + \mathrm{TPR}}",
)
def fMeasure(exactCounts: Counts, beta: float) -> float:
    """Weighted harmonic mean of precision and sensitivity, with beta {beta}; beta 1 is the Dice coefficient, a larger
    one favors sensitivity.

    (b2 + 1) PPV TPR / (b2 PPV + TPR) in [0, 1], closer to TPR for beta above 1; 0 if one is empty.

    With PPV = TP / (TP + FP) and TPR = TP / (TP + FN), this is (b2 + 1) TP / ((b2 + 1) TP + b2 FN + FP).
    """
    weight = Fraction(beta) ** 2
    both = (1 + weight) * exactCounts.truePositive
    return _ratio(both, both + weight * exactCounts.falseNegative + exactCounts.falsePositive, _noVoxel(exactCounts))


@metric(
    "ACC",
    "Accuracy",
    TAHA,
    best=1,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="ACURCY",
    hint=LARGE_BACKGROUND,
    formula=r"\mathrm{ACC} = \frac{\mathrm{TP} + \mathrm{TN}}{n}",
)
def accuracy(exactCounts: Counts) -> float:
    """Share of all voxels of the evaluated grid on which the two agree.

    (TP + TN) / n in [0, 1].
    """
    return float((exactCounts.truePositive + exactCounts.trueNegative) / exactCounts.size)


@metric(
    "GCE",
    "Global consistency error",
    TAHA,
    best=0,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="GCOERR",
    hint=FIX_THE_GRID,
    formula=r"\mathrm{GCE} = \frac{1}{n} \min(E_{AB}, E_{BA}) \\ "
    r"E_{AB} = \frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FN}} + "
    r"\frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FP}}, \quad "
    r"E_{BA} = \frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FP}} + "
    r"\frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FN}}",
)
def globalConsistencyError(exactCounts: Counts) -> float:
    """Share of voxels in error, where neither segmentation merely refines the other.

    The global consistency error in [0, 1] (Martin 2001), 0 where one segmentation refines the other.

    Undefined when a structure is empty or fills the grid.
    """
    both, neither = exactCounts.truePositive, exactCounts.trueNegative

    def refinement(lost: Fraction, gained: Fraction, inside: Fraction, outside: Fraction) -> Fraction:
        if not inside or not outside:
            raise Undefined("a structure is empty or fills the whole evaluated grid")
        return lost * (lost + 2 * both) / inside + gained * (gained + 2 * neither) / outside

    errors = (
        refinement(
            exactCounts.falseNegative, exactCounts.falsePositive, exactCounts.reference, exactCounts.outsideReference
        ),
        refinement(exactCounts.falsePositive, exactCounts.falseNegative, exactCounts.test, exactCounts.outsideTest),
    )
    return float(min(errors) / exactCounts.size)


@metric(
    "VS",
    "Volumetric similarity",
    TAHA,
    best=1,
    empty=Empty.ZERO,
    alias="VOLSMTY",
    hint="Choose it when the volume is what matters; it can be perfect without any overlap.",
    formula=r"\mathrm{VS} = 1 - \frac{\lvert \mathrm{FN} - \mathrm{FP} \rvert}{2 \mathrm{TP} + \mathrm{FP} + "
    r"\mathrm{FN}}",
)
def volumetricSimilarity(exactCounts: Counts) -> float:
    """How alike the two volumes are, wherever they lie, counted in voxels.

    1 - |FN - FP| / (2 TP + FP + FN) in [0, 1], regardless of overlap; 0 when one structure is empty.
    """
    whole = exactCounts.reference + exactCounts.test
    return _ratio(whole - abs(exactCounts.falseNegative - exactCounts.falsePositive), whole, _noVoxel(exactCounts))


def pairsOfVoxels(exactCounts: Counts) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return how many voxel pairs both partitions join (a), the reference only (b), the test only (c), and none (d)."""
    if exactCounts.size < 2:
        raise Undefined("the evaluated grid has one voxel, so there are no pairs of voxels")
    cells = (exactCounts.truePositive, exactCounts.falsePositive, exactCounts.trueNegative, exactCounts.falseNegative)
    squares = sum((cell**2 for cell in cells), Fraction())
    together = sum((cell * (cell - 1) for cell in cells), Fraction()) / 2
    inReference = (exactCounts.reference**2 + exactCounts.outsideReference**2 - squares) / 2
    inTest = (exactCounts.test**2 + exactCounts.outsideTest**2 - squares) / 2
    apart = exactCounts.size * (exactCounts.size - 1) / Fraction(2) - together - inReference - inTest
    return together, inReference, inTest, apart


@metric(
    "RI",
    "Rand index",
    TAHA,
    best=1,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="RNDIND",
    steps=("metrics.agreement.pairsOfVoxels",),
    hint=LARGE_BACKGROUND,
    formula=r"\mathrm{RI} = \frac{a + d}{a + b + c + d}",
    deviation="The source prints a + b as the numerator. Rand's definition, and the source's own program, have a + d.",
)
def randIndex(exactCounts: Counts) -> float:
    """Share of all pairs of voxels that both segmentations join or both separate.

    (a + d) / (a + b + c + d), the fraction of voxel pairs on which the two agree, in [0, 1] (Rand 1971).

    The source prints (a + b) as the numerator; Rand's definition and the source's own program use (a + d).
    """
    together, inReference, inTest, apart = pairsOfVoxels(exactCounts)
    return float((together + apart) / (together + inReference + inTest + apart))


@metric(
    "ARI",
    "Adjusted Rand index",
    TAHA,
    best=1,
    low=-1,
    empty=Empty.ZERO,
    dependsOnGrid=True,
    alias="ADJRIND",
    steps=("metrics.agreement.pairsOfVoxels",),
    hint=FIX_THE_GRID,
    formula=r"\mathrm{ARI} = \frac{2 (ad - bc)}{c^2 + b^2 + 2ad + (a + d)(c + b)}",
)
def adjustedRandIndex(exactCounts: Counts) -> float:
    """Rand index corrected for chance: 0 is what random segmentations reach.

    The Rand index corrected for chance, in [-1, 1] (Hubert 1985); 0 when one structure is empty.
    """
    a, b, c, d = pairsOfVoxels(exactCounts)
    whole = c**2 + b**2 + 2 * a * d + (a + d) * (c + b)
    isFull = exactCounts.truePositive == exactCounts.size
    why = "fill the whole evaluated grid" if isFull else "part the two voxels of the evaluated grid"
    return _ratio(2 * (a * d - b * c), whole, f"both structures {why}")


def _entropy(size: Fraction, *cells: Fraction) -> float:
    """Return the entropy in bits of a partition of `size` voxels into cells."""
    return math.fsum(float(-cell / size) * _log2(cell, size) for cell in cells if cell > 0)


def _log2(part: Fraction, whole: Fraction) -> float:
    # close to 1, the logarithm depends on the difference from 1, which is exact here
    return math.log1p(float((part - whole) / whole)) / math.log(2) if 2 * part > whole else math.log2(part / whole)


def entropies(exactCounts: Counts) -> tuple[float, float, float]:
    """Return the entropies H(A), H(B) and H(A, B) in bits of both partitions and of the two together."""
    return (
        _entropy(exactCounts.size, exactCounts.reference, exactCounts.outsideReference),
        _entropy(exactCounts.size, exactCounts.test, exactCounts.outsideTest),
        _entropy(
            exactCounts.size,
            exactCounts.truePositive,
            exactCounts.falsePositive,
            exactCounts.trueNegative,
            exactCounts.falseNegative,
        ),
    )


@metric(
    "MI",
    "Mutual information",
    TAHA,
    unit="bit",
    better="higher",
    high=1,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="MUTINF",
    steps=("metrics.agreement.entropies",),
    hint="Compare it between tests of one reference only. " + FIX_THE_GRID,
    formula=r"\mathrm{MI} = H(A) + H(B) - H(A, B)",
)
def mutualInformation(exactCounts: Counts) -> float:
    """How much knowing whether a voxel is in one structure tells about the other; larger for larger structures.

    H(A) + H(B) - H(A, B), the information both segmentations share, in bits, [0, 1]; 0 if one is empty.
    """
    reference, test, joint = entropies(exactCounts)
    return max(reference + test - joint, 0.0)


@metric(
    "VOI",
    "Variation of information",
    TAHA,
    unit="bit",
    best=0,
    high=2,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="VARINFO",
    steps=("metrics.agreement.entropies",),
    hint=FIX_THE_GRID,
    formula=r"\mathrm{VOI} = H(A) + H(B) - 2 \, \mathrm{MI} = 2 H(A, B) - H(A) - H(B)",
    deviation="The source exchanges the probabilities of the two backgrounds in print: that of the "
    "reference's is (TN + FP) / n, that of the test's (TN + FN) / n.",
)
def variationOfInformation(exactCounts: Counts) -> float:
    """How much information the two segmentations do not share.

    2 H(A, B) - H(A) - H(B), the information the two do not share, in bits, [0, 2] (Meila 2003).

    The printed source swaps the probabilities of the two backgrounds.
    """
    reference, test, joint = entropies(exactCounts)
    return max(2 * joint - (reference + test), 0.0)


@metric(
    "ICC",
    "Interclass correlation",
    TAHA,
    best=1,
    low=-1,
    empty=Empty.COUNTED,
    dependsOnGrid=True,
    alias="ICCORR",
    hint=FIX_THE_GRID,
    formula=r"\mathrm{ICC} = \frac{\mathrm{MS}_b - \mathrm{MS}_w}{\mathrm{MS}_b + \mathrm{MS}_w} \\ "
    r"\mathrm{MS}_b = \frac{2}{n - 1} \sum_i (m_i - \mu)^2, \quad "
    r"\mathrm{MS}_w = \frac{1}{n} \sum_i \left((f_{A,i} - m_i)^2 + (f_{B,i} - m_i)^2\right) \\ "
    r"m_i = \frac{f_{A,i} + f_{B,i}}{2}, \quad \mu = \frac{1}{n} \sum_i m_i",
    deviation="The source's own program mixes memberships up to 1 with memberships up to 255 and gives another number.",
)
def interclassCorrelation(exactCounts: Counts) -> float:
    """How much of the variation lies between voxels rather than between the two segmentations.

    (MSb - MSw) / (MSb + MSw) of the memberships, in [-1, 1] (Shrout 1979).

    A voxel with the memberships f and g has the mean m = (f + g) / 2. The sum of m2 is that of (f2 + 2 f g + g2) / 4;
    the sum of (f - m)2 + (g - m)2 is that of (f2 - 2 f g + g2) / 2.
    The source's own program mixes memberships up to 1 with memberships up to 255 and gives a different number.
    """
    size = exactCounts.size
    if size < 2:
        raise Undefined("the evaluated grid has one voxel, so nothing varies between voxels")
    sumOfMeans, sumOfTheirSquares = (
        (exactCounts.reference + exactCounts.test) / 2,
        (exactCounts.squares + 2 * exactCounts.products) / 4,
    )
    between = 2 / (size - 1) * (sumOfTheirSquares - sumOfMeans**2 / size)
    within = 1 / size * (exactCounts.squares - 2 * exactCounts.products) / 2
    return _ratio(between - within, between + within, "both structures fill the whole evaluated grid")


@metric(
    "PBD",
    "Probabilistic distance",
    TAHA,
    best=0,
    high=math.inf,
    empty=Empty.INFINITE,
    alias="PROBDST",
    note=lambda exactCounts: "" if exactCounts.products else "the two do not overlap",
    hint="Made for memberships; infinite without overlap.",
    formula=r"\mathrm{PBD} = \frac{\sum_i \lvert f_{A,i} - f_{B,i} \rvert}{2 \sum_i f_{A,i} \, f_{B,i}}",
    deviation="The source's own program gives 1/255 of it.",
)
def probabilisticDistance(exactCounts: Counts) -> float:
    """Difference of the memberships over twice their product, summed over all voxels.

    Sum |f_g - f_t| / (2 sum f_g f_t), in [0, inf], infinite without overlap (Gerig 2001).

    The source's own program gives 1/255 of this value.
    """
    difference = exactCounts.falsePositive + exactCounts.falseNegative
    if not exactCounts.products:
        if not difference:
            raise Undefined(_noVoxel(exactCounts))
        return math.inf
    return float(difference / (2 * exactCounts.products))


@metric(
    "KAP",
    "Cohen's kappa",
    TAHA,
    best=1,
    low=-1,
    empty=Empty.ZERO,
    dependsOnGrid=True,
    isMain=True,
    alias="KAPPA",
    hint=FIX_THE_GRID,
    formula=r"\mathrm{KAP} = \frac{f_a - f_c}{n - f_c} \\ "
    r"f_a = \mathrm{TP} + \mathrm{TN}, \quad "
    r"f_c = \frac{(\mathrm{TN} + \mathrm{FN})(\mathrm{TN} + \mathrm{FP}) + (\mathrm{FP} + "
    r"\mathrm{TP})(\mathrm{FN} + \mathrm{TP})}{n}",
)
def kappa(exactCounts: Counts) -> float:
    """Agreement beyond chance: 0 is what random segmentations of these sizes reach.

    Cohen's kappa in [-1, 1] (Cohen 1960), the agreement beyond chance; 0 when one structure is empty.
    """
    agreed = exactCounts.truePositive + exactCounts.trueNegative
    chance = (
        exactCounts.outsideTest * exactCounts.outsideReference + exactCounts.test * exactCounts.reference
    ) / exactCounts.size
    return _ratio(agreed - chance, exactCounts.size - chance, "both structures fill the whole evaluated grid")


@metric(
    "AUC",
    "Area under the ROC curve",
    TAHA,
    best=1,
    empty=Empty.COUNTED,
    symmetric=False,
    dependsOnGrid=True,
    alias="AUC",
    steps=("metrics.agreement.fallout", "metrics.agreement.missRate"),
    hint=FIX_THE_GRID,
    formula=r"\mathrm{AUC} = 1 - \frac{\mathrm{FPR} + \mathrm{FNR}}{2}",
)
def areaUnderCurve(exactCounts: Counts) -> float:
    """Mean of sensitivity and specificity: the area under the curve through the one point that a segmentation has.

    The area under the receiver operating curve of one segmentation, 1 - (FPR + FNR) / 2, in [0, 1].
    """
    return 1 - (fallout(exactCounts) + missRate(exactCounts)) / 2


def _noVoxel(counts: Counts) -> str:
    return f"both structures enclose no {counts.unit}"


def _ratio(part: Amount, whole: Amount, otherwise: str) -> float:
    """Return a quotient. Raises Undefined with the reason when the denominator is 0."""
    if not whole:
        raise Undefined(otherwise)
    return float(part / whole)

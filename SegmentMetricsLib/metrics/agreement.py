"""How often the two agree voxel by voxel, also corrected for chance; most depend on the image size.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Functions note where the article has
errors. All arithmetic is exact until the last step, because the squares of counts such as 5e8 voxels exceed the
precision of floating-point numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from ..base.errors import Undefined
from .metric import TAHA, Empty, Family, each, formula, hint, metric
from .overlap import Counts, ratio

FAMILY = Family(40)
FIX_THE_GRID = "Depends on the voxels outside both: fix the evaluated grid to compare cases."
LARGE_BACKGROUND = (
    "Near its best value for any small structure in a large image: " + FIX_THE_GRID[0].lower() + FIX_THE_GRID[1:]
)
EXCHANGED = "Equation 1 of the source exchanges FP and FN; elsewhere they are as here."
NOT_A_SHARE = "A count, not a share: it grows with the structure and with finer voxels."
REFERENCE_FILLS = "the reference fills the whole evaluated grid"
BOTH_FILL = "both structures fill the whole evaluated grid"
# What all have in common; those of counts; and those that the voxels outside both decide, too.
published = partial(metric, source=TAHA)
ofCount = partial(published, unit="voxels", empty=Empty.COMPUTED)
ofImage = partial(published, empty=Empty.COUNTED, dependsOnGrid=True)


@ofCount("{short}: {name}", hint=NOT_A_SHARE)
@each(
    short=("TP", "FP", "FN"),
    name=("True positives", "False positives", "False negatives"),
    alias=("TP", "FP", "FN"),
    which=("in both", "of the test outside the reference", "of the reference outside the test"),
    voxels=("truePositive", "falsePositive", "falseNegative"),
    better=("higher", "lower", "lower"),
    formula=(
        r"\mathrm{TP} = \sum_i \min(f_{A,i}, f_{B,i})",
        r"\mathrm{FP} = \sum_i \max(f_{B,i} - f_{A,i}, 0)",
        r"\mathrm{FN} = \sum_i \max(f_{A,i} - f_{B,i}, 0)",
    ),
    identity=(None, 0, 0),
    symmetric=(True, False, False),
    deviation=("", EXCHANGED, EXCHANGED),
)
def numberOf(exactCounts: Counts, voxels: str) -> float:
    """Number of voxels {which}; memberships count in part."""
    if exactCounts.voxels is None:
        raise Undefined("contours without an image have no voxels that could be counted")
    return float(getattr(exactCounts, voxels))


@ofCount("TN: True negatives", better="higher", dependsOnGrid=True, alias="TN", hint=FIX_THE_GRID)
@formula(
    r"\mathrm{TN} = \sum_i \min(1 - f_{A,i}, 1 - f_{B,i}) = n - \mathrm{TP} - \mathrm{FP} - \mathrm{FN}",
    "metrics.overlap.Counts.trueNegative",
)
def outside(exactCounts: Counts) -> float:
    """Number of voxels of the evaluated grid in neither; memberships count in part."""
    return float(exactCounts.trueNegative)


@ofImage("{short}: {name}", symmetric=False, hint=LARGE_BACKGROUND)
@each(
    short=("TNR", "FPR"),
    name=("Specificity (true negative rate)", "Fallout (false positive rate)"),
    alias=("SPCFTY", "FALLOUT"),
    where=("outside the test, too", "in the test"),
    part=("trueNegative", "falsePositive"),
    better=("higher", "lower"),
    identity=(1, 0),
    formula=(
        r"\mathrm{TNR} = \frac{\mathrm{TN}}{\mathrm{TN} + \mathrm{FP}}",
        r"\mathrm{FPR} = \frac{\mathrm{FP}}{\mathrm{TN} + \mathrm{FP}} = 1 - \mathrm{TNR}",
    ),
)
def shareOutside(exactCounts: Counts, part: str) -> float:
    """Share of the voxels outside the reference that are {where}."""
    return ratio(getattr(exactCounts, part), exactCounts.outsideReference, exactCounts, REFERENCE_FILLS)


@published("FNR: Miss rate (false negative rate)", best=0, empty=Empty.ONE, symmetric=False)
@hint("Choose it when missing a part of the structure matters more than adding to it.")
@formula(r"\mathrm{FNR} = \frac{\mathrm{FN}}{\mathrm{TP} + \mathrm{FN}} = 1 - \mathrm{TPR}")
def missRate(exactCounts: Counts) -> float:
    """Share of the reference that the test lacks, counted in voxels."""
    nothing = f"the reference encloses no {exactCounts.unit}"
    return ratio(exactCounts.falseNegative, exactCounts.reference, exactCounts, nothing)


@published("FMS_{beta}: F-measure, beta {beta}", best=1, empty=Empty.ZERO, symmetric=False, trend="any", alias="FMEASR")
@hint("Small structures: one voxel changes it much, prefer distances.")
@formula(
    r"\mathrm{FMS}_\beta = \frac{(\beta^2 + 1) \cdot \mathrm{PPV} \cdot \mathrm{TPR}}{\beta^2 \cdot "
    r"\mathrm{PPV} + \mathrm{TPR}}"
)
def fMeasure(exactCounts: Counts, beta: float) -> float:
    """Weighted harmonic mean of precision and sensitivity, with beta {beta}; beta 1 is the Dice coefficient, a larger
    one favors sensitivity.

    In [0, 1]. With PPV = TP / (TP + FP) and TPR = TP / (TP + FN), this is (b2 + 1) TP / ((b2 + 1) TP + b2 FN + FP).
    """
    weight = Fraction(beta) ** 2
    both = (1 + weight) * exactCounts.truePositive
    return ratio(both, both + weight * exactCounts.falseNegative + exactCounts.falsePositive, exactCounts)


@ofImage("ACC: Accuracy", best=1, alias="ACURCY", hint=LARGE_BACKGROUND)
@formula(r"\mathrm{ACC} = \frac{\mathrm{TP} + \mathrm{TN}}{n}")
def accuracy(exactCounts: Counts) -> float:
    """Share of all voxels of the evaluated grid on which the two agree."""
    return float((exactCounts.truePositive + exactCounts.trueNegative) / exactCounts.size)


@ofImage("GCE: Global consistency error", best=0, alias="GCOERR", hint=FIX_THE_GRID)
@formula(
    r"\mathrm{GCE} = \frac{1}{n} \min(E_{AB}, E_{BA}) \\ E_{AB} = \frac{\mathrm{FN} (\mathrm{FN} + 2 "
    r"\mathrm{TP})}{\mathrm{TP} + \mathrm{FN}} + \frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TN})}{\mathrm{TN} + "
    r"\mathrm{FP}}, \quad E_{BA} = \frac{\mathrm{FP} (\mathrm{FP} + 2 \mathrm{TP})}{\mathrm{TP} + \mathrm{FP}} + "
    r"\frac{\mathrm{FN} (\mathrm{FN} + 2 \mathrm{TN})}{\mathrm{TN} + \mathrm{FN}}"
)
def globalConsistencyError(exactCounts: Counts) -> float:
    """Share of voxels in error, where neither segmentation merely refines the other."""
    # Martin 2001
    both, neither = exactCounts.truePositive, exactCounts.trueNegative
    over, under = exactCounts.falsePositive, exactCounts.falseNegative
    errors = []
    for lost, gained in ((under, over), (over, under)):
        inside, outside = both + lost, neither + gained
        if not inside or not outside:
            raise Undefined("a structure is empty or fills the whole evaluated grid")
        errors.append(lost * (lost + 2 * both) / inside + gained * (gained + 2 * neither) / outside)
    return float(min(errors) / exactCounts.size)


@published("VS: Volumetric similarity", best=1, empty=Empty.ZERO, alias="VOLSMTY")
@hint("Choose it when the volume is what matters; it can be perfect without any overlap.")
@formula(
    r"\mathrm{VS} = 1 - \frac{\lvert \mathrm{FN} - \mathrm{FP} \rvert}{2 \mathrm{TP} + \mathrm{FP} + "
    r"\mathrm{FN}}"
)
def volumetricSimilarity(exactCounts: Counts) -> float:
    """How alike the two volumes are, wherever they lie, counted in voxels."""
    whole = exactCounts.reference + exactCounts.test
    return ratio(whole - abs(exactCounts.falseNegative - exactCounts.falsePositive), whole, exactCounts)


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


@ofImage("RI: Rand index", best=1, alias="RNDIND", hint=LARGE_BACKGROUND)
@formula(
    r"\mathrm{RI} = \frac{a + d}{a + b + c + d}",
    "pairsOfVoxels",
    deviation="The source prints a + b as the numerator. Rand's definition, and the source's own program, have a + d.",
)
def randIndex(exactCounts: Counts) -> float:
    """Share of all pairs of voxels that both segmentations join or both separate."""
    # Rand 1971
    together, inReference, inTest, apart = pairsOfVoxels(exactCounts)
    return float((together + apart) / (together + inReference + inTest + apart))


@ofImage("ARI: Adjusted Rand index", best=1, low=-1, empty=Empty.ZERO, alias="ADJRIND", hint=FIX_THE_GRID)
@formula(r"\mathrm{ARI} = \frac{2 (ad - bc)}{c^2 + b^2 + 2ad + (a + d)(c + b)}", "pairsOfVoxels")
def adjustedRandIndex(exactCounts: Counts) -> float:
    """Rand index corrected for chance: 0 is what random segmentations reach."""
    # Hubert 1985
    a, b, c, d = pairsOfVoxels(exactCounts)
    whole = c**2 + b**2 + 2 * a * d + (a + d) * (c + b)
    isFull = exactCounts.truePositive == exactCounts.size
    why = "fill the whole evaluated grid" if isFull else "part the two voxels of the evaluated grid"
    return ratio(2 * (a * d - b * c), whole, exactCounts, f"both structures {why}")


def entropies(exactCounts: Counts) -> tuple[float, float, float]:
    """Return the entropies H(A), H(B) and H(A, B) in bits of both partitions and of the two together."""
    size = exactCounts.size

    def entropy(*cells: Fraction) -> float:
        return math.fsum(float(-cell / size) * log2(cell) for cell in cells if cell > 0)

    def log2(cell: Fraction) -> float:
        # close to 1, the logarithm depends on the difference from 1, which is exact here
        return math.log1p(float((cell - size) / size)) / math.log(2) if 2 * cell > size else math.log2(cell / size)

    joint = (exactCounts.truePositive, exactCounts.falsePositive, exactCounts.trueNegative, exactCounts.falseNegative)
    reference = entropy(exactCounts.reference, exactCounts.outsideReference)
    return reference, entropy(exactCounts.test, exactCounts.outsideTest), entropy(*joint)


@ofImage(
    "MI: Mutual information",
    unit="bit",
    better="higher",
    high=1,
    alias="MUTINF",
    hint="Compare it between tests of one reference only. " + FIX_THE_GRID,
)
@formula(r"\mathrm{MI} = H(A) + H(B) - H(A, B)", "entropies")
def mutualInformation(exactCounts: Counts) -> float:
    """How much knowing whether a voxel is in one structure tells about the other; larger for larger structures."""
    reference, test, joint = entropies(exactCounts)
    return max(reference + test - joint, 0.0)


@ofImage("VOI: Variation of information", unit="bit", best=0, high=2, alias="VARINFO", hint=FIX_THE_GRID)
@formula(
    r"\mathrm{VOI} = H(A) + H(B) - 2 \, \mathrm{MI} = 2 H(A, B) - H(A) - H(B)",
    "entropies",
    deviation="The source exchanges the probabilities of the two backgrounds in print: that of the "
    "reference's is (TN + FP) / n, that of the test's (TN + FN) / n.",
)
def variationOfInformation(exactCounts: Counts) -> float:
    """How much information the two segmentations do not share."""
    # Meila 2003
    reference, test, joint = entropies(exactCounts)
    return max(2 * joint - (reference + test), 0.0)


@ofImage("ICC: Interclass correlation", best=1, low=-1, alias="ICCORR", hint=FIX_THE_GRID)
@formula(
    r"\mathrm{ICC} = \frac{\mathrm{MS}_b - \mathrm{MS}_w}{\mathrm{MS}_b + \mathrm{MS}_w} \\ \mathrm{MS}_b = "
    r"\frac{2}{n - 1} \sum_i (m_i - \mu)^2, \quad \mathrm{MS}_w = \frac{1}{n} \sum_i \left((f_{A,i} - m_i)^2 + "
    r"(f_{B,i} - m_i)^2\right) \\ m_i = \frac{f_{A,i} + f_{B,i}}{2}, \quad \mu = \frac{1}{n} \sum_i m_i",
    deviation="The source's own program mixes memberships up to 1 with memberships up to 255 and gives another number.",
)
def interclassCorrelation(exactCounts: Counts) -> float:
    """How much of the variation lies between voxels rather than between the two segmentations.

    In [-1, 1] (Shrout 1979). A voxel with the memberships f and g has the mean m = (f + g) / 2. The sum of m2 is that
    of (f2 + 2 f g + g2) / 4; the sum of (f - m)2 + (g - m)2 is that of (f2 - 2 f g + g2) / 2.
    """
    size = exactCounts.size
    if size < 2:
        raise Undefined("the evaluated grid has one voxel, so nothing varies between voxels")
    sumOfMeans = (exactCounts.reference + exactCounts.test) / 2
    sumOfTheirSquares = (exactCounts.squares + 2 * exactCounts.products) / 4
    between = 2 / (size - 1) * (sumOfTheirSquares - sumOfMeans**2 / size)
    within = 1 / size * (exactCounts.squares - 2 * exactCounts.products) / 2
    return ratio(between - within, between + within, exactCounts, BOTH_FILL)


@published(
    "PBD: Probabilistic distance",
    best=0,
    high=math.inf,
    empty=Empty.INFINITE,
    alias="PROBDST",
    note=lambda exactCounts: "" if exactCounts.products else "the two do not overlap",
)
@hint("Made for memberships; infinite without overlap.")
@formula(
    r"\mathrm{PBD} = \frac{\sum_i \lvert f_{A,i} - f_{B,i} \rvert}{2 \sum_i f_{A,i} \, f_{B,i}}",
    deviation="The source's own program gives 1/255 of it.",
)
def probabilisticDistance(exactCounts: Counts) -> float:
    """Difference of the memberships over twice their product, summed over all voxels."""
    # Gerig 2001
    difference = exactCounts.falsePositive + exactCounts.falseNegative
    isApart = difference and not exactCounts.products
    return math.inf if isApart else ratio(difference, 2 * exactCounts.products, exactCounts)


@ofImage("KAP: Cohen's kappa", best=1, low=-1, empty=Empty.ZERO, isMain=True, alias="KAPPA", hint=FIX_THE_GRID)
@formula(
    r"\mathrm{KAP} = \frac{f_a - f_c}{n - f_c} \\ f_a = \mathrm{TP} + \mathrm{TN}, \quad f_c = "
    r"\frac{(\mathrm{TN} + \mathrm{FN})(\mathrm{TN} + \mathrm{FP}) + (\mathrm{FP} + \mathrm{TP})(\mathrm{FN} + "
    r"\mathrm{TP})}{n}"
)
def kappa(exactCounts: Counts) -> float:
    """Agreement beyond chance: 0 is what random segmentations of these sizes reach."""
    # Cohen 1960
    agreed = exactCounts.truePositive + exactCounts.trueNegative
    neither = exactCounts.outsideTest * exactCounts.outsideReference
    chance = (neither + exactCounts.test * exactCounts.reference) / exactCounts.size
    return ratio(agreed - chance, exactCounts.size - chance, exactCounts, BOTH_FILL)


@ofImage("AUC: Area under the ROC curve", best=1, symmetric=False, alias="AUC", hint=FIX_THE_GRID)
@formula(r"\mathrm{AUC} = 1 - \frac{\mathrm{FPR} + \mathrm{FNR}}{2}", "shareOutside", "missRate")
def areaUnderCurve(exactCounts: Counts) -> float:
    """Mean of sensitivity and specificity: the area under the curve through the one point that a segmentation has."""
    return 1 - (shareOutside(exactCounts, "falsePositive") + missRate(exactCounts)) / 2

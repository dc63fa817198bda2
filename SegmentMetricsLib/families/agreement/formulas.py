"""Agreement of two structures voxel by voxel: metrics of their confusion matrix.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Functions note where the printed
article has errors. All arithmetic is exact until the last step, because the squares of counts such as 5e8 voxels exceed
the precision of floating-point numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...base.errors import Undefined
from ...comparison.counts import Table

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

"""Overlap of all labels of two segmentations at once."""

from __future__ import annotations

from functools import partial

from .metric import Empty, each, formula, metric

CRUM = "Crum et al., doi:10.1109/TMI.2006.880587"
GIVEN = "given"
# How labels are weighted, by the suffix of the key.
WEIGHTINGS = ("", "volume", GIVEN)
HINT = "One number for a whole segmentation hides which label differs: look at each label, too."
# What the metrics of all labels have in common: there is one for each weighting.
ofAllLabels = partial(metric, source=CRUM, family="agreement", best=1, empty=Empty.ZERO, hint=HINT)
eachWeighting = each(
    suffix=("", "_volume", "_given"),
    weighted=("", ", weighted by 1 / volume", ", weighted as given"),
    how=(
        "of which large ones count more",
        "weighted by the inverse of their volume in the reference",
        "with the given weights",
    ),
)


@ofAllLabels("JACml{suffix}: Jaccard index of all labels{weighted}")
@eachWeighting
@formula(
    r"\mathrm{JACml} = \frac{\sum_l a_l \sum_i \min(f_{A,l,i}, f_{B,l,i})}{\sum_l a_l \sum_i "
    r"\max(f_{A,l,i}, f_{B,l,i})}",
    "case.multilabel.jaccard",
    symbols=(("a_l", ("labelWeights",)),),
)
def jaccardOfLabels(jaccard: float) -> float:
    """Shared volume over the volume that either side covers, each summed over all labels, {how}."""
    return float(jaccard)


@ofAllLabels("DICEml{suffix}: Dice coefficient of all labels{weighted}")
@eachWeighting
@formula(r"\mathrm{DICEml} = \frac{2 \, \mathrm{JACml}}{1 + \mathrm{JACml}}", "case.multilabel.jaccard")
def diceOfLabels(jaccard: float) -> float:
    """Twice the shared volume over the sum of both volumes, as follows from the Jaccard index of all labels, {how}."""
    return float(2 * jaccard / (1 + jaccard))

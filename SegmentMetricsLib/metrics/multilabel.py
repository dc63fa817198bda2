"""The registry's entries for all labels of two segmentations at once."""

from __future__ import annotations

from collections.abc import Iterator

from . import overlap
from .metric import Definition, Empty

CRUM = "Crum et al., doi:10.1109/TMI.2006.880587"
GIVEN = "given"
# How labels are weighted, by the suffix of the key.
WEIGHTINGS = {
    "": "every label's volume counts as it is, so large labels decide",
    "volume": "labels count by 1 / volume in the reference, so small ones count as much as large ones",
    GIVEN: "labels count by the given weights",
}
TITLES = {"": "", "volume": ", weighted by 1 / volume", GIVEN: ", weighted as given"}


JACCARD = "case.multilabel.jaccard"


def _weighted(key: str, title: str, description: str, formula: str, **more) -> Iterator[Definition]:
    """Yield the definitions of a measurement of all labels, one for each weighting."""
    for suffix, words in WEIGHTINGS.items():
        yield Definition(
            key=f"{key}_{suffix}" if suffix else key, title=title + TITLES[suffix], family="agreement", source=CRUM,
            unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
            description=f"{description}; {words}.",
            identity=1,
            hint="One number for a whole segmentation hides which label differs: look at each label, too.",
            formula=rf"\mathrm{{{key}}} = {formula}",
            **more,
        )  # fmt: skip


MULTI_LABEL = (
    *_weighted(
        key="JACml", title="Jaccard index of all labels",
        description="What the labels share over what either side covers, summed over all labels",
        compute=float,
        formula=r"\frac{\sum_l a_l \sum_i \min(f_{A,l,i}, f_{B,l,i})}{\sum_l a_l \sum_i \max(f_{A,l,i}, f_{B,l,i})}",
        code=JACCARD,
        symbols=(("a_l", ("labelWeights",)),),
    ),
    *_weighted(
        key="DICEml", title="Dice coefficient of all labels",
        description="Twice what the labels share over the sum of both sides, as it follows from the Jaccard index of "
        "all labels",
        compute=overlap.diceOf,
        formula=r"\frac{2 \, \mathrm{JACml}}{1 + \mathrm{JACml}}",
        code="metrics.overlap.diceOf",
        steps=(JACCARD,),
    ),
)  # fmt: skip

"""The registry's entries for all labels of two segmentations at once."""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions import Definition, Empty
from ..metrics import overlap

CRUM = "Crum et al., doi:10.1109/TMI.2006.880587"
GIVEN = "given"
# How labels are weighted, by the suffix of the key.
WEIGHTINGS = {
    "": "every label's volume counts as it is, so large labels decide",
    "volume": "labels count by 1 / volume in the reference, so small ones count as much as large ones",
    GIVEN: "labels count by the given weights",
}
TITLES = {"": "", "volume": ", weighted by 1 / volume", GIVEN: ", weighted as given"}


def _definitions() -> Iterator[Definition]:
    jaccard, weights = "multilabel.jaccard", (("a_l", ("labelWeights",)),)
    kinds = (
        ("JACml", "Jaccard index of all labels", "What the labels share over what either side covers, summed over all "
         "labels", float, r"\frac{\sum_l a_l \sum_i \min(f_{A,l,i}, f_{B,l,i})}"
         r"{\sum_l a_l \sum_i \max(f_{A,l,i}, f_{B,l,i})}", jaccard, (), weights),
        ("DICEml", "Dice coefficient of all labels", "Twice what the labels share over the sum of both sides, as it "
         "follows from the Jaccard index of all labels", overlap.diceOf,
         r"\frac{2 \, \mathrm{JACml}}{1 + \mathrm{JACml}}", "metrics.overlap.diceOf", (jaccard,), ()),
    )  # fmt: skip
    for key, title, description, compute, formula, code, steps, symbols in kinds:
        for suffix, words in WEIGHTINGS.items():
            yield Definition(
                f"{key}_{suffix}" if suffix else key, title + TITLES[suffix],
                "", 0, 1, "higher", "agreement", CRUM, Empty.ZERO, f"{description}; {words}.", compute, identity=1,
                hint="One number for a whole segmentation hides which label differs: look at each label, too.",
                formula=rf"\mathrm{{{key}}} = {formula}", code=code, steps=steps, symbols=symbols,
            )  # fmt: skip


MULTI_LABEL = tuple(_definitions())

"""The registry's entries of the similarity family."""

from __future__ import annotations

import math

from ...comparison.definitions import OURS, Definition, Empty
from .ofpair import inSlices, noteOnAll, noteOnPaired, onBoundaries, unitOfSlices

FAZEKAS = "Fazekas et al., arXiv:2508.09722"
# The functions that compute W(d, l), and the steps to the index: first the function that lists them all, then from the
# last step to the first.
WEIGHTS = ("families.similarity.formulas.Levels.scores", "families.similarity.formulas.weight")
STEPS = (
    "families.similarity.formulas.measure",
    "families.similarity.formulas.sliceScore",
    "families.similarity.formulas.contourScores",
    *WEIGHTS,
    "families.similarity.formulas.localDistances",
)
# The settings behind the level of a point.
LEVEL = (("l_t", ("il", "ol")),)
LEVELS = "A higher outside level punishes over-contouring more, as next to an organ at risk."

SIMILARITY = (
    Definition(
        key="MSI", title="Medical Similarity Index", family="similarity", source=FAZEKAS,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="How well the test's contours follow the reference's, slice by slice, with inside and outside "
        "judged by levels of their own; median of the slices, of which those that cannot be paired count as 0.",
        compute=lambda pair: pair.once(inSlices).score,
        needs=(inSlices,),
        symmetric=False, isMain=True, identity=1,
        note=noteOnAll, hint=LEVELS,
        formula=r"\mathrm{MSI} = \mathrm{median}_s \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} \sum_{t \in c} "
        r"W(d_t, l_t) \\ W(d, l) = \exp\left(-\frac{d^2}{2 (10 / l)^2}\right)",
        code="families.similarity.formulas.Similarity.score",
        steps=STEPS, symbols=LEVEL,
        deviation="As published, and in the authors' code, a point on the contour scores 0, so that identical contours "
        "have the index 0; here it scores 1. Their code also takes the mean over the reference's points and decides "
        "about inside and outside after the alignment: `--as-published` gives the authors' formula on chains of "
        "boundary pixels. It is not their program, which traces Canny edges of the gray picture first; that moves the "
        "score of a slice of 1 mm by 0.07 to 0.12 on average and by up to 0.46. The program leaves out slices that "
        "only one of the two has, and scores those where two contours of the reference are nearest to one of the test; "
        "here both count as 0, and MSIPaired leaves them out. Distances and the 10 are pixels in the article: compare "
        "published values with `--msi-unit pixel`. From a level of 5 on, the mean over the points is integrated along "
        "the contour, because it would depend on where sampling starts.",
    ),
    Definition(
        key="MSIPaired", title="Medical Similarity Index, paired slices", family="similarity", source=FAZEKAS,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Medical Similarity Index of those slices only in which every contour has a counterpart.",
        compute=lambda pair: pair.once(inSlices).pairedScore,
        needs=(inSlices,),
        symmetric=False, identity=1,
        note=noteOnPaired, hint="Leaves out slices that only one of the two has: look at MSI, too.",
        formula=r"\mathrm{MSIPaired} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} "
        r"\sum_{t \in c} W(d_t, l_t)",
        code="families.similarity.formulas.Similarity.pairedScore",
        steps=STEPS, symbols=LEVEL,
    ),
    Definition(
        key="PairedDistance", title="Paired average Hausdorff distance", family="similarity", source=FAZEKAS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance between a contour and its counterpart in the slice, over both directions; median of "
        "the paired slices.",
        compute=lambda pair: pair.once(inSlices).pairedDistance,
        needs=(inSlices,),
        symmetric=False, identity=0,
        unitSetting=unitOfSlices,
        note=noteOnPaired, hint="Leaves out slices that only one of the two has: look at MSI, too.",
        formula=r"\mathrm{PairedDistance} = \mathrm{median}_{s \in P} \, \mathrm{median}_{(b, c) \in s} \, "
        r"\frac{1}{2} \left(\frac{1}{N_b} \sum_{r \in b} d(r, c) + \frac{1}{N_c} \sum_{t \in c} d(t, b)\right)",
        code="families.similarity.formulas.Similarity.pairedDistance",
        steps=(*STEPS[:3], "families.similarity.formulas.averageDistances"),
    ),
    Definition(
        key="MeanBLD", title="Mean bidirectional local distance", family="similarity", source=FAZEKAS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance of the points that the Medical Similarity Index pairs; median of the paired slices.",
        compute=lambda pair: pair.once(inSlices).meanBLD,
        needs=(inSlices,),
        symmetric=False, identity=0,
        unitSetting=unitOfSlices,
        note=noteOnPaired, hint="Sees what the nearest point hides, such as a spike; leaves out slices that only one "
        "of the two has.",
        formula=r"\mathrm{MeanBLD} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, "
        r"\frac{1}{N_c} \sum_{t \in c} d_t",
        code="families.similarity.formulas.Similarity.meanBLD",
        steps=tuple(step for step in STEPS if step not in WEIGHTS),
    ),
    Definition(
        key="MSI3D", title="Medical Similarity Index on surfaces", family="similarity", source=OURS,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="The same index on the whole boundary instead of slices, every element weighted by its area. The "
        "elements of meshes are cut until their sides are no longer than a step of the grid for meshes.",
        compute=onBoundaries,
        symmetric=False, identity=1,
        hint="Choose it where slices mean nothing: meshes, oblique structures. " + LEVELS,
        formula=r"\mathrm{MSI3D} = \frac{\sum_{t \in \partial B} g_t \, W(d_t, l_t)}{\sum_{t \in \partial B} g_t}",
        code="families.similarity.formulas.surfaceScore",
        steps=(*WEIGHTS, "families.similarity.formulas.localDistances"), symbols=LEVEL,
    ),
)  # fmt: skip

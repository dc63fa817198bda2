"""The registry's entries of the similarity family."""

from __future__ import annotations

import math

from .definitions import FAZEKAS, OURS, Definition, Empty

PURPOSE = "Choose the levels for the case: a higher outside level where an organ lies outside, for example."

SIMILARITY = (
    Definition(
        "MSI", "Medical Similarity Index", "", 0, 1, "higher", "similarity", FAZEKAS, Empty.ZERO,
        "How well the test's contours follow the reference's, slice by slice, with inside and outside judged by levels "
        "of their own; median of the slices, of which those that cannot be paired count as 0.",
        lambda pair: pair.similarity.score, symmetric=False, identity=1, hint=PURPOSE,
    ),
    Definition(
        "MSIPaired", "Medical Similarity Index, paired slices", "", 0, 1, "higher", "similarity", FAZEKAS, Empty.ZERO,
        "Medical Similarity Index of those slices only in which every contour has a counterpart.",
        lambda pair: pair.similarity.pairedScore, symmetric=False, identity=1,
        hint="Leaves out slices that only one of the two has: look at MSI, too.",
    ),
    Definition(
        "PairedDistance", "Paired average Hausdorff distance", "mm", 0, math.inf, "lower", "similarity", FAZEKAS,
        Empty.INFINITE,
        "Mean distance of the points that the Medical Similarity Index pairs; median of the paired slices.",
        lambda pair: pair.similarity.pairedDistance, symmetric=False, identity=0,
        hint="Leaves out slices that only one of the two has: look at MSI, too.",
    ),
    Definition(
        "MSI3D", "Medical Similarity Index on surfaces", "", 0, 1, "higher", "similarity", OURS, Empty.ZERO,
        "The same index on the whole boundary instead of slices, every element weighted by its area.",
        lambda pair: pair.boundarySimilarity, symmetric=False, identity=1,
        hint="Choose it where slices mean nothing: meshes, oblique structures. " + PURPOSE,
    ),
)  # fmt: skip

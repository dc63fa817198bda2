"""The registry's entries of the similarity family."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..definitions import OURS, Definition, Empty
from ..distances.surfacedistances import liesInPlane, touching
from ..errors import Undefined
from ..geometry import voxelization
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import evenElements
from ..metrics import publishedsimilarity, similarity, slicecontours
from ..metrics.similarity import Inside, Levels, Similarity, Slices
from ..metrics.slicecontours import Planes
from ..metrics.voxels import requireVoxels
from ..structures import Structure
from .sections import sideOf, unsmoothedOf

if TYPE_CHECKING:
    from ..pair import Pair

FAZEKAS = "Fazekas et al., arXiv:2508.09722"
# Parts into which the elements of a mesh are cut at most.
MOST_PARTS = 200_000
# The functions that compute W(d, l), and those on the way to the index: the one that lists the way, and from its end to
# its beginning.
WEIGHTS = ("metrics.similarity.Levels.scores", "metrics.similarity.weight")
STEPS = (
    "metrics.similarity.measure",
    "metrics.similarity.sliceScore",
    "metrics.similarity.contourScores",
    *WEIGHTS,
    "metrics.similarity.localDistances",
)
# The settings behind the level of a point.
LEVEL = (("l_t", ("il", "ol")),)
LEVELS = "A higher outside level punishes over-contouring more, as next to an organ at risk."


def inSlices(pair: Pair) -> Similarity:
    """Return how well the contours are followed in every slice of the reference's image, neither structure empty.

    Where the reference is a mesh the slices are those of the test's image. A mesh is cut by their planes, as is a mask
    with other voxels; as published, both are drawn on the image. Contours that are given as lines, both of them, are
    taken as they are. Raises Undefined for two meshes, which have no slices, for contours in different planes, and for
    what no slice goes through.
    """
    settings = pair.settings
    if pair.dimension == 2 and not liesInPlane(*(s.surface for s in pair.structures)):
        raise Undefined("the contours lie in different planes")
    grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), None)
    levels = Levels(settings.il, settings.ol)
    if grid is None:
        return _ofLines(pair, levels)
    if settings.asPublished:
        reference, test = (_maskOn(grid, structure, pair) for structure in pair.structures)
        requireVoxels(reference, test)
        planes = Planes(grid, grid.sliceAxis, "pixel")
        return publishedsimilarity.measure(
            *(slicecontours.chains(m, planes) for m in (reference, test)), planes, levels
        )
    planes = Planes(grid, grid.sliceAxis, settings.msiUnit)
    (reference, inside), (test, _) = (_contoursOf(pair, which, planes) for which in (0, 1))
    return similarity.measure(reference, test, planes, levels, inside, settings.splitContours)


def _contoursOf(pair: Pair, which: int, planes: Planes) -> tuple[Slices, Inside]:
    """Return the contours of the reference (0) or the test (1) in the slices of a grid, and what is inside of them."""
    structure = pair.structures[which]
    if structure.mask is not None and structure.mask.fits(planes.grid):
        mask = structure.mask.on(planes.grid)
        return slicecontours.ofMask(mask, planes), partial(slicecontours.isInside, mask, planes)
    if pair.dimension == 2:
        pair.requireClosed(structure)
        contours = slicecontours.ofSurface(unsmoothedOf(structure), planes)
        return contours, similarity.insidePolygons(contours)
    sections = pair.once(sideOf, which, planes.grid.slicesLast())
    contours = slicecontours.ofSections(sections, planes)
    if not contours:
        raise Undefined(f"no slice of the image goes through the {('reference', 'test')[which]}")
    return contours, partial(slicecontours.isInSections, sections, planes)


def _maskOn(grid: Grid, structure: Structure, pair: Pair) -> Mask:
    if structure.mask is not None:
        return structure.mask.on(grid)
    pair.requireClosed(structure)
    return voxelization.maskOf(structure.surface, grid)


def _ofLines(pair: Pair, levels: Levels) -> Similarity:
    """Return the index of contours given as lines; how densely they are sampled follows from the spacing for meshes."""
    if pair.dimension == 3:
        raise Undefined("both are meshes, which have no slices: see MSI3D")
    if pair.settings.asPublished or pair.settings.msiUnit == "pixel":
        raise Undefined("contours without an image have no pixels")
    grid = pair.overlapGrid[0]
    planes = Planes(grid, grid.sliceAxis, "mm")
    reference, test = (slicecontours.ofSurface(s.surface, planes) for s in pair.structures)
    return similarity.measure(
        reference, test, planes, levels, similarity.insidePolygons(reference), pair.settings.splitContours
    )


def onBoundaries(pair: Pair) -> float:
    """Return the index on whole boundaries, in [0, 1], of the measured surfaces (segments of contours in 2D).

    Raises Undefined when inside and outside are judged differently but the reference has no inside.
    """
    surfaces = [s.surface for s in pair.structures]
    if pair.dimension == 2 and not liesInPlane(*surfaces):
        raise Undefined("the contours lie in different planes")
    levels = Levels(pair.settings.il, pair.settings.ol)
    # the elements of masks are as small as voxels, those of meshes as large as somebody liked
    diagonals = [float(np.linalg.norm(s.mask.grid.spacing)) for s in pair.structures if s.mask is not None]
    longest = max([pair.settings.meshSpacing, *diagonals])
    (others, otherSizes), (points, sizes) = (evenElements(s, longest, MOST_PARTS) for s in surfaces)
    sides = np.zeros(len(points))
    if levels.inside != levels.outside:
        pair.requireClosed(pair.reference)
        isCut = len(points) > len(surfaces[1].cells)
        boundaries = pair.boundaries
        signed = boundaries.search(0).signedDistances(points) if isCut else boundaries.signedDistances(1, 0)
        # where the two touch, rounding must not decide which level counts
        sides = np.where(np.abs(signed) > touching(math.sqrt(otherSizes.mean())), np.sign(signed), 0)
    origin = surfaces[0].center
    return similarity.surfaceScore(points - origin, sizes, others - origin, otherSizes, levels, sides)


def _note(pair: Pair) -> str:
    """Return what there is to say about the slices whose contours cannot be paired, "" if there are none."""
    found = pair.once(inSlices)
    if found.flagged and not found.paired:
        return "in no slice can the contours be paired"
    return f"{len(found.flagged)} of {len(found.slices)} slices cannot be paired{{}}" if found.flagged else ""


def _noteOnAll(pair: Pair) -> str:
    return _note(pair).format(" and count as 0")


def _noteOnPaired(pair: Pair) -> str:
    return _note(pair).format(" and are left out")


SIMILARITY = (
    Definition(
        "MSI", "Medical Similarity Index", "", 0, 1, "higher", "similarity", FAZEKAS, Empty.ZERO,
        "How well the test's contours follow the reference's, slice by slice, with inside and outside judged by levels "
        "of their own; median of the slices, of which those that cannot be paired count as 0.",
        lambda pair: pair.once(inSlices).score, symmetric=False, isMain=True, identity=1,
        note=_noteOnAll, hint=LEVELS,
        formula=r"\mathrm{MSI} = \mathrm{median}_s \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} \sum_{t \in c} "
        r"W(d_t, l_t) \\ W(d, l) = \exp\left(-\frac{d^2}{2 (10 / l)^2}\right)",
        code="metrics.similarity.Similarity.score",
        steps=STEPS, symbols=LEVEL,
        deviation="As published, and in the authors' program, a point on the contour scores 0, so that identical "
        "contours have the index 0; here it scores 1. Their program also takes the mean over the "
        "reference's points, decides about inside and outside after the alignment, and measures in "
        "pixels: `--as-published` repeats it.",
    ),
    Definition(
        "MSIPaired", "Medical Similarity Index, paired slices", "", 0, 1, "higher", "similarity", FAZEKAS, Empty.ZERO,
        "Medical Similarity Index of those slices only in which every contour has a counterpart.",
        lambda pair: pair.once(inSlices).pairedScore, symmetric=False, identity=1,
        note=_noteOnPaired, hint="Leaves out slices that only one of the two has: look at MSI, too.",
        formula=r"\mathrm{MSIPaired} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} "
        r"\sum_{t \in c} W(d_t, l_t)",
        code="metrics.similarity.Similarity.pairedScore",
        steps=STEPS, symbols=LEVEL,
    ),
    Definition(
        "PairedDistance", "Paired average Hausdorff distance", "mm", 0, math.inf, "lower", "similarity", FAZEKAS,
        Empty.INFINITE,
        "Mean distance of the points that the Medical Similarity Index pairs; median of the paired slices.",
        lambda pair: pair.once(inSlices).pairedDistance, symmetric=False, identity=0,
        unitSetting=lambda settings: "pixel" if settings.asPublished else settings.msiUnit,
        note=_noteOnPaired, hint="Leaves out slices that only one of the two has: look at MSI, too.",
        formula=r"\mathrm{PairedDistance} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, "
        r"\frac{1}{N_c} \sum_{t \in c} d_t",
        code="metrics.similarity.Similarity.pairedDistance",
        steps=tuple(step for step in STEPS if step not in WEIGHTS),
    ),
    Definition(
        "MSI3D", "Medical Similarity Index on surfaces", "", 0, 1, "higher", "similarity", OURS, Empty.ZERO,
        "The same index on the whole boundary instead of slices, every element weighted by its area. "
        "The elements of meshes are cut until their sides are no longer than a step of the grid for meshes.",
        onBoundaries, symmetric=False, identity=1,
        hint="Choose it where slices mean nothing: meshes, oblique structures. " + LEVELS,
        formula=r"\mathrm{MSI3D} = \frac{\sum_{t \in \partial B} g_t \, W(d_t, l_t)}{\sum_{t \in \partial B} g_t}",
        code="metrics.similarity.surfaceScore",
        steps=(*WEIGHTS, "metrics.similarity.localDistances"), symbols=LEVEL,
    ),
)  # fmt: skip

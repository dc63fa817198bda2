"""Findings: what a reader of the numbers should know about the pair, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import cautions, extents
from .errors import counted
from .findingkinds import Finding, Kind
from .geometry.grids import Grid
from .geometry.masks import Mask
from .metrics import boundary, overlap
from .metrics.slices import normalOf
from .quantities.similarity import inSlices
from .recognition import asFinding
from .settings import shortest
from .structures import NOTES, PATIENT, WITHOUT_LABEL, WITHOUT_VOXELS, commaSeparated

if TYPE_CHECKING:
    from .measurements import Measurement
    from .pair import Pair

# Share of the boundary exactly at the tolerance from which NSD is worth a word.
TIES_WORTH_A_WORD = 0.005
# Families that need more of voxels than how many are shared: both structures on one grid.
BY_VOXEL = {"voxel", "hazard"}
# Of these it is the slices of the reference, and in words what is measured there.
BY_SLICE = {"similarity": "the Medical Similarity Index", "effort": "the added path length", "slices": "the slices"}
# A mirrored test must match this much better to be reported. Structures in the middle of the body look alike in a
# mirror: their centers must be at least so many mm off the plane, and the Dice of the reference with its own mirror
# image at most this.
MIRROR_GAIN, MIRROR_DISTANCE, MIRROR_LIKENESS = 0.2, 5.0, 0.5
# How many mm the units are that files may be in instead, and which they are; and which share of both boxes has to be
# common for structures to be alike in another unit or with other axes.
UNITS, ALIKE = {10: "cm instead of mm", 1000: "m instead of mm"}, 0.3


def split(findings: Iterable[str]) -> tuple[list[Finding], list[Finding]]:
    """Return the alarms among findings, after which no number means anything, and all others, both in their order."""
    alarms: list[Finding] = []
    advice: list[Finding] = []
    for finding in map(asFinding, findings):
        (alarms if finding.isAlarm else advice).append(finding)
    return alarms, advice


def alarmsFirst(findings: Iterable[str]) -> tuple[Finding, ...]:
    """Return findings in the order in which everybody lists them."""
    alarms, advice = split(findings)
    return (*alarms, *advice)


def find(pair: Pair, values: Mapping[str, Measurement]) -> tuple[Finding, ...]:
    """Return all findings of a pair whose measurements are known, alarms first."""
    return alarmsFirst(one if isinstance(one, Finding) else Finding(one) for one in _found(pair, values))


def _found(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    yield from _emptiness(pair)
    if pair.settings.isOfAnotherTool:
        from .conventions import chosen

        yield chosen.finding(pair.settings.convention)
    yield from _extent(pair)
    yield from _frames(pair)
    yield from _notes(pair)
    if not pair.emptiness:
        yield from _placement(pair)
    yield from _edges(pair)
    yield from _surfaces(pair)
    yield from _grids(pair)
    yield from _ties(pair)
    yield from _slices(pair)
    yield from cautions.find(pair, values)


def _emptiness(pair: Pair) -> Iterator[str]:
    both = list(zip(("reference", "test"), pair.structures, strict=True))
    faint = [which for which, s in both if pair.isFuzzy and s.isEmpty and s.memberships is not None]
    if faint:
        yield f"No voxel of the {' and the '.join(faint)} has a membership of 0.5, so there is no boundary to measure."
        return
    drawn = [which for which, s in both if s.isEmpty and s.source.get(WITHOUT_VOXELS)]
    if drawn:
        verb = "were drawn, but enclose" if len(drawn) == 2 else "was drawn, but encloses"
        counts = "they count" if len(drawn) == 2 else "it counts"
        yield f"The {' and the '.join(drawn)} {verb} no voxel center of the image, so {counts} as empty."
    elif pair.reference.isEmpty and pair.test.isEmpty:
        # of labels that neither image has it is not known what they stand for
        if not all(s.source.get(WITHOUT_LABEL) for s in pair.structures):
            yield "Absent in both: neither observer drew this structure."
    elif pair.emptiness:
        yield Finding.of(Kind.ONE_EMPTY, reason=pair.emptiness)


def _extent(pair: Pair) -> Iterator[str]:
    """Yield over which extent was compared, or that the ends decide the Hausdorff distance."""
    if pair.extent.problem:
        yield Finding.of(Kind.NOTHING_COMPARED, reason=pair.extent.problem)
    elif pair.extent.sentence:
        yield pair.extent.sentence
    elif pair.extent.description is None and "boundary" in pair.settings.families and pair.wasComputed("distances"):
        yield from extents.decisiveEnd(*pair.structures, pair.distances)


def _notes(pair: Pair) -> Iterator[str]:
    """Yield what reading the files had to say; what both have in common is said once."""
    notes = [s.source.get(NOTES, ()) for s in pair.structures]
    for note in notes[0]:
        yield _noteOf("reference", note)
    for note in notes[1]:
        if note not in notes[0] or not note[0].isupper():
            yield _noteOf("test", note)


def _noteOf(which: str, note: str) -> str:
    """Return what reading a file had to say as a sentence; "it" and "its" mean the structure."""
    if note[0].isupper():
        return note
    if found := re.match(r"(\d+ of )?its? ", note):
        owner = f"the {which}'s" if found[0].endswith("its ") else f"the {which}"
        begin = f"{found[1] or ''}{owner}"
        return f"{begin[0].upper()}{begin[1:]} {note[found.end() :]}."
    return f"Of the {which}, {note}."


def _frames(pair: Pair) -> Iterator[str]:
    frames = [s.frameOfReference for s in pair.structures]
    if all(frames) and frames[0] != frames[1]:
        yield Finding.of(Kind.OTHER_FRAMES, reference=frames[0], test=frames[1])
    if pair.reference.file and pair.reference.file == pair.test.file and pair.reference.name == pair.test.name:
        yield Finding.of(Kind.SAME)
    patients = [s.source.get(PATIENT) for s in pair.structures]
    if all(patients) and patients[0] != patients[1]:
        yield Finding.of(Kind.OTHER_PATIENTS)
    grids = [s.samplingGrid for s in pair.structures]
    if all(grids) and not _meet(*((g.corners().min(axis=0), g.corners().max(axis=0)) for g in grids)):
        yield Finding.of(Kind.IMAGES_APART)


def _placement(pair: Pair) -> Iterator[str]:
    counted = pair.wasComputed("counts") or pair.wasComputed("masks")
    if counted and not (pair.counts.reference and pair.counts.test):
        which = " and the ".join(w for w in ("reference", "test") if not getattr(pair.counts, w))
        verb, are = ("enclose", "they are") if " and " in which else ("encloses", "it is")
        yield f"The {which} {verb} no {pair.counts.unit}: {are} thinner than the voxels on which overlap is counted."
        if not _meet(*(s.box for s in pair.structures)):
            yield Finding.of(Kind.NO_OVERLAP)
        yield from _otherCoordinates(pair)
        return
    if pair.counts.truePositive == 0 if counted else not _meet(*(s.box for s in pair.structures)):
        yield Finding.of(Kind.NO_OVERLAP)
        yield from _otherCoordinates(pair)
    if counted and pair.dimension == 3:
        yield from _sides(pair)


def _otherCoordinates(pair: Pair) -> Iterator[str]:
    """Yield that one structure would lie on the other in other units or axes, where they do not overlap as they are."""
    reference, test = (np.array(s.box) for s in pair.structures)
    for scale, units in UNITS.items():
        for which, one, other in (("test", test, reference), ("reference", reference, test)):
            if shareOfBoxes(scale * one, other) > ALIKE:
                yield Finding.of(Kind.OTHER_UNITS, which=which, scale=scale, units=units)
    turned = np.array([-1, -1, 1])
    if shareOfBoxes(np.sort(test * turned, axis=0), reference) > ALIKE:
        yield Finding.of(Kind.OTHER_AXES)


def shareOfBoxes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return intersection over union of boxes, each given by its lowest and highest corner (..., 2, 3)."""
    common = np.minimum(first[..., 1, :], second[..., 1, :]) - np.maximum(first[..., 0, :], second[..., 0, :])
    both = np.prod(np.maximum(common, 0), axis=-1)
    either = sum(np.prod(np.ptp(boxes, axis=-2), axis=-1) for boxes in (first, second)) - both
    return np.divide(both, either, out=np.zeros(np.shape(either)), where=either > 0)


def _sides(pair: Pair) -> Iterator[str]:
    """Yield whether left and right are exchanged, where that explains the difference better than anything else."""
    dice = overlap.dice(pair.counts)
    if dice >= 1 - MIRROR_GAIN:
        return
    planes = [plane for plane in sagittalPlanes(pair) if _mayMeetMirrored(pair, plane)]
    best = max((_mirroredDice(pair.masks, plane) for plane in planes), default=0.0)
    if best > dice + MIRROR_GAIN:
        yield Finding.of(Kind.MIRRORED, best=f"{best:.2f}", dice=f"{dice:.2f}")


def _mayMeetMirrored(pair: Pair, plane: float) -> bool:
    """Return whether the box around the reference and that around the mirrored test meet.

    Mostly they lie on either side of the body, which spares making the mirrored one.
    """
    reference, (low, high) = pair.reference.box, np.array(pair.test.box)
    low[0], high[0] = 2 * plane - high[0], 2 * plane - low[0]
    # two voxels, whichever way they run: as far off as putting the voxels of both on one grid, and those in the mirror
    # where there are voxels, can move them together
    margin = 2 * pair.overlapGrid[0].spacing.sum()
    return _meet(reference, (low - margin, high + margin))


def _mirroredDice(masks: tuple[Mask, Mask], plane: float) -> float:
    """Return the Dice of the reference with the mirrored test; 0 for structures that a mirror hardly moves."""
    reference, test = masks
    for mask in masks:
        center = mask.grid.toWorld([(mask.low + mask.high) / 2])[0]
        if abs(center[0] - plane) < MIRROR_DISTANCE:
            return 0.0
    if overlap.dice(overlap.count(reference, mirroredLeftRight(reference, plane))) > MIRROR_LIKENESS:
        return 0.0
    return overlap.dice(overlap.count(reference, mirroredLeftRight(test, plane)))


def _meet(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether two boxes, each given by its lowest and highest corner, have a point in common."""
    return bool((first[0] <= second[1]).all() and (second[0] <= first[1]).all())


def sagittalPlanes(pair: Pair) -> set[float]:
    """Return the LPS x in mm at which sides may be exchanged: the origin and the middle of each image."""
    grids = [s.samplingGrid for s in pair.structures if s.samplingGrid is not None]
    return {0.0, *(round(float(grid.corners()[:, 0].mean()), 3) for grid in grids)}


def mirroredLeftRight(mask: Mask, plane: float) -> Mask:
    """Return a mask reflected at a sagittal plane, on its own grid. plane: LPS x in mm.

    The plane is moved to the nearest one that maps voxels to voxels, where their sides run left-right.
    """
    half = np.abs(mask.grid.axes[0]).max() / 2
    plane = mask.grid.origin[0] + half * round((plane - mask.grid.origin[0]) / half)
    reflection = np.diag([-1.0, 1, 1, 1])
    reflection[0, 3] = 2 * plane
    mirrored = Mask(mask.voxels, mask.offset, Grid(mask.grid.size, reflection @ mask.grid.matrix))
    return mirrored.on(mask.grid)


def _edges(pair: Pair) -> Iterator[str]:
    touching = [
        which
        for which, structure in (("reference", pair.reference), ("test", pair.test))
        if structure.mask is not None and structure.mask.touchesEdge
    ]
    if touching:
        names = "Both contours touch" if len(touching) == 2 else f"The {touching[0]} touches"
        yield f"{names} the image edge: a part of the structure may be cut off."


def _surfaces(pair: Pair) -> Iterator[str]:
    for which, structure in (("reference", pair.reference), ("test", pair.test)):
        surface = structure.givenSurface
        if surface is None:
            continue
        name = f"The surface of the {which}" if surface.dimension == 3 else f"The contour of the {which}"
        if not surface.isClosed:
            edges = f" ({counted(surface.openEdges, 'open edge')})" if surface.openEdges else ""
            yield (
                f"{name} {surface.whyNoInside}{edges}: distances are measured, "
                "but it has no inside, so volumes, overlap and signs are undefined."
            )
        if surface.nonManifoldEdges:
            yield f"{name} has {counted(surface.nonManifoldEdges, 'edge')} with more than two triangles."
        for repair in surface.repairs:
            yield f"{name} was cleaned: {repair}."


def _grids(pair: Pair) -> Iterator[str]:
    isCounted = pair.wasComputed("counts") or pair.wasComputed("masks")
    inSlices = {family: words for family, words in BY_SLICE.items() if family in pair.settings.families}
    if not ((isCounted or inSlices) and pair.isResampled):
        return
    sentences = ["The masks lie on different grids."]
    if isCounted:
        sentences.append(_howCounted(pair))
    if inSlices and pair.dimension == 3:
        sentences += _inSlices(pair.settings.asPublished, inSlices)
    yield " ".join([*sentences, "Distances were measured on the original surfaces."])


def _inSlices(asPublished: bool, families: Mapping[str, str]) -> Iterator[str]:
    """Yield how masks on different grids were measured in slices. families: those measured there, and in words what."""
    cut = [words for family, words in families.items() if not (asPublished and family == "similarity")]
    if cut:
        yield (
            f"In the slices of the reference: {commaSeparated(cut)}. The test's surface was cut by their planes, "
            "wherever its voxels lie."
        )
    if len(cut) < len(families):
        yield (
            "As published, the Medical Similarity Index goes by the reference's voxels: the test was taken to these by "
            "the nearest one, so that it hardly sees shifts of less than one."
        )


def _howCounted(pair: Pair) -> str:
    """Return how overlap was counted of masks on different grids."""
    isExact = pair.sharedVolume is not None and not pair.isFuzzy
    exactly = "Overlap was counted in parts of voxels, exactly."
    if isExact and not BY_VOXEL & set(pair.settings.families):
        return exactly
    spacing = " x ".join(shortest(round(float(s), 3)) for s in pair.overlapGrid[0].spacing)
    what = f"{exactly} What else is counted in voxels" if isExact else "Overlap"
    how = ", with memberships interpolated linearly" if pair.isFuzzy else ""
    return (
        f"{what} was counted on a common grid of {spacing} mm that contains both{how}, which hardly sees shifts of "
        f"less than a voxel{'.' if isExact else ': DSC may be some percent off.'}"
    )


def _ties(pair: Pair) -> Iterator[str]:
    if not pair.wasComputed("distances") or "boundary" not in pair.settings.families:
        return
    for tolerance in pair.settings.tolerances:
        ties = boundary.shareOfTies(pair.distances, tolerance)
        if ties > TIES_WORTH_A_WORD:
            within = boundary.normalizedSurfaceDistance(pair.distances, tolerance).value
            yield (
                f"{100 * ties:.1f} % of the boundary lies exactly {shortest(tolerance)} mm away and counts as within; "
                f"without it NSD would be {within - ties:.3f} instead of {within:.3f}."
            )


def _slices(pair: Pair) -> Iterator[str]:
    found = pair.done(inSlices)
    if found is not None and found.flagged:
        # not by their number, which differs between an image and the part of it that Slicer keeps
        grid = next((structure.samplingGrid for structure in pair.structures if structure.samplingGrid), None)
        axes = pair.overlapGrid[0].axes if grid is None else grid.axes
        normal = normalOf(np.roll(axes, 2 - found.axis, axis=1))
        places = commaSeparated((f"{float(one.position @ normal):.1f}" for one in found.flagged), most=12)
        yield (
            f"In {len(found.flagged)} of {len(found.slices)} slices the contours cannot be paired one by one, so they "
            f"count as 0 in the median that is the Medical Similarity Index: look at {places} mm along the slices."
        )

"""Findings: sentences that a reader of the numbers should know about the pair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from ...base.errors import Undefined
from ...base.texts import commaSeparated, percent, pluralize, shortest
from ...conventions import find as findConvention
from ...conventions.presets import PRESETS
from ...geometry.grids import Grid
from ...geometry.masks import Mask
from ...geometry.slabs import normalOf
from ...metrics import boundary, overlap
from ...metrics.dose import doseOfShare
from ...metrics.findings import ALIKE, Finding, Kind, alarmsFirst, otherUnits, shareOfBoxes
from ...metrics.measurement import withUnit
from ...metrics.slices import axisOf, slicePosition
from ...model.notes import Note
from ...model.structures import REFERENCE_AND_TEST, shareLeft
from .cautions import CAUTIONS, Finders
from .decisiveends import decisiveEnd

if TYPE_CHECKING:
    from ...metrics.measurement import Measurement
    from ...metrics.pair import Pair

# Pattern of a DICOM UID, for frames of reference.
UID = re.compile(r"[\d.]+")
# Fraction of the boundary exactly at the tolerance above which its effect on NSD is mentioned.
TIES_WORTH_A_WORD = 0.005
# Families that need both structures on one voxel grid, not only the volume of their intersection.
BY_VOXEL = {"voxel", "hazard"}
# Families measured in the slices of the reference, with what is measured there in words.
BY_SLICE = {"similarity": "the Medical Similarity Index", "effort": "the added path length", "slices": "the slices"}
# More Gy than half of a structure receives in any treatment.
LARGEST_MEDIAN = 300.0
# Dice below which two contours are probably not of the same structure.
HARDLY = 0.05
# Least gain in Dice for a mirrored test to be reported. Structures in the middle of the body hardly change in a mirror,
# so the centers must be at least MIRROR_DISTANCE mm off the plane, and the Dice of the reference with its own mirror
# image at most MIRROR_LIKENESS.
MIRROR_GAIN, MIRROR_DISTANCE, MIRROR_LIKENESS = 0.2, 5.0, 0.5


def findAll(pair: Pair, values: Mapping[str, Measurement]) -> tuple[Finding, ...]:
    """Return all findings of a pair whose measurements are known, alarms first."""
    settings, structures = pair.settings, pair.structures
    isCounted = not {"overlap", "agreement"}.isdisjoint(settings.families)
    grids = [s.samplingGrid for s in structures if s.samplingGrid is not None]
    # what a finding may be about beside families, measurements and quantities
    traits = {
        "isEmpty": bool(pair.emptiness),
        "hasConvention": settings.convention not in PRESETS,
        "hasCommonExtent": settings.extent == "common",
        "hasOrigin": any(s.file or s.frameOfReference or s.patient for s in structures),
        "hasNotes": any(s.notes for s in structures),
        "hasIgnoredLabel": any(s.ignored is not None for s in structures),
        "hasPlan": pair.dose is not None or settings.placesBy == "dose",
        "hasSurfaces": any(s.givenSurface is not None for s in structures),
        "hasMemberships": pair.isFuzzy and isCounted,
        "hasTwoSizes": len(grids) == 2 and grids[0].size != grids[1].size,
        "hasTwoGrids": len(grids) == 2 and not np.array_equal(grids[0].matrix, grids[1].matrix),
        "hasLowPercentiles": "boundary" in settings.families and any(p < 1 for p in settings.percentiles),
    }
    subjects = {*values, *settings.families, *pair.needed, *(name for name, holds in traits.items() if holds)}
    found: list[str] = []
    for find, about, mayBeEmpty in (*FINDERS, *CAUTIONS):
        if (mayBeEmpty or not pair.emptiness) and (not about or not subjects.isdisjoint(about)):
            found += pair.call(find, {"values": values})
    return alarmsFirst(found)


def _convention(pair: Pair) -> Iterator[str]:
    yield (
        f"Boundary and overlap measurements are what {findConvention(pair.settings.convention).label} would report for "
        "these voxels; all others are SegmentMetrics' own."
    )


def _dose(pair: Pair) -> Iterator[str]:
    """Yield what to know about the dose: with a dose, it is always said for whom the plan was made."""
    if pair.dose is None and pair.settings.placesBy == "dose":
        yield "The worst places are ranked by distance, as no dose is given to rank them by."
    if pair.dose is None or "dose" not in pair.settings.families:
        return
    yield Finding.of(Kind.PLAN_OF_ONE)
    yield from pair.dose.remarks
    for name, kind in (("frameOfReference", Kind.OTHER_DOSE_FRAME), ("patient", Kind.OTHER_DOSE_PATIENT)):
        own, both = getattr(pair.dose, name), zip(REFERENCE_AND_TEST, pair.structures)
        others = [f"the {which}" for which, one in both if getattr(one, name) not in ("", own)]
        if own and others:
            yield Finding.of(kind, what=" and ".join(others))
    large: dict[str, float] = {}
    for number, which in enumerate(REFERENCE_AND_TEST):
        try:
            found = pair.find("dosesInside", {"number": number})
        except Undefined:  # its numbers say why
            continue
        if found.outside:
            yield Finding.of(Kind.OUTSIDE_DOSE, share=f"{max(100 * found.outside, 0.1):.1f}", what=f"the {which}")
        if doseOfShare(found, 50) > LARGEST_MEDIAN:
            large[f"the {which}"] = doseOfShare(found, 50)
    if large:
        yield Finding.of(Kind.DOSE_IN_CGY, what=" and of ".join(large), dose=f"{min(large.values()):.0f}")


def _sayIgnored(pair: Pair) -> Iterator[str]:
    known = [(which, s.mask, s.ignored) for which, s in zip(REFERENCE_AND_TEST, pair.structures) if s.ignored]
    label, unit = known[0][2].label, "mm3" if pair.dimension == 3 else "mm2"
    if pair.ignored is None:
        yield f"The reference has no label {label} to be ignored, so all of it counts."
        return
    parts = [f"{withUnit(ignored.size, unit)} of the {which}" for which, _, ignored in known if ignored.size]
    yield Finding.remark(
        f"What the reference marks as {label} counts on neither side: "
        f"{' and '.join(parts) or 'nothing'} {'is' if len(parts) < 2 else 'are'} left out.",
        "Contours end at its border, and distances are those of what is left.",
    )
    if uncut := [which for which, mask, _ in known if mask is None]:
        yield f"The {' and the '.join(uncut)} is a surface without voxels, so nothing of it is left out."


def _emptiness(pair: Pair) -> Iterator[str]:
    both = list(zip(REFERENCE_AND_TEST, pair.structures, strict=True))
    faint = [which for which, s in both if pair.isFuzzy and s.isEmpty and s.memberships is not None]
    drawn = [which for which, s in both if s.isEmpty and s.isUnfilled]
    if faint:
        yield f"No voxel of the {' and the '.join(faint)} has a membership of 0.5, so there is no boundary to measure."
    elif drawn:
        verb = "were drawn, but enclose" if len(drawn) == 2 else "was drawn, but encloses"
        counts = "they count" if len(drawn) == 2 else "it counts"
        yield f"The {' and the '.join(drawn)} {verb} no voxel center of the image, so {counts} as empty."
    elif pair.reference.isEmpty and pair.test.isEmpty:
        yield "Absent in both: neither observer drew this structure."
    elif pair.emptiness:
        yield Finding.of(Kind.ONE_EMPTY, reason=pair.emptiness)


def _extent(pair: Pair) -> Iterator[str]:
    if pair.extent.problem:
        yield Finding.of(Kind.NOTHING_COMPARED, reason=pair.extent.problem)
    elif pair.extent.sentence:
        yield pair.extent.sentence
    elif pair.extent.description is None and pair.findIfNeeded("distances", "signedDistances") is not None:
        yield from decisiveEnd(*pair.structures, pair.distances)


def _notes(pair: Pair) -> Iterator[str]:
    """Yield the remarks from reading the files; whole sentences that both have appear only once."""
    of = [(which, note) for which, s in zip(REFERENCE_AND_TEST, pair.structures) for note in s.notes]
    for which, note in of:
        if isinstance(note, Note):
            said = f"{note.about(f'the {which}')}."
        else:
            said = note if note[0].isupper() else f"In the {which}, {note.removesuffix('.')}."
        if which == "reference" or note not in pair.reference.notes or not note[0].isupper():
            yield said


def areOfOneKind(*frames: str) -> bool:
    """Return whether frames can be compared: not the UID in a DICOM file and the name of the space in a NIfTI file."""
    return len({bool(UID.fullmatch(frame)) for frame in frames}) == 1


def _frames(pair: Pair) -> Iterator[str]:
    frames = [s.frameOfReference for s in pair.structures]
    if all(frames) and frames[0] != frames[1] and areOfOneKind(*frames):
        yield Finding.of(Kind.OTHER_FRAMES, reference=frames[0], test=frames[1])
    if pair.reference.file and pair.reference.file == pair.test.file and pair.reference.name == pair.test.name:
        yield Finding.of(Kind.SAME)
    patients = [s.patient for s in pair.structures]
    if all(patients) and patients[0] != patients[1]:
        yield Finding.of(Kind.OTHER_PATIENTS)


def _apart(pair: Pair) -> Iterator[str]:
    """Yield the alarm that two images do not overlap in space, each with its structure, which may leave it."""
    ends = []
    for structure in pair.structures:
        # a structure is known where only some slices of its image are
        corners = cast(Grid, structure.samplingGrid).corners()
        corners = corners if structure.isEmpty else np.concatenate([corners, structure.box])
        ends.append((corners.min(axis=0), corners.max(axis=0)))
    if not _meet(*ends):
        yield Finding.of(Kind.IMAGES_APART)


def _placement(pair: Pair) -> Iterator[str]:
    """Yield the alarms that two structures, neither empty, do not lie in the same place.

    They are the same whatever is measured: these always count the overlap. What is said of it else depends on whether
    anything that was asked for is counted.
    """
    try:
        counts = pair.crispCounts
    except Undefined:  # of a surface without an inside
        counts = None
    hollow = [] if counts is None else [which for which in REFERENCE_AND_TEST if not getattr(counts, which)]
    if counts is not None and hollow and pair.areVoxelsCounted:
        verb, are = ("enclose", "they are") if len(hollow) == 2 else ("encloses", "it is")
        yield (
            f"The {' and the '.join(hollow)} {verb} no {counts.unit}: {are} thinner than the voxels on which overlap "
            "is counted."
        )
    if counts is None or hollow:
        if isApart := not _meet(*(s.box for s in pair.structures)):
            yield Finding.of(Kind.NO_OVERLAP)
        if isApart or hollow:
            yield from _otherCoordinates(pair)
        return
    if counts.truePositive == 0:
        yield Finding.of(Kind.NO_OVERLAP)
        yield from _otherCoordinates(pair)
    elif (dice := overlap.dice(counts)) < HARDLY:
        yield Finding.of(Kind.HARDLY_OVERLAP, dice=shortest(float(f"{dice:.1g}")))
        yield from otherUnits(*pair.structures)
    if pair.dimension == 3 and overlap.dice(counts) < 1 - MIRROR_GAIN:
        yield from _sides(pair, overlap.dice(counts))


def _cropping(pair: Pair) -> Iterator[Finding]:
    """Yield the finding that one image may have been cropped without its origin: moved inside, its structure fits."""
    masks = [cast(Mask, structure.mask) for structure in pair.structures]
    shift, sizes = masks[1].grid.offsetOn(masks[0].grid), np.array([mask.grid.size for mask in masks])
    small = int((sizes[1] <= sizes[0]).all())
    room = sizes[1 - small] - sizes[small]
    if shift != (0, 0, 0) or (room < 0).any() or not room.any():
        return
    whole, part = masks[1 - small], masks[small]
    middles = [np.argwhere(mask.voxels)[:, ::-1].mean(axis=0) + mask.offset for mask in (whole, part)]
    moved = np.clip(np.rint(middles[0] - middles[1]), 0, room).astype(int)

    def diceMoved(by: np.ndarray) -> float:
        i, j, k = (part.offset + by).tolist()
        return overlap.dice(overlap.count(whole, Mask(part.voxels, (i, j, k), whole.grid)))

    if moved.any() and 1 - diceMoved(moved) <= (1 - diceMoved(np.zeros(3, int))) / 2:
        text = " instead of ".join(" x ".join(map(str, sizes[n].tolist())) for n in (small, 1 - small))
        yield Finding.of(Kind.CROPPED, which=REFERENCE_AND_TEST[small], sizes=text)


def _otherCoordinates(pair: Pair) -> Iterator[str]:
    yield from otherUnits(*pair.structures)
    reference, test = (np.array(s.box) for s in pair.structures)
    turned = np.array([-1, -1, 1])
    if shareOfBoxes(np.sort(test * turned, axis=0), reference) > ALIKE:
        yield Finding.of(Kind.OTHER_AXES)


def _sides(pair: Pair, dice: float) -> Iterator[str]:
    grids = [s.samplingGrid for s in pair.structures if s.samplingGrid is not None]
    # sides may be exchanged at the origin and in the middle of each image
    planes = {0.0, *(round(float(grid.corners()[:, 0].mean()), 3) for grid in grids)}
    if (best := max(_diceMirrored(pair, plane) for plane in planes)) > dice + MIRROR_GAIN:
        yield Finding.of(Kind.MIRRORED, best=f"{best:.2f}", dice=f"{dice:.2f}")


def _diceMirrored(pair: Pair, plane: float) -> float:
    """Return the Dice of the reference with the test mirrored at a plane; 0 for structures that this hardly changes."""
    (low, high), spacing = np.array(pair.test.box), pair.overlapGrid.grid.spacing
    low[0], high[0] = 2 * plane - high[0], 2 * plane - low[0]
    # usually the boxes do not meet, as the structures lie on opposite sides of the body. Resampling both to one grid,
    # and the mirror image to its voxels, can move them toward each other by at most two voxels in any direction
    if not _meet(pair.reference.box, (low - 2 * spacing.sum(), high + 2 * spacing.sum())):
        return 0.0
    reference, test = pair.masks
    for mask in (reference, test):
        center = mask.grid.toWorld([(mask.low + mask.high) / 2])[0]
        if abs(center[0] - plane) < MIRROR_DISTANCE:
            return 0.0
    if overlap.dice(overlap.count(reference, mirror(reference, plane))) > MIRROR_LIKENESS:
        return 0.0
    return overlap.dice(overlap.count(reference, mirror(test, plane)))


def _meet(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether two boxes, each given by its lowest and highest corner, intersect or touch."""
    return bool((first[0] <= second[1]).all() and (second[0] <= first[1]).all())


def mirror(mask: Mask, plane: float) -> Mask:
    """Return a mask reflected at a sagittal plane, on its own grid. plane: LPS x in mm.

    The plane is moved to the nearest one that maps voxels to voxels, if an axis of the grid runs left-right.
    """
    half = np.abs(mask.grid.axes[0]).max() / 2
    plane = mask.grid.origin[0] + half * round((plane - mask.grid.origin[0]) / half)
    reflection = np.diag([-1.0, 1, 1, 1])
    reflection[0, 3] = 2 * plane
    return Mask(mask.voxels, mask.offset, Grid(mask.grid.size, reflection @ mask.grid.matrix)).on(mask.grid)


def _edges(pair: Pair) -> Iterator[str]:
    both = zip(REFERENCE_AND_TEST, pair.structures)
    if touching := [which for which, one in both if one.mask is not None and one.mask.touchesEdge]:
        names = "Both contours touch" if len(touching) == 2 else f"The {touching[0]} touches"
        yield f"{names} the image edge: a part of the structure may be cut off."


def _surfaces(pair: Pair) -> Iterator[str]:
    for which, structure in zip(REFERENCE_AND_TEST, pair.structures):
        if (surface := structure.givenSurface) is None:
            continue
        name = f"The {'surface' if surface.dimension == 3 else 'contour'} of the {which}"
        if not surface.isClosed:
            edges = f" ({pluralize(surface.openEdges, 'open edge')})" if surface.openEdges else ""
            yield (
                f"{name} {surface.whyNoInside}{edges}: distances are measured, "
                "but it has no inside, so volumes, overlap and signs are undefined."
            )
        if surface.nonManifoldEdges:
            yield f"{name} has {pluralize(surface.nonManifoldEdges, 'edge')} with more than two triangles."
        share = shareLeft(structure, surface.volume) if structure.surfaceKind == "displayed" else None
        if share is not None and structure.mask is not None:
            volumes = f"{max(surface.volume, 0.0):.1f} of {structure.mask.size:.1f} mm3"
            yield Finding.remark(
                f"The displayed surface of the {which} encloses {percent(share)} of the voxels ({volumes}): smoothing "
                "shrinks small and thin structures.",
                "Measure the unsmoothed surface instead.",
            )
            continue  # what was cleaned comes from that
        for repair in surface.repairs:
            yield f"{name} was cleaned: {repair}."


def _grids(pair: Pair) -> Iterator[str]:
    wasCounted = pair.areVoxelsCounted
    bySlice = {family: words for family, words in BY_SLICE.items() if family in pair.settings.families}
    if not ((wasCounted or bySlice) and pair.overlapGrid.isResampled):
        return
    sentences = ["The masks lie on different grids."]
    if wasCounted:
        sentences.append(_howCounted(pair))
    if bySlice and pair.dimension == 3:
        cut = [words for family, words in bySlice.items() if not (pair.settings.asPublished and family == "similarity")]
        if cut:
            sentences += [
                f"Measured in the slices of the reference: {commaSeparated(cut)}.",
                "The planes of these slices cut the test's surface, wherever its own slices lie.",
            ]
        if len(cut) < len(bySlice):
            sentences.append(
                "The authors' formula of the Medical Similarity Index needs the voxels of the reference: each takes "
                "the value of the test's nearest voxel, so shifts of less than a voxel hardly show."
            )
    yield Finding.remark(*sentences, "Distances were measured on the original surfaces.")


def _howCounted(pair: Pair) -> str:
    isExact = pair.sharedVolume is not None and not pair.isFuzzy
    exactly = f"Overlap was counted in parts of voxels{'' if pair.isTurned else ', exactly'}."
    if isExact and not BY_VOXEL & set(pair.settings.families):
        return exactly
    spacing = " x ".join(shortest(round(float(s), 3)) for s in pair.overlapGrid.grid.spacing)
    what = f"{exactly} Everything else that is counted in voxels" if isExact else "Overlap"
    how = ", with memberships interpolated linearly" if pair.isFuzzy else ""
    return (
        f"{what} was counted on a common grid of {spacing} mm that contains both{how}, in which shifts of less "
        f"than a voxel hardly show{'.' if isExact else ': DSC may be some percent off.'}"
    )


def _ties(pair: Pair) -> Iterator[str]:
    if pair.findIfNeeded("distances", "signedDistances") is None:
        return
    for tolerance in pair.settings.tolerances:
        if (ties := boundary.shareOfTies(pair.distances, tolerance)) > TIES_WORTH_A_WORD:
            within = boundary.normalizedSurfaceDistance(pair.distances, tolerance)
            yield (
                f"{100 * ties:.1f} % of the boundary lies exactly {shortest(tolerance)} mm away and counts as within; "
                f"without it NSD would be {within - ties:.3f} instead of {within:.3f}."
            )


def _slices(pair: Pair) -> Iterator[str]:
    found = pair.findIfNeeded("sliceSimilarity")
    if found is not None and found.flagged:
        # in mm, as slice numbers differ between an image and the part of it that Slicer keeps
        grid = next((structure.samplingGrid for structure in pair.structures if structure.samplingGrid), None)
        axes = pair.overlapGrid.grid.axes if grid is None else grid.axes
        normal = normalOf(np.roll(axes, 2 - found.axis, axis=1))
        axis = axisOf(normal)
        places = commaSeparated((slicePosition(float(one.position @ normal), axis) for one in found.flagged), most=12)
        along = " along the slices" if axis is None else ""
        yield (
            f"In {len(found.flagged)} of {len(found.slices)} slices the contours cannot be paired one by one, so they "
            f"count as 0 in the Medical Similarity Index, a median over slices: look at {places} mm{along}."
        )


FINDERS: Finders = (
    (_emptiness, ("isEmpty",), True),
    (_convention, ("hasConvention",), True),
    (_extent, ("hasCommonExtent", "boundary"), True),
    (_frames, ("hasOrigin",), True),
    (_apart, ("hasTwoGrids",), True),
    (_notes, ("hasNotes",), True),
    (_sayIgnored, ("hasIgnoredLabel",), True),
    (_dose, ("hasPlan",), True),
    (_cropping, ("hasTwoSizes",), False),
    (_placement, (), False),
    (_edges, (), True),
    (_surfaces, ("hasSurfaces",), True),
    (_grids, ("hasTwoGrids",), True),
    (_ties, ("boundary",), True),
    (_slices, ("sliceSimilarity",), True),
)

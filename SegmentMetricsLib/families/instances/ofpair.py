"""The lesions of a pair: how they overlap, what happened to each, and how well each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.progress import checkpoint
from ...comparison.workspace import Workspace
from ...geometry.grids import Grid
from ...geometry.masks import Mask, boxAround
from ...geometry.parts import closedParts, partsOf
from ...geometry.voxelization import maskOf
from ...model.structures import BOTH_EMPTY, Structure
from ...settings.names import BRATS, PANOPTICA
from ..boundary import formulas as boundary
from ..overlap import formulas as overlap
from . import formulas
from .formulas import Event, Lesions, Matches, Overlaps

if TYPE_CHECKING:
    from ...settings.settings import Settings

# The percentile of the Hausdorff distance of a lesion.
PERCENTILE = 95
# Steps of BraTS' dilation go to voxels that share a face or an edge.
DILATION_RANK = 2
# Neighbors of a voxel in panoptica's lesions of a flat image, which SciPy finds: with a common face, in the plane 4.
PANOPTICA_IN_2D = 6


@dataclass(frozen=True)
class Drawn:
    """How far some lesions of the reference and some of the test lie apart: HD95 and MASD in mm."""

    hausdorff: float
    mean: float


@dataclass(frozen=True)
class Scored:
    """Lesions of the reference that count as one, and those of the test that belong to it: their numbers, from 0."""

    reference: tuple[int, ...]
    test: tuple[int, ...]


def lesionsOf(pair: Workspace) -> tuple[Lesions, Lesions]:
    """Return the lesions of both, without those that are too small: on one grid, or of two masks each on its own."""
    if pair.emptiness == BOTH_EMPTY:
        grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), Grid((1, 1, 1), np.eye(4)))
        masks = Mask.empty(grid), Mask.empty(grid)
    else:
        # where overlap is counted in parts of voxels, nothing is resampled
        masks = (pair.reference.ownMask, pair.test.ownMask) if pair.isResampled else pair.masks
    reference, test = (_lesionsOf(pair, *both) for both in zip(pair.structures, masks, strict=True))
    if isOf(pair.settings, BRATS):  # they are left out later
        return reference, test
    reference, test = (formulas.withoutSmall(one, _fewestOf(pair, one)) for one in (reference, test))
    return reference, test


def _fewestOf(pair: Workspace, lesions: Lesions) -> float:
    """Return the number of voxels of the smallest lesion that counts."""
    return pair.settings.lesionMinimum / lesions.grid.voxelSize


def _lesionsOf(pair: Workspace, structure: Structure, mask: Mask) -> Lesions:
    """Return the separate parts of a mask, or its instances, or the closed parts of a mesh, each filled by itself."""
    if structure.instances is not None:
        return formulas.ofMasks([one.on(mask.grid) for one in structure.instances], mask)
    if structure.mask is None and structure.dimension == 3 and not mask.isEmpty:
        filled = [maskOf(part, mask.grid) for part in closedParts(structure.surface.solid)]
        return formulas.ofMasks(filled, mask, areNested=True)
    connectivity = pair.settings.lesionConnectivity
    if isOf(pair.settings, PANOPTICA) and structure.samplingGrid is not None and structure.samplingGrid.isImage2D:
        connectivity = min(connectivity, PANOPTICA_IN_2D)
    parts = partsOf(mask, connectivity)
    return Lesions(parts.voxels, parts.numbers, np.bincount(parts.numbers, minlength=parts.count), mask.grid)


def isOf(settings: Settings, rules: str) -> bool:
    """Return whether the settings are those of a preset, or of one of its variants."""
    return settings.convention.startswith(rules)


def overlapsOf(pair: Workspace) -> Overlaps:
    """Return which lesions share voxels."""
    return formulas.overlapsOf(*pair.once(lesionsOf))


def detectionOf(pair: Workspace) -> Matches:
    """Return which lesions are found."""
    return formulas.matched(pair.once(overlapsOf), pair.settings.lesionOverlap)


def panopticOf(pair: Workspace) -> Matches:
    """Return which lesions are found for the panoptic quality; for panoptica the threshold itself is enough."""
    return formulas.matched(pair.once(overlapsOf), pair.settings.panopticOverlap, isOf(pair.settings, PANOPTICA))


def scoredOf(pair: Workspace) -> tuple[tuple[Scored, ...], int]:
    """Return the lesions of the reference that are scored, and how many of the test belong to none of them.

    Those of the reference that touch when they are dilated are one lesion, and every one of the test that such a
    dilated lesion reaches belongs to it.
    """
    reference, test = pair.once(lesionsOf)
    if pair.settings.lesionDilation:
        owners, reached = _dilated(reference, test, pair.settings.lesionDilation)
    else:
        owners, reached = np.arange(reference.count), pair.once(overlapsOf).belong
    ours: dict[int, list[int]] = {}
    for lesion, owner in enumerate(owners.tolist()):
        ours.setdefault(owner, []).append(lesion)
    theirs: dict[int, list[int]] = {owner: [] for owner in ours}
    for owner, lesion in reached.tolist():
        theirs[owner].append(lesion)
    invented = test.count - len(set(reached[:, 1].tolist()))
    scored = [Scored(tuple(ours[owner]), tuple(theirs[owner])) for owner in ours]
    if isOf(pair.settings, BRATS):
        largest = _fewestOf(pair, reference)
        scored = [one for one in scored if len(reference.voxelsOf(one.reference)) > largest]
    return tuple(scored), invented


def _dilated(reference: Lesions, test: Lesions, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the dilated lesion (m,) that each of the reference belongs to, and pairs (q, 2) with those of the test.

    steps: of the dilation, each by the 18 neighbors of a voxel.
    """
    if not reference.count:
        return np.zeros(0, int), np.zeros((0, 2), int)
    from scipy.ndimage import binary_dilation, generate_binary_structure

    neighbors, parts = generate_binary_structure(3, DILATION_RANK), []
    for lesion in range(reference.count):
        mask = reference.mask([lesion])
        grown = binary_dilation(np.pad(mask.voxels, steps), neighbors, steps)
        k, j, i = np.nonzero(grown)
        parts.append(np.stack([i, j, k], axis=1) + mask.low - steps)
    joined = partsOf(formulas.maskOf(np.concatenate(parts), reference.grid))
    numbers = np.arange(joined.count)
    grown = Lesions(joined.voxels, joined.numbers, np.bincount(joined.numbers, minlength=joined.count), reference.grid)
    owners = formulas.overlapsOf(grown, reference).pairs
    reached = formulas.overlapsOf(grown, test).pairs
    return numbers[owners[np.argsort(owners[:, 1]), 0]], reached


def drawnOf(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> Drawn:
    """Return how well lesions of the reference are drawn by lesions of the test; there must be both."""
    distances = innerPair(pair, reference, test).distances
    return Drawn(
        float(boundary.percentileHausdorff(distances, PERCENTILE).value),
        float(boundary.meanAverageSurfaceDistance(distances).value),
    )


def overlapOf(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> tuple[float, float]:
    """Return Dice and IoU in [0, 1] of lesions of the reference and lesions of the test; there must be some of both."""
    if any(lesions.areOverlapping for lesions in pair.once(lesionsOf)):
        counts = innerPair(pair, reference, test).crispCounts
        return overlap.dice(counts), overlap.intersectionOverUnion(counts)
    known = pair.once(overlapsOf)
    isMeant = np.isin(known.pairs[:, 0], reference) & np.isin(known.pairs[:, 1], test)
    both, total = known.shared[isMeant].sum(), known.reference[list(reference)].sum() + known.test[list(test)].sum()
    return float(2 * both / total), float(both / (total - both))


def innerPair(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> Workspace:
    """Return some lesions of the reference and some of the test as a pair of their own."""
    one, other = (lesions.mask(some) for lesions, some in zip(pair.once(lesionsOf), (reference, test)))
    return _innerPair(pair, one, other)


def _innerPair(pair: Workspace, one: Mask, other: Mask) -> Workspace:
    return Workspace(
        Structure("lesion", one), Structure("lesion", other), pair.settings.changed(extent="whole", critical=())
    )


def meanDice(pair: Workspace) -> float:
    """Return LesionDSC in [0, 1]: the mean Dice of the scored lesions and of the invented ones, which have 0."""
    scored, invented = pair.once(scoredOf)
    if not scored and not invented and isOf(pair.settings, BRATS):
        return 1.0
    scores = [pair.once(overlapOf, one.reference, one.test)[0] if one.test else 0.0 for one in scored]
    return formulas.meanOfLesions(scores, invented, 0.0)


def hausdorffOf(pair: Workspace, one: Scored) -> float:
    """Return the 95th percentile Hausdorff distance in mm of a scored lesion that is found."""
    return pair.once(drawnOf, one.reference, one.test).hausdorff


def meanHausdorff(pair: Workspace, hausdorff: Callable[[Workspace, Scored], float] = hausdorffOf) -> float:
    """Return LesionHD95 in mm: the mean HD95 of the scored lesions; missed and invented ones have the penalty.

    hausdorff: of a lesion that is found; other conventions measure it in their way.
    """
    scored, invented = pair.once(scoredOf)
    if not scored and not invented and isOf(pair.settings, BRATS):
        return 0.0
    penalty = penaltyOf(pair)
    return formulas.meanOfLesions([hausdorff(pair, s) if s.test else penalty for s in scored], invented, penalty)


def penaltyOf(pair: Workspace) -> float:
    """Return the distance in mm that a missed or invented lesion counts: by default the diagonal of the image."""
    if pair.settings.lesionPenalty is not None:
        return pair.settings.lesionPenalty
    # the grid for two masks on different ones only surrounds the structures
    grid = pair.reference.ownMask.grid if pair.isResampled else pair.overlapGrid.grid
    if any(s.samplingGrid is None for s in pair.structures):
        grid = grid.resized(*boxAround(*pair.masks))
    corners = grid.corners()
    return float(max(np.linalg.norm(one - other) for one in corners for other in corners))


def noteOnLesions(pair: Workspace) -> str:
    """Return a note on lesions that were left out because they are small, "" if there are none."""
    omitted = [lesions.omitted for lesions in pair.once(lesionsOf)]
    if not any(omitted):
        return ""
    return f"left out as smaller than the minimum: {omitted[0]} of the reference, {omitted[1]} of the test"


@dataclass(frozen=True)
class Lesion:
    """A row of the list of lesions: one of the reference, or an invented one of the test.

    number: in the list of its structure, from 1. side: "reference" or "test", the structure that has it. event: what
    happened to it. volumeReference, volumeTest: mm3 (mm2 on a plane) of the lesion, and of those of the test that
    overlap it. dice, iou: of these; None for a missed or an invented lesion. hausdorff, mean: HD95 and MASD of these in
    mm; None, too, if nothing that was asked for needs distances. centerDistance: mm between their centers of mass, None
    without a counterpart. clearance: mm from the surface of a missed or invented
    lesion to the other structure, None for others, and if the other structure is empty. position: LPS mm of its center.
    """

    number: int
    side: str
    event: str
    volumeReference: float
    volumeTest: float
    dice: float | None = None
    iou: float | None = None
    hausdorff: float | None = None
    mean: float | None = None
    centerDistance: float | None = None
    clearance: float | None = None
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def toDictionary(self) -> dict:
        """Return the lesion as plain values for files."""
        return {**dict(zip(ROW, self.__dict__.values())), "position": list(self.position)}

    @staticmethod
    def fromDictionary(data: Mapping) -> Lesion:
        """Return the lesion that toDictionary() described."""
        values: dict[str, Any] = dict(zip(Lesion.__dataclass_fields__, (data[key] for key in ROW)))
        return Lesion(**values, position=tuple(data["position"]))


# The keys of a lesion in files, in the order of its fields; its position comes last.
ROW = (
    *("number", "side", "event", "volumeReference", "volumeTest", "DSC", "IoU", "HD95", "MASD"),
    *("centerDistance", "clearance"),
)
# What needs a look comes first.
ORDER = (Event.MISSED, Event.INVENTED, Event.MIXED, Event.MERGED, Event.SPLIT, Event.FOUND)


def listOf(pair: Workspace, hasDistances: bool = True) -> tuple[Lesion, ...]:
    """Return all lesions of the reference and the invented ones, those that need a look first.

    Among those to which the same happened, larger ones come first where one side has none, and worse drawn ones else.
    hasDistances: whether HD95 and MASD of every lesion are measured, which takes most of the time.
    """
    rows: list[Lesion] = []
    partners: dict[int, list[int]] = {}
    for one, other in pair.once(overlapsOf).belong.tolist():
        partners.setdefault(one, []).append(other)
    clearances = [_clearances(pair, source) for source in (0, 1)]
    for group in pair.once(overlapsOf).groups:
        for lesion in group.reference:
            checkpoint()
            theirs = tuple(partners.get(lesion, ()))
            rows.append(_row(pair, group.event, lesion, theirs, clearances[0].get(lesion), hasDistances))
        if group.event is Event.INVENTED:
            (lesion,) = group.test
            rows.append(_invented(pair, lesion, clearances[1].get(lesion)))
    order = {event.value: rank for rank, event in enumerate(ORDER)}
    return tuple(sorted(rows, key=lambda row: (order[row.event], row.dice or 0, -row.volumeReference - row.volumeTest)))


def _row(
    pair: Workspace, event: Event, lesion: int, theirs: tuple[int, ...], clearance: float | None, hasDistances: bool
) -> Lesion:
    """Return the row of a lesion of the reference. theirs: the lesions of the test that overlap it."""
    reference, test = pair.once(lesionsOf)
    center = reference.center([lesion])
    x, y, z = center.tolist()
    found = Lesion(
        lesion + 1, "reference", event.value, reference.volume([lesion]), 0.0, clearance=clearance,
        position=(x, y, z),
    )  # fmt: skip
    if not theirs:
        return found
    dice, iou = pair.once(overlapOf, (lesion,), theirs)
    drawn = pair.once(drawnOf, (lesion,), theirs) if hasDistances else None
    return replace(
        found,
        volumeTest=test.volume(theirs),
        dice=dice,
        iou=iou,
        hausdorff=drawn.hausdorff if drawn else None,
        mean=drawn.mean if drawn else None,
        centerDistance=float(np.linalg.norm(test.center(theirs) - center)),
    )


def _invented(pair: Workspace, lesion: int, clearance: float | None) -> Lesion:
    """Return the row of a lesion of the test that overlaps none of the reference."""
    test = pair.once(lesionsOf)[1]
    x, y, z = test.center([lesion]).tolist()
    return Lesion(
        lesion + 1, "test", Event.INVENTED.value, 0.0, test.volume([lesion]), clearance=clearance, position=(x, y, z)
    )  # fmt: skip


def _clearances(pair: Workspace, source: int) -> dict[int, float]:
    """Return the distances in mm of lesions without a counterpart from the other structure, by their number.

    From the corners of a lesion's surface to the surface of all of the other structure's lesions.
    """
    own, other = (pair.once(lesionsOf)[number] for number in (source, 1 - source))
    if not own.count or not other.count:
        return {}
    alone = sorted(set(range(own.count)) - set(pair.once(overlapsOf).belong[:, source].tolist()))
    if not alone:
        return {}
    surfaces = [Structure("lesion", own.mask([lesion])).surface for lesion in alone]
    points = np.concatenate([surface.points for surface in surfaces])
    everything = _innerPair(pair, own.mask(range(own.count)), other.mask(range(other.count)))
    distances = everything.boundaries.search(1).distances(points)
    ends = np.cumsum([len(surface.points) for surface in surfaces])[:-1]
    return {lesion: float(some.min()) for lesion, some in zip(alone, np.split(distances, ends), strict=True)}

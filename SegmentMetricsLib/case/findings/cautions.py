"""Cautions: findings that a chosen metric is less informative than it seems for the pair at hand.

Sources: the guidelines of Taha & Hanbury, doi:10.1186/s12880-015-0068-x, and of Metrics Reloaded (Maier-Hein et al.,
doi:10.1038/s41592-023-02151-z).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.texts import SettingPlace, commaSeparated, pluralize, positionText, shortest
from ...geometry.grids import Grid
from ...geometry.masks import Mask
from ...geometry.parts import partSizes, partsOutside
from ...geometry.voxelization import noise
from ...metrics import boundary, overlap, topology
from ...metrics import voxel as voxels
from ...metrics.findings import Finding, Kind
from ...model.structures import REFERENCE_AND_TEST

if TYPE_CHECKING:
    from ...metrics.measurement import Measurement
    from ...metrics.pair import Pair

# A structure is small if it spans less than this fraction of its image along any axis.
SMALL = 0.05
# Below this Dice coefficient, similar volumes are easily mistaken for agreement.
HALF_SHARED = 0.5
# A structure has a low density if more than this fraction of its filled shape is missing inside.
POROUS = 0.1
# Above this fraction of voxels of one kind, these measures hardly distinguish good from bad.
MOSTLY_ONE_KIND = 0.95
# Families whose measurements are counted in voxels.
COUNTED = ("overlap", "agreement")
# Voxels are coarse for a mesh if the standard error of its volume is more than this fraction of it.
VAGUE = 0.005
# Units of distances.
LENGTHS = ("mm", "voxel")
AT_THEIR_BEST = ("ACC", "TNR", "FPR", "RI")
# HD is due to outliers if it is more than this many times HD95 and exceeds it by more than this many voxels.
OUTLYING_FACTOR, OUTLYING_VOXELS, OUTLYING_PERCENTILE = 3, 3, 95.0
# At least this many parts, most of them single voxels, indicate noise.
MANY_PARTS = 50
# Structures of patients that span no more voxels than this may be smaller than a tolerance.
FEW_VOXELS = 4
THRESHOLD = SettingPlace("--threshold 0.5", "threshold=0.5")
LESIONS = SettingPlace("--metrics lesions", 'metrics="lesions"', "Metrics > Lesions")
UNION = SettingPlace("--set grid=union", 'grid="union"', "Advanced > Evaluated grid")
# Rows of: a function that yields findings of a pair, from the quantities that its arguments name; the families, keys of
# measurements, quantities or traits of the input of which the pair must have one (() for any pair); and whether a
# structure may be empty.
Finders = tuple[tuple[Callable[..., Iterator[str]], tuple[str, ...], bool], ...]


def _memberships(pair: Pair) -> Iterator[str]:
    which = " and the ".join(w for w, s in zip(REFERENCE_AND_TEST, pair.structures) if s.memberships is not None)
    yield Finding.of(Kind.COUNTED_IN_PART, which=which, where=THRESHOLD)


def _lesions(pair: Pair) -> Iterator[str]:
    both = zip(REFERENCE_AND_TEST, pair.findIfNeeded("lesions") or ())
    if which := [which for which, lesions in both if lesions.areOverlapping]:
        yield Finding.remark(
            f"Lesions of the {' and of the '.join(which)} overlap each other: every one counts with all of its voxels.",
            "Where a voxel belongs to several of them, only the best match counts.",
        )


def _outliers(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    for key in ("HD", "HDvox"):
        if key not in values or values[key].status != "ok":
            continue
        # nothing more is computed than the settings ask for
        if key == "HDvox":
            most = float(voxels.hausdorff(pair["voxelDistances"], OUTLYING_PERCENTILE / 100))
        elif "HD95" in values:
            most = values["HD95"].value
        elif OUTLYING_PERCENTILE in pair.settings.percentiles and pair.findIfNeeded("distances", "signedDistances"):
            most = float(boundary.percentileHausdorff(pair.distances, OUTLYING_PERCENTILE))
        else:
            continue
        largest = values[key]
        # the longest side of the voxels of both; for two meshes, the mesh spacing of the settings
        sides = [float(_sides(s.samplingGrid).max()) for s in pair.structures if s.samplingGrid is not None]
        step = 1.0 if largest.unit == "voxel" else max(sides, default=pair.settings.meshSpacing)
        isFar = largest.value > OUTLYING_FACTOR * most and largest.value - most > OUTLYING_VOXELS * step
        if math.isfinite(most) and isFar:
            part, other = ("of the boundary", "HD95") if key == "HD" else ("of the voxels", "the quantile 0.95")
            yield Finding.remark(
                f"A small part {part} determines {key} ({largest.text()}): 95 % lie within "
                f"{replace(largest, value=most).text()}.",
                f"Look at the worst place; where outliers do not matter, prefer {other} or a mean distance.",
            )
            return


def _parts(pair: Pair) -> Iterator[str]:
    sizes = [[] if s.mask is None else partSizes(s.mask) for s in pair.structures]
    for which, found in zip(REFERENCE_AND_TEST, sizes):
        if len(found) >= MANY_PARTS and found[len(found) // 2] == 1:
            yield (
                f"Most of the {len(found)} parts of the {which} are single voxels, as in noise: boundary measurements "
                "mostly describe these."
            )
    own, others = numbers = [max(len(found), 1) for found in sizes]
    # the number of parts of a mesh is unknown: a shell may be a cavity
    if any(s.mask is None for s in pair.structures) or max(numbers) == 1:
        return
    if own == others:
        said = f"Both structures have {own} separate parts"
    elif min(numbers) == 1:
        which, other = REFERENCE_AND_TEST if own > others else REFERENCE_AND_TEST[::-1]
        said = f"The {which} has {max(numbers)} separate parts, the {other} one part"
    else:
        said = f"The reference has {own} and the test {others} separate parts"
    reference, test = pair.masks
    missed, added = partsOutside(reference, test), partsOutside(test, reference)
    lost = f"{missed} of the reference's {own} {'is' if missed == 1 else 'are'} missed" if missed else ""
    more = f"{added} of the test's {others} {'is' if added == 1 else 'are'} not in the reference" if added else ""
    told = f" {' and '.join(filter(None, (lost, more)))}." if lost or more else ""
    where = None if "instances" in pair.settings.families else LESIONS
    yield Finding.of(Kind.SEVERAL_PARTS, parts=said, told=told, missed=missed, added=added, where=where)


def _tolerances(pair: Pair) -> Iterator[str]:
    if not (tolerances := pair.settings.tolerances):
        return
    structures = pair.structures
    # smoothing may have shrunk the surface of voxels
    areShrunk = [one.mask is not None and one.surfaceKind == "displayed" for one in structures]
    boxes = [one.withoutSmoothing().box if isShrunk else one.box for one, isShrunk in zip(structures, areShrunk)]
    size = max(float((high - low).max()) for low, high in boxes)
    masks = [one.mask for one in structures if one.mask is not None]
    # structures of patients are smaller than a tolerance only if they are of few voxels
    isOfFew = bool(masks) and max(int((mask.high - mask.low).max()) + 1 for mask in masks) <= FEW_VOXELS
    if min(tolerances) > size and not isOfFew:
        yield Finding.remark(
            f"The tolerance of {shortest(min(tolerances))} mm is larger than the structures, which measure "
            f"{float(f'{size:.2g}'):g} mm: nothing can exceed it.",
            "Check the unit of the files.",
        )
    if not masks:
        return
    # slices may be thicker than the tolerance, but below the shortest side of the voxels no difference is within it
    finest = max(float(_sides(mask.grid).min()) for mask in masks)
    if small := [shortest(t) for t in tolerances if t < finest * (1 - 1e-6)]:
        several = f"Tolerances ({commaSeparated(small)} mm) are"
        what = f"The tolerance of {small[0]} mm is" if len(small) == 1 else several
        yield (
            f"{what} below the voxel size of {shortest(round(finest, 3))} mm: a difference of a single voxel "
            "counts as an error."
        )


def _percentiles(pair: Pair) -> Iterator[str]:
    for percentile in sorted(p for p in pair.settings.percentiles if p < 1):
        better, rest = shortest(round(100 * percentile, 9)), shortest(round(100 - 100 * percentile, 9))
        where = SettingPlace(f"--percentile {better}", f"percentiles={better}", "Percentile")
        numbers = {"percentile": shortest(percentile), "rest": rest, "better": better}
        yield Finding.of(Kind.LOW_PERCENTILE, **numbers, where=where)


def _size(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    """Warn if the reference is small along any axis of the image, however long it is along the others."""
    grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), None)
    # measurements of how much two structures share; VS is none, nor are counts or volumes
    areShared = any(m.family in COUNTED and not m.unit and key != "VS" for key, m in values.items())
    if grid is None or not areShared:
        return
    if (mask := pair.reference.mask) is not None:
        spans = mask.high - mask.low + 1
    else:
        # voxels of the test's image
        spans = np.maximum(np.ptp(grid.toIndex(pair.reference.surface.points), axis=0).round(), 1)
    sizes = np.array(grid.size)
    shares = np.where(sizes > 1, spans / sizes, np.inf)
    axis = int(shares.argmin())
    if shares[axis] < SMALL:
        what = "" if mask is None else f"{pluralize(mask.count, 'voxel')}, "
        yield Finding.of(Kind.SMALL, extent=f"{what}{spans[axis]:.0f}", size=int(sizes[axis]))


def _mesh(pair: Pair) -> Iterator[str]:
    """Warn if the voxels on which meshes are counted are coarse for their parts, as finer ones would be too many."""
    areMeshes = pair.dimension == 3 and not any(s.mask is not None for s in pair.structures)
    if not (areMeshes and pair.areVoxelsCounted and pair.crispCounts.truePositive):
        return
    step = float(pair.overlapGrid.grid.spacing.min())
    error = max(noise(step, s.surface.sizes.sum(), 3) / s.surface.volume for s in pair.structures)
    if error > VAGUE:
        share = shortest(float(f"{100 * error:.1g}"))
        yield Finding.remark(
            f"Voxels of {step:.2g} mm are counted in the meshes: their parts are small and far apart, and the box "
            f"around them would have too many finer voxels. Volumes may be wrong by {share} %.",
            "Compare the parts one by one, or export both as masks on an image.",
        )


def _volumes(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    similarity = values.get("VS")
    if similarity is None or similarity.status != "ok":
        return
    if (dice := overlap.dice(pair.counts)) < HALF_SHARED:
        yield (
            f"VS ({similarity.text()}) compares the two volumes and says nothing about where they are: DSC is only "
            f"{replace(similarity, value=dice).text()}."
        )


def _density(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    if not any(m.family in ("boundary", "voxel") and m.unit in LENGTHS for m in values.values()):
        return
    shares = [0.0 if s.mask is None else shareMissingInside(s.mask, POROUS) for s in pair.structures]
    both = zip(REFERENCE_AND_TEST, shares)
    if told := [f"{100 * share:.0f} % of the {which}'s" for which, share in both if share > POROUS]:
        yield (
            f"{' and '.join(told)} filled shape {'are' if len(told) > 1 else 'is'} missing inside: distances can be "
            "short although much of the volume is missing; look at DSC and VS, too."
        )


def _background(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    """Warn if nearly all voxels are of one kind, so that agreement by chance is high."""
    chosen = [key for key in AT_THEIR_BEST if key in values and values[key].status == "ok"]
    if not chosen:
        return
    counts, grid = pair.exactCounts, pair.evaluatedGrid.why
    where = [("outside both structures", counts.trueNegative), ("in both structures", counts.truePositive)]
    for place, voxelsThere in where:
        if voxelsThere > MOSTLY_ONE_KIND * counts.size:
            verb, best = ("is", "its") if len(chosen) == 1 else ("are", "their")
            keys = " and ".join(filter(None, [", ".join(chosen[:-1]), chosen[-1]]))
            said = {"most": f"{100 * MOSTLY_ONE_KIND:g}", "grid": grid, "place": place, "keys": f"{keys} {verb}"}
            if pair.settings.grid == "reference" and any(s.samplingGrid for s in pair.structures):
                yield Finding.of(Kind.IMAGE_MOSTLY_ONE_KIND, **said, best=best, where=UNION)
            else:
                yield Finding.of(Kind.MOSTLY_ONE_KIND, **said, best=best)


def _critical(pair: Pair) -> Iterator[str]:
    """Warn if the reference is itself a critical structure, as when all structures of a patient are compared."""
    mask = pair.given[0].mask
    if mask is not None and any(s.mask is not None and mask.isSameAs(s.mask) for s, _ in pair.criticals):
        yield (
            "The reference is a critical structure itself, so hazard is highest everywhere in it: RFN, SIS, STAR and "
            "wDice do not show which of its errors are dangerous."
        )


def _sides(grid: Grid) -> np.ndarray:
    """Return the lengths of the sides of a voxel in mm, for a planar grid those in the plane only."""
    return grid.spacing if grid.flatAxis is None else np.delete(grid.spacing, grid.flatAxis)


def _centerLines(pair: Pair) -> Iterator[str]:
    """Yield which center lines are not those of the voxels, as in other tools, and that parts differ without a gap."""
    gaps, betti = pair.findIfNeeded("gaps"), pair.findIfNeeded("betti")
    if pair.findIfNeeded("skeletons") is not None:
        finer, thinned = pair["finerSkeletons"], pair["thinnedSkeletons"]
        meant = "These measurements are for vessels and airways, not for compact organs."
        if finer is None:
            yield Finding.remark(
                "The structures are too thick to check whether thinning loses a part of a center line.", meant
            )
        elif any(finer.lost):
            places = [[f"{one.length:.1f} mm at {positionText(one.position)}" for one in runs] for runs in finer.lost]
            both = zip(REFERENCE_AND_TEST, places)
            lost = [f"of the {which} {commaSeparated(found, most=3)}" for which, found in both if found]
            told = [
                f"Thinning the voxels loses parts of the center lines: {'; '.join(lost)}.",
                "So clDice, gaps and spurs of this pair are those of center lines at twice the resolution.",
            ]
            if not pair.emptiness:
                nothing = [which for which, skeleton in zip(REFERENCE_AND_TEST, thinned) if not len(skeleton.thinned)]
                alone = f"undefined, as nothing is left of the {' and the '.join(nothing)}"
                if not nothing:
                    alone = f"{topology.centerLineDice(thinned):.3f}"
                told.append(f"With scikit-image's skeletons alone, as in other tools, clDice is {alone}.")
            yield Finding.remark(*told, meant)
    if not pair.emptiness and gaps == () and betti and (error := topology.bettiErrorOf(betti, 0)):
        yield (
            f"BettiError0 is {error}, yet there is no gap: the test covers the whole center line of the reference, so "
            "separate parts differ beside it, or in spurs."
        )


def shareMissingInside(mask: Mask, least: float = 0.0) -> float:
    """Return the share of the filled shape of a mask, in [0, 1), that is missing inside; 0 for an empty mask.

    A voxel is missing inside if the mask lies on all sides of it, along every axis, and encloses it once gaps of up to
    two voxels are closed. So the pores of noise count, although they are connected, but neither the lumen of a tube nor
    the space between the branches of a tree. least: smaller shares may be returned as 0, which saves time.
    """

    def share(missing: np.ndarray) -> float:
        number = np.count_nonzero(missing)
        return number / (number + np.count_nonzero(isSet))

    # an image of one slice has nothing across it
    flat = tuple(n for n, size in enumerate(mask.grid.size[::-1]) if size == 1 and mask.voxels.shape[n] == 1)
    isSet = (mask.voxels > 0).squeeze(flat)
    if isSet.size < 2:  # a single voxel has no gaps
        return 0.0
    # most organs have few gaps between the first and the last voxel of the rows along which counting is quickest
    spans = isSet.shape[-1] - isSet.argmax(axis=-1) - isSet[..., ::-1].argmax(axis=-1)
    filled = int(spans[isSet.any(axis=-1)].sum())
    if not filled or 1 - np.count_nonzero(isSet) / filled < least:
        return 0.0
    missing = ~isSet
    for axis in range(isSet.ndim):
        missing &= np.logical_or.accumulate(isSet, axis)
        missing &= np.flip(np.logical_or.accumulate(np.flip(isSet, axis), axis), axis)
        # most organs have few gaps along any axis
        if share(missing) <= least:
            return 0.0
    from scipy.ndimage import label, maximum_filter, minimum_filter

    # a voxel of margin on each side for the closing, and one more for the outside, which is then connected
    closed = minimum_filter(maximum_filter(np.pad(isSet, 2), 3), 3)
    outside, _ = label(~closed)
    return share(missing & (outside != outside[(0,) * isSet.ndim])[(slice(2, -2),) * isSet.ndim])


OF_TOLERANCES = ("boundary", "signed", "effort")
CAUTIONS: Finders = (
    (_memberships, ("hasMemberships",), True),
    (_lesions, ("lesions",), True),
    (_outliers, ("HD", "HDvox"), False),
    (_parts, (), False),
    (_tolerances, OF_TOLERANCES, False),
    (_percentiles, ("hasLowPercentiles",), False),
    (_size, COUNTED, False),
    (_mesh, (), False),
    (_volumes, ("VS",), False),
    (_density, ("boundary", "voxel"), False),
    (_background, AT_THEIR_BEST, False),
    (_critical, ("hazard",), False),
    (_centerLines, ("skeletons", "gaps", "betti"), True),
)

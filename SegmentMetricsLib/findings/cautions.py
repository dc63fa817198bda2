"""Cautions: findings that a chosen metric is less informative than it seems for the pair at hand.

Sources: the guidelines of Taha & Hanbury, doi:10.1186/s12880-015-0068-x, and of Metrics Reloaded (Maier-Hein et al.,
doi:10.1038/s41592-023-02151-z).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..geometry.grids import Grid
from ..geometry.parts import partSizes
from ..settinglocations import whereToSet
from ..structures import REFERENCE_AND_TEST
from ..texts import commaSeparated, counted, shortest

if TYPE_CHECKING:
    from ..measurements import Measurement
    from ..pair import Pair

# A structure is small if it spans less than this fraction of its image along an axis and has at most this many voxels.
SMALL, FEW_VOXELS = 0.05, 1000
# Above this fraction of true negatives, measures that count them hardly distinguish good from bad.
MOSTLY_BACKGROUND = 0.95
# HD is due to outliers if it is more than this many times HD95 and exceeds it by more than this many voxels.
OUTLYING_FACTOR, OUTLYING_VOXELS = 3, 3
# At least this many parts, most of them single voxels, indicate noise.
MANY_PARTS = 50
THRESHOLD = whereToSet("--threshold 0.5", "threshold=0.5")
UNION = whereToSet("--grid union", 'grid="union"', "Advanced > Evaluated grid")


def find(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    """Yield the cautions of a pair whose measurements are known."""
    yield from _memberships(pair)
    if not pair.emptiness:
        yield from _outliers(pair, values)
        yield from _parts(pair)
        yield from _units(pair)
        yield from _tolerances(pair)
        yield from _percentiles(pair)
        yield from _size(pair)
        yield from _background(pair)
        yield from _critical(pair)


def _chosen(pair: Pair, *families: str) -> bool:
    return bool(set(families) & set(pair.settings.families))


def _memberships(pair: Pair) -> Iterator[str]:
    if pair.isFuzzy and _chosen(pair, "overlap", "agreement"):
        which = " and the ".join(w for w, s in zip(REFERENCE_AND_TEST, pair.structures) if s.memberships is not None)
        yield (
            f"Voxels of the {which} count in part, by their membership, for overlap and agreement, while surfaces and "
            "distances are those at 0.5; with a threshold, such as 0.5, every voxel counts fully or not at all "
            f"{THRESHOLD}."
        )


def _outliers(pair: Pair, values: Mapping[str, Measurement]) -> Iterator[str]:
    largest, most = values.get("HD"), values.get("HD95")
    if largest is None or most is None or {largest.status, most.status} != {"ok"}:
        return
    beyond = largest.value - most.value
    if largest.value > OUTLYING_FACTOR * most.value and beyond > OUTLYING_VOXELS * _coarsest(pair):
        yield (
            f"A small part of the boundary decides HD ({largest.text()}): 95 % lie within {most.text()}. Look at the "
            "worst place; where outliers do not matter, prefer HD95 or a mean distance."
        )


def _parts(pair: Pair) -> Iterator[str]:
    sizes = [[] if s.mask is None else partSizes(s.mask) for s in pair.structures]
    for which, found in zip(REFERENCE_AND_TEST, sizes):
        if len(found) >= MANY_PARTS and found[len(found) // 2] == 1:
            yield (
                f"Most of the {len(found)} parts of the {which} are single voxels, as in noise: boundary measurements "
                "are mostly theirs."
            )
    numbers = [max(len(found), 1) for found in sizes]
    # the number of parts of a mesh is unknown: a shell may be a cavity
    if any(s.mask is None for s in pair.structures) or max(numbers) == 1:
        return
    if numbers[0] == numbers[1]:
        said = f"Both structures have {numbers[0]} separate parts"
    elif min(numbers) == 1:
        which, other = REFERENCE_AND_TEST if numbers[0] > numbers[1] else REFERENCE_AND_TEST[::-1]
        said = f"The {which} has {max(numbers)} separate parts, the {other} one part"
    else:
        said = f"The reference has {numbers[0]} and the test {numbers[1]} separate parts"
    yield f"{said}: numbers for the whole can hide a part that is missing or added."


def _units(pair: Pair) -> Iterator[str]:
    """Warn if the structures are smaller than every tolerance, which structures of patients never are."""
    if not _isTolerant(pair):
        return
    smallest = min(pair.settings.tolerances)
    size = max(float(np.ptp(s.box, axis=0).max()) for s in pair.structures)
    if smallest > size:
        yield (
            f"The tolerance of {shortest(smallest)} mm is larger than the structures, which measure "
            f"{float(f'{size:.2g}'):g} mm: nothing can exceed it. Check the unit of the files."
        )


def _percentiles(pair: Pair) -> Iterator[str]:
    """Warn about percentiles below 1, which were probably meant as fractions."""
    if _chosen(pair, "boundary"):
        for percentile in sorted(p for p in pair.settings.percentiles if p < 1):
            better = shortest(round(100 * percentile, 9))
            yield (
                f"HD{shortest(percentile)} is the distance within which {shortest(percentile)} % of the boundary lies; "
                f"the percentile that leaves out the farthest {shortest(round(100 - 100 * percentile, 9))} % is "
                f"{better} {whereToSet(f'--percentile {better}', f'percentiles={better}', 'Percentile')}."
            )


def _isTolerant(pair: Pair) -> bool:
    """Return whether a chosen family uses the tolerances."""
    return bool(pair.settings.tolerances) and _chosen(pair, "boundary", "signed", "effort")


def _tolerances(pair: Pair) -> Iterator[str]:
    if not _isTolerant(pair) or not any(s.samplingGrid for s in pair.structures):
        return
    # slices may be thicker than the tolerance, but below the shortest side of the voxels no difference is within it
    finest = max(float(_sides(s.samplingGrid).min()) for s in pair.structures if s.samplingGrid)
    small = [shortest(t) for t in pair.settings.tolerances if t < finest * (1 - 1e-6)]
    if small:
        several = f"Tolerances ({commaSeparated(small)} mm) are"
        what = f"The tolerance of {small[0]} mm is" if len(small) == 1 else several
        yield (
            f"{what} below the voxel size of {shortest(round(finest, 3))} mm: a difference of a single voxel "
            "counts as an error."
        )


def _size(pair: Pair) -> Iterator[str]:
    mask = pair.reference.mask
    if mask is None or mask.isEmpty or not _chosen(pair, "overlap", "agreement"):
        return
    span, size = mask.high - mask.low + 1, np.array(mask.grid.size)
    shares = np.where(size > 1, span / size, np.inf)
    axis = int(shares.argmin())
    if shares[axis] < SMALL and mask.count <= FEW_VOXELS:
        yield (
            f"The reference is small: {counted(mask.count, 'voxel')}, {span[axis]} of the image's {size[axis]} along "
            "one axis. Overlap changes much with few voxels, so prefer distances."
        )


def _background(pair: Pair) -> Iterator[str]:
    if pair.settings.grid != "reference" or not pair.wasComputed("evaluatedGrid") or not _chosen(pair, "agreement"):
        return
    if not any(s.samplingGrid for s in pair.structures):
        return
    if pair.table.trueNegative > MOSTLY_BACKGROUND * pair.table.size:
        yield (
            f"More than {100 * MOSTLY_BACKGROUND:g} % of the evaluated grid ({pair.evaluatedGrid.why}) is outside both "
            "structures: ACC, TNR and RI are near their best whatever the test is; choose the grid union "
            f"{UNION}, or one volume for all cases."
        )


def _critical(pair: Pair) -> Iterator[str]:
    """Warn if the reference is itself a critical structure, as when all structures of a patient are compared."""
    mask = pair.given[0].mask
    if mask is not None and any(s.mask is not None and mask.isSameAs(s.mask) for s, _ in pair.criticals):
        yield (
            "The reference is a critical structure itself, so hazard is highest everywhere in it: RFN, SIS, STAR and "
            "wDice do not show which of its errors are dangerous."
        )


def _coarsest(pair: Pair) -> float:
    """Return the longest voxel side in mm of both structures; for two meshes, the mesh spacing of the settings."""
    grids = [s.samplingGrid for s in pair.structures if s.samplingGrid is not None]
    return max((float(_sides(grid).max()) for grid in grids), default=pair.settings.meshSpacing)


def _sides(grid: Grid) -> np.ndarray:
    """Return the lengths of the sides of a voxel in mm, for a planar grid those in the plane only."""
    return grid.spacing if grid.flatAxis is None else np.delete(grid.spacing, grid.flatAxis)

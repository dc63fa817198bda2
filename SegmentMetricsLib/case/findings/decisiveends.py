"""Whether the Hausdorff distance is that of two ends, where it is often arbitrary how far a structure is contoured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...distances.surfacedistances import SurfaceDistances
from ...geometry.surfaces import Surface, outwardNormals
from ...metrics.extents import COMMON, slabOf
from ...metrics.findings import Finding, Kind
from ...model.structure import Structure

# A structure is long if it is at least LONG times as long as wide. Its ends decide HD if HD without them is at most the
# fraction DECISIVE of it.
LONG, DECISIVE = 2.0, 0.75
# Where a structure ends may be arbitrary if it is cut off there, as cords, esophagus and vessels are, but no lens or
# gland: it is at least TUBE times as long as it extends sideways, and the fraction TIP of its length before the end it
# still has the fraction CUT of its mean cross-section.
TUBE, TIP, CUT = 2.2, 0.08, 0.6
# Distances up to this fraction of the structure's length are ignored.
NEGLIGIBLE = 1e-4


def decisiveEnd(reference: Structure, test: Structure, distances: SurfaceDistances) -> Iterator[Finding]:
    """Yield the finding that the ends of two long structures determine the Hausdorff distance, if they do."""
    structures = (reference, test)
    if reference.dimension == 2 or not all(s.surface.isClosed for s in structures):
        return
    slab, spans = slabOf(*structures) if all(map(isLong, structures)) else (None, [])
    if slab is None:
        return
    worst = max(distances.directions, key=lambda d: d.largest)
    length = float(np.subtract(*reference.box[::-1]).max())
    if worst.largest <= NEGLIGIBLE * length:
        return
    place = worst.largestPlace
    if slab.contains(place[None])[0]:
        return
    every = ((one.distances, one.positionsOf(np.arange(len(one.distances)))) for one in distances.directions)
    within = max(float(far[slab.contains(positions)].max(initial=0.0)) for far, positions in every)
    if within > DECISIVE * worst.largest:
        return
    isUpper = place @ slab.normal > slab.high
    end, toward = ("upper", slab.normal) if isUpper else ("lower", -slab.normal)
    ends = [high if isUpper else -low for low, high in spans]
    longer = int(ends[1] > ends[0])
    low, high = spans[longer]
    where = COMMON if _isCutOff(structures[longer].surface, toward, high - low) else None
    yield Finding.of(Kind.ENDS_DECIDE, distance=f"{worst.largest:.1f}", end=end, within=f"{within:.1f}", where=where)


def isLong(structure: Structure) -> bool:
    """Return whether a closed structure is much longer than wide, judging by its box and its volume."""
    low, high = structure.box
    length, volume = float((high - low).max()), structure.surface.volume
    return volume > 0 and length >= LONG * float(np.sqrt(volume / length))


def _isCutOff(surface: Surface, toward: np.ndarray, length: float) -> bool:
    """Return whether a closed surface of a length in mm along a unit vector is a tube that does not taper off there."""
    sideways = surface.points - np.outer(surface.points @ toward, toward)
    if length < TUBE * np.ptp(sideways, axis=0).max():
        return False
    heights = (surface.points @ toward)[surface.cells].mean(axis=1)
    near = np.flatnonzero(heights >= heights.max() - TIP * length)
    facing = np.maximum(outwardNormals(surface, near) @ toward, 0)
    return float(surface.sizes[near] @ facing) >= CUT * surface.volume / length

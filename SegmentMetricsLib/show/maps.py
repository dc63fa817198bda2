"""What a map of a surface shows, wherever it is drawn: kinds of values, their ends, colors and words."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np

from ..base.errors import InputError, requireKind
from ..base.palettes import ABSOLUTE, DOSE, EVENTS, SIGNED, rgb
from ..base.parallel import threads
from ..distances.surfacedistances import DirectedDistances
from ..geometry.surfaces import elementCenters
from ..model.structures import REFERENCE_AND_TEST
from .distributions import doseRange, mapRange, roundAbove
from .rendering import interpolate

TOLERANCE = ("#3a76bd", "#dfe3bd", "#d95f0e")  # test too small, within, test too large
# hues that differ from those of distances, so that hazard is not mistaken for distance
HAZARD = ("#ddd1ab", "#d6bdbf", "#c5a0c4", "#aa7bba", "#8d57a8", "#6c3089", "#4c1768")
# Bands extend beyond the tolerance by this fraction, because a distance equal to the tolerance is within it.
HAIR = 1e-5
KINDS = ("signed", "absolute", "tolerance", "hazard", "bld", "dose")


class Legend(NamedTuple):
    """What a kind of map shows.

    array: the name of its values. palette: the colors in their ascending order. title: in short lines; {} is the
    tolerance. bands: the names of the colors, in place of numbers.
    """

    array: str
    palette: tuple[str, ...]
    title: str
    bands: tuple[str, ...] = ()


TAU = "Tolerance {:g} mm"
LEGENDS = {
    "signed": Legend("SignedDistance", SIGNED, "Distance (mm)\n+ test outside\n- test inside"),
    "absolute": Legend("Distance", ABSOLUTE, "Distance (mm)"),
    "tolerance": Legend("SignedDistance", TOLERANCE, TAU, ("under-contoured", "within", "over-contoured")),
    "tolerance without sides": Legend("Distance", TOLERANCE[1:], TAU, ("within", "beyond")),
    "hazard": Legend("Hazard", HAZARD, "Hazard"),
    "bld": Legend("BLD", ABSOLUTE, "Bidirectional\nlocal distance\n(mm)"),
    "dose": Legend("Dose", DOSE, "Dose (Gy)"),
    # of several observers, and of lesions: no maps of a pair
    "sd": Legend("LocalSD", ABSOLUTE, "Local SD (mm)\nof the observers"),
    "lesions": Legend("", tuple(EVENTS.values()), "Lesions"),
}
# What is shown instead on a surface without sides.
WITHOUT_SIDES = {"signed": "absolute", "tolerance": "tolerance without sides"}
# Tolerance in mm to show if nothing was measured with a tolerance.
DEFAULT_TOLERANCE = 2.0
# The least end of the colors of a local SD in mm, for observers who agree everywhere.
LEAST_LIMIT = 0.1


class Coloring(NamedTuple):
    """How a map is colored.

    kind: one of KINDS, "sd" or "lesions". limit: end of the scale in mm (Gy). tolerance: in mm. hasSides: whether
    inside and outside can be told apart.
    """

    kind: str
    limit: float
    tolerance: float
    hasSides: bool

    @property
    def legend(self) -> Legend:
        return LEGENDS[self.kind if self.hasSides else WITHOUT_SIDES.get(self.kind, self.kind)]

    @property
    def isOfWords(self) -> bool:
        """Whether the legend has words instead of numbers."""
        return self.kind in ("tolerance", "lesions")

    @property
    def ends(self) -> tuple[float, float]:
        """The values of the lowest and the highest color; a hazard has no unit and ranges from 0 to 1.

        A tolerance map has no limit: its bands are equally wide, like the words in the legend, and all larger values
        have the colors of the outer bands.
        """
        if self.kind == "tolerance":
            beyond = self.tolerance * (1 + HAIR)
            return (-3 * beyond, 3 * beyond) if self.hasSides else (0.0, 2 * beyond)
        if self.kind == "hazard":
            return 0.0, 1.0
        return (-self.limit, self.limit) if self.kind == "signed" and self.hasSides else (0.0, self.limit)

    @property
    def title(self) -> str:
        return self.legend.title.format(self.tolerance)

    def colors(self, values: np.ndarray) -> np.ndarray:
        """Return the colors (n, 3) from 0 to 255 of values (n,)."""
        low, high = self.ends
        if not self.isOfWords:
            return interpolate(values, low, high, self.legend.palette)
        bands = 255 * np.array(list(map(rgb, self.legend.palette)))
        return bands[np.clip((values - low) / (high - low) * len(bands), 0, len(bands) - 1).astype(int)]


def valuesOn(comparison, side: str, points: np.ndarray | None = None, withLocal: bool = False) -> dict[str, np.ndarray]:
    """Return what maps of one side can show at points, by the names in LEGENDS: values (n,), all finite.

    SignedDistance and Distance are in mm; Hazard in [0, 1] is there with critical structures, Dose in Gy with a dose,
    and BLD in mm if the similarity family was measured. points: (n, 3) LPS mm, which get the distance of the nearest
    measured element; None for those of the measured surface. withLocal: whether to add BLD in any case. Raises
    ValueError if there are no distances.
    """
    requireDistances(comparison)
    directed = comparison.distances.directions[REFERENCE_AND_TEST.index(side)]
    measured = directed.surface.points
    if points is None:
        signed = directed.atPoints
        signed = signed if np.isfinite(signed).all() else nearestValues(measured, measured, signed)
    else:
        signed = nearestValues(points, *samplesOf(directed))
    found = {"SignedDistance": signed, "Distance": np.abs(signed)}
    if withLocal or "similarity" in comparison.settings.families:
        local = comparison.localDistances(side)
        found["BLD"] = local if points is None else nearestValues(points, measured, local)
    at = measured if points is None else points
    if comparison.hazard is not None:
        found["Hazard"] = comparison.hazard.at(at)
    if comparison.dose is not None:
        found["Dose"] = comparison.dose.valuesAt(at, 0.0)
    return found


def nearestValues(points: np.ndarray, positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values (n,) at the positions (m, 3) nearest to points (n, 3), ignoring values that are not finite."""
    from scipy.spatial import cKDTree

    finite = np.isfinite(values)
    if not finite.any():
        raise InputError("There is no distance map because no distance of this pair is a finite number.")
    if not finite.all():
        positions, values = positions[finite], values[finite]
    # for points on a surface, an unbalanced tree is built in half the time and searched equally fast
    tree = cKDTree(positions, balanced_tree=False, compact_nodes=False)
    return values[tree.query(points, workers=threads())[1]]


def requireDistances(comparison, what: str = "distance map") -> None:
    """Raise ValueError with the reason if a comparison has no distances. what: the display that needs them."""
    if not comparison.hasGeometry:
        raise InputError(f"There is no {what} of a record, which holds the numbers of a comparison but no surfaces.")
    empty = [f"the {which}" for which in REFERENCE_AND_TEST if getattr(comparison, which).isEmpty]
    if empty:
        verb = "are" if len(empty) > 1 else "is"
        raise InputError(f"There is no {what} because {' and '.join(empty)} {verb} empty.")
    if comparison.distances is None:
        raise InputError(f"There is no {what} because no measurement of distances was asked for.")


def requireHazard(comparison) -> None:
    """Raise ValueError if a comparison has no hazard to show."""
    if comparison.hazard is None:
        raise InputError(
            "There is no hazard to show: measure the family hazard with critical structures that are not empty."
        )


def findLimits(comparison, kind: str, range: float | None, tolerance: float | None) -> tuple[float, float]:
    """Return the end of the color range, of a dose in Gy, and the tolerance of a map in mm; None is automatic.

    The automatic tolerance is the first one of the comparison's settings, or 2 mm without any. The automatic range is a
    round number that 98 % of either surface does not exceed, and is at least the tolerance; it is the same for both
    sides so that their maps can be compared; of a dose it is doseRange(). Raises ValueError for an unknown kind, for
    numbers that are not positive, if there are no distances, for kind "hazard" without critical structures, and for
    "dose" without one.
    """
    requireChoice("kind", kind, KINDS)
    if kind == "hazard":
        requireHazard(comparison)
    if kind == "dose" and comparison.dose is None:
        raise InputError("There is no dose to show: compare with the dose of a plan.")
    for name, value in (("range", range), ("tolerance", tolerance)):
        if value is not None:
            requireKind(value, Real, f"The {name} of a distance map", "a number")
        if value is not None and not 0 < value < np.inf:
            raise InputError(f"The {name} of a distance map is a positive number of millimeters, not {value}.")
    requireDistances(comparison)
    tolerance = shownTolerance(comparison) if tolerance is None else tolerance
    if range is None:
        found = comparison.distances
        range = doseRange(comparison.dose, found) if kind == "dose" else mapRange(found, tolerance)
    return float(range), float(tolerance)


def requireChoice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError for what is not among the choices of a map."""
    if value not in choices:
        raise InputError(f"The {name} of a distance map is {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}.")


def shownTolerance(comparison) -> float:
    """Return the tolerance in mm that maps and charts show: the first one of the settings, or 2 mm without any."""
    return next(iter(comparison.settings.tolerances), DEFAULT_TOLERANCE)


def variationLimit(found) -> float:
    """Return the end of the colors of a local SD in mm: a round number that 95 % of the surface does not exceed.

    found: an ObservedStructure with a variation.
    """
    return roundAbove(max(found.variation.percentile95SD, LEAST_LIMIT))


def samplesOf(directed: DirectedDistances) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (n, 3), LPS mm, and signed distances (n,) in mm spread over a boundary."""
    count, surface = len(directed.signed), directed.surface
    # of a triangle only the piece in its middle: the others differ from it invisibly
    chosen = np.arange(3, count, 4) if surface.dimension == 3 else np.arange(count)
    shared = elementCenters(surface.points, surface.cells[directed.sharedCells], 0)
    positions = np.concatenate([directed.positionsOf(chosen), shared])
    return positions, np.concatenate([directed.signed[chosen], np.zeros(len(shared))])

"""Words about the worst places."""

from __future__ import annotations

from ..case.places import Place
from ..metrics.signed import SIDES


def describe(place: Place, signed: bool = True) -> str:
    """Return a description of a place. signed: whether inside and outside can be told apart."""
    if signed:
        what = f"{abs(place.value):.1f} mm {'over' if place.value > 0 else 'under'}-contoured"
    else:
        what = f"{abs(place.value):.1f} mm apart"
    dose = "" if place.dose is None else f", {place.dose:.1f} Gy"
    return f"{what}, {SIDES[place.direction]}{dose}"

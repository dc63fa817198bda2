"""The registry's entries of the signed family."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..definitions import OURS, Definition, Empty
from ..errors import Undefined
from ..metrics import facing, signed
from ..structures import BOTH_EMPTY

if TYPE_CHECKING:
    from ..pair import Pair

# Words for the sides of the patient in the order in which results list them.
SIDES = {"R": "right", "L": "left", "A": "anterior", "P": "posterior", "S": "superior", "I": "inferior"}


def _towardSides() -> Iterator[Definition]:
    """Yield the definitions of the signed distances toward each side of the patient."""
    kinds = (
        ("Mean", "Signed mean", "mean", "Mean signed distance of the boundary that faces {}: positive where the test "
         "lies outside the reference.", r"\frac{1}{\lvert E_k \rvert} \int_{E_k} s(x) \, dx"),
        ("Max", "Largest signed distance", "largest", "Largest over-contouring of the boundary that faces {}; negative "
         "when the test lies inside the reference everywhere there.", r"\max_{x \in E_k} s(x)"),
        ("Min", "Smallest signed distance", "smallest", "Largest under-contouring of the boundary that faces {}, as a "
         "negative number; positive when the test lies outside the reference everywhere there.",
         r"\min_{x \in E_k} s(x)"),
    )  # fmt: skip
    for kind, title, field, description, formula in kinds:
        for side, word in SIDES.items():
            yield Definition(
                f"{kind}{side}", f"{title}, {word} side", "mm", -math.inf, math.inf, "", "signed", OURS, Empty.SIGNED,
                description.format(word),
                lambda pair, side=side, field=field: getattr(signed.toward(pair.once(_sides), side), field),
                symmetric=False, identity=0, side=word, emptiness=lambda pair, side=side: _emptinessToward(pair, side),
                hint="Choose it when a direction matters, such as that of a neighboring organ.",
                formula=rf"\mathrm{{{kind}}}_k = {formula}", code="metrics.signed.bySide",
            )  # fmt: skip


def _emptinessToward(pair: Pair, side: str) -> str:
    """Return which structure is empty. Raises Undefined where that does not matter: nothing of a plane faces the side.

    It is the same reason as without an empty structure. Closed surfaces in space face all sides.
    """
    if pair.emptiness and pair.emptiness != BOTH_EMPTY and pair.dimension == 2:
        signed.requireFaced(pair.once(_facedSides), side)
    return pair.emptiness


def _facedSides(pair: Pair) -> frozenset[str]:
    """Return the sides that the one structure faces that is not empty."""
    return facing.facedSides(next(structure for structure in pair.structures if not structure.isEmpty).surface)


def _sides(pair: Pair) -> dict[str, signed.Side]:
    # single elements take as much memory as what numbers of the whole were found from, which were measured before
    over, under = pair.once(_largest, True).value, pair.once(_largest, False).value
    if pair.isLarge:
        pair.signedDistances.forget()
    return signed.bySide(pair.signedDistances, pair.boundaries, over, under)


def _largest(pair: Pair, over: bool) -> signed.Located:
    return signed.largest(pair.signedDistances, over)


def _fractionOutside(pair: Pair, tolerance: float, over: bool) -> float:
    """Return the over- or under-contoured share of both boundaries; without a counterpart it is all or nothing."""
    _requireAny(pair)
    if pair.emptiness:
        return float(over == pair.reference.isEmpty)
    function = signed.overFraction if over else signed.underFraction
    return function(pair.signedDistances, tolerance)


def _largestOutside(pair: Pair, over: bool) -> signed.Located:
    """Return the largest over- or under-contouring; without a counterpart it is infinite or nothing."""
    _requireAny(pair)
    if pair.emptiness:
        return signed.Located(math.inf if over == pair.reference.isEmpty else 0.0, None)
    return pair.once(_largest, over)


def _volumeOutside(pair: Pair, over: bool) -> float:
    """Return the volume in mm3 (area in mm2) that only the test (over) or only the reference encloses."""
    if pair.emptiness:
        return pair.voxelVolume(1 if over else 0)
    counts = pair.counts
    number = counts.falsePositive if over else counts.falseNegative
    return number * (pair.overlapGrid[0].voxelSize if counts.unit == "voxel" else 1.0)


def _requireAny(pair: Pair) -> None:
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)


SIGNED = (
    Definition(
        "SignedMean", "Signed mean distance", "mm", -math.inf, math.inf, "", "signed", OURS, Empty.SIGNED,
        "Mean distance with a sign: positive where the test lies outside the reference, negative where inside.",
        lambda pair: signed.mean(pair.signedDistances), symmetric=False,
        isMain=True, heading="Signed mean", identity=0,
        hint="Tells whether contours are too large or too small on the whole; errors of both kinds cancel.",
        formula=r"\mathrm{SignedMean} = \frac{1}{\lvert E \rvert} \int_E s(x) \, dx",
        code="metrics.signed.mean",
    ),
    Definition(
        "OverFraction_{tolerance}mm", "Over-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm outside the reference.",
        lambda pair, tolerance: _fractionOutside(pair, tolerance, over=True), symmetric=False,
        heading="Over >", identity=0, trend="falling",
        hint="Choose it when drawing too much matters; it does not tell how far outside.",
        formula=r"\mathrm{OverFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) > \tau \rbrace \rvert}{\lvert "
        r"E \rvert}",
        code="metrics.signed.overFraction",
    ),
    Definition(
        "UnderFraction_{tolerance}mm", "Under-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm inside the reference.",
        lambda pair, tolerance: _fractionOutside(pair, tolerance, over=False), symmetric=False,
        heading="Under >", identity=0, trend="falling",
        hint="Choose it when missing a part matters; it does not tell how far inside.",
        formula=r"\mathrm{UnderFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) < -\tau \rbrace "
        r"\rvert}{\lvert E \rvert}",
        code="metrics.signed.underFraction",
    ),
    Definition(
        "OverMax", "Largest over-contouring", "mm", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Largest distance of the test outside the reference; 0 when it is nowhere outside.",
        lambda pair: _largestOutside(pair, over=True), symmetric=False,
        heading="Over max.", identity=0,
        hint="One outlier decides it: choose it when every error counts.",
        formula=r"\mathrm{OverMax} = \max\left(0, \; \max_{x \in E} s(x)\right)",
        code="metrics.signed.largest",
    ),
    Definition(
        "UnderMax", "Largest under-contouring", "mm", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Largest distance of the test inside the reference; 0 when it is nowhere inside.",
        lambda pair: _largestOutside(pair, over=False), symmetric=False,
        heading="Under max.", identity=0,
        hint="One outlier decides it: choose it when every error counts.",
        formula=r"\mathrm{UnderMax} = \max\left(0, \; -\min_{x \in E} s(x)\right)",
        code="metrics.signed.largest",
    ),
    Definition(
        "OverVolume", "Over-contoured volume", "mm3", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Volume that the test has outside the reference, counted in voxels.",
        lambda pair: _volumeOutside(pair, over=True), symmetric=False,
        heading="Over vol.", identity=0,
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{OverVolume} = v \, \mathrm{FP}",
        code="registry.signed._volumeOutside",
    ),
    Definition(
        "UnderVolume", "Under-contoured volume", "mm3", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Volume of the reference that the test leaves out, counted in voxels.",
        lambda pair: _volumeOutside(pair, over=False), symmetric=False,
        heading="Under vol.", identity=0,
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{UnderVolume} = v \, \mathrm{FN}",
        code="registry.signed._volumeOutside",
    ),
    *_towardSides(),
)  # fmt: skip

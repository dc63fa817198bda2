"""The registry's entries of the signed family."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..definitions import OURS, Definition, Empty
from ..metrics import signed
from ..quantities.signed import emptinessToward, fractionOutside, largestOutside, towardSides, volumeOutside

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
                lambda pair, side=side, field=field: getattr(signed.toward(pair.once(towardSides), side), field),
                symmetric=False, identity=0, side=word, emptiness=lambda pair, side=side: emptinessToward(pair, side),
                hint="Choose it when a direction matters, such as that of a neighboring organ.",
                formula=rf"\mathrm{{{kind}}}_k = {formula}", code=f"metrics.signed.{field}Toward",
                steps=("metrics.signed.bySide", "metrics.facing.sidesOfReference", "metrics.facing.sidesBelow"),
            )  # fmt: skip


SIGNED = (
    Definition(
        "SignedMean", "Signed mean distance", "mm", -math.inf, math.inf, "", "signed", OURS, Empty.SIGNED,
        "Mean distance with a sign: positive where the test lies outside the reference, negative where inside.",
        lambda pair: signed.mean(pair.signedDistances), symmetric=False,
        isMain=True, heading="Signed mean", identity=0,
        hint="Tells whether contours are too large or too small on the whole; errors of both kinds cancel.",
        formula=r"\mathrm{SignedMean} = \frac{1}{\lvert E \rvert} \int_E s(x) \, dx",
        code="metrics.signed.mean",
        steps=("distances.surfacedistances.DirectedDistances.signedMean",),
    ),
    Definition(
        "OverFraction_{tolerance}mm", "Over-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm outside the reference.",
        lambda pair, tolerance: fractionOutside(pair, tolerance, over=True), symmetric=False,
        heading="Over >", identity=0, trend="falling",
        hint="Choose it when drawing too much matters; it does not tell how far outside.",
        formula=r"\mathrm{OverFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) > \tau \rbrace \rvert}{\lvert "
        r"E \rvert}",
        code="metrics.signed.fractionBeyond",
        steps=("distances.surfacedistances.DirectedDistances.sizeBeyond",),
    ),
    Definition(
        "UnderFraction_{tolerance}mm", "Under-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm inside the reference.",
        lambda pair, tolerance: fractionOutside(pair, tolerance, over=False), symmetric=False,
        heading="Under >", identity=0, trend="falling",
        hint="Choose it when missing a part matters; it does not tell how far inside.",
        formula=r"\mathrm{UnderFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) < -\tau \rbrace "
        r"\rvert}{\lvert E \rvert}",
        code="metrics.signed.fractionBeyond",
        steps=("distances.surfacedistances.DirectedDistances.sizeBeyond",),
    ),
    Definition(
        "OverMax", "Largest over-contouring", "mm", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Largest distance of the test outside the reference; 0 when it is nowhere outside.",
        lambda pair: largestOutside(pair, over=True), symmetric=False,
        heading="Over max.", identity=0,
        hint="One outlier decides it: choose it when every error counts.",
        formula=r"\mathrm{OverMax} = \max\left(0, \; \max_{x \in E} s(x)\right)",
        code="metrics.signed.largest",
        steps=("distances.surfacedistances.DirectedDistances.farthest",),
    ),
    Definition(
        "UnderMax", "Largest under-contouring", "mm", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Largest distance of the test inside the reference; 0 when it is nowhere inside.",
        lambda pair: largestOutside(pair, over=False), symmetric=False,
        heading="Under max.", identity=0,
        hint="One outlier decides it: choose it when every error counts.",
        formula=r"\mathrm{UnderMax} = \max\left(0, \; -\min_{x \in E} s(x)\right)",
        code="metrics.signed.largest",
        steps=("distances.surfacedistances.DirectedDistances.farthest",),
    ),
    Definition(
        "OverVolume", "Over-contoured volume", "mm3", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Volume that the test has outside the reference, counted in voxels.",
        lambda pair: volumeOutside(pair, over=True), symmetric=False,
        heading="Over vol.", identity=0,
        areaTitle="Over-contoured area",
        areaDescription="Area that the test has outside the reference, counted in voxels.",
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{OverVolume} = v \, \mathrm{FP}",
        code="quantities.signed.volumeOutside",
        steps=("metrics.overlap.count",),
    ),
    Definition(
        "UnderVolume", "Under-contoured volume", "mm3", 0, math.inf, "lower", "signed", OURS, Empty.COMPUTED,
        "Volume of the reference that the test leaves out, counted in voxels.",
        lambda pair: volumeOutside(pair, over=False), symmetric=False,
        heading="Under vol.", identity=0,
        areaTitle="Under-contoured area",
        areaDescription="Area of the reference that the test leaves out, counted in voxels.",
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{UnderVolume} = v \, \mathrm{FN}",
        code="quantities.signed.volumeOutside",
        steps=("metrics.overlap.count",),
    ),
    *_towardSides(),
)  # fmt: skip

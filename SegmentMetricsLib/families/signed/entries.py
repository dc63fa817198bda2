"""The registry's entries of the signed family."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from ...comparison.definitions import OURS, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as signed
from .ofpair import emptinessToward, fractionOutside, largestOutside, towardSides, volumeOutside

# Words for the sides of the patient in the order in which results list them.
SIDES = {"R": "right", "L": "left", "A": "anterior", "P": "posterior", "S": "superior", "I": "inferior"}


def _toward(pair: Workspace, side: str, field: str) -> float:
    return getattr(signed.toward(pair.once(towardSides), side), field)


def _towardSides(kind: str, title: str, field: str, description: str, formula: str) -> Iterator[Definition]:
    """Yield the definitions of one number of the signed distances toward each side of the patient.

    field: of formulas.Side. description: with a blank for the side.
    """
    for side, word in SIDES.items():
        yield Definition(
            key=f"{kind}{side}", title=f"{title}, {word} side", family="signed", source=OURS,
            unit="mm", low=-math.inf, high=math.inf, better="", empty=Empty.SIGNED,
            description=description.format(word),
            compute=partial(_toward, side=side, field=field),
            needs=(Workspace.signedDistances,),
            symmetric=False, identity=0, side=word, emptiness=partial(emptinessToward, side=side),
            hint="Choose it when a direction matters, such as that of a neighboring organ.",
            formula=rf"\mathrm{{{kind}}}_k = {formula}",
            code=f"families.signed.formulas.{field}Toward",
            steps=("families.signed.formulas.bySide", "analysis.facing.sidesOfElements", "analysis.facing.sidesBelow"),
        )  # fmt: skip


SIGNED = (
    Definition(
        key="SignedMean", title="Signed mean distance", family="signed", source=OURS,
        unit="mm", low=-math.inf, high=math.inf, better="", empty=Empty.SIGNED,
        description="Mean distance with a sign: positive where the test lies outside the reference, negative where "
        "inside.",
        compute=lambda pair: signed.mean(pair.signedDistances),
        needs=(Workspace.signedDistances,),
        symmetric=False, isMain=True, heading="Signed mean", identity=0,
        hint="Tells whether contours are too large or too small on the whole; errors of both kinds cancel.",
        formula=r"\mathrm{SignedMean} = \frac{1}{\lvert E \rvert} \int_E s(x) \, dx",
        code="families.signed.formulas.mean",
        steps=("distances.field.Field.signedMean",),
    ),
    Definition(
        key="OverFraction_{tolerance}mm", title="Over-contoured fraction, {tolerance} mm", family="signed", source=OURS,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Share of both contours' area where the test lies more than {tolerance} mm outside the reference.",
        compute=lambda pair, tolerance: fractionOutside(pair, tolerance, over=True),
        needs=(Workspace.signedDistances,),
        symmetric=False, heading="Over >", identity=0, trend="falling",
        hint="Choose it when drawing too much matters; it does not tell how far outside.",
        formula=r"\mathrm{OverFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) > \tau \rbrace \rvert}{\lvert "
        r"E \rvert}",
        code="families.signed.formulas.fractionBeyond",
        steps=("distances.field.Field.sizeBeyond",),
    ),
    Definition(
        key="UnderFraction_{tolerance}mm", title="Under-contoured fraction, {tolerance} mm",
        family="signed", source=OURS,
        unit="", low=0, high=1, better="lower", empty=Empty.COMPUTED,
        description="Share of both contours' area where the test lies more than {tolerance} mm inside the reference.",
        compute=lambda pair, tolerance: fractionOutside(pair, tolerance, over=False),
        needs=(Workspace.signedDistances,),
        symmetric=False, heading="Under >", identity=0, trend="falling",
        hint="Choose it when missing a part matters; it does not tell how far inside.",
        formula=r"\mathrm{UnderFraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) < -\tau \rbrace "
        r"\rvert}{\lvert E \rvert}",
        code="families.signed.formulas.fractionBeyond",
        steps=("distances.field.Field.sizeBeyond",),
    ),
    Definition(
        key="OverMax", title="Largest over-contouring", family="signed", source=OURS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Largest distance of the test outside the reference; 0 when it is nowhere outside.",
        compute=lambda pair: largestOutside(pair, over=True),
        needs=(Workspace.signedDistances,),
        symmetric=False, heading="Over max.", identity=0,
        hint="One outlier determines it: choose it when every error counts.",
        formula=r"\mathrm{OverMax} = \max\left(0, \; \max_{x \in E} s(x)\right)",
        code="families.signed.formulas.largest",
        steps=("distances.surfacedistances.DirectedDistances.farthest",),
    ),
    Definition(
        key="UnderMax", title="Largest under-contouring", family="signed", source=OURS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Largest distance of the test inside the reference; 0 when it is nowhere inside.",
        compute=lambda pair: largestOutside(pair, over=False),
        needs=(Workspace.signedDistances,),
        symmetric=False, heading="Under max.", identity=0,
        hint="One outlier determines it: choose it when every error counts.",
        formula=r"\mathrm{UnderMax} = \max\left(0, \; -\min_{x \in E} s(x)\right)",
        code="families.signed.formulas.largest",
        steps=("distances.surfacedistances.DirectedDistances.farthest",),
    ),
    Definition(
        key="OverVolume", title="Over-contoured volume", family="signed", source=OURS,
        unit="mm3", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Volume that the test has outside the reference, counted in voxels.",
        compute=lambda pair: volumeOutside(pair, over=True),
        needs=(Workspace.crispCounts,),
        symmetric=False, heading="Over vol.", identity=0,
        areaTitle="Over-contoured area",
        areaDescription="Area that the test has outside the reference, counted in voxels.",
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{OverVolume} = v \, \mathrm{FP}",
        code="families.signed.ofpair.volumeOutside",
        steps=("comparison.counts.count",),
    ),
    Definition(
        key="UnderVolume", title="Under-contoured volume", family="signed", source=OURS,
        unit="mm3", low=0, high=math.inf, better="lower", empty=Empty.COMPUTED,
        description="Volume of the reference that the test leaves out, counted in voxels.",
        compute=lambda pair: volumeOutside(pair, over=False),
        needs=(Workspace.crispCounts,),
        symmetric=False, heading="Under vol.", identity=0,
        areaTitle="Under-contoured area",
        areaDescription="Area of the reference that the test leaves out, counted in voxels.",
        hint="Grows with the structure: compare it between tests of one reference.",
        formula=r"\mathrm{UnderVolume} = v \, \mathrm{FN}",
        code="families.signed.ofpair.volumeOutside",
        steps=("comparison.counts.count",),
    ),
    *_towardSides(
        kind="Mean", title="Signed mean", field="mean",
        description="Mean signed distance of the boundary that faces {}: positive where the test lies outside the "
        "reference.",
        formula=r"\frac{1}{\lvert E_k \rvert} \int_{E_k} s(x) \, dx",
    ),
    *_towardSides(
        kind="Max", title="Largest signed distance", field="largest",
        description="Largest over-contouring of the boundary that faces {}; negative when the test lies inside the "
        "reference everywhere there.",
        formula=r"\max_{x \in E_k} s(x)",
    ),
    *_towardSides(
        kind="Min", title="Smallest signed distance", field="smallest",
        description="Largest under-contouring of the boundary that faces {}, as a negative number; positive when the "
        "test lies outside the reference everywhere there.",
        formula=r"\min_{x \in E_k} s(x)",
    ),
)  # fmt: skip

"""The registry's entries of the dose family."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ...comparison.definitions import OURS, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas
from .ofpair import bothOf, curvesOf, doseVolumeOf, partOf

ICRU = "ICRU Report 83, doi:10.1093/jicru_ndq002"
# Suffixes of keys, and whose number it is: of the reference, of the test, or of the test minus that of the reference.
REFERENCE, TEST, DIFFERENCE = "Reference", "Test", "Difference"


def _compute(ask: Callable[..., float], suffix: str) -> Callable[..., float]:
    """Return the function of a pair, and of a parameter if there is one, for one of the suffixes."""

    def compute(pair: Workspace, **parameter: float) -> float:
        value = tuple(parameter.values())
        if suffix == DIFFERENCE:
            return formulas.difference(pair.once(bothOf), ask, *value)
        return ask(pair.once(doseVolumeOf, int(suffix == TEST)), *value)

    return compute


def _ofBoth(
    ask: Callable[..., float],
    name: str,
    title: str,
    unit: str,
    description: str,
    hint: str,
    formula: str,
    trend: str = "",
) -> tuple[Definition, ...]:
    """Return the entries of a number of the reference, of the test, and of their difference.

    description: of the number of one structure, which is called {it}.
    """
    whole = 1 if unit == "" else math.inf
    words = {REFERENCE: ("of the reference", "the reference"), TEST: ("of the test", "the test")}
    code = f"families.dose.formulas.{ask.__name__}"
    symbol = formula.partition(" = ")[0]
    changed = rf"{symbol.partition('_')[0]}_\Delta"
    common = partial(
        Definition, family="dose", source=ICRU, unit=unit, better="", needs=(doseVolumeOf, bothOf, curvesOf),
        symmetric=False, hint=hint,
    )  # fmt: skip
    single = [
        common(
            key=f"{name}{suffix}", title=f"{title} {of}", low=0, high=whole, empty=Empty.COMPUTED, identity=None,
            description=description.format(it=it, **KEPT), compute=_compute(ask, suffix), trend=trend,
            formula=formula, code=code, steps=("families.dose.ofpair.doseVolumeOf",),
        )
        for suffix, (of, it) in words.items()
    ]  # fmt: skip
    return (
        *single,
        common(
            key=f"{name}{DIFFERENCE}", title=f"{title}, test minus reference", low=-whole, high=whole,
            empty=Empty.COMPUTED, identity=0,
            description=f"{title} of the test, minus that of the reference; the plan was made for one of the two.",
            heading=f"{name} diff.", compute=_compute(ask, DIFFERENCE), trend="any" if trend else "",
            isMain=name in MAIN,
            formula=rf"{changed} = {symbol}(B) - {symbol}(A)",
            code="families.dose.formulas.difference", steps=(code,),
        ),
    )  # fmt: skip


# Parameters stay in descriptions until their values are known.
KEPT = {name: f"{{{name}}}" for name in ("dosePercent", "doseVolume", "doseLevel")}
MAIN = ("Dmean", "D{dosePercent}")

DOSE = (
    *_ofBoth(
        formulas.meanDose, "Dmean", "Mean dose", "Gy", "Mean dose in {it}.",
        "For organs that lose function part by part, such as salivary glands and lungs.",
        r"\mathrm{Dmean} = \frac{1}{\lvert S \rvert} \int_S D(x) \, dx",
    ),
    *_ofBoth(
        formulas.maximumDose, "Dmax", "Maximum dose", "Gy", "Largest dose in {it}.",
        "Of a single point: D0.03cc is what protocols limit.",
        r"\mathrm{Dmax} = \max_{x \in S} D(x)",
    ),
    *_ofBoth(
        formulas.minimumDose, "Dmin", "Minimum dose", "Gy", "Smallest dose in {it}.",
        "Of a single point: D98 is what protocols ask for.",
        r"\mathrm{Dmin} = \min_{x \in S} D(x)",
    ),
    *_ofBoth(
        formulas.doseOfShare, "D{dosePercent}", "D{dosePercent}", "Gy",
        "Dose that is reached in {dosePercent} % of the volume of {it}.",
        "Targets are judged by D95 and D98, and what they receive too much by D2.",
        r"\mathrm{D}_x = \max \lbrace d : V(d) \geq x \, \% \rbrace", "any",
    ),
    *_ofBoth(
        formulas.doseOfVolume, "D{doseVolume}cc", "D{doseVolume}cc", "Gy",
        "Dose that is reached in the hottest {doseVolume} cm3 of {it}.",
        "For organs that a small volume of high dose damages, such as the spinal cord.",
        r"\mathrm{D}_v = \max \lbrace d : V(d) \geq v \rbrace", "any",
    ),
    *_ofBoth(
        formulas.shareOfDose, "V{doseLevel}Gy", "V{doseLevel}Gy", "",
        "Share of the volume of {it} that receives at least {doseLevel} Gy.",
        "For organs whose tolerance depends on the volume, such as V20Gy of the lungs.",
        r"\mathrm{V}_d = \frac{\lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert}{\lvert S \rvert}", "any",
    ),
    *_ofBoth(
        formulas.volumeOfDose, "V{doseLevel}Gycc", "V{doseLevel}Gy in cm3", "cm3",
        "Volume in cm3 of {it} that receives at least {doseLevel} Gy.",
        "Unlike the share it does not depend on where the structure ends.",
        r"\mathrm{V}_d = \lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert", "any",
    ),
    *(
        Definition(
            key=f"{name}{suffix}", title=f"{title} of what {what}", family="dose", source=OURS,
            unit="Gy", low=0, high=math.inf, better="", empty=Empty.COMPUTED, identity=None,
            description=f"{title} of the part that {what}.",
            compute=lambda pair, ask=ask, number=number: ask(pair.once(partOf, number)),
            needs=(partOf,), symmetric=False, hint=hint,
            formula=rf"\mathrm{{{name}{suffix}}} = \mathrm{{{name}}}({part})",
            code=f"families.dose.formulas.{ask.__name__}", steps=("families.dose.ofpair.partOf",),
        )
        for number, suffix, what, part, hint in (
            (1, "Over", "only the test has", r"B \setminus A", "For an organ at risk: dose that is not its own."),
            (0, "Under", "the test misses", r"A \setminus B", "For an organ at risk: dose that nobody saw."),
        )
        for ask, name, title in (
            (formulas.meanDose, "Dmean", "Mean dose"),
            (formulas.maximumDose, "Dmax", "Maximum dose"),
        )
    ),
)  # fmt: skip

"""Every measurement has a formula, and the page of formulas is that of today."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import fields
from functools import cache

import formulas
import numpy as np
import pytest
import shapes
import SimpleITK
from sharedpairs import doseAround
from tiers import throughout

from SegmentMetricsLib import Settings, compareLabels
from SegmentMetricsLib.case.given import asStructure
from SegmentMetricsLib.metrics.measurement import measure
from SegmentMetricsLib.metrics.pair import Pair
from SegmentMetricsLib.metrics.registry import MULTI_LABEL, REGISTRY

# What is measured by slices, by sides and by levels is not the same for both, and nothing is alike by chance.
ODD = {
    "tolerances": 0.8,
    "percentiles": 71.3,
    "betas": 0.7,
    "quantiles": 0.83,
    "dosePercents": 31.7,
    "doseLevels": 30.3,
}
SETTINGS = Settings(families=("all", "dose"), il=0.4, panopticOverlap=0.1, **ODD)
TEXT = formulas.PAGE.read_text(encoding="utf-8")
EVERY = (*REGISTRY, *MULTI_LABEL)


@cache
def images() -> list[SimpleITK.Image]:
    """Return a reference, a test and a critical structure: ellipsoids that overlap in part, one contour in a slice."""
    k, j, i = np.indices((9, 14, 15))
    places = (((6, 6, 4), (4.3, 4.1, 2.6)), ((7, 7.3, 4.4), (4.6, 3.2, 3.3)), ((10, 5, 4), (3.2, 4.2, 2.2)))
    ellipsoids = [((i - x) / a) ** 2 + ((j - y) / b) ** 2 + ((k - z) / c) ** 2 < 1 for (x, y, z), (a, b, c) in places]
    return [shapes.imageOf(ellipsoid, (1, 1.1, 2)) for ellipsoid in ellipsoids]


def bodyOf(code: str):
    """Return the compiled body of a function, method or property, told by its name in the library."""
    module, names = formulas.parts(code)
    found = importlib.import_module(f"SegmentMetricsLib.{module}")
    for name in names.split("."):
        found = inspect.getattr_static(found, name)
    return getattr(found, "fget", getattr(found, "func", found)).__code__


def measured(definition) -> tuple[float, dict]:
    """Return a measurement of structures that nobody has looked at before, and what its code returned, by body."""
    returned = {bodyOf(code): [] for code in (definition.code, *definition.steps)}

    def note(frame, event, value):
        if event == "return" and frame.f_code in returned:
            returned[frame.f_code].append(value)

    reference, test, critical = (asStructure(image, "A", None, SETTINGS) for image in images())
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        if definition in MULTI_LABEL:
            sides = ({"One": one, "Other": other} for one, other in ((reference, critical), (test, reference)))
            found = compareLabels(*sides, SETTINGS, weights={"One": 3.0})[definition.key]
        else:
            pair = Pair(reference, test, SETTINGS, {"Wall": critical}, dose=doseAround(images()[0]))
            found = measure(pair, definition.ask(SETTINGS)[0])
    finally:
        sys.setprofile(before)
    return found.value, returned


@throughout("definition", EVERY, lambda definition: definition.key)
class TestEveryDefinition:
    def testHasAFormula(self, definition):
        """One that says what it is equal to, whose brackets are closed, and that GitHub shows."""
        formula = definition.formula
        name = re.match(r"\\mathrm\{(\w+)\}(_\\?\w+)? = ", formula)
        assert name and definition.key.startswith(name[1])
        for opening, closing in ((r"\{", r"\}"), (r"\(", r"\)"), (r"\\left\b", r"\\right\b"), (r"\\lvert", r"\\rvert")):
            assert len(re.findall(opening, formula)) == len(re.findall(closing, formula)), opening
        # GitHub refuses the first one, and takes a bar for the end of a table's cell
        assert not re.search(r"\\operatorname|\||\$|\n", formula)

    def testParametersAreInTheFormula(self, definition):
        letters = {"percentile": "_p", "tolerance": r"_\tau", "beta": r"_\beta", "quantile": "_q"}
        for parameter, letter in letters.items():
            isThere = re.match(r"\\mathrm\{\w+\}" + re.escape(letter) + " ", definition.formula)
            assert (f"{{{parameter}}}" in definition.key) == bool(isThere)

    def testItsCodeReturnsTheMeasurement(self, definition):
        """Whoever follows the link sees the arithmetic: nothing is added to what the function returns."""
        value, returned = measured(definition)
        # functions of metrics return a number alone, with those of both directions, or with a place
        numbers = [float(one[0] if isinstance(one, tuple) else one) for one in returned[bodyOf(definition.code)]]
        assert np.isfinite(value) and value in numbers, f"{definition.code} returns another number"
        assert all(returned.values()), "some steps are not taken"

    def testItsSettingsAreNamed(self, definition):
        """Beside every symbol of the formula that a setting decides."""
        symbols = dict(definition.symbols)
        assert all(symbol in definition.formula for symbol in symbols)
        assert {name for names in symbols.values() for name in names} <= {field.name for field in fields(Settings)}
        settled = (r"\lambda", r"\alpha", "w_i", "l_t", "a_l", "P_0", r"\mathrm{TP}_t")
        decided = {symbol for symbol in settled if symbol in definition.formula}
        assert set(symbols) == decided
        told = formulas.settings(definition)
        assert f"*Settings:* {told}\n" in TEXT if told else not symbols and not definition.trend


@pytest.mark.parametrize("page", formulas.GENERATED, ids=lambda page: page.stem)
def testPagesAreUpToDate(page):
    assert formulas.updated(page) == page.read_text(encoding="utf-8"), "run python Testing/docs/formulas.py"


def testCommandsTakeTheSameSettings():
    """Those of the page, and the stress test those of its family."""
    whole, *others = map(formulas.helpOf, formulas.COMMANDS)
    assert all(other | {formulas.FURTHER: whole[formulas.FURTHER]} == whole for other in others)
    ((family, told),) = formulas.helpOf("stress").items()
    assert told and told.items() < whole[family].items()


def testACodeIsOfOneMeasurement():
    text = formulas.CODES.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    keys, codes, schemes, meanings, units = zip(*rows)
    assert len(set(keys)) == len(EVERY) == len(set(zip(codes, schemes))) and all(meanings)
    assert all(len(code) <= 16 for code in codes) and set(schemes) == {"99SEGMENTMETRICS", "IBSI"}
    # the grammar of UCUM, for lengths, areas, volumes, doses, information, shares and annotations
    assert all(re.fullmatch(r"`(1|%|[cm]?m[23]?|Gy|bit|\{[!-z]+\})`", unit) for unit in units)


def testEveryFormulaHasOneHeading():
    kinds = formulas.kinds()
    assert sum(map(len, kinds)) == len(EVERY)
    anchors = [formulas.anchor(kind) for kind in kinds]
    assert len(set(anchors)) == len(anchors) == len(re.findall("^### ", TEXT, re.M))
    measurements = (formulas.PAGE.parent / "measurements.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(formulas\.md#([^)]+)\)", measurements)
    assert len(linked) == len(formulas.kinds(["boundary", "signed", "overlap"])) and set(linked) <= set(anchors)


def testSymbolsAreExplained():
    """Every Greek letter of the formulas is in the part on symbols."""
    explained = TEXT.split("## Symbols")[1].split("<!-- formulas -->")[0]
    for definition in EVERY:
        greek = set(re.findall(r"\\(tau|beta|lambda|alpha|varepsilon|nu|mu|partial)\b", definition.formula))
        assert all(f"\\{letter}" in explained for letter in greek), definition.key


def testFormulasInSentencesAreShownOnGitHub():
    """There Markdown takes a backslash before a sign for itself, and a bar for the end of a table's cell."""
    sentences = re.sub(r"^```math\n.*?^```$", "", TEXT, flags=re.M | re.S)
    inline = re.findall(r"\$([^$\n]+)\$", sentences)
    assert len(inline) > 50 and sentences.count("$") == 2 * len(inline)
    assert not [formula for formula in inline if re.search(r"\\[^A-Za-z]|\||^ | $", formula)]

"""Every measurement has a formula, and the page of formulas is that of today."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property

import formulas
import pytest

from SegmentMetricsLib.registry import MULTI_LABEL, REGISTRY

TEXT = formulas.PAGE.read_text(encoding="utf-8")
EVERY = (*REGISTRY, *MULTI_LABEL)


@pytest.mark.parametrize("definition", EVERY, ids=lambda definition: definition.key)
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
            assert (f"{{{parameter}}}" in definition.key) == bool(
                re.match(r"\\mathrm\{\w+\}" + re.escape(letter) + " ", definition.formula)
            )

    def testItsCodeIsThere(self, definition):
        module, names = formulas.parts(definition.code)
        found = importlib.import_module(f"SegmentMetricsLib.{module}")
        for name in names.split("."):
            found = inspect.getattr_static(found, name)
        assert callable(found) or isinstance(found, (property, cached_property))
        assert f"[`{names}`](../SegmentMetricsLib/{module.replace('.', '/')}.py)" in TEXT

    def testItIsOnThePage(self, definition):
        kind = next(kind for kind in formulas.kinds() if definition in kind)
        section = TEXT.split(f"### {formulas.heading(kind)}\n")[1].split("\n#")[0]
        key = definition.keyFor(formulas.EXAMPLES)
        assert formulas.heading(kind).startswith(f"{key}: ") if len(kind) == 1 else f"`{key}`" in section
        assert all(line in section for line in definition.formula.split(r" \\ "))
        assert definition.empty.value in section and definition.source in section and definition.deviation in section


def testThePageIsUpToDate():
    assert formulas.updated(TEXT) == TEXT, "run python Testing/formulas.py"


def testEveryFormulaHasOneHeading():
    kinds = formulas.kinds()
    assert sum(map(len, kinds)) == len(EVERY)
    anchors = [formulas.anchor(kind) for kind in kinds]
    assert len(set(anchors)) == len(anchors) == len(re.findall("^### ", TEXT, re.M))
    readme = (formulas.PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"docs/formulas\.md#([^)]+)\)", readme)
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


def testTextsAreMerged():
    assert formulas.merged(["one text"]) == "one text"
    assert formulas.merged(["toward right", "toward left side"]) == "toward right / left side"
    assert formulas.merged(["mean, a side", "mean, b side", "mean, c side", "mean, d side"]) == "mean, a … d side"
    assert formulas.merged(["all labels", "all labels, weighted"]) == "all labels"


def testSourcesAreLinks():
    assert formulas.source("A, arXiv:1234.5678") == "[A, arXiv:1234.5678](https://arxiv.org/abs/1234.5678)"
    assert formulas.source("B, doi:10.1/x") == "[B, doi:10.1/x](https://doi.org/10.1/x)"
    assert formulas.source("SegmentMetrics") == "SegmentMetrics"


def testAPageWithoutItsPartIsRefused():
    with pytest.raises(ValueError, match="no part 'overview'"):
        formulas.updated("nothing")

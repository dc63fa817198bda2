"""The sentences of the library and of the panel, as one text that is reviewed as a diff.

Findings are listed by their kinds, refusals and remarks as they stand in the code, with {} where a value goes, and the
reasons of verdicts as they are made for values around the limits of every relation, for empty structures and for those
that were not measured. Other tests name kinds and keys. `python Testing/golden/phrasebook.py` writes the text.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from SegmentMetricsLib import compare
from SegmentMetricsLib.base.errors import Cause
from SegmentMetricsLib.case.protocol.judgment import judge, judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.metrics.findings import Kind

SOURCES = [Path(__file__).parents[2] / name for name in ("SegmentMetricsLib", "SegmentMetrics")]
PHRASEBOOK = Path(__file__).with_suffix(".txt")
# Fewest words of a text that is taken for a sentence.
FEWEST_WORDS = 4
RULES = """Structure,Measurement,Relation,Pass,Warn,Convention
Mask,HD95,<=,3,5
Mask,HD95,<,3,
Mask,DSC,>=,0.9,0.8
Mask,DSC,>,0.9,
Mask,SignedMean,within,1,2
Cord,HD95,<=,3,,MONAI
"""


@functools.cache
def text() -> str:
    """Return the phrasebook."""
    refusals, remarks = set(), set()
    for path in sorted(path for folder in SOURCES for path in folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        refused = {node for one in ast.walk(tree) if isinstance(one, ast.Raise) for node in ast.walk(one)}
        for node, sentence in sentencesOf(tree):
            (refusals if node in refused else remarks).add(sentence)
    kinds = [f"{kind.name} ({kind.severity.name}): {' '.join(kind.sentences)}" for kind in Kind]
    causes = [f"{cause.name}: {cause.value}" for cause in Cause]
    known = {sentence for kind in (*Kind, *Cause) for sentence in kind.sentences}
    parts = {
        "Findings by kind": kinds,
        "Causes of numbers without a value": causes,
        "Verdicts": verdicts(),
        "Refusals": sorted(refusals),
        "Remarks, reasons, headings and hints": sorted(remarks - known - refusals),
    }
    return "\n".join(f"# {title}\n\n" + "\n".join(lines) + "\n" for title, lines in parts.items())


def sentencesOf(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield the texts of several words in a module, but docstrings, with {} for values."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [*ast.walk(tree)]
    apart = {node.body[0].value for node in nodes if isinstance(node, documented) and ast.get_docstring(node)}
    apart |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            said = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in apart:
            said = node.value
        else:
            continue
        said = said.strip("\n")
        if len(said.split()) >= FEWEST_WORDS and said.isprintable():
            yield node, said


def verdicts() -> list[str]:
    """Return the reasons of verdicts: for every relation values that pass, warn and fail, and without any number."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    import shapes

    reference, test = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))
    comparison, protocol, found = compare(reference, test), parseProtocol(RULES, "phrasebook"), []
    for rule in protocol.rules:
        given, empty = comparison[rule.measurement], "the test is empty"
        values = {-math.inf, rule.limit, rule.limit * 2, rule.limit / 2, math.inf, math.nan, rule.warning or rule.limit}
        for value in sorted(values, key=lambda value: (math.isnan(value), value)):
            reason = "" if math.isfinite(value) else empty
            found.append(judge("Mask", rule, dataclasses.replace(given, value=value, reason=reason)))
        ofNothing = [dataclasses.replace(given, value=value, empty=empty) for value in (0.0, rule.limit * 3)]
        found += [judge("Mask", rule, one) for one in (*ofNothing, None)]
    found += judgeCase(protocol, [], {"reference": ["Mask"]}).verdicts
    found += judgeCase(protocol, [], {}, failures={"Mask": "It is damaged."}).verdicts[:1]
    lines = [f"{one.rule.measurement} {one.rule.relation}: {one.verdict}: {one.reason}" for one in found]
    return list(dict.fromkeys(lines))


if __name__ == "__main__":
    PHRASEBOOK.write_text(text(), encoding="utf-8")

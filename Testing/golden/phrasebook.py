"""The sentences that the library says, as one text that is reviewed as a diff: `python Testing/golden/phrasebook.py`.

Findings are listed by their kinds, refusals and remarks as they stand in the code, with {} where a value goes, and the
reasons of verdicts as they are made for values around the limits of every relation. Other tests name kinds and keys.
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
from SegmentMetricsLib.case.protocol.judgment import judge
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.metrics.findings import Kind

LIBRARY = Path(__file__).parents[2] / "SegmentMetricsLib"
PHRASEBOOK = Path(__file__).with_suffix(".txt")
# Fewest words of a text that is taken for a sentence.
FEWEST_WORDS = 4
RULES = """Structure,Measurement,Relation,Pass,Warn
Mask,HD95,<=,3,5
Mask,HD95,<,3,
Mask,DSC,>=,0.9,0.8
Mask,DSC,>,0.9,
Mask,SignedMean,within,1,2
"""


@functools.cache
def text() -> str:
    """Return the phrasebook."""
    refusals, remarks = set(), set()
    for path in sorted(LIBRARY.rglob("*.py")):
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
    apart |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            said = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in apart:
            said = node.value
        else:
            continue
        if len(said.split()) >= FEWEST_WORDS and said.isprintable():
            yield node, said


def verdicts() -> list[str]:
    """Return the reasons of verdicts: for every relation a value that passes, one that fails, and no number at all."""
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    import shapes

    reference, test = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))
    comparison, lines = compare(reference, test), []
    for rule in parseProtocol(RULES, "phrasebook").rules:
        given = comparison[rule.measurement]
        values = {rule.limit, rule.limit * 2, rule.limit / 2, math.inf, math.nan, rule.warning or rule.limit}
        for value in sorted(values, key=lambda value: (math.isnan(value), value)):
            reason = "" if math.isfinite(value) else "the test is empty"
            made = dataclasses.replace(given, value=value, reason=reason)
            found = judge("Mask", rule, made)
            lines.append(f"{rule.measurement} {rule.relation}: {found.verdict}: {found.reason}")
        for reason in ("", "the test has no such structure"):
            found = judge("Mask", rule, None, reason=reason)
            lines.append(f"{rule.measurement} {rule.relation}: {found.verdict}: {found.reason}")
    return lines


if __name__ == "__main__":
    PHRASEBOOK.write_text(text(), encoding="utf-8")

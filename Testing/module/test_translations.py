"""Slicer finds the texts of the module that are to be translated.

Its Utilities/Scripts/update_translations.py does not read Python: before Qt's lupdate looks for texts, it replaces each
`_(`, a text and `)` by a call of translate(), from the first quote to the next one of that kind before a `)`. Texts in
braces of an f-string get quotes in quotes that way, and one whose last literal has other quotes than its first runs on
into the next text.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tiers import throughout

MODULE = Path(__file__).parents[2] / "SegmentMetrics"
FILES = [*sorted(MODULE.rglob("*.py")), MODULE.parent / "SegmentMetricsLib" / "settings" / "settings.py"]


def extracted(code: str) -> str:
    """Return code as lupdate gets it: with translate("Context", ...) in the place of _(...)."""
    for quote in ('"', "'", '"""', "'''"):
        call = re.compile(rf"(?<=[^_])_\((?P<text>\s*{quote}.+?{quote}\s*)\)", re.DOTALL)
        code = call.sub(lambda found: f'translate("Context", {found["text"]})', code)
    return code


def texts(code: str, *start: str) -> list[str]:
    """Return the last argument of all calls that begin so, such as a function's name and a first argument, sorted."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    written = [list(map(ast.unparse, (call.func, *call.args))) for call in calls]
    return sorted(words[-1] for words in written if words[:-1] == list(start))


def problems(code: str) -> list[str]:
    """Return why texts of code are not found, [] if all are."""
    formatted = [ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.JoinedStr)]
    # quotes in quotes of the same kind are allowed from Python 3.12 on, but not everywhere where texts are looked for
    found = [f"inside an f-string: {text}" for text in formatted if texts(text, "_")]
    try:
        patched = extracted(code)
        there = texts(patched, "translate", "'Context'")
    except SyntaxError as error:
        return [*found, f"no longer Python: {error}"]
    found += [f"not found: {text}" for text in texts(patched, "_")]
    return found if there == texts(code, "_") else [*found, f"found otherwise than it is: {there}"]


@throughout("path", FILES)
def testAllTextsAreFound(path):
    assert problems(path.read_text(encoding="utf-8")) == []

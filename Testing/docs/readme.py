"""Bring the generated parts of the README and of the page on measurements up to date: `python Testing/docs/readme.py`.

A generated part stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import formulas
from pages import inFolder, segmentMetrics

from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

README = Path(__file__).parents[2] / "README.md"
MEASUREMENTS = README.parent / "docs" / "measurements.md"


def demo() -> str:
    """Return what the first command prints, in a fenced block behind the command itself."""
    with tempfile.TemporaryDirectory() as folder, inFolder(Path(folder)):
        return f"```console\n$ segment-metrics demo\n{segmentMetrics('segment-metrics demo').rstrip()}\n```"


def registryTable() -> str:
    """Return the measurements of the default families as a Markdown table; what has one formula shares a row."""
    rows = ["| key | name | unit | range | better | empty | source |", "|---|---|---|---|---|---|---|"]
    for kind in formulas.kinds(DEFAULT_FAMILIES):
        name = f"[{formulas.title(kind, '*')}](formulas.md#{formulas.anchor(kind)})"
        shown = " ".join(f"`{key}`" for key in formulas.keys(kind))
        rows.append(f"| {' | '.join((shown, name, *formulas.facts(kind[0]), kind[0].source))} |")
    return "\n".join(rows)


def updated(path: Path) -> str:
    """Return the text of one of the two files with its generated parts made anew."""
    parts = {"demo": demo()} if path == README else {"metrics": registryTable()}
    return formulas.replaced(path.read_text(encoding="utf-8"), parts)


if __name__ == "__main__":
    for path in (README, MEASUREMENTS):
        path.write_text(updated(path), encoding="utf-8")

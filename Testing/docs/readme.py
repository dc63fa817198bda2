"""Bring the generated parts of the README up to date, by `python Testing/docs/readme.py`.

A generated part stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from pathlib import Path

import formulas
from pages import inFolder

from SegmentMetricsLib import __main__
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

README = Path(__file__).parents[2] / "README.md"


def printed(command: str, folder: Path) -> str:
    """Return what a command line prints when it is run in a folder, in a fenced block behind the command itself."""
    output = io.StringIO()
    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    with inFolder(folder), contextlib.redirect_stdout(output):
        status = __main__.main(arguments)
    if status:
        raise RuntimeError(f"{command} ended with {status}.")
    return f"```console\n$ {command}\n{output.getvalue().rstrip()}\n```"


def parts() -> dict[str, str]:
    """Return the generated parts by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = printed("segment-metrics demo", folder)
        compare = printed(
            "segment-metrics compare segment-metrics-demo/observer1.seg.nrrd \\\n"
            "      segment-metrics-demo/observer2.seg.nrrd --structure Parotid_L \\\n"
            "      --tolerance 2 --tolerance 3 --output parotid",
            folder,
        )
    return {"demo": demo, "compare": compare, "metrics": registryTable()}


def registryTable() -> str:
    """Return the measurements of the default families as a Markdown table; what has one formula shares a row."""
    rows = ["| key | name | unit | range | better | empty | source |", "|---|---|---|---|---|---|---|"]
    for kind in formulas.kinds(DEFAULT_FAMILIES):
        name = f"[{formulas.title(kind, '*')}](docs/formulas.md#{formulas.anchor(kind)})"
        shown = " ".join(f"`{key}`" for key in formulas.keys(kind))
        rows.append(f"| {' | '.join((shown, name, *formulas.facts(kind[0]), kind[0].source))} |")
    return "\n".join(rows)


def updated(text: str) -> str:
    """Return the README's text with its generated parts made anew."""
    return formulas.replaced(text, parts())


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")

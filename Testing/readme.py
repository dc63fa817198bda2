"""Bring the generated parts of the README up to date, by `python Testing/readme.py`.

A generated part stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from pathlib import Path

from pages import inFolder

from SegmentMetricsLib import __main__
from SegmentMetricsLib.registry import MULTI_LABEL, REGISTRY
from SegmentMetricsLib.settings import shortest

README = Path(__file__).parents[1] / "README.md"


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
    """Return all measurements of the registry as a Markdown table."""
    rows = ["| key | name | unit | range | better | empty | source |", "|---|---|---|---|---|---|---|"]
    for definition in (*REGISTRY, *MULTI_LABEL):
        low, high = (shortest(limit).replace("inf", "∞") for limit in (definition.low, definition.high))
        placeholders = {"percentile": "*p*", "tolerance": "*τ*", "beta": "*β*", "quantile": "*q*"}
        key = definition.keyFor({"percentile": "95", "tolerance": "2"})
        cells = (
            f"`{key}`",
            definition.title.format(**placeholders),
            definition.unit or "fraction",
            f"{low} to {high}",
            definition.better or "neither",
            definition.empty.value,
            definition.source,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def updated(text: str) -> str:
    """Return the README's text with its generated parts made anew."""
    for name, content in parts().items():
        pattern = re.compile(rf"(<!-- {name} -->\n)(?:.*?\n)??(<!-- /{name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"README.md has no part {name!r}.")
        text = pattern.sub(lambda found, content=content: f"{found[1]}{content}\n{found[2]}", text)
    return text


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")

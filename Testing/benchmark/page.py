"""Makes the documentation's page about performance, and its charts, from what run.py has measured.

    python Testing/benchmark/page.py BENCHMARK.json [FOLDER]

FOLDER is docs when it is left out. The words are in page.md; no number of the page is written by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from string import Template

import charts

HOME = Path(__file__).parent
DOCUMENTATION = HOME.parents[1] / "docs"
OURS = "SegmentMetrics"
SHOWN_ERRORS = {"HD95": "mm", "MASD": "mm", "NSD_2mm": "%pt"}
# Files of the charts.
PICTURES = ("performance_times.svg", *(f"performance_{key}.svg" for key in SHOWN_ERRORS))
NOT_MEASURED = "Not measured in this run."
SCALES = {"mm": 1.0, "%pt": 100.0}
# Errors below this are drawn as large: what rounding leaves.
LEAST_ERROR = {"mm": 1e-4, "%pt": 1e-2}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page from a file."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    folder = Path(given[1]) if len(given) > 1 else DOCUMENTATION
    write(json.loads(Path(given[0]).read_text("utf-8")), folder)


def write(result: dict, folder: Path) -> None:
    """Write performance.md and its charts into a folder."""
    pictures = {PICTURES[0]: timesChart(result["cases"][0])}
    count = sum(len(case["pairs"]) for case in result["cases"])
    for key, unit in SHOWN_ERRORS.items():
        title = f"{key}: mean error of {count} pair{'s' * (count != 1)}"
        pictures[f"performance_{key}.svg"] = charts.bars(title, unit, errorRows(result["cases"], key))
    for name, drawn in pictures.items():
        (folder / name).write_text(drawn, "utf-8")
    (folder / "performance.md").write_text(pageOf(result), "utf-8")


def pageOf(result: dict) -> str:
    """Return the page."""
    import run
    from peers import ON_MESHES, SAME_NUMBERS

    first, machine = result["cases"][0], result["machine"]
    values = {
        "machine": f"{machine['cores']} processor cores, {machine['system']}, Python {machine['python']}",
        "load": "" if machine["load"] is None else f" (load before: {machine['load']})",
        "rounds": result["rounds"],
        "case": f"{first['name']}, {first['triangles']:,} triangles",
        "overview": "\n".join(overview(result["cases"])),
        "comparison": comparisonOf(first),
        "times": f"![Times]({PICTURES[0]})",
        "errors": "\n".join(f"![Errors]({name})" for name in PICTURES[1:]),
        "presets": sideBySide(result["cases"], SAME_NUMBERS),
        "meshes": sideBySide(result["cases"], ON_MESHES),
        "tables": "\n\n".join(
            f"### {case['name']}: {case['triangles']:,} triangles\n\n" + "\n".join(run.timeTable(case))
            for case in result["cases"]
        ),
        "wholeSet": wholeSetOf(result.get("wholeSet")),
        "startUp": "\n".join(run.table(("process", "ms"), run.startUpRows(result["startUp"]))),
        "growth": growthOf(result.get("growth")),
        "notes": run.notes(result["rounds"]),
    }
    return Template((HOME / "page.md").read_text("utf-8")).substitute(values)


def overview(cases: Sequence[dict]) -> list[str]:
    """Return one table of the tools: seconds of each case, and of a small pair, and how far numbers are off."""
    import run

    errors = {key: dict(row[:2] for row in errorRows(cases, key)) for key in SHOWN_ERRORS}
    head = ["tool", *(f"{case['name']}, s" for case in cases), "a small structure, ms"]
    head += [f"{key} off by, {unit}" for key, unit in SHOWN_ERRORS.items()]
    rows = []
    for name in comparedTools(cases):
        tools = [case["tools"][name] for case in cases]
        small = [t["warmPairs"][n] for case, t in zip(cases, tools, strict=True) for n in run.smallPairs(case)]
        times = [*(f"{tool['warm']:.2g}" for tool in tools), f"{1000 * median(small):.2g}" if small else ""]
        rows.append([name, *times, *(f"{found[name]:.2g}" if name in found else "" for found in errors.values())])
    return run.table(head, rows)


def comparedTools(cases: Sequence[dict]) -> list[str]:
    """Return the tools that measure masks, and of ours only what corresponds to the others."""
    from peers import OURS_OF_MORE

    return [name for name in cases[0]["tools"] if "meshes" not in name and name not in OURS_OF_MORE]


def comparisonOf(case: dict) -> str:
    """Return how many times as long as ours the others take, as the items of a list."""
    lines = []
    for name, tool in case["tools"].items():
        if not name.startswith(OURS) and "meshes" not in name:
            lines.append(f"- {name}: {times(tool['warmRatio'])} as long as ours, ")
            lines[-1] += f"{times(tool['warmRatioWithoutBands'])} as long as ours without BIoU"
    return "\n".join(lines) or "No other tool was installed."


def times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 9.5 else f"{ratio:.1f} times"


def sideBySide(cases: Sequence[dict], names: tuple[str, str]) -> str:
    """Return how many times as long the other one of two tools takes, ours first, case by case, as a list."""
    lines = []
    for case in cases:
        if all(name in case["tools"] for name in names):
            ours, theirs = (case["tools"][name]["warm"] for name in names)
            lines.append(f"- {case['name']}: {times(theirs / ours)} as long ({1000 * ours:.0f} ms ours)")
    return "\n".join(lines) or "pymeshmetrics was not installed."


def wholeSetOf(found: dict | None) -> str:
    """Return what a whole structure set takes from the command line, in words and as a table."""
    import run
    import wholeset

    if not found:
        return NOT_MEASURED
    rounds = max(len(taken["rounds"]) for taken in found["commands"].values())
    lines = run.table(wholeset.COLUMNS, wholeset.rows(found))
    return f"Of {wholeset.described(found)}, medians of {rounds} rounds:\n\n" + "\n".join(lines)


def growthOf(rows: Sequence[dict] | None) -> str:
    import growth

    return NOT_MEASURED if not rows else "\n".join([*growth.inWords(rows), "", *growth.table(rows)])


def timesChart(case: dict) -> str:
    """Return a chart of the processor times of a case."""
    rows = [(name, tool["warm"], name.startswith(OURS)) for name, tool in case["tools"].items()]
    return charts.bars(f"{case['name']}: processor time", "s", sorted(rows, key=lambda row: row[1]))


def errorRows(cases: Sequence[dict], key: str) -> list[tuple[str, float, bool]]:
    """Return the mean error over all pairs of every tool that measures a key, the smallest first."""
    unit = SHOWN_ERRORS[key]
    truths = [truth[key][0] for case in cases for truth in case["truths"]]
    rows = []
    for name in comparedTools(cases):
        found = [values.get(key) for case in cases for values in case["tools"][name]["values"]]
        if None not in found:
            error = mean(abs(value - true) for value, true in zip(found, truths, strict=True))
            rows.append((name, max(error * SCALES[unit], LEAST_ERROR[unit]), name.startswith(OURS)))
    return sorted(rows, key=lambda row: row[1])


if __name__ == "__main__":
    main()

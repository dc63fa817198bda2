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

import measure
import numpy as np
import pairs
import tools

HOME = Path(__file__).parent
DOCUMENTATION = HOME.parents[1] / "docs"
SHOWN_ERRORS = {"HD95": "mm", "MASD": "mm", "NSD_2mm": "%pt"}
# Files of the charts.
PICTURES = ("performance_times.svg", *(f"performance_{key}.svg" for key in SHOWN_ERRORS))
SCALES = {"mm": 1.0, "%pt": 100.0}
# Pairs of fewer triangles are small: what they take is calls, not work on arrays.
SMALL = 10_000
TIME_COLUMNS = ("tool", "warm ms", "ratio", "cold ms", "ratio", "MB")
NOTES = """\
Times are processor time of all pairs of a case, medians over {rounds} rounds, in each of which every tool takes its
turn on every pair. *Cold* is one first call in a fresh process, imports excluded, tables and caches included;
*warm* are later calls. *SegmentMetrics* alone is the families boundary and overlap, which contain what the others
measure; the default families add the signed one. *Ratio* is the time of a tool divided by that of *SegmentMetrics*:
the median of all rounds, so that other load on the machine cancels. *MB* is the peak of the first call's memory
beyond imports and images. Slow measurements are left out of cases of more than {most:,} triangles. All tools get
the same images or arrays, cropped to the pair's common box and {margin} voxels, before the clock starts.
"""


def write(result: dict, folder: Path) -> None:
    """Write performance.md and its charts into a folder."""
    first = result["cases"][0]
    rows = [(name, tool["warm"], name.startswith(tools.OURS)) for name, tool in first["tools"].items()]
    drawn = [(f"{first['name']}: processor time", "s", sorted(rows, key=lambda row: row[1]))]
    count = sum(len(case["pairs"]) for case in result["cases"])
    for key, unit in SHOWN_ERRORS.items():
        drawn.append((f"{key}: mean error of {count} pairs", unit, errorRows(result["cases"], key)))
    for name, chart in zip(PICTURES, drawn, strict=True):
        drawBars(folder / name, *chart)
    (folder / "performance.md").write_text(pageOf(result), "utf-8")


def drawBars(path: Path, title: str, unit: str, rows: Sequence[tuple[str, float, bool]]) -> None:
    """Draw a chart with a bar for each row: label, value, and whether it is ours."""
    from matplotlib import pyplot

    names, values, areOurs = zip(*rows[::-1])
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.name}):
        figure, axes = pyplot.subplots(figsize=(8, 1 + 0.28 * len(rows)), layout="constrained")
        bars = axes.barh(names, values, color=["#0072B2" if isOurs else "#8c959f" for isOurs in areOurs])
        axes.bar_label(bars, fmt=lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.3g}", padding=4)
        axes.margins(x=0.12)  # room for the number beside the longest bar
        axes.set_xlabel(unit)
        figure.suptitle(title)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def pageOf(result: dict) -> str:
    cases, machine, rounds = result["cases"], result["machine"], result["rounds"]
    startUp = [[f"`{name}`", f"{1000 * seconds:.0f}"] for name, seconds in result["startUp"].items()]
    values = {
        "machine": f"{machine['cores']} processor cores, {machine['system']}, Python {machine['python']}",
        "load": "" if machine["load"] is None else f" (load before: {machine['load']})",
        "rounds": rounds,
        "case": f"{cases[0]['name']}, {cases[0]['triangles']:,} triangles",
        "overview": overview(cases),
        "comparison": comparisonOf(cases[0]),
        "times": f"![Times]({PICTURES[0]})",
        "errors": "\n".join(f"![Errors]({name})" for name in PICTURES[1:]),
        "presets": sideBySide(cases, tools.SAME_NUMBERS),
        "meshes": sideBySide(cases, tools.ON_MESHES),
        "tables": "\n\n".join(map(timesOf, cases)),
        "wholeSet": wholeSetOf(result["wholeSet"]),
        "startUp": table(("process", "ms"), startUp),
        "growth": growthOf(result["growth"]),
        "notes": NOTES.format(rounds=rounds, most=tools.MOST_FOR_LONG, margin=pairs.MARGIN),
    }
    return Template((HOME / "page.md").read_text("utf-8")).substitute(values)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a markdown table: the first column flush left, the others right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    line = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = []
    for row in (head, line, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def overview(cases: Sequence[dict]) -> str:
    """Return one table of the tools: seconds of each case, and of a small pair, and how far numbers are off."""
    errors = {key: dict(row[:2] for row in errorRows(cases, key)) for key in SHOWN_ERRORS}
    head = ["tool", *(f"{case['name']}, s" for case in cases), "a small structure, ms"]
    head += [f"{key} off by, {unit}" for key, unit in SHOWN_ERRORS.items()]
    rows = []
    for name in comparedTools(cases):
        found = [case["tools"][name] for case in cases]
        small = [
            seconds
            for case, tool in zip(cases, found, strict=True)
            for pair, seconds in zip(case["pairs"], tool["warmPairs"], strict=True)
            if pair["triangles"] < SMALL
        ]
        times = [*(f"{tool['warm']:.2g}" for tool in found), f"{1000 * median(small):.2g}" if small else ""]
        rows.append([name, *times, *(f"{of[name]:.2g}" if name in of else "" for of in errors.values())])
    return table(head, rows)


def comparedTools(cases: Sequence[dict]) -> list[str]:
    """Return the tools that measure masks, and of ours only what corresponds to the others."""
    return [name for name in cases[0]["tools"] if "meshes" not in name and name not in tools.OURS_OF_MORE]


def comparisonOf(case: dict) -> str:
    """Return how many times as long as ours the others take, as the items of a list."""
    lines = [
        f"- {name}: {times(tool['warmRatio'])} as long as ours, "
        f"{times(tool['warmRatioWithoutBands'])} as long as ours without BIoU"
        for name, tool in case["tools"].items()
        if not name.startswith(tools.OURS) and "meshes" not in name
    ]
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


def timesOf(case: dict) -> str:
    """Return the heading of a case and a table of what its tools take."""
    rows = []
    for name, tool in case["tools"].items():
        cells = [f"{1000 * tool['warm']:.1f}", f"{tool['warmRatio']:.2f}"]
        cells += [f"{1000 * tool['cold']:.1f}", f"{tool['coldRatio']:.2f}"]
        cells.append("" if tool["peak"] is None else f"{tool['peak'] / 1e6:.0f}")
        rows.append([name, *cells])
    return f"### {case['name']}: {case['triangles']:,} triangles\n\n{table(TIME_COLUMNS, rows)}"


def wholeSetOf(found: dict) -> str:
    """Return what a whole structure set takes from the command line, in words and as a table."""
    rows = [
        [f"`{name}`" if name != measure.SCRIPT else name, f"{median(taken['rounds']):.2f}"]
        + [f"{taken[key]:.2f}" for key in ("ratio", "cores")]
        for name, taken in found["commands"].items()
    ]
    rounds = max(len(taken["rounds"]) for taken in found["commands"].values())
    files = f"two label maps of {' x '.join(map(str, found['size']))} voxels with {found['structures']} structures"
    return f"Of {files}, medians of {rounds} rounds:\n\n" + table(("whole process", "s", "ratio", "cores"), rows)


def growthOf(rows: Sequence[dict]) -> str:
    """Return for each method what every pair costs and what each triangle adds, and a table of all.

    These are the straight line with the least sum of squared relative errors.
    """
    lines = []
    for method in measure.METHODS:
        chosen = [row for row in rows if row["method"] == method]
        parts = []
        for key, scale, unit, each in (("microseconds", 1e3, "ms", "µs"), ("bytes", 1e6, "MB", "bytes")):
            triangles, cost = np.array([(row["triangles"], row["triangles"] * row[key]) for row in chosen]).T
            fixed, slope = np.linalg.lstsq(np.column_stack([1 / cost, triangles / cost]), np.ones(len(cost)))[0]
            parts.append(f"{max(fixed, 0) / scale:.2g} {unit} and {float(f'{slope:.2g}'):g} {each} per triangle")
        lines.append(f"- {method}: {', '.join(parts)}")
    body = [
        [row["method"], f"{row['triangles']:,}", f"{row['microseconds']:.2f}", f"{row['bytes']:.0f}"] for row in rows
    ]
    return "\n".join([*lines, "", table(("method", "triangles", "µs per triangle", "bytes per triangle"), body)])


def errorRows(cases: Sequence[dict], key: str) -> list[tuple[str, float, bool]]:
    """Return the mean error over all pairs of every tool that measures a key, the smallest first."""
    unit = SHOWN_ERRORS[key]
    truths = [truth[key] for case in cases for truth in case["truths"]]
    rows = []
    for name in comparedTools(cases):
        found = [values.get(key) for case in cases for values in case["tools"][name]["values"]]
        if None not in found:
            error = mean(abs(value - true) for value, true in zip(found, truths, strict=True))
            rows.append((name, error * SCALES[unit], name.startswith(tools.OURS)))
    return sorted(rows, key=lambda row: row[1])


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]) if len(sys.argv) > 2 else DOCUMENTATION)

"""Repeat the analysis of Metrics Revolutions on two observers' contours: what tools report, and what is true.

    python Testing/benchmark/revolutions.py --data FOLDER --output DIR [--spacing X,Y,Z]... [--largest CM3]

FOLDER has CASE/OBSERVER/STRUCTURE.nrrd for two observers, the reference first in the alphabet; SEGMENTMETRICS_HEADNECK
serves instead of --data. As in the paper, contours are meshed and the meshes drawn on grids of several voxel sizes, and
the conventions of the tools are measured on these voxels. There are two reference values. The paper's is what its own
program, MeshMetrics 0.1, measures on meshes of the same voxels: the difference is what the tool makes of them. The
other one is the definition's value on the original meshes: the difference also holds what the grid costs. Written are
values.csv (every number), tables.md (differences by voxel size and by kind of structure), significance.csv (tests of
every two tools, corrected as in the paper by Bonferroni, and by Holm), and box plots and heat maps when matplotlib is
installed. `--from values.csv` writes the tables and pictures anew. A grid starts at the lowest corner of the meshes;
one of 2 mm at other places, too, as the numbers depend on that: tables.md has their mean and spread over the starts.

Source: Podobnik & Vrtovec, arXiv:2410.02630 and arXiv:2509.05670.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

SPACINGS = ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (0.5, 0.5, 2.0))
# Of this voxel size, a grid starts at so many random places besides the lowest corner of the meshes.
MOVED, STARTS, SEED = (2.0, 2.0, 2.0), 8, 0
# The paper's structures are organs at risk of head and neck; the brain and the lungs are not among them.
LARGEST = 200.0
# cm3, the limits of the paper: an organ whose median volume is below the first is small, above the second it is large.
SMALL, LARGE = 1.0, 10.0
TUBULAR = ("Optic-Nerve", "Spinal-Canal", "Spinal-Cord")
KINDS = ("small", "midsize", "large", "tubular")
KEYS = ("HD", "HD95", "MASD", "ASSD", "NSD_2mm", "BIoU_2mm")
# What differences are taken to, and how it is called.
REMESHED, ORIGINAL = "remeshed", "original"
TITLES = {REMESHED: "the meshes of the same voxels", ORIGINAL: "the original meshes"}
# The paper's reference implementation, and what stands for the definition on the same voxels.
PAPERS, DEFINITION = "MeshMetrics-0.1", "SegmentMetrics"
# Probability of a chance difference below which it is called significant, after correction.
SIGNIFICANT = 0.05
# Corrections for how many tests were made, the paper's first.
BONFERRONI, HOLM = "bonferroni", "holm"
# mm or fractions. Some tools compute in single precision: what differs by less does so by rounding alone.
ROUNDING = 1e-5
# Classes of the heat maps: p below the limit, and the color.
CLASSES = ((0.001, "#08306b"), (0.01, "#3182bd"), (SIGNIFICANT, "#9ecae1"), (math.inf, "#f0f0f0"))


@dataclass(frozen=True)
class Value:
    """One tool's number for one pair on one grid.

    volume: cm3, of the reference's original mesh. start: 0 for a grid that starts at the lowest corner of the meshes,
    else the number of the place. remeshed: what the paper's program measures on meshes of the same voxels. original:
    the definition's value on the original meshes.
    """

    case: str
    structure: str
    volume: float
    spacing: str
    start: int
    tool: str
    key: str
    value: float
    remeshed: float
    original: float

    def differenceTo(self, reference: str) -> float:
        """Return the difference in mm, or in %pt. reference: REMESHED or ORIGINAL."""
        return (self.value - getattr(self, reference)) * (1 if isDistance(self.key) else 100)


def isDistance(key: str) -> bool:
    return not key.startswith(("NSD", "BIoU"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all pairs, or read their numbers, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", default=os.environ.get("SEGMENTMETRICS_HEADNECK"))
    parser.add_argument("--output", type=Path, metavar="DIR", required=True)
    parser.add_argument("--spacing", action="append", metavar="X,Y,Z", help="voxel size in mm (may be repeated)")
    parser.add_argument(
        "--largest", type=float, metavar="CM3", default=LARGEST, help="leave larger ones out (%(default)s)"
    )
    parser.add_argument("--from", type=Path, dest="read", metavar="CSV", help="values.csv of an earlier run")
    options = parser.parse_args(arguments)
    if not options.read and not options.data:
        parser.error("--data or SEGMENTMETRICS_HEADNECK must name the folder of the contours")
    options.output.mkdir(parents=True, exist_ok=True)
    if options.read:
        values = read(options.read)
    else:
        spacings = [tuple(map(float, text.split(","))) for text in options.spacing or ()] or SPACINGS
        values = measured(Path(options.data), spacings, options.largest, options.output / "values.csv")
    rows = significance(values)
    parts = (tables(values), overStarts(values), f"### Significant differences of two tools\n\n{counts(rows)}")
    text = "\n".join(filter(None, parts))
    (options.output / "tables.md").write_text(text, "utf-8")
    write(rows, options.output / "significance.csv")
    try:
        import matplotlib
    except ImportError:
        print("No pictures: matplotlib is not installed.")
        return
    matplotlib.use("Agg")
    for reference in TITLES:
        drawBoxes(atCorner(values), reference, options.output)
    drawHeatMaps(rows, options.output)


def measured(
    data: Path, spacings: Sequence[tuple], largest: float, path: Path, tools: Sequence[str] | None = None
) -> list[Value]:
    """Return the numbers of all pairs of a folder, written one pair after the other. tools: None for all."""
    from tqdm import tqdm

    values = []
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Value.__dataclass_fields__)
        for case, name, files in tqdm(list(pairs(data)), unit="pair"):
            for value in measure(case, name, files, spacings, largest, tools):
                writer.writerow(value.__dict__.values())
                values.append(value)
            file.flush()
    return values


def pairs(data: Path) -> Iterator[tuple[str, str, tuple[Path, Path]]]:
    """Yield case, structure and the files of both observers."""
    for case in sorted(folder for folder in data.iterdir() if folder.is_dir()):
        observers = sorted(folder for folder in case.iterdir() if folder.is_dir())
        if len(observers) != 2:
            raise SystemExit(f"{case}: there are {len(observers)} observers instead of two.")
        for first in sorted(observers[0].glob("*.nrrd")):
            second = observers[1] / first.name
            if second.exists():
                yield case.name, first.stem, (first, second)


def measure(
    case: str,
    name: str,
    files: Sequence[Path],
    spacings: Sequence[tuple],
    largest: float,
    tools: Sequence[str] | None = None,
) -> Iterator[Value]:
    """Yield what every tool reports for a pair on every grid."""
    from SegmentMetricsLib import Settings, Structure, compare, readStructures
    from SegmentMetricsLib.geometry.grids import gridAround
    from SegmentMetricsLib.geometry.voxelization import maskOf

    settings = Settings(families=("boundary", "overlap"))
    structures = [readStructures(file)[0] for file in files]
    if any(structure.isEmpty for structure in structures):
        return
    volume = structures[0].surface.volume / 1000
    if volume > largest:
        return
    # equal to what the meshes give by themselves, in less time
    truth = compare(*structures, settings)
    corners = np.concatenate([structure.surface.points for structure in structures])
    for spacing in spacings:
        text = " x ".join(map("{:g}".format, spacing))
        for start, moved in enumerate(startsOf(spacing)):
            grid = gridAround(corners, np.diag(spacing), corners.min(axis=0) + moved)
            drawn = [Structure(s.name, mask=maskOf(s.surface, grid)) for s in structures]
            if any(structure.isEmpty for structure in drawn):
                continue
            asked = None if tools is None else [*tools, PAPERS]
            found = compare(*drawn, Settings(families=("overlap",))).conventions(asked)
            for key in KEYS:
                numbers = {tool: reports[key] for tool, reports in found.items() if key in reports}
                papers = numbers[PAPERS]
                # the reference value that comes with a convention is the definition's on the same voxels
                reported = {tool: number.value for tool, number in numbers.items()} | {DEFINITION: papers.reference}
                for tool, value in reported.items():
                    yield Value(case, name, volume, text, start, tool, key, value, papers.value, truth[key].value)


def startsOf(spacing: Sequence[float]) -> np.ndarray:
    """Return where grids of a voxel size start, (n, 3) in mm from the lowest corner of the meshes."""
    places = np.random.default_rng(SEED).uniform(0, 1, (STARTS if tuple(spacing) == MOVED else 0, 3))
    return np.concatenate([np.zeros((1, 3)), places * spacing])


def kindOf(name: str, volume: float) -> str:
    """Return the kind of a structure. volume: the median of its volumes, in cm3."""
    if name.startswith(TUBULAR):
        return "tubular"
    return "small" if volume < SMALL else "midsize" if volume <= LARGE else "large"


def kinds(values: Sequence[Value]) -> dict[str, str]:
    """Return the kind of every structure by its median volume over the cases, left and right by themselves."""
    volumes = defaultdict(dict)
    for value in values:
        volumes[value.structure][value.case] = value.volume
    return {name: kindOf(name, median(found.values())) for name, found in volumes.items()}


def read(path: Path) -> list[Value]:
    numbers = ("volume", "value", REMESHED, ORIGINAL)
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [Value(**{**r, "start": int(r["start"]), **{n: float(r[n]) for n in numbers}}) for r in rows]


def tables(values: Sequence[Value]) -> str:
    """Return the differences as tables: mean, standard deviation and range, by voxel size and by kind of structure.

    They are those of grids that start at the lowest corner.
    """
    values = atCorner(values)
    kindBy = kinds(values)
    groupings = (
        ("by voxel size in mm", lambda v: v.spacing, list(dict.fromkeys(v.spacing for v in values))),
        (
            "by kind of structure",
            lambda v: kindBy[v.structure],
            [kind for kind in KINDS if kind in kindBy.values()],
        ),
    )
    parts = []
    for reference, title in TITLES.items():
        parts.append(f"### Difference to {title}")
        for words, of, columns in groupings:
            counts = [len({(v.case, v.structure) for v in values if of(v) == column}) for column in columns]
            head = [f"{column} ({count} pairs)" for column, count in zip(columns, counts)]
            for key in KEYS:
                chosen = [v for v in values if v.key == key]
                parts.append(table(key, words, head, grouped(chosen, reference, of), columns))
    return "\n\n".join(parts) + "\n"


def atCorner(values: Sequence[Value]) -> list[Value]:
    """Return the values of grids that start at the lowest corner of the meshes."""
    return [value for value in values if value.start == 0]


def overStarts(values: Sequence[Value]) -> str:
    """Return the mean differences over all pairs as tables: with grids at the corner, and over the other starts.

    Of these, mean, standard deviation and range. "" if all grids start at the corner.
    """
    moved = {value.spacing for value in values if value.start}
    if not moved:
        return ""
    parts = [f"### Where the grid starts, at {' and '.join(moved)} mm"]
    for (reference, title), key in itertools.product(TITLES.items(), KEYS):
        found = [v for v in values if v.key == key and v.spacing in moved]
        cells: dict[tuple[str, str], list[float]] = defaultdict(list)
        for (tool, start), differences in grouped(found, reference, lambda v: v.start).items():
            cells[tool, "others" if start else "corner"].append(float(np.mean(differences)))
        head = ["at the lowest corner", f"{STARTS} other starts"]
        words = f"to {title}, mean over the pairs by where the grid starts"
        parts.append(table(key, words, head, cells, ("corner", "others")))
    return "\n\n".join(parts) + "\n"


def table(key: str, words: str, head: Sequence[str], groups: Mapping, columns: Sequence[str]) -> str:
    """Return the differences of one number as a table with a row for every tool."""
    lines = [
        f"#### {key}: difference in {'mm' if isDistance(key) else '%pt'}, {words}",
        "",
        f"| tool | {' | '.join(head)} |",
        "|---|" + "---|" * len(columns),
    ]
    for tool in dict.fromkeys(tool for tool, _ in groups):
        cells = [summary(groups.get((tool, column), [])) for column in columns]
        lines.append(f"| {tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


def grouped(values: Sequence[Value], reference: str, of) -> dict[tuple[str, str], list[float]]:
    """Return the finite differences to a reference by tool and by what `of` returns, without the reference's own."""
    groups = defaultdict(list)
    for value in values:
        difference = value.differenceTo(reference)
        if math.isfinite(difference) and not (reference == REMESHED and value.tool == PAPERS):
            groups[value.tool, of(value)].append(difference)
    return groups


def summary(differences: Sequence[float]) -> str:
    if not differences:
        return ""
    if len(differences) == 1:
        return f"{differences[0]:+.2f}"
    spread = np.std(differences, ddof=1)
    return f"{np.mean(differences):+.2f} ± {spread:.2f} [{min(differences):+.2f}, {max(differences):+.2f}]"


def significance(values: Sequence[Value]) -> list[dict]:
    """Return for every two tools whether they differ on the same voxels, by Wilcoxon's signed-rank test.

    The definition is one of them. p is corrected for all tests of the analysis together. Grids start at the corner.
    """
    rows, values = [], atCorner(values)
    for spacing, key in itertools.product(dict.fromkeys(v.spacing for v in values), KEYS):
        byTool = defaultdict(dict)
        for value in values:
            if (value.spacing, value.key) == (spacing, key) and math.isfinite(value.value):
                byTool[value.tool][value.case, value.structure] = value.value
        for first, second in itertools.combinations(sorted(byTool, key=str.casefold), 2):
            common = sorted(set(byTool[first]) & set(byTool[second]))
            apart = np.array([byTool[first][pair] - byTool[second][pair] for pair in common])
            rows.append({"spacing": spacing, "key": key, "first": first, "second": second, "pairs": len(common)})
            middle = float(np.median(apart)) if len(apart) else math.nan
            rows[-1] |= {"medianDifference": middle, "p": signedRank(apart)}
    chances = [row["p"] for row in rows]
    corrected = zip(bonferroni(chances), holm(chances))
    return [{**row, BONFERRONI: strict, HOLM: stepwise} for row, (strict, stepwise) in zip(rows, corrected)]


def signedRank(differences: np.ndarray) -> float:
    """Return p of Wilcoxon's signed-rank test, two-sided; 1 if all differences are rounding."""
    from scipy.stats import wilcoxon

    rounded = np.round(differences / ROUNDING) * ROUNDING
    return float(wilcoxon(rounded).pvalue) if np.any(rounded) else 1.0


def bonferroni(chances: Sequence[float]) -> list[float]:
    """Return the probabilities multiplied by how many tests were made."""
    return [min(1.0, p * len(chances)) for p in chances]


def holm(chances: Sequence[float]) -> list[float]:
    """Return the probabilities corrected for how many tests were made (Holm 1979)."""
    order = np.argsort(chances)
    scaled = np.array(chances)[order] * np.arange(len(chances), 0, -1)
    result = np.empty(len(chances))
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return result.tolist()


def counts(rows: Sequence[Mapping]) -> str:
    """Return how many comparisons of two tools are significant, by number and voxel size, as a table."""
    spacings = list(dict.fromkeys(row["spacing"] for row in rows))
    lines = [f"| number | {' | '.join(spacings)} |", "|---|" + "---|" * len(spacings)]
    for key in KEYS:
        cells = []
        for spacing in spacings:
            found = [r for r in rows if (r["key"], r["spacing"]) == (key, spacing) and DEFINITION not in pairOf(r)]
            strict, stepwise = (sum(r[name] < SIGNIFICANT for r in found) for name in (BONFERRONI, HOLM))
            cells.append(f"{strict} / {stepwise} of {len(found)}")
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def pairOf(row: Mapping) -> tuple[str, str]:
    return row["first"], row["second"]


def write(rows: Sequence[dict], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["p"])
        writer.writeheader()
        writer.writerows(rows)


def drawBoxes(values: Sequence[Value], reference: str, folder: Path) -> None:
    """Write a box plot of the differences to a reference for every number."""
    from matplotlib import pyplot, ticker

    spacings = list(dict.fromkeys(v.spacing for v in values))
    for key in KEYS:
        groups = grouped([v for v in values if v.key == key], reference, lambda v: v.spacing)
        tools = list(dict.fromkeys(tool for tool, _ in groups))
        figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.45 * len(tools)), layout="constrained")
        for number, spacing in enumerate(spacings):
            places = np.arange(len(tools)) + 0.25 * (number - (len(spacings) - 1) / 2)
            boxes = axes.boxplot(
                [groups.get((tool, spacing), []) for tool in tools],
                positions=places,
                widths=0.2,
                orientation="horizontal",
                patch_artist=True,
                manage_ticks=False,
                flierprops={"markersize": 2},
                medianprops={"color": "black", "linewidth": 1.5},  # seen on every color of box
            )
            for box in boxes["boxes"]:
                box.set_facecolor(f"C{number}")
            axes.plot([], [], "s", color=f"C{number}", label=f"{spacing} mm")
        axes.axvline(0, color="gray", linewidth=0.8)
        linear = 1 if isDistance(key) else 5
        axes.set_xscale("symlog", linthresh=linear)
        axes.xaxis.set_major_locator(ticker.SymmetricalLogLocator(base=10, linthresh=linear, subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_yticks(np.arange(len(tools)), tools)
        axes.invert_yaxis()
        unit = "mm" if isDistance(key) else "percentage points"
        scale = f"linear from -{linear} to {linear}, logarithmic beyond"
        axes.set_xlabel(f"{key}: difference to {TITLES[reference]} in {unit} ({scale})")
        figure.legend(loc="outside upper center", ncols=len(spacings))
        figure.savefig(folder / f"boxes_{key}_{reference}.png", dpi=120)
        pyplot.close(figure)


def drawHeatMaps(rows: Sequence[Mapping], folder: Path) -> None:
    """Write for every number a heat map of p, corrected below the diagonal by Bonferroni and above it by Holm."""
    from matplotlib import colors, pyplot
    from matplotlib.patches import Patch

    limits = [limit for limit, _ in CLASSES]
    palette = colors.ListedColormap([color for _, color in CLASSES])
    for key in KEYS:
        found = [row for row in rows if row["key"] == key]
        spacings = list(dict.fromkeys(row["spacing"] for row in found))
        names = sorted({name for row in found for name in pairOf(row)}, key=str.casefold)
        if not names:
            continue
        size = 0.22 * len(names)
        figure, panels = pyplot.subplots(
            1, len(spacings), figsize=(2.2 + (size + 0.3) * len(spacings), size + 3.1), layout="constrained",
            squeeze=False, sharey=True,
        )  # fmt: skip
        for axes, spacing in zip(panels[0], spacings):
            classes = np.full((len(names), len(names)), np.nan)
            for row in found:
                if row["spacing"] == spacing:
                    first, second = map(names.index, pairOf(row))
                    classes[second, first] = np.searchsorted(limits, row[BONFERRONI], side="right")
                    classes[first, second] = np.searchsorted(limits, row[HOLM], side="right")
            axes.imshow(np.ma.masked_invalid(classes), cmap=palette, vmin=-0.5, vmax=len(CLASSES) - 0.5)
            axes.set_xticks(np.arange(len(names)), names, rotation=90)
            axes.set_yticks(np.arange(len(names)), names)
            axes.set_xticks(np.arange(len(names) + 1) - 0.5, minor=True)
            axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
            axes.grid(which="minor", color="white", linewidth=1)
            axes.tick_params(which="both", length=0, labelsize=8)
            axes.set_title(f"{spacing} mm", fontsize=9)
        labels = [*(f"p < {limit:g}" for limit in limits[:-1]), f"not below {SIGNIFICANT:g}"]
        patches = [Patch(color=color, label=label) for (_, color), label in zip(CLASSES, labels)]
        figure.suptitle(f"{key}: below the diagonal corrected by Bonferroni, above it by Holm", fontsize=10)
        figure.legend(handles=patches, loc="outside lower center", ncols=len(patches), fontsize=8, frameon=False)
        figure.savefig(folder / f"significance_{key}.png", dpi=120)
        pyplot.close(figure)


if __name__ == "__main__":
    main()

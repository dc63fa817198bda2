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
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

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
# How box plots are drawn: the median is seen on every color of box.
BOXES = {"patch_artist": True, "manage_ticks": False, "flierprops": {"markersize": 2}}
BOXES["medianprops"] = {"color": "black", "linewidth": 1.5}
# One tool's number for one pair on one grid. volume: cm3, of the reference's original mesh. start: 0 for a grid that
# starts at the lowest corner of the meshes, else the number of the place. remeshed: what the paper's program measures
# on meshes of the same voxels. original: the definition's value on the original meshes.
COLUMNS = ("case", "structure", "volume", "spacing", "start", "tool", "key", "value", REMESHED, ORIGINAL)


def isDistance(key: str) -> bool:
    return not key.startswith(("NSD", "BIoU"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all pairs, or read their numbers, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", default=os.environ.get("SEGMENTMETRICS_HEADNECK"))
    parser.add_argument("--output", type=Path, metavar="DIR", required=True)
    parser.add_argument("--spacing", action="append", metavar="X,Y,Z", help="voxel size in mm (may be repeated)")
    parser.add_argument(
        "--largest", type=float, metavar="CM3", default=LARGEST, help="without larger ones (%(default)s)"
    )
    parser.add_argument("--from", type=Path, dest="read", metavar="CSV", help="values.csv of an earlier run")
    options = parser.parse_args(arguments)
    if not options.read and not options.data:
        parser.error("--data or SEGMENTMETRICS_HEADNECK must name the folder of the contours")
    options.output.mkdir(parents=True, exist_ok=True)
    if options.read:
        values = pd.read_csv(options.read, float_precision="round_trip")
    else:
        spacings = [tuple(map(float, text.split(","))) for text in options.spacing or ()] or SPACINGS
        values = measured(Path(options.data), spacings, options.largest, options.output / "values.csv")
    found = significance(values)
    parts = (tables(values), overStarts(values), f"### Significant differences of two tools\n\n{counts(found)}")
    (options.output / "tables.md").write_text("\n".join(filter(None, parts)), "utf-8")
    found.to_csv(options.output / "significance.csv", index=False)
    try:
        import matplotlib
    except ImportError:
        print("No pictures: matplotlib is not installed.")
        return
    matplotlib.use("Agg")
    for reference in TITLES:
        drawBoxes(atCorner(values), reference, options.output)
    drawHeatMaps(found, options.output)


def measured(
    data: Path, spacings: Sequence[tuple], largest: float, path: Path, tools: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the numbers of all pairs of a folder, written one pair after the other. tools: None for all."""
    from tqdm import tqdm

    found = [pd.DataFrame(columns=COLUMNS)]
    found[0].to_csv(path, index=False)
    for pair in tqdm(list(pairs(data)), unit="pair"):
        found.append(pd.DataFrame(measure(*pair, spacings, largest, tools), columns=COLUMNS))
        found[-1].to_csv(path, mode="a", header=False, index=False)
    return pd.concat(found, ignore_index=True).infer_objects()


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
    case: str, name: str, files: Sequence[Path], spacings: Sequence[tuple], largest: float, tools: Sequence[str] | None
) -> Iterator[tuple]:
    """Yield a row for what every tool reports for a pair on every grid."""
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
            found = compare(*drawn, Settings(families=("overlap",))).conventions(tools and [*tools, PAPERS])
            for key in KEYS:
                numbers = {tool: reports[key] for tool, reports in found.items() if key in reports}
                papers = numbers[PAPERS]
                # the reference value that comes with a convention is the definition's on the same voxels
                reported = {tool: number.value for tool, number in numbers.items()} | {DEFINITION: papers.reference}
                for tool, value in reported.items():
                    yield case, name, volume, text, start, tool, key, value, papers.value, truth[key].value


def startsOf(spacing: Sequence[float]) -> np.ndarray:
    """Return where grids of a voxel size start, (n, 3) in mm from the lowest corner of the meshes."""
    places = np.random.default_rng(SEED).uniform(0, 1, (STARTS if tuple(spacing) == MOVED else 0, 3))
    return np.concatenate([np.zeros((1, 3)), places * spacing])


def kindOf(name: str, volume: float) -> str:
    """Return the kind of a structure. volume: the median of its volumes over the cases, in cm3."""
    if name.startswith(TUBULAR):
        return "tubular"
    return "small" if volume < SMALL else "midsize" if volume <= LARGE else "large"


def differences(values: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the values with their finite differences to a reference, in mm or %pt, without the reference's own."""
    scale = np.where(values["key"].map(isDistance), 1, 100)
    values = values.assign(difference=(values["value"] - values[reference]) * scale)
    return values[np.isfinite(values["difference"]) & ~((reference == REMESHED) & (values["tool"] == PAPERS))]


def tables(values: pd.DataFrame) -> str:
    """Return the differences as tables: mean, standard deviation and range, by voxel size and by kind of structure.

    They are those of grids that start at the lowest corner.
    """
    volumes = values.drop_duplicates(["case", "structure"]).groupby("structure")["volume"].median()
    values = atCorner(values)
    values = values.assign(kind=[kindOf(name, volumes[name]) for name in values["structure"]])
    groupings = (
        ("by voxel size in mm", "spacing", list(values["spacing"].unique())),
        ("by kind of structure", "kind", [kind for kind in KINDS if kind in set(values["kind"])]),
    )
    parts = []
    for reference, title in TITLES.items():
        parts.append(f"### Difference to {title}")
        for (words, by, columns), key in itertools.product(groupings, KEYS):
            counts = [len(values[values[by] == column].groupby(["case", "structure"])) for column in columns]
            head = [f"{column} ({count} pairs)" for column, count in zip(columns, counts)]
            parts.append(table(key, words, head, differences(values[values["key"] == key], reference), by, columns))
    return "\n\n".join(parts) + "\n"


def atCorner(values: pd.DataFrame) -> pd.DataFrame:
    """Return the values of grids that start at the lowest corner of the meshes."""
    return values[values["start"] == 0]


def overStarts(values: pd.DataFrame) -> str:
    """Return the mean differences over all pairs as tables: with grids at the corner, and over the other starts.

    Of these, mean, standard deviation and range. "" if all grids start at the corner.
    """
    moved = values.loc[values["start"] > 0, "spacing"].unique()
    if not len(moved):
        return ""
    parts = [f"### Where the grid starts, at {' and '.join(moved)} mm"]
    for (reference, title), key in itertools.product(TITLES.items(), KEYS):
        found = differences(values[(values["key"] == key) & values["spacing"].isin(moved)], reference)
        means = found.groupby(["tool", "start"], sort=False)["difference"].mean().reset_index()
        means["start"] = np.where(means["start"] > 0, "others", "corner")
        head = ["at the lowest corner", f"{STARTS} other starts"]
        words = f"to {title}, mean over the pairs by where the grid starts"
        parts.append(table(key, words, head, means, "start", ("corner", "others")))
    return "\n\n".join(parts) + "\n"


def table(key: str, words: str, head: Sequence[str], found: pd.DataFrame, by: str, columns: Sequence[str]) -> str:
    """Return the differences of one number as a table with a row for every tool."""
    lines = [
        f"#### {key}: difference in {'mm' if isDistance(key) else '%pt'}, {words}",
        "",
        f"| tool | {' | '.join(head)} |",
        "|---|" + "---|" * len(columns),
    ]
    for tool in found["tool"].unique():
        ofTool = found[found["tool"] == tool]
        cells = [summary(ofTool.loc[ofTool[by] == column, "difference"]) for column in columns]
        lines.append(f"| {tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


def summary(found: pd.Series) -> str:
    if len(found) < 2:
        return "".join(map("{:+.2f}".format, found))
    return f"{found.mean():+.2f} ± {found.std():.2f} [{found.min():+.2f}, {found.max():+.2f}]"


def significance(values: pd.DataFrame) -> pd.DataFrame:
    """Return for every two tools whether they differ on the same voxels, by Wilcoxon's signed-rank test.

    The definition is one of them. p is corrected for all tests of the analysis together: multiplied by how many there
    are (Bonferroni), and step by step (Holm 1979). Grids start at the corner.
    """
    values, rows = atCorner(values), []
    for spacing, key in itertools.product(values["spacing"].unique(), KEYS):
        chosen = values[(values["spacing"] == spacing) & (values["key"] == key) & np.isfinite(values["value"])]
        byTool = chosen.pivot(index=["case", "structure"], columns="tool", values="value")
        for first, second in itertools.combinations(sorted(byTool, key=str.casefold), 2):
            apart = (byTool[first] - byTool[second]).dropna()
            rows.append((spacing, key, first, second, len(apart), apart.median(), signedRank(apart)))
    found = pd.DataFrame(rows, columns=["spacing", "key", "first", "second", "pairs", "medianDifference", "p"])
    found[BONFERRONI] = np.minimum(found["p"] * len(found), 1)
    chances = found["p"].sort_values(kind="stable")
    found[HOLM] = np.minimum((chances * np.arange(len(found), 0, -1)).cummax(), 1)
    return found


def signedRank(differences: pd.Series) -> float:
    """Return p of Wilcoxon's signed-rank test, two-sided; 1 if all differences are rounding."""
    from scipy.stats import wilcoxon

    rounded = np.round(differences / ROUNDING) * ROUNDING
    return float(wilcoxon(rounded).pvalue) if np.any(rounded) else 1.0


def counts(found: pd.DataFrame) -> str:
    """Return how many comparisons of two tools are significant, by number and voxel size, as a table."""
    spacings = list(found["spacing"].unique())
    lines = [f"| number | {' | '.join(spacings)} |", "|---|" + "---|" * len(spacings)]
    found = found[(found["first"] != DEFINITION) & (found["second"] != DEFINITION)]
    for key in KEYS:
        cells = []
        for spacing in spacings:
            tests = found[(found["key"] == key) & (found["spacing"] == spacing)]
            strict, stepwise = (sum(tests[name] < SIGNIFICANT) for name in (BONFERRONI, HOLM))
            cells.append(f"{strict} / {stepwise} of {len(tests)}")
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def drawBoxes(values: pd.DataFrame, reference: str, folder: Path) -> None:
    """Write a box plot of the differences to a reference for every number."""
    from matplotlib import pyplot, ticker

    spacings = list(values["spacing"].unique())
    for key in KEYS:
        found = differences(values[values["key"] == key], reference)
        groups = dict(list(found.groupby(["tool", "spacing"])["difference"]))
        tools = list(found["tool"].unique())
        figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.45 * len(tools)), layout="constrained")
        for number, spacing in enumerate(spacings):
            places = np.arange(len(tools)) + 0.25 * (number - (len(spacings) - 1) / 2)
            columns = [groups.get((tool, spacing), []) for tool in tools]
            boxes = axes.boxplot(columns, positions=places, widths=0.2, orientation="horizontal", **BOXES)
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


def drawHeatMaps(significant: pd.DataFrame, folder: Path) -> None:
    """Write for every number a heat map of p, corrected below the diagonal by Bonferroni and above it by Holm."""
    from matplotlib import colors, pyplot
    from matplotlib.patches import Patch

    limits = [limit for limit, _ in CLASSES]
    palette = colors.ListedColormap([color for _, color in CLASSES])
    for key in KEYS:
        found = significant[significant["key"] == key]
        spacings = list(found["spacing"].unique())
        names = sorted({*found["first"], *found["second"]}, key=str.casefold)
        if not names:
            continue
        size = 0.22 * len(names)
        shape = {"figsize": (2.2 + (size + 0.3) * len(spacings), size + 3.1), "layout": "constrained"}
        figure, panels = pyplot.subplots(1, len(spacings), squeeze=False, sharey=True, **shape)
        for axes, spacing in zip(panels[0], spacings):
            classes = np.full((len(names), len(names)), np.nan)
            for _, row in found[found["spacing"] == spacing].iterrows():
                first, second = map(names.index, (row["first"], row["second"]))
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

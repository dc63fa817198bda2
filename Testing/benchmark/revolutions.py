"""Repeat the analysis of Metrics Revolutions on two observers' contours: what tools report, and what is true.

    python Testing/benchmark/revolutions.py --data FOLDER --output DIR [--spacing X,Y,Z]... [--largest CM3]

FOLDER has CASE/OBSERVER/STRUCTURE.nrrd for two observers, the reference first in the alphabet; SEGMENTMETRICS_HEADNECK
serves instead of --data. As in the paper, contours are meshed and the meshes drawn on grids of several voxel sizes. The
reference value is measured on the meshes; the conventions of the tools are measured on the voxels. Written are
values.csv (every number), tables.md (differences by voxel size and by kind of structure), significance.csv, and box
plots when matplotlib is installed. `--from values.csv` writes the tables anew.

Source: Podobnik & Vrtovec, arXiv:2410.02630.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SPACINGS = ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (0.5, 0.5, 2.0))
# The paper's structures are organs at risk of head and neck; the brain and the lungs are not among them.
LARGEST = 200.0
# cm3 of the reference: below the first a structure is small, from the second on it is large.
SMALL, LARGE = 2.0, 15.0
TUBULAR = ("Optic-Nerve", "Spinal-Canal", "Spinal-Cord")
KINDS = ("small", "midsize", "large", "tubular")
KEYS = ("HD", "HD95", "MASD", "ASSD", "NSD_2mm", "BIoU_2mm")
# Probability of a chance difference below which it is called significant, after Holm's correction.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Value:
    """One tool's number for one pair on one grid. reference: measured on the meshes."""

    case: str
    structure: str
    kind: str
    spacing: str
    tool: str
    key: str
    value: float
    reference: float

    @property
    def difference(self) -> float:
        """In mm, or in %pt."""
        return (self.value - self.reference) * (1 if isDistance(self.key) else 100)


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
    (options.output / "tables.md").write_text(tables(values), "utf-8")
    write(significance(values), options.output / "significance.csv")
    drawBoxes(values, options.output)


def measured(data: Path, spacings: Sequence[tuple], largest: float, path: Path) -> list[Value]:
    """Return the numbers of all pairs of a folder, written one pair after the other."""
    from tqdm import tqdm

    values = []
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Value.__dataclass_fields__)
        for case, name, files in tqdm(list(pairs(data)), unit="pair"):
            for value in measure(case, name, files, spacings, largest):
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


def measure(case: str, name: str, files: Sequence[Path], spacings: Sequence[tuple], largest: float) -> Iterator[Value]:
    """Yield what every tool reports for a pair on every grid."""
    from SegmentMetricsLib import Settings, Structure, compare, readStructures
    from SegmentMetricsLib.geometry.grids import gridAround
    from SegmentMetricsLib.geometry.voxelization import maskOf

    settings = Settings(families=("boundary", "overlap"))
    structures = [readStructures(file)[0] for file in files]
    # equal to what the meshes give by themselves, in less time
    truth = compare(*structures, settings)
    volume = truth["VolumeReference"].value / 1000
    if volume > largest or any(structure.isEmpty for structure in structures):
        return
    kind = kindOf(name, volume)
    corners = np.concatenate([structure.surface.points for structure in structures])
    for spacing in spacings:
        grid = gridAround(corners, np.diag(spacing), corners.min(axis=0))
        drawn = [Structure(s.name, mask=maskOf(s.surface, grid)) for s in structures]
        if any(structure.isEmpty for structure in drawn):
            continue
        conventions = compare(*drawn, Settings(families=("overlap",))).conventions()
        for tool, numbers in conventions.items():
            for key in KEYS:
                if key in numbers:
                    values = (numbers[key].value, truth[key].value)
                    yield Value(case, name, kind, " x ".join(map("{:g}".format, spacing)), tool, key, *values)


def kindOf(name: str, volume: float) -> str:
    """Return the kind of a structure. volume: in cm3."""
    if name.startswith(TUBULAR):
        return "tubular"
    return "small" if volume < SMALL else "midsize" if volume < LARGE else "large"


def read(path: Path) -> list[Value]:
    with path.open(encoding="utf-8") as file:
        return [
            Value(**{**row, "value": float(row["value"]), "reference": float(row["reference"])})
            for row in csv.DictReader(file)
        ]


def tables(values: Sequence[Value]) -> str:
    """Return the differences as tables: mean, standard deviation and range, by voxel size and by kind of structure."""
    parts = []
    for title, of, columns in (
        ("by voxel size in mm", lambda v: v.spacing, list(dict.fromkeys(v.spacing for v in values))),
        ("by kind of structure", lambda v: v.kind, [kind for kind in KINDS if any(v.kind == kind for v in values)]),
    ):
        counts = [len({(v.case, v.structure) for v in values if of(v) == column}) for column in columns]
        for key in KEYS:
            groups = grouped([v for v in values if v.key == key], lambda v, of=of: (v.tool, of(v)))
            unit = "mm" if isDistance(key) else "%pt"
            head = [f"{column} ({count} pairs)" for column, count in zip(columns, counts)]
            lines = [
                f"### {key}: difference in {unit}, {title}",
                "",
                f"| tool | {' | '.join(head)} |",
                "|---|" + "---|" * len(columns),
            ]
            for tool in dict.fromkeys(tool for tool, _ in groups):
                cells = [summary(groups.get((tool, column), [])) for column in columns]
                lines.append(f"| {tool} | {' | '.join(cells)} |")
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def grouped(values: Sequence[Value], key) -> dict:
    """Return the finite differences by group."""
    groups = defaultdict(list)
    for value in values:
        if math.isfinite(value.difference):
            groups[key(value)].append(value.difference)
    return groups


def summary(differences: Sequence[float]) -> str:
    if not differences:
        return ""
    spread = np.std(differences, ddof=1) if len(differences) > 1 else 0.0
    return f"{np.mean(differences):+.2f} ± {spread:.2f} [{min(differences):+.2f}, {max(differences):+.2f}]"


def significance(values: Sequence[Value]) -> list[dict]:
    """Return for every two tools whether they differ on the same pairs, by Wilcoxon's test with Holm's correction."""
    from scipy.stats import wilcoxon

    rows = []
    for spacing, key in itertools.product(dict.fromkeys(v.spacing for v in values), KEYS):
        byTool = defaultdict(dict)
        for value in values:
            if (value.spacing, value.key) == (spacing, key) and math.isfinite(value.difference):
                byTool[value.tool][value.case, value.structure] = value.value
                byTool["reference"][value.case, value.structure] = value.reference
        for first, second in itertools.combinations(sorted(byTool), 2):
            common = sorted(set(byTool[first]) & set(byTool[second]))
            apart = np.array([byTool[first][pair] - byTool[second][pair] for pair in common])
            chance = float(wilcoxon(apart).pvalue) if np.any(np.abs(apart) > 1e-9) else 1.0
            median = float(np.median(apart)) if len(apart) else math.nan
            rows.append({"spacing": spacing, "key": key, "first": first, "second": second, "pairs": len(common)})
            rows[-1] |= {"medianDifference": median, "p": chance}
    corrected = holm([row["p"] for row in rows])
    return [{**row, "corrected": p, "significant": p < SIGNIFICANT} for row, p in zip(rows, corrected)]


def holm(chances: Sequence[float]) -> list[float]:
    """Return the probabilities corrected for how many tests were made (Holm 1979)."""
    order = np.argsort(chances)
    scaled = np.array(chances)[order] * np.arange(len(chances), 0, -1)
    result = np.empty(len(chances))
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return result.tolist()


def write(rows: Sequence[dict], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["p"])
        writer.writeheader()
        writer.writerows(rows)


def drawBoxes(values: Sequence[Value], folder: Path) -> None:
    """Write a box plot of the differences for every number, if matplotlib is installed."""
    try:
        from matplotlib import pyplot, ticker
    except ImportError:
        print("No box plots: matplotlib is not installed.")
        return
    pyplot.switch_backend("Agg")
    spacings = list(dict.fromkeys(v.spacing for v in values))
    for key in KEYS:
        groups = grouped([v for v in values if v.key == key], lambda v: (v.tool, v.spacing))
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
        axes.set_xlabel(f"{key}: difference to the meshes in {unit} ({scale})")
        figure.legend(loc="outside upper center", ncols=len(spacings))
        figure.savefig(folder / f"boxes_{key}.png", dpi=120)
        pyplot.close(figure)


if __name__ == "__main__":
    main()

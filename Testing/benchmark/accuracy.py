"""How far the numbers are from the truth, on every organ of a folder.

    python accuracy.py FOLDER [--kinds 3mm,headneck] [--truth FILE] [--output FILE]

FOLDER (or the environment's SEGMENTMETRICS_REFERENCE with /data) holds pairs of label maps organs_reference*.nii.gz and
organs_test*.nii.gz, and folders headneck/CASE/{oncologist,radiographer} of one image per organ.

Truth for means, percentiles and shares is what uniform subdivisions tend to: three of them in a row, as many as there
is room for, each four times as many points as the one before; a third of the last difference is added (Richardson). It
is itself uncertain by about the last difference, which the table shows. Truth for the Hausdorff distance: the
densest samples may not exceed the upper bound, nor any sample be missed by more than the bounds are apart.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pairs
import SimpleITK

from SegmentMetricsLib import Settings
from SegmentMetricsLib.case import comparison
from SegmentMetricsLib.metrics import pair as workspace
from SegmentMetricsLib.model import inputs

# Labels of the pairs by the ending of their files, densest last.
KINDS = {"3mm": "", "aniso": "_aniso", "1mm": "_1mm"}
TOLERANCES = (1.0, 2.0)
KEYS = ("HD95", "MASD", "ASSD", "NSD_1mm", "NSD_2mm")
# Largest error that is wanted: on 90 % of the organs, and on all of them. HD: width of the bounds.
TARGETS = {
    "HD": (0.01, 0.01),
    "HD95": (0.01, 0.03),
    "MASD": (0.002, 0.002),
    "ASSD": (0.002, 0.002),
    "NSD_1mm": (0.001, 0.003),
    "NSD_2mm": (0.001, 0.003),
}
# Elements of both boundaries that the densest subdivision may have.
MOST_ELEMENTS = 12_000_000
DENSEST, FEWEST = 5, 2
COLUMNS = ("metric", "organs", "mean error", "90 %", "largest", "wanted on 90 %", "on all", "within bounds", "width")


def organs(folder: Path, kind: str) -> Iterator[tuple[str, inputs.Structure, inputs.Structure]]:
    """Yield name, reference and test of every organ of a kind that both have."""
    if kind == "headneck":
        for file in sorted((folder / kind).glob("*/oncologist/*.nrrd")):
            other = file.parents[1] / "radiographer" / file.name
            if other.exists():
                images = [SimpleITK.ReadImage(str(path)) for path in (file, other)]
                yield f"{file.parents[1].name} {file.stem}", *(structureOf(image) for image in images)
        return
    images = [folder / f"organs_{which}{KINDS[kind]}.nii.gz" for which in ("reference", "test")]
    if all(file.exists() for file in images):
        for pair in pairs.organs(*(SimpleITK.ReadImage(str(file)) for file in images)):
            yield pair.name, *(structureOf(image) for image in pair.images)


def structureOf(image: SimpleITK.Image) -> inputs.Structure:
    return inputs.structureFromImage(image, "", None, 0.5)


def truth(reference, test, most: int = MOST_ELEMENTS) -> dict:
    """Return the values that uniform subdivisions tend to, their uncertainties, and the largest distance of all.

    most: elements that the densest subdivision may have.
    """
    triangles = sum(structure.surface.count for structure in (reference, test))
    densest = DENSEST
    while densest > FEWEST and triangles * 4**densest > most:
        densest -= 1
    found = []
    for subdivisions in (densest - 1, densest):
        found.append(uniform(workspace.Pair(reference, test, Settings(families="boundary")), subdivisions))
    result = {key: [found[1][key] + (found[1][key] - found[0][key]) / 3, found[1][key] - found[0][key]] for key in KEYS}
    # percentiles and shares converge in steps, not smoothly
    for key in KEYS:
        if key not in ("MASD", "ASSD"):
            result[key][0] = found[1][key]
    return {**result, "HD": [found[1]["HD"], 0.0]}


def uniform(pair: workspace.Pair, subdivisions: int) -> dict[str, float]:
    """Return the boundary metrics, by key, of the centers of pieces of elements that are cut so many times."""
    from SegmentMetricsLib.conventions.meshes import samples

    both = [(sample.distances, sample.weights) for sample in samples(pair.boundaries, subdivisions)]
    means, totals = [float(d @ s / s.sum()) for d, s in both], [float(s.sum()) for _, s in both]
    percentiles = []
    for distances, sizes in both:
        order = np.argsort(distances)
        row = np.searchsorted(np.cumsum(sizes[order]), 0.95 * sizes.sum() * (1 - 1e-12))
        percentiles.append(float(distances[order][row]))
    within = {t: sum(float(s[d <= t + 1e-4].sum()) for d, s in both) / sum(totals) for t in TOLERANCES}
    return {
        "HD": max(float(d.max()) for d, _ in both),
        "HD95": max(percentiles),
        "MASD": sum(means) / 2,
        "ASSD": sum(m * t for m, t in zip(means, totals, strict=True)) / sum(totals),
        **{f"NSD_{t:g}mm": share for t, share in within.items()},
    }


def measured(folder: Path, kind: str, known: dict, save) -> Iterator[dict]:
    """Yield for every organ of a kind each metric's error, the width of its bounds, and if they hold the truth."""
    for name, reference, test in organs(folder, kind):
        if reference.isEmpty or test.isEmpty:
            continue
        key = f"{kind} {name}"
        if key not in known:
            known[key] = truth(reference, test)
            save()
        settings = Settings(tolerances=TOLERANCES, families="boundary")
        result = comparison.compare(reference, test, settings)
        row = {"name": name}
        for metric, (value, uncertain) in known[key].items():
            ours = result[metric]
            row[metric] = {
                "error": ours.value - value,
                "width": ours.upper - ours.lower,
                "holds": ours.lower <= value <= ours.upper,
                "uncertain": abs(uncertain),
            }
        yield row


def table(rows: list[dict]) -> list[str]:
    """Return the lines of a markdown table of the errors of all metrics."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for metric, (usual, most) in TARGETS.items():
        width = np.array([row[metric]["width"] for row in rows])
        if metric == "HD":
            # dense samples are no truth: they must lie below the upper bound, and our value not below them
            error = width
            holds = [row[metric]["error"] >= -row[metric]["width"] - 1e-6 for row in rows]
        else:
            error = np.abs([row[metric]["error"] for row in rows])
            holds = [row[metric]["holds"] for row in rows]
        scale, unit = (100, " %pt") if metric.startswith("NSD") else (1, " mm")
        shown = [f"{scale * value:.4f}{unit}" for value in (error.mean(), np.quantile(error, 0.9), error.max())]
        met = [f"{np.mean(error <= usual + 1e-6):.0%}", f"{np.mean(error <= most + 1e-6):.0%}"]
        cells = [metric, str(len(rows)), *shown, *met, f"{np.mean(holds):.0%}", f"{scale * np.median(width):.4f}{unit}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = os.environ.get("SEGMENTMETRICS_REFERENCE")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(home, "data") if home else None)
    parser.add_argument("--kinds", default=",".join(("3mm", "headneck", "aniso", "1mm")), help="%(default)s")
    parser.add_argument("--truth", type=Path, help="JSON file that keeps the truth, which takes long, for next time")
    parser.add_argument("--output", type=Path, help="JSON file for all errors")
    options = parser.parse_args(arguments)
    if options.folder is None or not options.folder.is_dir():
        parser.error("there is no folder of pairs: give one, or set SEGMENTMETRICS_REFERENCE")
    known = json.loads(options.truth.read_text()) if options.truth and options.truth.exists() else {}

    def save() -> None:
        if options.truth:
            options.truth.write_text(json.dumps(known, indent=1))

    results = {}
    for kind in options.kinds.split(","):
        rows = results[kind] = []
        for row in measured(options.folder, kind, known, save):
            rows.append(row)
            print(f"{kind} {row['name']}", file=sys.stderr, flush=True)
        if rows:
            print(f"\n## {kind}\n", *table(rows), sep="\n", flush=True)
    if options.output:
        options.output.write_text(json.dumps(results, indent=1, default=float))


if __name__ == "__main__":
    main()

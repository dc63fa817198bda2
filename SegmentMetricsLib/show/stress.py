"""Results of a stress test as a table and as files: stress.json, stress.csv and the masks of both variants."""

from __future__ import annotations

from pathlib import Path

from ..case.comparison import describe
from ..case.stress import StressTest
from ..metrics.measurement import roundText
from . import writing
from .tablemodel import Column, Table
from .tables import LONGEST_TITLE, align, shorten

SCHEMA = "segment-metrics-stress/2"
# Of the stress tests of many cases, and the files that only these have.
CASES_SCHEMA = "segment-metrics-stress-cases/1"
FILES_OF_CASES = "stress.summary.csv", "stress.summary.schema.csv", "stress.schema.csv"
# The most important measurements of a stress test: heading and key.
COLUMNS = {"Dice": "DSC", "HD95": "HD95", "wDice": "wDice", "SIS": "SIS", "STAR": "STAR"}


def table(result: StressTest) -> str:
    """Return a text table of the main measurements, one variant per line."""
    rows = []
    for name, comparison in result.variants.items():
        texts = []
        for key in COLUMNS.values():
            one = comparison.measurements.get(key)
            # ratios have one more digit than usual: for a large structure they differ little
            isShare = one is not None and one.status == "ok" and not one.unit
            texts.append("" if one is None else roundText(one.value, 4) if isShare else one.text())
        rows.append([name, *texts])
    return align(Table.ofRows([shorten(result.risky.reference.name, LONGEST_TITLE), *COLUMNS], rows))


def write(result: StressTest, folder: Path) -> None:
    """Write all files of a stress test into a folder. Raises OSError if one cannot be written."""
    reference = result.risky.reference
    (stem,) = writing.fileNames([reference.name])
    masks = {name: f"{name}_{stem}.nrrd" for name in result.variants}
    for name, comparison in result.variants.items():
        writing.writeMask(comparison.test.ownMask, folder / masks[name])
    writing.writeJson(_document(result, masks), folder / "stress.json")
    keys = list(dict.fromkeys(key for comparison in result.variants.values() for key in comparison))
    columns = map(Column, ("Variant", "Reference", "ReferenceFile", "Mask", "Count", *keys))
    rows = [
        [name, reference.name, reference.file, masks[name], result.count, *map(comparison.get, keys)]
        for name, comparison in result.variants.items()
    ]
    writing.writeTable(Table(list(columns), rows), folder / "stress.csv")


def _document(result: StressTest, masks: dict[str, str]) -> dict:
    wanted = ("measurements", "findings", "worstPlaces")
    contents = {name: comparison.toDictionary() for name, comparison in result.variants.items()}
    return {
        **writing.headOf(SCHEMA, result.risky.settings),
        "reference": describe(result.risky.reference),
        "grid": result.risky.grid,
        "count": result.count,
        "boundary": {"inner": result.inner, "outer": result.outer, "hazardVaries": result.varies},
        "variants": {
            name: {"file": masks[name], **{key: content[key] for key in wanted if key in content}}
            for name, content in contents.items()
        },
    }


def earlierResults(folder: Path) -> list[Path]:
    """Return the files that an earlier stress test wrote into a folder, according to its stress.json.

    These are masks of both variants, or tables of many cases; stress.json and stress.csv are replaced in any case.
    """
    path = folder / "stress.json"
    ofOne = writing.earlierFiles(path, SCHEMA, lambda content: [v["file"] for v in content["variants"].values()])
    return [*writing.earlierFiles(path, CASES_SCHEMA, lambda _: FILES_OF_CASES), *ofOne]

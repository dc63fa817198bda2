"""Results of stress tests over many cases: a table for the terminal, stress.json, stress.csv and stress.summary.csv."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from ..comparison.measurements import rounded, withUnit
from ..settings.settings import Settings
from ..show import writing
from ..show.stress import CASES_SCHEMA, FILES_OF_CASES
from ..show.tables import LONGEST_NAME, aligned, shortened
from .stresscases import Difference, StressOutcome
from .summaryoptions import CONFIDENCE

JSON, TABLE = "stress.json", "stress.csv"
SUMMARY, SUMMARY_SCHEMA, TABLE_SCHEMA = FILES_OF_CASES
# What the columns of the tables are; those of measurements follow the registry.
IDENTITY = {
    "Case": "Name of the case",
    "Structure": "Name of the structure that is changed",
    "Variant": "risky: the most hazardous voxels are changed; neutral: the least hazardous ones",
    "ReferenceFile": "File or folder of the reference",
    "Count": "Number of voxels that are left out, and of voxels that are added",
    "Inner": "Number of voxels of the inner boundary, of which some are left out",
    "Outer": "Number of voxels of the outer boundary, of which some are added",
    "HazardVaries": "Whether some voxels of the boundaries are more hazardous than others",
    "Status": "ok or failed",
    "Reason": "Why it is not ok",
}
STATISTICS = {
    "Structure": "Name of the structure, or all structures: the mean of those of each case",
    "Measurement": "Key of the measurement",
    "Unit": "Unit of the measurement",
    "Cases": "Number of cases with finite values of both variants",
    "LeftOut": "Number of cases with infinite or undefined values",
    "MeanRisky": "Mean of the risky variants",
    "MeanNeutral": "Mean of the neutral variants",
    "MeanDifference": "Mean of the differences, risky minus neutral",
    "Low": "Lower end of the 95 % bootstrap interval of the mean difference",
    "High": "Upper end of the 95 % bootstrap interval of the mean difference",
    "Alternative": "What the test is for: that the risky variant's value is greater, or less",
    "P": "One-sided p of Wilcoxon's signed-rank test against that alternative",
    "Reason": "Why there is no p",
}
TEST = (
    "Wilcoxon signed-rank, one-sided: the risky variant is worse; differences of 0 are left out; where several "
    "structures are taken together, the mean of a case's structures is one value"
)
# Measurements of the table on the terminal.
SHOWN = ("DSC", "HD95", "wDice", "SIS", "STAR")


def summaryTable(found: Sequence[Difference], width: int | None = None) -> str:
    """Return the mean differences of the main measurements as text. width: as for tables.aligned()."""
    head = ["Structure", "Measurement", "Cases", "Risky", "Neutral", "Difference", "95 % interval", "p (one-sided)"]
    rows = [head]
    for one in found:
        if one.measurement in SHOWN:
            numbers = (one.meanRisky, one.meanNeutral, one.meanDifference)
            texts = ["" if number is None else _text(number, one.unit) for number in numbers]
            ends = [_text(end, one.unit) for end in (one.low, one.high) if end is not None]
            interval = f"{ends[0]} to {ends[1]}" if ends else ""
            p = "" if one.p is None else f"{one.p:.2g}"
            name = shortened(one.structure, LONGEST_NAME)
            rows.append([name, one.measurement, str(one.cases), *texts, interval, p])
    return aligned(rows, left=2, width=width)


def _text(value: float, unit: str) -> str:
    """Return a number as text, shares with one more digit than usual: of a large structure they differ little."""
    return withUnit(value, unit) if unit else rounded(value, 4)


def write(
    outcomes: Sequence[StressOutcome],
    found: Sequence[Difference],
    settings: Settings,
    bootstrap: dict[str, int],
    folder: Path,
) -> None:
    """Write all results of stress tests into a folder. bootstrap: number of resamples, and seed."""
    content = {
        "schema": CASES_SCHEMA,
        "software": writing.versions(),
        "settings": settings.toDictionary(),
        "test": TEST,
        "interval": f"{CONFIDENCE:.0%} percentile bootstrap of the mean difference",
        **bootstrap,
        "differences": [asdict(one) for one in found],
        "tests": [_document(one) for one in outcomes],
    }
    writing.writeJson(content, folder / JSON)
    keys = list(dict.fromkeys(key for one in outcomes for key in one.risky))
    with _table(folder / TABLE) as file:
        writer = csv.writer(file)
        writer.writerow([*IDENTITY, *keys])
        for one in outcomes:
            for variant in ("risky", "neutral"):
                values = getattr(one, variant)
                sizes = ["", "", "", ""] if one.reason else [one.count, one.inner, one.outer, one.varies]
                start = [writing.harmless(one.case), writing.harmless(one.structure), variant]
                told = ["failed" if one.reason else "ok", writing.harmless(one.reason)]
                cells = (writing.cell(values.get(key)) for key in keys)
                writer.writerow([*start, writing.harmless(one.reference), *sizes, *told, *cells])
    with _table(folder / SUMMARY) as file:
        writer = csv.writer(file)
        writer.writerow(list(STATISTICS))
        for one in found:
            writer.writerow([_cell(getattr(one, field.name)) for field in fields(one)])
    measured = next((one.risky for one in outcomes if one.risky), {})
    _writeSchema(folder / TABLE_SCHEMA, IDENTITY, {key: measured[key] for key in keys if key in measured})
    _writeSchema(folder / SUMMARY_SCHEMA, STATISTICS, {})


def _cell(value) -> str:
    """Return a field of a Difference as the cell of a table, numbers in full precision."""
    if value is None:
        return ""
    return writing.harmless(value) if isinstance(value, str) else repr(value)


def _document(one: StressOutcome) -> dict:
    """Return the stress test of one structure for stress.json."""
    content = {"case": one.case, "reference": one.reference, "structure": one.structure}
    if one.reason:
        return {**content, "status": "failed", "reason": one.reason}
    boundary = {"inner": one.inner, "outer": one.outer, "hazardVaries": one.varies}
    variants = {
        name: {key: measurement.toDictionary() for key, measurement in getattr(one, name).items()}
        for name in ("risky", "neutral")
    }
    return {**content, "status": "ok", "count": one.count, "boundary": boundary, "variants": variants}


def _writeSchema(path: Path, identity: dict[str, str], measured: dict) -> None:
    with _table(path) as file:
        writer = csv.writer(file)
        writer.writerow(["key", "title", "unit", "description"])
        writer.writerows([key, key, "", description] for key, description in identity.items())
        writer.writerows([key, one.title, one.unit, one.description] for key, one in measured.items())


def _table(path: Path):
    return path.open("w", newline="", encoding="utf-8", errors=writing.UNENCODABLE)

"""Results of stress tests over many cases: a table for the terminal, stress.json, stress.csv and stress.summary.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from ..metrics.measurement import roundText, withUnit
from ..settings.settings import Settings
from ..show import writing
from ..show.resulttables import columnFor
from ..show.stress import CASES_SCHEMA, FILES_OF_CASES
from ..show.tablemodel import Column, Table
from ..show.tables import LONGEST_NAME, align, shorten
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
    "Alternative": "Alternative hypothesis: whether the risky variant's value is greater or less",
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
    """Return the mean differences of the main measurements as text. width: as for tables.align()."""
    head = ["Structure", "Measurement", "Cases", "Risky", "Neutral", "Difference", "95 % interval", "p (one-sided)"]
    rows = []
    for one in found:
        if one.measurement in SHOWN:
            numbers = (one.meanRisky, one.meanNeutral, one.meanDifference)
            texts = ["" if number is None else _text(number, one.unit) for number in numbers]
            ends = [_text(end, one.unit) for end in (one.low, one.high) if end is not None]
            interval = f"{ends[0]} to {ends[1]}" if ends else ""
            p = "" if one.p is None else f"{one.p:.2g}"
            name = shorten(one.structure, LONGEST_NAME)
            rows.append([name, one.measurement, str(one.cases), *texts, interval, p])
    return align(Table.headed(head, rows, left=2), width)


def _text(value: float, unit: str) -> str:
    """Return a number as text, shares with one more digit than usual: of a large structure they differ little."""
    return withUnit(value, unit) if unit else roundText(value, 4)


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
    rows = []
    for one in outcomes:
        sizes = [None] * 4 if one.reason else [one.count, one.inner, one.outer, one.varies]
        told = "failed" if one.reason else "ok", one.reason
        for variant in ("risky", "neutral"):
            values = map(getattr(one, variant).get, keys)
            rows.append([one.case, one.structure, variant, one.reference, *sizes, *told, *values])
    identity = [Column(key, description=text) for key, text in IDENTITY.items()]
    statistics = [Column(key, description=text) for key, text in STATISTICS.items()]
    measured = next((one.risky for one in outcomes if one.risky), {})
    writing.writeTable(Table([*identity, *map(Column, keys)], rows), folder / TABLE)
    differences = [[getattr(one, field.name) for field in fields(one)] for one in found]
    writing.writeTable(Table(statistics, differences), folder / SUMMARY)
    described = [columnFor(measured[key]) for key in keys if key in measured]
    writing.writeSchema([*identity, *described], folder / TABLE_SCHEMA)
    writing.writeSchema(statistics, folder / SUMMARY_SCHEMA)


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

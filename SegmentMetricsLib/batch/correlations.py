"""Which measurements of a cohort rank its contours alike: Spearman's correlations, as tables.

Measurements that rank alike add nothing to each other (Taha & Hanbury, doi:10.1186/s12880-015-0068-x, figure 3).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..case.tablemodel import Column, Table
from ..metrics.registry import findDefinition
from ..metrics.selection import isSelected
from ..settings.names import OWN_CONVENTION
from ..settings.settings import Settings
from ..show.writing import fileNames, versions, writeJson, writeTable
from .ranks import ranksOf
from .statistics import Cohort, Value
from .summaryoptions import Options

SCHEMA = "segment-metrics-correlations/1"
CORRELATIONS, JSON = "correlations", "correlations.json"
# The file about all structures together.
EVERYTHING = "all"
METHOD = (
    "Spearman's rank correlation of the rankings from the best to the worst, over all cases and methods; tied values "
    "share their mean rank, infinite values are the worst, undefined ones are left out pair by pair"
)
# Fewer contours have no correlation that means anything.
FEWEST = 3
FILE = re.compile(r"[^/\\]+\.(csv|svg)")


@dataclass(frozen=True)
class Correlations:
    """The rank correlations of several measurements.

    keys: of the measurements. values, cases: (n, n) in their order; a value is None where fewer than FEWEST contours
    have both measurements, or all of them the same value.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    cases: tuple[tuple[int, ...], ...]


def correlate(
    cohort: Cohort, options: Options | None = None, keys: Sequence[str] | None = None, structure: str | None = None
) -> Correlations:
    """Return the rank correlations of measurements over all cases and methods.

    Every measurement ranks the contours from the best to the worst, so that two that agree have a correlation of 1,
    also where a lower value of one and a higher one of the other is better. keys: of the measurements; None is all for
    which lower or higher is better. Others are ranked from the lowest to the highest. structure: the only one that
    counts; None is all of them together.
    """
    keys = ranking(cohort) if keys is None else list(keys)
    given = cohort.given(options or Options())
    names = dict.fromkeys((one, method, case) for (one, method, _), group in given.items() for case in group)
    rows = [name for name in names if structure in (None, name[0])]
    columns = [_badness(given, rows, key) for key in keys]
    found = [[_spearman(first, second) for second in columns] for first in columns]
    return Correlations(
        tuple(keys),
        tuple(tuple(value for value, _ in row) for row in found),
        tuple(tuple(number for _, number in row) for row in found),
    )


def ranking(cohort: Cohort) -> list[str]:
    """Return the keys of the measurements of a cohort for which lower or higher is better."""
    found = {key: findDefinition(key) for key in cohort.keys}
    return [key for key, one in found.items() if one and one.definition.better]


def chosenKeys(names: Sequence[str], keys: Collection[str], purpose: str = "correlated") -> list[str]:
    """Return those keys that names of measurements and families stand for, as those of Settings.metrics do.

    purpose: what the measurements are for, in the message of the InputError that is raised for an unknown name, and for
    one that stands for none of the keys.
    """
    found: set[str] = set()
    for name in names:
        settings = Settings(metrics=(name,))
        stood = {key for key in keys if (one := findDefinition(key)) and isSelected(one.definition, settings, key)}
        if not stood:
            raise InputError(f"{name} is not measured, so it cannot be {purpose}: add it to --metrics.")
        found |= stood
    return [key for key in keys if key in found]


def _badness(given: Mapping[tuple, Mapping[str, Value]], rows: Sequence[tuple], key: str) -> np.ndarray:
    """Return numbers (n,) that are larger where a measurement is worse, NaN where it is undefined or missing."""
    found = findDefinition(key)
    sign = -1 if found and found.definition.better == "higher" else 1
    values = (given.get((structure, method, key), {}).get(case) for structure, method, case in rows)
    return sign * np.array([math.nan if value is None else value.value for value in values], float)


def _spearman(first: np.ndarray, second: np.ndarray) -> tuple[float | None, int]:
    """Return the correlation of the ranks of numbers (n,), None if there is none, and how many have both."""
    both = ~(np.isnan(first) | np.isnan(second))
    number = int(both.sum())
    if number < FEWEST:
        return None, number
    ranks = [ranksOf(values[both]) for values in (first, second)]
    offsets = [rank - rank.mean() for rank in ranks]
    scale = math.sqrt(float((offsets[0] ** 2).sum()) * float((offsets[1] ** 2).sum()))
    return (float((offsets[0] * offsets[1]).sum()) / scale, number) if scale else (None, number)


def writeCorrelations(
    cohort: Cohort,
    options: Options,
    folder: Path,
    names: Sequence[str] | None = None,
    convention: str = OWN_CONVENTION,
) -> list[Path]:
    """Write the correlations of a cohort in place of those of an earlier run, and return the files.

    There is a table of all structures together, and one of each if there are several; correlations.json
    has all of them. names: of the measurements, as for chosenKeys(); None is all for which lower or higher is better.
    Nothing is written for fewer than two measurements.
    """
    removeCorrelations(folder)
    keys = ranking(cohort) if names is None else chosenKeys(names, cohort.keys)
    if len(keys) < 2:
        return []
    structures = cohort.structures if len(cohort.structures) > 1 else []
    stems = fileNames([EVERYTHING, *structures])
    (folder / CORRELATIONS).mkdir(exist_ok=True)
    entries, files = [], []
    for structure, stem in zip((None, *structures), stems, strict=True):
        found = correlate(cohort, options, keys, structure)
        table = folder / CORRELATIONS / f"{stem}.csv"
        _writeTable(found, table)
        entries.append(
            {
                "structure": structure,
                "files": [table.name],
                "values": [list(row) for row in found.values],
                "cases": [list(row) for row in found.cases],
            }
        )
        files.append(table)
    content = {
        "schema": SCHEMA,
        "software": versions(),
        "convention": convention,
        "method": METHOD,
        "missing": options.describe()["missing"],
        "measurements": keys,
        "correlations": entries,
    }
    writeJson(content, folder / JSON)
    return [*files, folder / JSON]


def removeCorrelations(folder: Path) -> None:
    """Remove the files that writeCorrelations() wrote into a folder, and no others."""
    try:
        content = json.loads((folder / JSON).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            return
        names = [str(name) for entry in content["correlations"] for name in entry["files"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # missing, or written by another program
        return
    for name in filter(FILE.fullmatch, names):
        (folder / CORRELATIONS / name).unlink(missing_ok=True)
    (folder / JSON).unlink()
    with suppress(OSError):  # it does not exist, or contains something else
        (folder / CORRELATIONS).rmdir()


def _writeTable(found: Correlations, path: Path) -> None:
    """Write a table with a row and a column for each measurement; a cell is empty where there is no correlation."""
    values = [[None if value is None else round(value, 12) for value in row] for row in found.values]
    rows = [[key, *row] for key, row in zip(found.keys, values, strict=True)]
    writeTable(Table(list(map(Column, ("Measurement", *found.keys))), rows), path)

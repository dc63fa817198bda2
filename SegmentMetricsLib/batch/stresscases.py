"""The matched-Dice stress test over many cases: whether a measurement tells dangerous errors from harmless ones.

Results are a table for the terminal, stress.json, stress.csv and stress.summary.csv.
Source: Beyond Dice: SIS and STAR, sections 2.7 and 2.10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..base.errors import InputError
from ..base.plain import toPlain
from ..case.casework import criticalsOf, withLabelsNamed
from ..case.stress import USUAL_SHARE, stressTest
from ..io import reading
from ..io.sheets import readSheet
from ..metrics.measurement import ROUNDING, Measurement, roundText, withUnit
from ..metrics.registry import findMetric
from ..model.structures import Labels, onlyNamed
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from ..show import writing
from ..show.resulttables import columnFor
from ..show.stress import CASES_SCHEMA, FILES_OF_CASES
from ..show.tablemodel import Column, Table
from ..show.tables import LONGEST_NAME, align, shorten
from .cases import FAILED, OK
from .ranks import signedRankGreater
from .statistics import column, meanInterval
from .summaryoptions import CONFIDENCE, Options
from .tableschema import columnsOfRows

REQUIRED = ("case", "reference")
# The name under which the statistics of several structures together are listed.
ALL = "all structures"
GREATER, LESS = "greater", "less"
JSON, TABLE = "stress.json", "stress.csv"
SUMMARY, SUMMARY_SCHEMA, TABLE_SCHEMA = FILES_OF_CASES
# What the columns of stress.csv are; those of measurements follow the registry.
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
TEST = (
    "Wilcoxon signed-rank, one-sided: the risky variant is worse; differences of 0 are left out; where several "
    "structures are taken together, the mean of a case's structures is one value"
)
# Measurements of the table on the terminal.
SHOWN = ("DSC", "HD95", "wDice", "SIS", "STAR")


class StressCase(NamedTuple):
    """One line of a list of cases. problem: why it cannot be run, "" if it can."""

    case: str
    reference: str
    problem: str = ""


@dataclass(frozen=True)
class StressOutcome:
    """The stress test of one structure of one case.

    risky, neutral: the measurements of both variants by key, empty if there are none. count, inner, outer, varies: as
    of a StressTest, None if there is none. reason: why, "" if there is one.
    """

    case: str
    reference: str
    structure: str
    risky: Mapping[str, Measurement] = field(default_factory=dict)
    neutral: Mapping[str, Measurement] = field(default_factory=dict)
    count: int | None = None
    inner: int | None = None
    outer: int | None = None
    varies: bool | None = None
    reason: str = ""

    @property
    def status(self) -> str:
        return FAILED if self.reason else OK


@dataclass(frozen=True)
class Difference:
    """How a measurement of risky variants differs from that of neutral ones, over all cases; None for too few cases."""

    structure: str = column("Name of the structure, or all structures: the mean of those of each case")
    measurement: str = column("Key of the measurement")
    unit: str = column("Unit of the measurement")
    cases: int = column("Number of cases with finite values of both variants")
    leftOut: int = column("Number of cases with infinite or undefined values")
    meanRisky: float | None = column("Mean of the risky variants", None)
    meanNeutral: float | None = column("Mean of the neutral variants", None)
    meanDifference: float | None = column("Mean of the differences, risky minus neutral", None)
    low: float | None = column("Lower end of the 95 % bootstrap interval of the mean difference", None)
    high: float | None = column("Upper end of the 95 % bootstrap interval of the mean difference", None)
    alternative: str = column("Alternative hypothesis: whether the risky variant's value is greater or less", "")
    p: float | None = column("One-sided p of Wilcoxon's signed-rank test against that alternative", None)
    reason: str = column("Why there is no p", "")


def readStressCases(path: str | Path) -> list[StressCase]:
    """Return the cases in a table with the columns case and reference; other columns, as of a batch, are ignored.

    Paths are relative to the table's folder. A reference that is listed again for the same case, as for a second
    method, counts once. Raises InputError, naming the line, for a file that is not such a table.
    """
    sheet = readSheet(path, REQUIRED, (), mayHaveOthers=True)
    folder = Path(sheet.source).resolve().parent
    found: dict[tuple[str, str], StressCase] = {}
    lines: dict[str, str] = {}
    for line in sheet.lines:
        case, reference = (line.cells[name] for name in REQUIRED)
        problem = str(line.mistake or "")
        if missing := [name for name in REQUIRED if not line.cells[name]]:
            problem = problem or str(line.problem(missing[0], "it is empty."))
        elif case in lines and (case, reference) not in found:
            problem = problem or str(line.problem("case", f"its reference differs from that in {lines[case]}."))
        lines.setdefault(case, line.where)
        found.setdefault((case, reference), StressCase(case or line.where, str(folder / reference), problem))
    if not found:
        raise InputError(f"{path}: there are no cases.")
    return list(found.values())


def stressCase(
    case: StressCase,
    names: Sequence[str],
    settings: Settings,
    count: int | None = None,
    share: float = USUAL_SHARE,
    labelNames: Mapping[Labels, str] | None = None,
) -> Iterator[StressOutcome]:
    """Yield the stress test of each structure of a case; one that is not possible states the reason.

    settings: with the critical structures. count, share: as for stressTest(). labelNames: as for onlyNamed().
    """
    problem, found = case.problem, StructureSet()
    if not problem:
        try:
            (found,) = reading.readAll([case.reference], settings.threshold, labelNames=labelNames)
            settings = withLabelsNamed(settings, found, labelNames=labelNames)
        except InputError as error:
            problem = str(error)
    for name in names:
        try:
            if problem:
                raise InputError(problem)
            structure = onlyNamed(name, found, case.reference, labelNames)
            result = stressTest(structure, criticalsOf(found, settings), settings, count=count, share=share)
        except (InputError, MemoryError) as error:
            reason = str(error) or "this takes more memory than the computer has."
            yield StressOutcome(case.case, case.reference, name, reason=reason)
        else:
            counts = (result.count, result.inner, result.outer, result.varies)
            risky, neutral = dict(result.risky.items()), dict(result.neutral.items())
            yield StressOutcome(case.case, case.reference, name, risky, neutral, *counts)


def differences(outcomes: Sequence[StressOutcome], options: Options | None = None) -> list[Difference]:
    """Return the differences of all measurements that have a better direction, by structure, then of all together.

    The test is one-sided: a measurement that is sensitive to risk is worse for the risky variant. options: of the
    bootstrap, None for the usual ones.
    """
    options = options or Options()
    tested = [one for one in outcomes if not one.reason]
    names = list(dict.fromkeys(one.structure for one in tested))
    worse = {}
    for key in dict.fromkeys(key for one in tested for key in one.risky):
        if (found := findMetric(key)) and found.metric.better:
            worse[key] = GREATER if found.metric.better == "lower" else LESS
    result = []
    for structure in (*names, *([ALL] if len(names) > 1 else ())):
        for key, alternative in worse.items():
            own = [one for one in tested if structure in (ALL, one.structure) and key in one.risky]
            if not own:
                continue
            pairs = np.array([[one.risky[key].value, one.neutral[key].value] for one in own])
            isUsed = np.isfinite(pairs).all(axis=1)
            # the mean of each case, as structures of one patient are not independent
            cases = np.array([one.case for one in own])
            used = dict.fromkeys(cases[isUsed])
            values = np.array([pairs[isUsed & (cases == case)].mean(axis=0) for case in used]).reshape(-1, 2)
            about = (structure, key, own[0].risky[key].unit, len(values), len({*cases}) - len(values))
            if not len(values):
                reason = "no case has a finite value of both variants"
                result.append(Difference(*about, alternative=alternative, reason=reason))
                continue
            change = values[:, 0] - values[:, 1]
            # ranks count however small the differences are, so those due to rounding must be 0
            change[np.isclose(values[:, 0], values[:, 1], rtol=ROUNDING, atol=0)] = 0
            means = (float(values[:, 0].mean()), float(values[:, 1].mean()), math.fsum(change) / len(change))
            interval = meanInterval(change, resamples=options.resamples, seed=options.seed)
            p = signedRankGreater(change if alternative == GREATER else -change)
            reason = "" if p is not None else "the variants do not differ in any case"
            result.append(Difference(*about, *means, *interval, alternative, p, reason))
    return result


def summaryTable(found: Sequence[Difference], width: int | None = None) -> str:
    """Return the mean differences of the main measurements as text. width: as for tables.align()."""
    head = ["Structure", "Measurement", "Cases", "Risky", "Neutral", "Difference", "95 % interval", "p (one-sided)"]
    rows = []
    for one in found:
        if one.measurement in SHOWN:
            # shares with one more digit than usual: of a large structure they differ little
            risky, neutral, change, low, high = (
                "" if number is None else withUnit(number, one.unit) if one.unit else roundText(number, 4)
                for number in (one.meanRisky, one.meanNeutral, one.meanDifference, one.low, one.high)
            )
            interval = f"{low} to {high}" if low else ""
            p = "" if one.p is None else f"{one.p:.2g}"
            name = shorten(one.structure, LONGEST_NAME)
            rows.append([name, one.measurement, str(one.cases), risky, neutral, change, interval, p])
    return align(Table.ofRows(head, rows, left=2), width)


def writeStressCases(
    outcomes: Sequence[StressOutcome], found: Sequence[Difference], settings: Settings, options: Options, folder: Path
) -> None:
    """Write all results of stress tests into a folder. options: of the bootstrap."""
    keys = list(dict.fromkeys(key for one in outcomes for key in one.risky))
    documents, rows = [], []
    for one in outcomes:
        document = {"case": one.case, "reference": one.reference, "structure": one.structure, "status": one.status}
        variants = {"risky": one.risky, "neutral": one.neutral}
        measured = {
            "count": one.count,
            "boundary": {"inner": one.inner, "outer": one.outer, "hazardVaries": one.varies},
            "variants": toPlain(variants),
        }
        documents.append(document | ({"reason": one.reason} if one.reason else measured))
        for variant, own in variants.items():
            told = (one.case, one.structure, variant, one.reference, one.count, one.inner, one.outer, one.varies)
            rows.append([*told, one.status, one.reason, *map(own.get, keys)])
    content = {
        **writing.headOf(CASES_SCHEMA, settings),
        "test": TEST,
        "interval": f"{CONFIDENCE:.0%} percentile bootstrap of the mean difference",
        "resamples": options.resamples,
        "seed": options.seed,
        "differences": [asdict(one) for one in found],
        "tests": documents,
    }
    writing.writeJson(content, folder / JSON)
    identity = [Column(key, description=text) for key, text in IDENTITY.items()]
    statistics = columnsOfRows(Difference)
    known = next((one.risky for one in outcomes if one.risky), {})
    writing.writeTable(Table([*identity, *map(Column, keys)], rows), folder / TABLE)
    writing.writeTable(Table(statistics, list(map(astuple, found))), folder / SUMMARY)
    described = [columnFor(known[key]) for key in keys if key in known]
    writing.writeSchema([*identity, *described], folder / TABLE_SCHEMA)
    writing.writeSchema(statistics, folder / SUMMARY_SCHEMA)

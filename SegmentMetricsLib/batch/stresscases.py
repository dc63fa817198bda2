"""The matched-Dice stress test over many cases: whether a measurement tells dangerous errors from harmless ones.

Source: Beyond Dice: SIS and STAR, sections 2.7 and 2.10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.texts import commaSeparated
from ..case.casework import criticalsOf, withLabelsNamed
from ..case.stress import USUAL_SHARE, StressTest, stressTest
from ..io import reading
from ..io.sheets import readSheet
from ..metrics.measurement import ROUNDING, Measurement
from ..metrics.registry import findMetric
from ..model.naming import hintAt
from ..model.structure import Structure
from ..model.structures import Labels, nameMeant, requireUsable
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from .ranks import signedRankGreater
from .statistics import meanInterval
from .summaryoptions import RESAMPLES, SEED

REQUIRED = ("case", "reference")
# The name under which the statistics of several structures together are listed.
ALL = "all structures"
GREATER, LESS = "greater", "less"


@dataclass(frozen=True)
class StressCase:
    """One line of a list of cases. problem: why it cannot be run, "" if it can."""

    case: str
    reference: str
    problem: str = ""


@dataclass(frozen=True)
class StressOutcome:
    """The stress test of one structure of one case.

    risky, neutral: the measurements of both variants by key, empty if there are none. count, inner, outer, varies: as
    of a StressTest. reason: why there are no measurements, "" if there are.
    """

    case: str
    reference: str
    structure: str
    risky: Mapping[str, Measurement]
    neutral: Mapping[str, Measurement]
    count: int = 0
    inner: int = 0
    outer: int = 0
    varies: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Difference:
    """How a measurement of the risky variants differs from that of the neutral ones, over all cases.

    structure: its name, or ALL, where the mean of a case's structures counts as one value. cases: number of cases with
    finite values of both variants. leftOut: number of those with others. meanDifference: risky minus neutral. low,
    high: 95 % bootstrap interval of it. alternative: "greater" or "less", that of the risky variant if it is worse. p:
    of Wilcoxon's signed-rank test against that alternative, one-sided. reason: why there is no p. Numbers are None
    where there are too few cases.
    """

    structure: str
    measurement: str
    unit: str
    cases: int
    leftOut: int
    meanRisky: float | None
    meanNeutral: float | None
    meanDifference: float | None
    low: float | None
    high: float | None
    alternative: str
    p: float | None
    reason: str = ""


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


def structureNamed(
    name: str, structures: Sequence[Structure], where: str, labelNames: Mapping[Labels, str] | None = None
) -> Structure:
    """Return the structure of a name in any spelling, or label. Raises InputError unless there is exactly one.

    where: the file or folder, for messages. labelNames: names, by number, of labels that have none of their own.
    """
    wanted = nameMeant(name, structures, labelNames)
    matches = [structure for structure in structures if structure.name == wanted]
    if len(matches) != 1:
        requireUsable(wanted, structures)
        problem = "more than one" if matches else "no"
        names = [structure.name for structure in structures]
        raise InputError(
            f"{where} has {problem} structure named {name!r}; it has {commaSeparated(names)}."
            f"{'' if matches else hintAt(name, names)}"
        )
    return matches[0]


def stressCase(
    case: StressCase,
    names: Sequence[str],
    settings: Settings,
    count: int | None = None,
    share: float = USUAL_SHARE,
    labelNames: Mapping[Labels, str] | None = None,
) -> Iterator[StressOutcome]:
    """Yield the stress test of each structure of a case; one that is not possible states the reason.

    settings: with the critical structures. count, share: as for stressTest(). labelNames: as for structureNamed().
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
            structure = structureNamed(name, found, case.reference, labelNames)
            result = stressTest(structure, criticalsOf(found, settings), settings, count=count, share=share)
        except (InputError, MemoryError) as error:
            reason = str(error) or "this takes more memory than the computer has."
            yield StressOutcome(case.case, case.reference, name, {}, {}, reason=reason)
        else:
            yield _outcome(case, name, result)


def _outcome(case: StressCase, name: str, result: StressTest) -> StressOutcome:
    risky, neutral = (dict(comparison.items()) for comparison in (result.risky, result.neutral))
    counts = (result.count, result.inner, result.outer)
    return StressOutcome(case.case, case.reference, name, risky, neutral, *counts, result.varies)


def differences(outcomes: Sequence[StressOutcome], resamples: int = RESAMPLES, seed: int = SEED) -> list[Difference]:
    """Return the differences of all measurements that have a better direction, by structure, then of all together.

    The test is one-sided: a measurement that is sensitive to risk is worse for the risky variant.
    """
    tested = [one for one in outcomes if not one.reason]
    names = list(dict.fromkeys(one.structure for one in tested))
    keys = list(dict.fromkeys(key for one in tested for key in one.risky if _worse(key)))
    result = []
    for structure in (*names, *([ALL] if len(names) > 1 else ())):
        for key in keys:
            own = [one for one in tested if structure in (ALL, one.structure) and key in one.risky]
            if own:
                pairs = np.array([[one.risky[key].value, one.neutral[key].value] for one in own])
                isUsed = np.isfinite(pairs).all(axis=1)
                cases = [one.case for one, used in zip(own, isUsed, strict=True) if used]
                values = _byCase(cases, pairs[isUsed])
                leftOut = len({one.case for one in own}) - len(values)
                unit = own[0].risky[key].unit
                result.append(_difference((structure, key, unit), values, leftOut, resamples, seed))
    return result


def _worse(key: str) -> str:
    """Return the direction in which a measurement is worse, "" if it has none."""
    found = findMetric(key)
    return {"lower": GREATER, "higher": LESS}.get(found.metric.better, "") if found else ""


def _byCase(cases: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """Return the means of pairs of values (n, 2) by case: structures of one patient are not independent."""
    order = list(dict.fromkeys(cases))
    chosen = np.array([order.index(case) for case in cases], int)
    return np.array([pairs[chosen == number].mean(axis=0) for number in range(len(order))]).reshape(-1, 2)


def _difference(name: tuple[str, str, str], values: np.ndarray, leftOut: int, resamples: int, seed: int) -> Difference:
    """Return the statistics of pairs (n, 2) of the risky and the neutral variant. name: structure, key and unit."""
    alternative = _worse(name[1])
    if not len(values):
        reason = "no case has a finite value of both variants"
        return Difference(*name, 0, leftOut, None, None, None, None, None, alternative, None, reason)
    change = values[:, 0] - values[:, 1]
    # ranks count however small the differences are, so those due to rounding must be 0
    change[np.isclose(values[:, 0], values[:, 1], rtol=ROUNDING, atol=0)] = 0
    low, high = meanInterval(change, resamples=resamples, seed=seed)
    p = signedRankGreater(change if alternative == GREATER else -change)
    return Difference(
        *name,
        len(values),
        leftOut,
        float(values[:, 0].mean()),
        float(values[:, 1].mean()),
        math.fsum(change) / len(change),
        low,
        high,
        alternative,
        p,
        "" if p is not None else "the variants do not differ in any case",
    )

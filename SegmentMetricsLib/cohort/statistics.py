"""Statistics of the measurements of many cases, and tests of differences between methods."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

import numpy as np

from .. import naming
from ..errors import requireKind
from ..measurements import ROUNDING, Measurement
from ..registry import REGISTRY, findDefinition
from .missing import REFERENCE, TEST, Roster
from .summaryoptions import CONFIDENCE, DIAGONAL, LEAVE_OUT, RESAMPLES, SEED, Options

# Most differences for which p is computed exactly here; SciPy approximates for more than this if there are ties.
MOST_EXACT = 13


@dataclass(frozen=True)
class Value:
    """One measurement of one case.

    diagonal: of the case's image in mm, None if there is no image. missing: the side that lacks the structure, or "".
    """

    value: float
    diagonal: float | None
    missing: str = ""


@dataclass(frozen=True)
class Summary:
    """One measurement of one structure and method over all cases.

    cases: number of cases that have it. used: number of values in the statistics. infinite, undefined: number of such
    values. replaced: number of infinite values replaced by a number. Statistics are None if there are too few values.
    missingReference, missingTest: number of cases in which that side lacks the structure, even if these are left out.
    """

    structure: str
    method: str
    measurement: str
    unit: str
    cases: int
    used: int
    infinite: int
    undefined: int
    replaced: int
    mean: float | None
    sd: float | None
    median: float | None
    iqr: float | None
    q1: float | None
    q3: float | None
    minimum: float | None
    maximum: float | None
    meanLow: float | None
    meanHigh: float | None
    missingReference: int = 0
    missingTest: int = 0

    def toDictionary(self) -> dict:
        """Return the summary as plain values for files."""
        return asdict(self)


@dataclass(frozen=True)
class PairedTest:
    """A Wilcoxon signed-rank test between two methods (Wilcoxon 1945, doi:10.2307/3001968).

    cases: number of cases with a value of both methods. p: two-sided. corrected: Bonferroni-corrected for all tests of
    the same measurement. medianDifference: of the second method minus the first. reason: why there is no p.
    missingReference, missingFirst, missingSecond: number of cases in which the reference, or the test of that method,
    lacks the structure.
    """

    structure: str
    measurement: str
    first: str
    second: str
    cases: int
    medianDifference: float | None
    p: float | None
    corrected: float | None
    tests: int
    reason: str = ""
    missingReference: int = 0
    missingFirst: int = 0
    missingSecond: int = 0

    def toDictionary(self) -> dict:
        """Return the test as plain values for files."""
        return asdict(self)


class Cohort:
    """The measurements of many cases, by structure, method, key and case, from outcomes of cohort.tasks.runCase().

    roster: the structures of all cases that will be added; None collects them from the outcomes as they are added.
    """

    def __init__(self, outcomes: Iterable[Mapping] = (), *, roster: Roster | None = None) -> None:
        self.values: dict[tuple[str, str, str], dict[str, Value]] = {}
        self.units: dict[str, str] = {}
        self._names: dict[tuple, str] = {}
        outcomes = list(outcomes) if roster is None else outcomes
        self.roster = Roster(outcomes) if roster is None else roster
        for outcome in outcomes:
            self._take(outcome)

    def add(self, outcome: Mapping) -> None:
        """Add all measurements of a case."""
        self.roster.learn(outcome)
        self._take(outcome)

    def _take(self, outcome: Mapping) -> None:
        records = [r for r in (*outcome["pairs"], *outcome.get("missing", ())) if self.roster.counts(r)]
        # records of what the reference lacks come last, as the case may have the structure in another spelling
        records.sort(key=lambda record: record.get("missing") == REFERENCE)
        names = {self.roster.nameOf(record) for record in records}
        seen: set[str] = set()
        for record in records:
            own, missing = self.roster.nameOf(record), record.get("missing", "")
            structure = self._structure(own)
            if missing == REFERENCE and structure in seen:
                continue
            # two spellings in one case are two structures
            if structure in seen or (structure != own and structure in names):
                structure = own
            seen.add(structure)
            for key, given in record["measurements"].items():
                measurement = Measurement.fromDictionary(key, given)
                self.units.setdefault(key, measurement.unit)
                group = self.values.setdefault((structure, outcome["method"], key), {})
                group[outcome["case"]] = Value(measurement.value, record.get("diagonal"), missing)

    def _structure(self, name: str) -> str:
        """Return the name under which a structure counts: the first of those that differ only in spelling."""
        return self._names.setdefault(naming.parse(name).spelled, name)

    @property
    def structures(self) -> list[str]:
        return list(dict.fromkeys(structure for structure, _, _ in self.values))

    @property
    def undrawn(self) -> list[str]:
        """The structures that no test has."""
        drawn = {name[0] for name, group in self.values.items() if any(v.missing != TEST for v in group.values())}
        return [structure for structure in self.structures if structure not in drawn]

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for _, method, _ in self.values))

    @property
    def keys(self) -> list[str]:
        """All keys, in the order of the registry."""
        found = list(dict.fromkeys(key for _, _, key in self.values))
        order = {id(definition): number for number, definition in enumerate(REGISTRY)}
        known = {key: findDefinition(key) for key in found}
        return sorted(found, key=lambda key: order[id(known[key].definition)] if known[key] else len(order))

    def given(self, options: Options) -> dict[tuple[str, str, str], dict[str, Value]]:
        """Return the values by case for each structure, method and key, for missing structures only if these count."""
        if options.missing != LEAVE_OUT:
            return self.values
        return {
            name: {case: value for case, value in group.items() if not value.missing}
            for name, group in self.values.items()
        }

    def sides(self) -> dict[tuple[str, str], dict[str, str]]:
        """Return the side that lacks the structure, or "", by case for each structure and method."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        # not all cases have the same measurements if they have protocols of their own
        for (structure, method, _), group in self.values.items():
            found.setdefault((structure, method), {}).update({case: value.missing for case, value in group.items()})
        return found

    def used(self, options: Options) -> dict[tuple[str, str, str], dict[str, float]]:
        """Return the numbers by case for each structure, method and key, with infinite values treated as chosen."""
        given, treatment = self.given(options), options.treatment
        largest: dict[str, float] = {}
        for (_, _, key), group in given.items():
            finite = [abs(v.value) for v in group.values() if math.isfinite(v.value)]
            largest[key] = max([*finite, largest.get(key, -math.inf)])
        result = {}
        for name, group in given.items():
            key = name[2]
            treated = ((case, _treated(v, treatment, self.units[key], largest[key])) for case, v in group.items())
            result[name] = {case: value for case, value in treated if value is not None}
        return result


def _treated(given: Value, treatment: str, unit: str, largest: float) -> float | None:
    """Return the number that a value counts as, None if it is left out."""
    if math.isfinite(given.value):
        return given.value
    if math.isnan(given.value) or treatment == LEAVE_OUT:
        return None
    if treatment == DIAGONAL:
        known = unit == "mm" and given.diagonal is not None
        return math.copysign(given.diagonal, given.value) if known else None
    return math.copysign(largest, given.value) if math.isfinite(largest) else None


def _checked(cohort: object, options: object) -> Options:
    """Return the given options, or the usual ones for None. Raises InputError for arguments of another kind."""
    requireKind(cohort, Cohort, "The cohort", "a Cohort, such as Cohort(outcomes)")
    if options is None:
        return Options()
    requireKind(options, Options, "The options", "Options")
    return options


def summarize(cohort: Cohort, options: Options | None = None) -> list[Summary]:
    """Return one summary per structure, method and measurement. Raises InputError for other arguments."""
    options = _checked(cohort, options)
    given, used = cohort.given(options), cohort.used(options)
    result = []
    for structure in cohort.structures:
        for method in cohort.methods:
            for key in cohort.keys:
                name = (structure, method, key)
                if name in cohort.values:
                    values = [v.value for v in given[name].values()]
                    summary = _summary(name, cohort.units[key], values, list(used[name].values()), options)
                    sides = [v.missing for v in cohort.values[name].values()]
                    counts = {"missingReference": sides.count(REFERENCE), "missingTest": sides.count(TEST)}
                    result.append(replace(summary, **counts))
    return result


def _summary(name: tuple[str, str, str], unit: str, given: list[float], used: list[float], options: Options) -> Summary:
    infinite = sum(math.isinf(value) for value in given)
    undefined = sum(math.isnan(value) for value in given)
    counts = (len(given), len(used), infinite, undefined, len(used) - (len(given) - infinite - undefined))
    if not used:
        return Summary(*name, unit, *counts, *[None] * 10)
    values = np.array(used)
    q1, median, q3 = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    low, high = meanInterval(values, resamples=options.resamples, seed=options.seed)
    return Summary(
        *name,
        unit,
        *counts,
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
        median=median,
        iqr=q3 - q1,
        q1=q1,
        q3=q3,
        minimum=float(values.min()),
        maximum=float(values.max()),
        meanLow=low,
        meanHigh=high,
    )


def meanInterval(
    values: np.ndarray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float | None, float | None]:
    """Return the 95 % bootstrap interval of the mean of values (n,), (None, None) for fewer than two.

    It is a percentile interval (Efron 1979, doi:10.1214/aos/1176344552). The same values always give the same interval.
    """
    if len(values) < 2:
        return None, None
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    from scipy.stats import bootstrap

    interval = bootstrap(
        (values,),
        np.mean,
        confidence_level=CONFIDENCE,
        n_resamples=resamples,
        batch=max(1, 1_000_000 // len(values)),
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def compareMethods(cohort: Cohort, options: Options | None = None) -> list[PairedTest]:
    """Return the paired tests between all methods, for every structure and measurement; [] for a single method.

    Cases are paired by name; those without a value of either method are left out. The correction is for all tests of
    the same measurement, over structures and pairs of methods. Raises InputError for other arguments.
    """
    options = _checked(cohort, options)
    used = cohort.used(options)
    result = []
    for key in cohort.keys:
        found = []
        for structure in cohort.structures:
            for first, second in combinations(cohort.methods, 2):
                groups = [used.get((structure, method, key), {}) for method in (first, second)]
                if all((structure, method, key) in used for method in (first, second)):
                    cases = [case for case in groups[0] if case in groups[1]]
                    pairs = [np.array([group[case] for case in cases]) for group in groups]
                    found.append((structure, first, second, *_wilcoxon(*pairs)))
        tests = sum(p is not None for *_, p, _ in found)
        for structure, first, second, cases, difference, p, reason in found:
            corrected = None if p is None else min(1.0, p * tests)
            missing = _missing(*(cohort.values[structure, method, key] for method in (first, second)))
            result.append(
                PairedTest(structure, key, first, second, cases, difference, p, corrected, tests, reason, *missing)
            )
    return result


def _missing(*groups: Mapping[str, Value]) -> tuple[int, ...]:
    """Return the number of cases in which the reference lacks a structure, and the test of each of two methods."""
    sides = [{case for case, value in group.items() if value.missing == REFERENCE} for group in groups]
    return len(set.union(*sides)), *(sum(v.missing == TEST for v in group.values()) for group in groups)


def _wilcoxon(first: np.ndarray, second: np.ndarray) -> tuple[int, float | None, float | None, str]:
    """Return the number of cases, the median difference, p, and the reason if there is no p."""
    differences = second - first
    # ranks count however small the differences, so those due to rounding must be 0
    differences[np.isclose(first, second, rtol=ROUNDING, atol=0)] = 0
    if not len(differences):
        return 0, None, None, "no case has both"
    median = float(np.median(differences))
    if not differences.any():
        return len(differences), median, None, "the methods do not differ in any case"
    if len(differences) <= MOST_EXACT:
        return len(differences), median, _exactSignedRank(differences), ""
    from scipy.stats import wilcoxon

    return len(differences), median, float(wilcoxon(differences).pvalue), ""


def _exactSignedRank(differences: np.ndarray) -> float:
    """Return the exact two-sided p of Wilcoxon's signed-rank test, also with ties; differences of 0 are ignored.

    SciPy returns the same, but with ties it enumerates all choices of signs, which takes a second; older versions
    approximate.
    """
    from scipy.stats import rankdata

    differences = differences[differences != 0]
    # ties have the mean of their ranks, which may be half of an integer, hence the factor 2
    ranks = np.round(2 * rankdata(np.abs(differences))).astype(int)
    ways = np.ones(1)  # number of choices of signs for each sum of ranks
    for rank in ranks:
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    positive = int(ranks[differences > 0].sum())
    return float(min(1.0, 2 * min(ways[: positive + 1].sum(), ways[positive:].sum()) / ways.sum()))


@dataclass(frozen=True)
class Box:
    """A box of a box plot: quartiles, whiskers to the farthest values within 1.5 IQR, and the values beyond."""

    q1: float
    median: float
    q3: float
    low: float
    high: float
    outliers: tuple[float, ...]


def box(values: Sequence[float]) -> Box:
    """Return the box of at least one number (Tukey's)."""
    values = np.sort(np.asarray(values, float))
    q1, median, q3 = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    outliers = values[(values < q1 - reach) | (values > q3 + reach)]
    # with few values, all values inside may lie on one side of a quartile, which then has no whisker
    low, high = min(float(inside[0]), q1), max(float(inside[-1]), q3)
    return Box(q1, median, q3, low, high, tuple(float(v) for v in outliers))

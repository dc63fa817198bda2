"""Statistics of the measurements of many cases, and tests of differences between methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple, cast

import numpy as np

from ..base.errors import requireKind
from ..metrics.metric import Asked
from ..metrics.registry import REGISTRY, findMetric, restore
from ..model.structures import TEST_EMPTY
from .missing import BOTH, REFERENCE, TEST, Counted, CountedNames, Roster
from .ranks import Friedman, SignedRank, compareMany, compareRanks, correctAll, quantile
from .summaryoptions import BY_MEASUREMENT, CONFIDENCE, DIAGONAL, LEAVE_OUT, RESAMPLES, SEED, STEPWISE, Options

QUARTILES = (0.25, 0.5, 0.75)
# What a case without a method is called where methods are named.
NO_METHOD = "no method"
# What stands in the place of a structure for the mean over all of them.
OVERALL = "Mean of structures"
# What columns of the tables are.
IN_ORDER = "Infinite is worse than all other values; a structure that the test misses has the worst value there is"
BOUND = "of the 95 % interval"
STRUCTURE_WORDS = "Name of the structure, in the spelling that comes first: the same in all tables"
METHOD_WORDS, MEASUREMENT_WORDS = "What made the test", "Key of the measurement: the name of its column in results.csv"
BETTER_WORDS = "lower or higher: the better direction of the measurement; empty if it has none"


def column(about: str, default: Any = MISSING) -> Any:
    """Return a field of a dataclass whose instances are rows of a table. about: what the column is."""
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True)
class ValueRow:
    """One measurement of one case.

    diagonal: of the case's image in mm, None if there is no image. missing: the side that lacks the structure, or "".
    isEmpty: whether the test has the structure without a single voxel, although the reference is not empty.
    """

    value: float
    diagonal: float | None
    missing: str = ""
    isEmpty: bool = False


# What is counted of the values of either method in a test.
COUNTED: dict[str, Callable[[ValueRow], bool]] = {
    "missing": lambda value: value.missing == TEST,
    "empty": lambda value: value.isEmpty,
    "infinite": lambda value: math.isinf(value.value),
}


@dataclass(frozen=True)
class StatisticsRow:
    """A dataclass whose instances are rows of a table with statistics."""

    def toDictionary(self) -> dict:
        """Return the row as plain values for files, infinite numbers as "inf" and "-inf"."""
        # JSON has no infinity; float() reads these texts
        return {name: str(v) if isinstance(v, float) and math.isinf(v) else v for name, v in asdict(self).items()}


@dataclass(frozen=True)
class Summary(StatisticsRow):
    """One measurement of one structure and method over all cases; None is a statistic of too few values.

    Median, quartiles and range count an infinite value as worse than all others, and a structure that the test misses
    as the worst possible value. These may be infinite; iqr is None if both quartiles are. Missing structures are
    counted even if they are left out.
    """

    structure: str = column(STRUCTURE_WORDS)
    method: str = column(METHOD_WORDS)
    measurement: str = column(MEASUREMENT_WORDS)
    unit: str = column("Unit of all statistics")
    cases: int = column("Number of cases with the measurement")
    used: int = column("Number of values in mean, SD and their interval")
    infinite: int = column("Number of infinite values")
    undefined: int = column("Number of undefined values")
    replaced: int = column("Number of infinite values that a number replaces in mean, SD and their interval")
    mean: float | None = column("Mean of the used values", None)
    sd: float | None = column("Sample standard deviation of the used values", None)
    median: float | None = column(f"Median. {IN_ORDER}", None)
    iqr: float | None = column("Third quartile minus first quartile; empty if both are infinite", None)
    q1: float | None = column(f"First quartile. {IN_ORDER}", None)
    q3: float | None = column(f"Third quartile. {IN_ORDER}", None)
    minimum: float | None = column(f"Smallest value. {IN_ORDER}", None)
    maximum: float | None = column(f"Largest value. {IN_ORDER}", None)
    meanLow: float | None = column(f"Lower end {BOUND} of the mean, by bootstrap", None)
    meanHigh: float | None = column(f"Upper end {BOUND} of the mean, by bootstrap", None)
    missingReference: int = column("Number of cases in which the reference lacks the structure", 0)
    missingTest: int = column("Number of cases in which the test lacks the structure", 0)
    emptyTest: int = column("Number of cases in which the test has the structure, but no voxel of it", 0)
    better: str = column(BETTER_WORDS, "")
    ranked: int = column("Number of values in median, quartiles and range", 0)


@dataclass(frozen=True)
class PairedTest(StatisticsRow):
    """A Wilcoxon signed-rank test between two methods (Wilcoxon 1945, doi:10.2307/3001968).

    All differences are of the second method minus the first. Effect size and shift are those of ranks.SignedRank. The
    numbers of Friedman's test are of all methods, if there are at least three; the pairs are its post-hoc tests.
    """

    structure: str = column(STRUCTURE_WORDS)
    measurement: str = column(MEASUREMENT_WORDS)
    first: str = column("First method, as in the column Method of the other tables")
    second: str = column("Second method, as in the column Method of the other tables")
    cases: int = column("Number of cases in the test")
    medianDifference: float | None = column("Median of the second minus the first; infinite against infinite is 0")
    p: float | None = column("Two-sided p of Wilcoxon's signed-rank test; infinite against finite has the largest rank")
    corrected: float | None = column("P, corrected for the number of tests")
    tests: int = column("Number of tests it is corrected for")
    reason: str = column("Why there is no p", "")
    missingReference: int = column("Number of cases in which the reference lacks the structure", 0)
    missingFirst: int = column("Number of cases in which the test of the first method lacks the structure", 0)
    missingSecond: int = column("Number of cases in which the test of the second method lacks the structure", 0)
    emptyFirst: int = column("Number of cases in which the test of the first method has an empty structure", 0)
    emptySecond: int = column("Number of cases in which the test of the second method has an empty structure", 0)
    infiniteFirst: int = column("Number of infinite values of the first method", 0)
    infiniteSecond: int = column("Number of infinite values of the second method", 0)
    leftOut: int = column("Number of cases not in the test: only one method has them, or a value cannot be ranked", 0)
    correction: str = column("How p is corrected for the number of tests", "")
    direction: str = column("Direction of all differences, by the names of the methods: second minus first", "")
    better: str = column(BETTER_WORDS, "")
    favors: str = column("Method that the effect size favors, by the better direction; p says how surely", "")
    rankBiserial: float | None = column(
        "Effect size: matched-pairs rank-biserial correlation, 1 if all of the second's are larger", None
    )
    rankBiserialLow: float | None = column(f"Lower end {BOUND} of the effect size", None)
    rankBiserialHigh: float | None = column(f"Upper end {BOUND} of the effect size", None)
    shift: float | None = column("Hodges-Lehmann estimate of the second method's value minus the first's", None)
    shiftLow: float | None = column(f"Lower end {BOUND} of the shift; -inf for fewer than six cases", None)
    shiftHigh: float | None = column(f"Upper end {BOUND} of the shift; inf for fewer than six cases", None)
    friedmanMethods: int | None = column("Number of methods in Friedman's test; those of pairs are post hoc", None)
    friedmanCases: int | None = column("Number of cases that all methods have", None)
    friedmanStatistic: float | None = column("Chi-squared of Friedman's test", None)
    friedmanP: float | None = column("p of Friedman's test; empty for fewer than three methods or no difference", None)
    friedmanCorrected: float | None = column("FriedmanP, corrected for the number of such tests as P is", None)


class Cohort:
    """The measurements of many cases, by structure, method, key and case, from outcomes of runCase().

    roster: the structures of all cases that will be added; None collects them from the outcomes that are given.
    cases: all that every method should have, also those that none has; further ones are those that are added.
    """

    def __init__(self, outcomes: Iterable[Mapping] = (), *, roster: Roster | None = None, cases: Iterable[str] = ()):
        self.cases = list(cases)
        self.values: dict[tuple[str, str, str], dict[str, ValueRow]] = {}
        self.units: dict[str, str] = {}
        self._names = CountedNames()
        outcomes = list(outcomes)
        self.roster = Roster(outcomes) if roster is None else roster
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Mapping) -> list[Counted]:
        """Add all measurements of a case, and return its records with the names of their structures in the cohort."""
        self.roster.learn(outcome)
        named = self._names.of(outcome, self.roster)
        for record, structure, counts in named:
            if counts:
                self._take(outcome, record, structure)
        for record in outcome["pairs"]:
            # where neither side has any structure, what is known of lesions counts for the only one of the cohort
            if record.get("missing") == BOTH and self.roster.only:
                self._take(outcome, record, self.roster.only, isHealthy=True)
        return named

    def _take(self, outcome: Mapping, record: Mapping, structure: str, isHealthy: bool = False) -> None:
        """Add the measurements of a record; of one without any structure those of lesions."""
        missing = "" if isHealthy else record.get("missing", "")
        for key, given in record["measurements"].items():
            one = restore(key, given)
            if isHealthy and (one.family != "instances" or one.status != "ok"):
                continue
            isEmpty = not missing and not isHealthy and one.empty == TEST_EMPTY
            self.units.setdefault(key, one.unit)
            group = self.values.setdefault((structure, outcome["method"], key), {})
            group[outcome["case"]] = ValueRow(one.value, record.get("diagonal"), missing, isEmpty)

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
    def lacking(self) -> dict[str, list[str]]:
        """The cases of which a method has nothing at all, by method, as it has no file of them or they failed."""
        having: dict[str, set[str]] = {}
        for (_, method, _), group in self.values.items():
            having.setdefault(method, set()).update(group)
        cases = dict.fromkeys([*self.cases, *(case for group in self.values.values() for case in group)])
        found = {method: [case for case in cases if case not in own] for method, own in having.items()}
        return {method: lacked for method, lacked in found.items() if lacked}

    @property
    def keys(self) -> list[str]:
        """All keys, in the order of the registry."""
        found = list(dict.fromkeys(key for _, _, key in self.values))
        order = {id(definition): number for number, definition in enumerate(REGISTRY)}
        known = {key: findMetric(key) for key in found}
        return sorted(found, key=lambda key: order[id(one.metric)] if (one := known[key]) else len(order))

    def valuesFor(self, options: Options) -> dict[tuple[str, str, str], dict[str, ValueRow]]:
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

    def numbersFor(self, options: Options) -> dict[tuple[str, str, str], dict[str, float]]:
        """Return the numbers by case for each structure, method and key, with infinite values treated as for means."""
        given = self.valuesFor(options)
        largest: dict[str, float] = {}
        for (_, _, key), group in given.items():
            finite = [abs(v.value) for v in group.values() if math.isfinite(v.value)]
            largest[key] = max([*finite, largest.get(key, -math.inf)])

        def treat(value: ValueRow, key: str) -> float | None:
            if math.isfinite(value.value):
                return value.value
            if math.isnan(value.value) or options.treatment == LEAVE_OUT:
                return None
            if options.treatment == DIAGONAL:
                size = value.diagonal if self.units[key] == "mm" else None
            else:
                size = largest[key] if math.isfinite(largest[key]) else None
            return None if size is None or math.isinf(size) else math.copysign(size, value.value)

        return _countAs(treat, given)

    def scoresFor(self, options: Options) -> dict[tuple[str, str, str], dict[str, float]]:
        """Return the numbers by case for each structure, method and key, as they count in quantiles and rank tests.

        An infinite value is worse than all others, and a structure that a test misses has the worst value that the
        measurement can have. For a measurement without a better direction, no value that is not finite counts, and none
        of what no case has, as another tool does not report it.
        """
        known = {
            key for (*_, key), group in self.values.items() if not all(math.isnan(v.value) for v in group.values())
        }

        def score(value: ValueRow, key: str) -> float | None:
            better = betterOf(key) if key in known else ""
            if better and (value.isEmpty or value.missing == TEST):  # the test has nothing of the structure
                definition = cast(Asked, findMetric(key)).metric
                return definition.high if better == "lower" else definition.low
            if math.isinf(value.value) and better:
                return math.inf if better == "lower" else -math.inf
            return value.value if math.isfinite(value.value) else None

        return _countAs(score, self.valuesFor(options))


def _countAs(
    number: Callable[[ValueRow, str], float | None], given: Mapping[tuple[str, str, str], Mapping[str, ValueRow]]
) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return what each value counts as, without those that do not count. number: of a value and its key, or None."""
    found = {name: {case: number(value, name[2]) for case, value in group.items()} for name, group in given.items()}
    return {name: {case: n for case, n in group.items() if n is not None} for name, group in found.items()}


def _optionsFor(cohort: object, options: object) -> Options:
    """Return the given options, or the usual ones for None. Raises InputError for arguments of another kind."""
    requireKind(cohort, Cohort, "The cohort", "a Cohort, such as Cohort(outcomes)")
    if options is None:
        return Options()
    requireKind(options, Options, "The options", "Options")
    return cast(Options, options)


def summarize(cohort: Cohort, options: Options | None = None) -> list[Summary]:
    """Return one summary per structure, method and measurement. Raises InputError for other arguments."""
    options = _optionsFor(cohort, options)
    given, used, ranked = cohort.valuesFor(options), cohort.numbersFor(options), cohort.scoresFor(options)
    result = []
    for name in product(cohort.structures, cohort.methods, cohort.keys):
        if name not in cohort.values:
            continue
        key = name[2]
        everything = cohort.values[name].values()
        sides = [value.missing for value in everything]
        values = [value.value for value in given[name].values()]
        infinite, undefined = sum(map(math.isinf, values)), sum(map(math.isnan, values))
        inMean, inOrder = np.array(list(used[name].values())), np.sort(list(ranked[name].values()))
        statistics: dict[str, Any] = {}
        if len(inMean):
            statistics["mean"] = float(inMean.mean())
            statistics["sd"] = float(inMean.std(ddof=1)) if len(inMean) > 1 else None
            low, high = meanInterval(inMean, resamples=options.resamples, seed=options.seed)
            statistics |= {"meanLow": low, "meanHigh": high}
        if len(inOrder):
            q1, median, q3 = (quantile(inOrder, share) for share in QUARTILES)
            statistics |= {"median": median, "q1": q1, "q3": q3}
            statistics["iqr"] = None if q1 == q3 and math.isinf(q1) else q3 - q1
            statistics |= {"minimum": float(inOrder[0]), "maximum": float(inOrder[-1])}
        statistics |= {"cases": len(values), "used": len(inMean), "infinite": infinite, "undefined": undefined}
        statistics |= {"replaced": len(inMean) - (len(values) - infinite - undefined), "ranked": len(inOrder)}
        statistics |= {"missingReference": sides.count(REFERENCE), "missingTest": sides.count(TEST)}
        statistics["emptyTest"] = sum(value.isEmpty for value in everything)
        result.append(Summary(*name, cohort.units[key], better=betterOf(key), **statistics))
    return result


def summarizeOverall(cohort: Cohort, options: Options | None = None) -> list[Summary]:
    """Return one summary of the mean over the structures of each case, per method and measurement.

    A structure counts as in the order of values: one that the test misses has the worst value, so that the mean of a
    case may be infinite; its diagonal is the mean in which the image's diagonal replaces infinite values. Undefined
    values are left out, and so are structures that no test has. Only measurements with a better direction have such a
    mean; there is none of a single structure. Raises InputError as summarize().
    """
    options = _optionsFor(cohort, options)
    ranked, isDrawn = cohort.scoresFor(options), set(cohort.structures) - set(cohort.undrawn)
    if len(isDrawn) < 2:
        return []
    collected: dict[tuple[str, str, str], dict[str, list[tuple[float, float]]]] = {}
    for (structure, method, key), group in ranked.items():
        if structure in isDrawn and betterOf(key):
            cases = collected.setdefault((OVERALL, method, key), {})
            for case, value in group.items():
                diagonal = cohort.values[structure, method, key][case].diagonal or math.inf
                cases.setdefault(case, []).append((value, diagonal if math.isinf(value) else value))
    overall = Cohort()
    overall.units = cohort.units
    overall.values = {
        name: {case: ValueRow(*np.mean(values, axis=0).tolist()) for case, values in cases.items()}
        for name, cases in collected.items()
    }
    return summarize(overall, options)


def betterOf(key: str) -> str:
    """Return "lower" or "higher", the better direction of a measurement, "" without one."""
    found = findMetric(key)
    return found.metric.better if found else ""


def titleOfKey(key: str) -> str:
    """Return the title of a measurement, its key if it is unknown."""
    found = findMetric(key)
    return found.metric.title.format(**found.words) if found else key


def asDrawn(unit: str) -> tuple[str, float]:
    """Return the unit in which charts show values that have a unit, and the factor to it."""
    return ("cm³", 0.001) if unit == "mm3" else (unit.replace("2", "²"), 1.0)


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

    Cases are paired by name; those that one method does not have are left out, and so are values that cannot be ranked.
    A structure that a method misses can always be ranked: it is the worst. The correction is for all tests of the same
    measurement, or of all measurements, over structures and pairs of methods.
    Raises InputError for other arguments.
    """
    options = _optionsFor(cohort, options)
    ranked = cohort.scoresFor(options)
    found: dict[tuple[str, str, str, str], SignedRank] = {}
    together: dict[tuple[str, str], Friedman] = {}
    for key in cohort.keys:
        for structure in cohort.structures:
            groups = {m: ranked[structure, m, key] for m in cohort.methods if (structure, m, key) in ranked}
            for first, second in combinations(groups, 2):
                found[key, structure, first, second] = compareRanks(*_pairUp([groups[first], groups[second]]).T)
            if len(groups) > 2:
                together[key, structure] = compareMany(_pairUp(list(groups.values())))
    ofPairs = _correct({name: one.p for name, one in found.items()}, options.correction)
    ofAll = _correct({name: one.p for name, one in together.items()}, options.correction)
    result = []
    for (key, structure, first, second), one in found.items():
        ofFirst, ofSecond = (cohort.values[structure, method, key] for method in (first, second))
        better, favors = betterOf(key), ""
        if one.rankBiserial and better:
            favors = (second if (one.rankBiserial > 0) == (better == "higher") else first) or NO_METHOD
        p, tests = ofPairs[key, structure, first, second]
        overall: dict[str, Any] = {}
        if several := together.get((key, structure)):
            overall = {
                "friedmanMethods": sum((structure, method, key) in ranked for method in cohort.methods),
                "friedmanCases": several.cases,
                "friedmanStatistic": several.statistic,
                "friedmanP": several.p,
                "friedmanCorrected": ofAll[key, structure][0],
            }
        lacking = {case for group in (ofFirst, ofSecond) for case, v in group.items() if v.missing == REFERENCE}
        about: dict[str, Any] = {"correction": options.correction, "better": better, "favors": favors}
        about["direction"] = f"{second or NO_METHOD} minus {first or NO_METHOD}"
        about |= {
            f"{what}{which}": sum(map(isIt, group.values()))
            for which, group in (("First", ofFirst), ("Second", ofSecond))
            for what, isIt in COUNTED.items()
        }
        about |= {"missingReference": len(lacking), "leftOut": len({*ofFirst, *ofSecond}) - one.cases}
        numbers = {**about, **one._asdict(), **overall}
        result.append(PairedTest(structure, key, first, second, corrected=p, tests=tests, **numbers))
    return result


def _pairUp(groups: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return the numbers (cases, groups) of the cases that all groups have."""
    cases = [case for case in groups[0] if all(case in group for group in groups)]
    return np.array([[group[case] for group in groups] for case in cases]).reshape(len(cases), len(groups))


def _correct(given: Mapping[tuple, float | None], correction: str) -> dict[tuple, tuple[float | None, int]]:
    """Return the corrected p and the number of tests it is corrected for. given: p by name, which starts with a key."""
    families: dict[str, dict[tuple, float | None]] = {}
    for name, p in given.items():
        families.setdefault(name[0] if correction in BY_MEASUREMENT else "", {})[name] = p
    result: dict[tuple, tuple[float | None, int]] = {}
    for family in families.values():
        tests = sum(p is not None for p in family.values())
        result |= {name: (p, tests) for name, p in correctAll(family, correction in STEPWISE).items()}
    return result


class Box(NamedTuple):
    """A box of a box plot: its sides, maybe infinite, the ends of whiskers within 1.5 IQR, and the values beyond."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: tuple[float, ...]


def box(given: Sequence[float] | np.ndarray) -> Box:
    """Return the box of at least one number (Tukey's)."""
    values = np.sort(np.asarray(given, float))
    q1, median, q3 = (quantile(values, share) for share in QUARTILES)
    reach = 1.5 * (q3 - q1) if q1 != q3 else 0.0
    isInside = (values >= q1 - reach) & (values <= q3 + reach)
    inside = values[isInside].tolist()
    # with few values, all values inside may lie on one side of a quartile, which then has no whisker
    low, high = min(inside[0], q1), max(inside[-1], q3)
    return Box(low, q1, median, q3, high, tuple(values[~isInside].tolist()))

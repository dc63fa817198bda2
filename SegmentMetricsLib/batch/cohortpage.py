"""What the page about all cases of a batch shows besides their list: a heat map, box plots, tests, best and worst."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..base.palettes import METHODS
from ..metrics.registry import findMetric
from ..show.charts import Boxed, boxes
from .alarms import inShort, titleOfPair
from .statistics import NO_METHOD, Cohort, PairedTest, betterOf, box
from .summaryoptions import Options
from .summarywriting import SUMMARIZED

# Most numbers on the page; of more, only the main measurements are shown.
MOST_NUMBERS = 400_000
# How many of the worst and of the best pairs of a choice can be shown with a picture.
WORST, BEST = 4, 2
DIGITS = 5


class CohortPage:
    """The content of the page, to which cases are added one by one."""

    def __init__(self) -> None:
        # by case and method: the report; by case, method and name of the pair: its number in the report, and so on
        self._reports: dict[tuple[str, str], str] = {}
        self._pairs: dict[tuple[str, str, str], dict] = {}

    def add(self, outcome: Mapping, structures: Mapping[str, str]) -> None:
        """Add the pictures, alarms and report of a case. structures: names in the cohort by the titles of pairs."""
        case, method = outcome["case"], outcome["method"]
        self._reports[case, method] = outcome.get("report", "")
        for number, pair in enumerate(outcome["pairs"]):
            title = titleOfPair(pair)
            worst, typical = pair.get("thumbnail"), pair.get("typical")
            found = {"number": number, "alarm": inShort(pair), "picture": worst, "typical": typical or worst}
            self._pairs[case, method, structures.get(title, title)] = found

    def content(self, cohort: Cohort, options: Options, tests: Iterable[PairedTest]) -> dict | None:
        """Return the content of the page as plain values, None for fewer than two cases.

        tests: of all methods of the cohort.
        """
        given = cohort.given(options)
        known = {case for group in given.values() for case in group}
        # as they were listed: the first method may lack some
        cases = [case for case in dict.fromkeys(case for case, _ in self._reports) if case in known]
        undrawn, keys = set(cohort.undrawn), _keysOf(cohort, given)
        structures = [name for name in cohort.structures if name not in undrawn]
        if len(cases) < 2 or not keys or not structures:
            return None
        methods = cohort.methods
        numbers = _Numbers(cases, structures, methods)
        values, missing = _valuesOf(given, keys, numbers)
        asked = (test for test in tests if test.measurement in values and test.structure in numbers.structures)
        measurements, ranked = [_measurement(key, cohort.units[key]) for key in keys], cohort.ranked(options)
        return {
            "measurements": measurements,
            "first": next((key for start in SUMMARIZED for key in keys if key.startswith(start)), keys[0]),
            "cases": cases,
            "structures": structures,
            "methods": [method or NO_METHOD for method in methods] if len(methods) > 1 else methods,
            "reports": self._reportsOf(numbers),
            "values": values,
            "boxes": {one["key"]: _boxes(methods, structures, ranked, one) for one in measurements},
            "missing": missing,
            "pairs": self._pairsOf(numbers, *_worthAPicture(values, keys, missing)),
            "tests": [_test(test) for test in asked],
        }

    def _reportsOf(self, numbers: _Numbers) -> dict[str, str]:
        """Return the report of each case and method that has one, by their numbers."""
        return {
            f"{numbers.cases[case]},{numbers.methods[method]}": report
            for (case, method), report in self._reports.items()
            if report and case in numbers.cases and method in numbers.methods
        }

    def _pairsOf(self, numbers: _Numbers, best: Collection[str], worst: Collection[str]) -> dict[str, dict]:
        """Return what there is to show of each pair, by its numbers. best, worst: what is shown with a picture."""
        pairs = {}
        for (case, method, structure), pair in self._pairs.items():
            if (at := numbers.of(case, structure, method)) is not None:
                where = _joined(at)
                entry = {name: pair[name] for name in ("number", "alarm") if pair[name] not in ("", None)}
                for name, shown in (("picture", worst), ("typical", best)):
                    if pair[name] and where in shown:
                        entry[name] = pair[name]
                pairs[where] = entry
        return pairs


class _Numbers:
    """The numbers by which the page knows its cases, structures and methods, by name."""

    def __init__(self, cases: Sequence[str], structures: Sequence[str], methods: Sequence[str]):
        self.cases, self.structures, self.methods = (
            {name: number for number, name in enumerate(names)} for names in (cases, structures, methods)
        )

    def of(self, case: str, structure: str, method: str) -> list[int] | None:
        """Return the numbers of the three; None if one of them is not shown."""
        if case in self.cases and structure in self.structures and method in self.methods:
            return [self.cases[case], self.structures[structure], self.methods[method]]
        return None


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _keysOf(cohort: Cohort, given: Mapping[tuple[str, str, str], Mapping]) -> list[str]:
    """Return the measurements that are shown: of too many numbers, the main ones only."""
    keys = [key for key in cohort.keys if betterOf(key)]
    isLong = sum(len(group) for (_, _, key), group in given.items() if key in keys) > MOST_NUMBERS
    return [key for key in keys if key.startswith(SUMMARIZED)] if isLong else keys


def _valuesOf(
    given: Mapping[tuple[str, str, str], Mapping], keys: Iterable[str], numbers: _Numbers
) -> tuple[dict[str, list], dict[str, str]]:
    """Return rows of three numbers and a value by measurement, and where a structure is missing, by its numbers."""
    values: dict[str, list] = {key: [] for key in keys}
    missing: dict[str, str] = {}
    for (structure, method, key), group in given.items():
        for case, value in group.items() if key in values else ():
            if (at := numbers.of(case, structure, method)) is not None:
                values[key].append([*at, _plain(value.value)])
                if value.missing or value.isEmpty:
                    missing[_joined(at)] = f"missing in the {value.missing or 'test'}"
    return values, missing


def _plain(value: float) -> float | str | None:
    """Return a value for JSON: None if it is undefined, "inf" or "-inf" if it is infinite."""
    if math.isnan(value):
        return None
    return str(value) if math.isinf(value) else float(f"{value:.{DIGITS}g}")


def _boxes(
    methods: Sequence[str], structures: Iterable[str], ranked: Mapping[tuple[str, str, str], Mapping], shown: Mapping
) -> str:
    """Return the box plots of a measurement: one for every structure and method. shown: as of _measurement()."""
    unit, factor = ("cm³", 0.001) if shown["unit"] == "mm3" else (shown["unit"].replace("2", "²"), 1.0)
    groups: dict[str, list[Boxed]] = {}
    for structure in structures:
        groups[structure] = []
        for number, method in enumerate(methods):
            values = [factor * value for value in ranked.get((structure, method, shown["key"]), {}).values()]
            one = box(values) if len(values) > 1 else None
            sides = None if one is None else (one.low, one.q1, one.median, one.q3, one.high)
            name = (method or NO_METHOD) if len(methods) > 1 else ""
            groups[structure].append(Boxed(name, METHODS[number % len(METHODS)], values, sides))
    return boxes(groups, shown["title"], unit, shown["better"] == "lower")


def _measurement(key: str, unit: str) -> dict[str, str]:
    found = findMetric(key)
    title = found.metric.title.format(**found.words) if found else key
    return {"key": key, "title": title, "unit": unit, "better": betterOf(key)}


def _test(test: PairedTest) -> dict:
    names = ("structure", "measurement", "cases", "p", "corrected", "tests", "favors", "reason", "correction")
    ofAll = ("friedmanMethods", "friedmanCases", "friedmanP", "friedmanCorrected")
    numbers = ("rankBiserial", "rankBiserialLow", "rankBiserialHigh", "shift", "shiftLow", "shiftHigh")
    return {
        **{name: getattr(test, name) for name in (*names, *ofAll)},
        "first": test.first or NO_METHOD,
        "second": test.second or NO_METHOD,
        **{name: None if getattr(test, name) is None else _plain(getattr(test, name)) for name in numbers},
    }


def _worthAPicture(
    values: Mapping[str, list], keys: Iterable[str], missing: Mapping[str, str]
) -> tuple[set[str], set[str]]:
    """Return the pairs that may be among the best, and among the worst, of any choice of structure and method."""
    best: set[str] = set()
    worst: set[str] = set()
    for key in keys:
        sign = 1 if betterOf(key) == "lower" else -1
        groups: dict[tuple, list[tuple[float, str]]] = {}
        for case, structure, method, value in values[key]:
            at = _joined((case, structure, method))
            if value is not None and at not in missing:
                for group in ((structure, method), (structure, None), (None, method), (None, None)):
                    groups.setdefault(group, []).append((sign * float(value), at))
        for members in groups.values():
            members.sort()
            best |= {at for _, at in members[:BEST]}
            worst |= {at for _, at in members[-WORST:]}
    return best, worst

"""What the page about all cases of a batch shows besides their list: a heat map, box plots, tests, best and worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..base.palettes import METHODS
from ..show.charts import Boxed, boxes
from .alarms import inShort, titleOfPair
from .missing import Counted
from .statistics import NO_METHOD, Cohort, PairedTest, asDrawn, betterOf, box, titleOfKey
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
        # by case and method: the report; by case, name of the pair and method: its number in the report, and so on
        self._reports: dict[tuple[str, str], str] = {}
        self._pairs: dict[tuple[str, str, str], dict] = {}

    def add(self, outcome: Mapping, named: Iterable[Counted]) -> None:
        """Add the pictures, alarms and report of a case. named: its records, as from Cohort.add()."""
        structures = {titleOfPair(record): structure for record, structure, _ in named}
        case, method = outcome["case"], outcome["method"]
        self._reports[case, method] = outcome.get("report", "")
        for number, pair in enumerate(outcome["pairs"]):
            title = titleOfPair(pair)
            worst, typical = pair.get("thumbnail"), pair.get("typical")
            found = {"number": number, "alarm": inShort(pair), "picture": worst, "typical": typical or worst}
            self._pairs[case, structures.get(title, title), method] = found

    def content(self, cohort: Cohort, options: Options, tests: Iterable[PairedTest]) -> dict | None:
        """Return the page's content as plain values, None for fewer than two cases. tests: of all methods."""
        given, ranked = cohort.valuesFor(options), cohort.scoresFor(options)
        known = {case for group in given.values() for case in group}
        # as they were listed: the first method may lack some
        cases = [case for case in dict.fromkeys(case for case, _ in self._reports) if case in known]
        undrawn, methods = set(cohort.undrawn), cohort.methods
        structures = [name for name in cohort.structures if name not in undrawn]
        measurements = _measurements(cohort, given)
        if len(cases) < 2 or not measurements or not structures:
            return None
        keys = [one["key"] for one in measurements]
        ofCases, ofStructures, ofMethods = places = [
            {name: number for number, name in enumerate(names)} for names in (cases, structures, methods)
        ]

        def numbersOf(*names: str) -> list[int]:
            """Return the numbers by which the page knows a case, a structure and a method; [] if one is not shown."""
            found = [known[name] for known, name in zip(places, names) if name in known]
            return found if len(found) == len(places) else []

        values: dict[str, list] = {key: [] for key in keys}
        missing: dict[str, str] = {}
        for (structure, method, key), group in given.items():
            for case, value in group.items() if key in values else ():
                if at := numbersOf(case, structure, method):
                    values[key].append([*at, _plain(value.value)])
                    if value.missing or value.isEmpty:
                        missing[_join(at)] = f"missing in the {value.missing or 'test'}"
        best, worst = _worthAPicture(values, missing)
        pairs = {}
        for names, pair in self._pairs.items():
            if at := numbersOf(*names):
                where = _join(at)
                kept = {"number", "alarm", *["picture"] * (where in worst), *["typical"] * (where in best)}
                pairs[where] = {name: own for name, own in pair.items() if name in kept and own not in ("", None)}
        return {
            "measurements": measurements,
            "first": next((key for start in SUMMARIZED for key in keys if key.startswith(start)), keys[0]),
            "cases": cases,
            "structures": structures,
            "methods": [method or NO_METHOD for method in methods] if len(methods) > 1 else methods,
            "reports": {
                f"{ofCases[case]},{ofMethods[method]}": report
                for (case, method), report in self._reports.items()
                if report and case in ofCases and method in ofMethods
            },
            "values": values,
            "boxes": {one["key"]: _boxes(methods, structures, ranked, one) for one in measurements},
            "missing": missing,
            "pairs": pairs,
            "tests": [
                {**test.toDictionary(), "first": test.first or NO_METHOD, "second": test.second or NO_METHOD}
                for test in tests
                if test.measurement in values and test.structure in ofStructures
            ],
        }


def _join(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _plain(value: float | None) -> float | str | None:
    """Return a value for JSON: None if it is undefined, "inf" or "-inf" if it is infinite."""
    if value is None or math.isnan(value):
        return None
    return str(value) if math.isinf(value) else float(f"{value:.{DIGITS}g}")


def _measurements(cohort: Cohort, given: Mapping[tuple[str, str, str], Mapping]) -> list[dict[str, str]]:
    """Return the measurements that are shown: of too many numbers, the main ones only."""
    keys = [key for key in cohort.keys if betterOf(key)]
    isLong = sum(len(group) for (_, _, key), group in given.items() if key in keys) > MOST_NUMBERS
    return [
        {"key": key, "title": titleOfKey(key), "unit": cohort.units[key], "better": betterOf(key)}
        for key in keys
        if not isLong or key.startswith(SUMMARIZED)
    ]


def _boxes(
    methods: Sequence[str], structures: Iterable[str], ranked: Mapping[tuple[str, str, str], Mapping], shown: Mapping
) -> str:
    """Return the box plots of a measurement: one for every structure and method. shown: as of _measurements()."""
    unit, factor = asDrawn(shown["unit"])
    groups: dict[str, list[Boxed]] = {}
    for structure in structures:
        groups[structure] = []
        for number, method in enumerate(methods):
            values = [factor * value for value in ranked.get((structure, method, shown["key"]), {}).values()]
            sides = box(values)[:5] if len(values) > 1 else None
            name = (method or NO_METHOD) if len(methods) > 1 else ""
            groups[structure].append(Boxed(name, METHODS[number % len(METHODS)], values, sides))
    return boxes(groups, shown["title"], unit, shown["better"] == "lower")


def _worthAPicture(values: Mapping[str, list], missing: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Return the pairs that may be among the best, and among the worst, of any choice of structure and method.

    values: rows of three numbers and a value by measurement. missing: what is no pair, by its numbers.
    """
    best: set[str] = set()
    worst: set[str] = set()
    for key, rows in values.items():
        sign = 1 if betterOf(key) == "lower" else -1
        groups: dict[tuple, list[tuple[float, str]]] = {}
        for case, structure, method, value in rows:
            at = _join((case, structure, method))
            if value is not None and at not in missing:
                for group in ((structure, method), (structure, None), (None, method), (None, None)):
                    groups.setdefault(group, []).append((sign * float(value), at))
        for members in groups.values():
            members.sort()
            best |= {at for _, at in members[:BEST]}
            worst |= {at for _, at in members[-WORST:]}
    return best, worst

"""Protocols: limits for measurements of structures."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ...base import units
from ...base.errors import InputError, Mistakes, asPath, raiseAny, requireKind
from ...base.plain import storeAs
from ...base.texts import commaSeparated, shortest
from ...conventions import find
from ...conventions.presets import PRESETS
from ...io.sheets import Line, Sheet, readSheet
from ...metrics.measurement import ROUNDING, ROUNDING_OF_ZERO
from ...metrics.metric import EXAMPLES as VALUES
from ...metrics.metric import PARAMETERS, Asked, Metric
from ...metrics.registry import MULTI_LABEL, findMetric, isWhole, likeliest, readName
from ...model import naming
from ...settings.names import knownConvention
from ...settings.settings import DECIDED_BY_TOOLS, Settings
from . import EXAMPLES, exampleNames

T = TypeVar("T")
REQUIRED = ("Structure", "Measurement", "Relation", "Pass")
OPTIONAL = ("Warn", "Weight", "Convention", "Source")
NUMBERS = ("Pass", "Warn", "Weight")
DECIMAL_COMMA = re.compile(r"\A([+-]?\d*),(\d+(?:\s*[a-zA-Z%²³^].*)?)\Z")
# "within" applies to the absolute value.
RELATIONS = {"<=": "<=", "<": "<", ">=": ">=", ">": ">", "≤": "<=", "≥": ">=", "within": "within"}


@dataclass(frozen=True)
class Rule:
    """One line of a protocol.

    structure: a name, or a pattern with * and ?. measurement: a key such as NSD_3mm. relation: "<=", "<", ">=", ">" or
    "within" (the absolute value is at most the limit). limit: for a pass. warning: looser limit for a warning instead
    of a failure, None for no warnings. weight: of the rule in scores. convention: name of the preset or tool to measure
    with, "" for that of the comparison. source: of the limits. where: the line in the file.
    """

    structure: str
    measurement: str
    relation: str
    limit: float = storeAs("pass")
    warning: float | None = storeAs("warn", None)
    weight: float = 1.0
    convention: str = ""
    source: str = ""
    where: str = ""

    @property
    def isPattern(self) -> bool:
        return naming.isPattern(self.structure)

    def fits(self, name: str) -> bool:
        """Return whether the rule is for a structure of that name, which fits in every spelling, as for pairs."""
        if self.isPattern:
            return self.structure == name or naming.fits(self.structure, name)
        own, other = naming.parse(self.structure), naming.parse(name)
        return self.structure == name or own.spelled == other.spelled or own.meaning == other.meaning

    def keeps(self, value: float, limit: float) -> bool:
        """Return whether a value keeps a limit; infinity does not keep an upper one.

        Values that differ from the limit only by rounding are equal to it.
        """
        given = abs(value) if self.relation == "within" else value
        if math.isclose(given, limit, rel_tol=ROUNDING, abs_tol=ROUNDING_OF_ZERO):
            return self.relation not in ("<", ">")
        return given > limit if self.relation in (">=", ">") else given < limit

    def cells(self) -> dict[str, str]:
        """Return the rule as the cells of its line."""
        numbers = [shortest(self.limit), "" if self.warning is None else shortest(self.warning), shortest(self.weight)]
        values = (self.structure, self.measurement, self.relation, *numbers, self.convention, self.source)
        return dict(zip((*REQUIRED, *OPTIONAL), values, strict=True))


@dataclass(frozen=True)
class Protocol:
    """The rules that a case is judged by. name: of the file or table. comments: in the file."""

    rules: tuple[Rule, ...]
    name: str = ""
    comments: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """A short text that changes whenever a rule does."""
        content = "\n".join("\t".join(rule.cells().values()) for rule in self.rules)
        return hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    @property
    def families(self) -> tuple[str, ...]:
        """The metric families of all measurements in the rules."""
        return tuple(dict.fromkeys(_metricOf(rule).metric.family for rule in self.rules))

    def rulesFor(self, *names: str) -> tuple[Rule, ...]:
        """Return the rules for a structure with any of these names; rules with a name override those with a pattern."""
        fitting = [rule for rule in self.rules if any(rule.fits(name) for name in names)]
        named = {(rule.measurement, rule.relation) for rule in fitting if not rule.isPattern}
        return tuple(rule for rule in fitting if not rule.isPattern or (rule.measurement, rule.relation) not in named)

    def settingsFor(self, base: Settings, *names: str) -> dict[str, Settings]:
        """Return the settings to measure a structure with these names, by convention; that of the base comes first.

        Measurements that the base selects are always included, and come first, so that one table can hold all
        structures. The tolerances, percentiles, families and so on of the rules are added. For other conventions, only
        the measurements in their rules are selected.
        """
        rules: dict[str, list[Rule]] = {base.convention: []}
        for rule in self.rulesFor(*names):
            rules.setdefault(rule.convention or base.convention, []).append(rule)
        result: dict[str, Settings] = {}
        for convention, own in rules.items():
            change: dict[str, Any] = {"metrics": tuple(rule.measurement for rule in own)}
            if convention == base.convention:
                asked = [one for one in map(_metricOf, own) if not isWhole(one.metric.family, base)]
                change = {"metrics": (*base.metrics, *(one.key for one in asked))}
                for name, value in (pair for rule in own for pair in _metricOf(rule).parameters.items()):
                    setting = PARAMETERS[name].setting
                    change[setting] = (*change.get(setting, getattr(base, setting)), value)
            else:
                # settings that conventions fix are reset to the defaults
                fixed = PRESETS.get(base.convention, {}) if convention in PRESETS else DECIDED_BY_TOOLS
                change |= {name: getattr(Settings(), name) for name in fixed} | PRESETS.get(convention, {})
                change |= {"convention": convention, "families": None, "tolerances": (), "percentiles": ()}
            result[convention] = replace(base, **change)
        return result


def readProtocol(path: str | Path) -> Protocol:
    """Return the protocol in a CSV file; a name without a folder may be one of the examples that come with the library.

    Columns: Structure, Measurement, Relation, Pass; optionally Warn, Weight, Convention, Source. Raises InputError,
    naming the line and the column, for an invalid entry; for several, Mistakes, which lists all of them.
    """
    path = asPath(path)
    example = EXAMPLES / f"{path}.csv"
    if not path.exists() and path.name == str(path) and example.is_file():
        path = example
    elif not path.exists() and not path.suffix:
        raise InputError(f"There is no file or example named {path}; the examples are {', '.join(exampleNames())}.")
    return _fromSheet(readSheet(path, REQUIRED, OPTIONAL, keepsMistakes=True), path.name)


def asProtocol(given: Protocol | str | os.PathLike | None) -> Protocol | None:
    """Return a protocol as it is, or the one in a file or of an example's name. Raises InputError for anything else."""
    if given is None or isinstance(given, Protocol):
        return given
    requireKind(given, (str, os.PathLike), "The protocol", "a Protocol, the path of a file or the name of an example")
    return readProtocol(Path(given))


def parseProtocol(text: str, source: str) -> Protocol:
    """Return the protocol in the text of a CSV file. Columns and errors as for readProtocol()."""
    requireKind(text, str, "The text of a protocol", "a text")
    requireKind(source, str, "The name of a protocol", "a text")
    return _fromSheet(readSheet(source, REQUIRED, OPTIONAL, keepsMistakes=True, text=text), source)


def _fromSheet(sheet: Sheet, name: str) -> Protocol:
    if not sheet.lines:
        raise InputError(f"{sheet.source}: the protocol has no rules.")
    problems: list[InputError] = []
    rules: list[Rule] = []
    seen: dict[tuple, Rule] = {}
    for line in _withPoints(sheet):
        if (rule := _attempt(problems, _rule, line)) is None:
            continue
        rules.append(rule)
        # keys, of which at least one is equal for rules for the same structures, as in Rule.fits()
        own = naming.parse(rule.structure)
        forms: tuple[tuple, ...] = ("spelled", own.spelled), ("meaning", own.meaning)
        if rule.isPattern:
            forms = (("pattern", rule.structure.casefold()),)
        keys = [(*form, rule.measurement, rule.relation, rule.convention) for form in forms]
        same = next((seen[key] for key in keys if key in seen), None)
        if same is None:
            seen.update(dict.fromkeys(keys, rule))
        else:
            other = "" if same.structure == rule.structure else f" for {same.structure}"
            problems.append(line.problem("Structure", f"this rule is already there{other} ({same.where})."))
    raiseAny(problems)
    return Protocol(tuple(rules), name, sheet.comments)


def _withPoints(sheet: Sheet) -> tuple[Line, ...]:
    """Return the lines of a table with decimal points, also if spreadsheets of a country with commas wrote it."""
    # unambiguous only if something else separates the cells and no number has a point
    if sheet.separator == "," or any("." in line.cells[name] for line in sheet.lines for name in NUMBERS):
        return sheet.lines
    numbers = [{name: DECIMAL_COMMA.sub(r"\1.\2", line.cells[name]) for name in NUMBERS} for line in sheet.lines]
    return tuple(replace(line, cells={**line.cells, **own}) for line, own in zip(sheet.lines, numbers, strict=True))


def _attempt(problems: list[InputError], read: Callable[..., T], *given: Any) -> T | None:
    """Return what a function reads, or None and add its errors to the problems."""
    try:
        return read(*given)
    except Mistakes as error:
        problems += map(InputError, error.problems)
    except InputError as error:
        problems.append(error)
    return None


def _metricOf(rule: Rule) -> Asked:
    """Return the definition of a rule's measurement, which is known since the rule was read."""
    return cast(Asked, findMetric(rule.measurement))


def _rule(line: Line) -> Rule:
    if line.mistake:  # its cells may be shifted, so do not check them
        raise line.mistake
    cells = line.cells
    problems: list[InputError] = []
    if not cells["Structure"]:
        problems.append(line.problem("Structure", "the name of a structure, or * for all, is missing."))
    definition, key = _attempt(problems, _measurement, line) or (None, "")
    relation: Any = _attempt(problems, _relation, line, definition, key)
    limit: Any = _attempt(problems, _limit, line, "Pass", definition, relation)
    warning: Any = _attempt(problems, _limit, line, "Warn", definition, relation) if cells["Warn"] else None
    # without a relation, it is unknown which limit is looser
    isKnown = relation and limit is not None and warning is not None
    if isKnown and (warning >= limit if relation[0] == ">" else warning <= limit):
        told = f"the warning limit ({shortest(warning)}) must be looser than the pass limit ({shortest(limit)})."
        problems.append(line.problem("Warn", told))
    weight: Any = _attempt(problems, _number, line, "Weight") if cells["Weight"] else 1.0
    if weight is not None and not 0 < weight <= 1e6:
        problems.append(line.problem("Weight", f"it must be a number greater than 0, not {shortest(weight)}."))
    convention: Any = _attempt(problems, _convention, line, definition)
    raiseAny(problems)
    return Rule(cells["Structure"], key, relation, limit, warning, weight, convention, cells["Source"], line.where)


def _relation(line: Line, definition: Metric | None, key: str) -> str:
    """Return the relation of a line. definition, key: of its measurement; the definition is None if unknown."""
    given = line.cells["Relation"]
    if (relation := RELATIONS.get(given.casefold())) is None:
        raise line.problem("Relation", f"it must be one of <=, <, >=, >, within, not {given!r}.")
    if relation == "within" and definition and definition.low >= 0:
        raise line.problem("Relation", f"within is for numbers with a sign, and {key} has none.")
    better = definition.better if definition else ""
    if better and relation != "within" and (relation[0] == "<") != (better == "lower"):
        raise line.problem("Relation", f"for {key}, {better} values are better, so the relation cannot be {relation}.")
    return relation


def _measurement(line: Line) -> tuple[Metric, str]:
    """Return the definition of the measurement in a line, and its key in the spelling of this library."""
    given = line.cells["Measurement"]
    try:
        meant = readName(given)
        if not all(one.isStatedBy(meant.parameters) for one in meant.metrics):
            raise InputError("a parameter is left out")
    except InputError:
        likely = likeliest(given)
        hint = f"; is it {readName(likely).metric.keyFor(VALUES)}?" if likely else "."
        raise line.problem("Measurement", f"there is no measurement {given!r}{hint}") from None
    keys = [one.keyFor(meant.parameters) for one in meant.metrics]
    if len(keys) > 1:
        raise line.problem("Measurement", f"{given} is several measurements; is it {commaSeparated(keys)}?")
    if meant.metric in MULTI_LABEL:
        raise line.problem("Measurement", f"{given} is one number for all structures, which no rule can judge.")
    changes: dict[str, Any] = {PARAMETERS[name].setting: (value,) for name, value in meant.parameters.items()}
    try:
        Settings(**changes)
    except (InputError, ValueError) as error:
        raise line.problem("Measurement", f"{given}: {error}") from error
    return meant.metric, keys[0]


def _convention(line: Line, definition: Metric | None) -> str:
    """Return the proper spelling of the preset or tool that a line names in any case, "" for none."""
    if not line.cells["Convention"]:
        return ""
    try:
        key = knownConvention(line.cells["Convention"])
    except InputError as error:
        text = str(error)
        raise line.problem("Convention", f"{text[:1].lower()}{text[1:]}") from error
    if definition and key not in PRESETS and definition.key not in find(key).numbers:
        raise line.problem("Convention", f"{key} does not report {line.cells['Measurement']}.")
    return key


def _limit(line: Line, column: str, definition: Metric | None, relation: str | None) -> float:
    limit = _number(line, column, definition)
    if definition is None:
        return limit
    low = 0.0 if relation == "within" else definition.low
    if not low <= limit <= definition.high:
        key, unit = line.cells["Measurement"], definition.unit or "as a fraction"
        raise line.problem(
            column,
            f"{key} lies between {shortest(low)} and {shortest(definition.high)} ({unit}), not {shortest(limit)}.",
        )
    return limit


def _number(line: Line, column: str, definition: Metric | None = None) -> float:
    """Return the number in a cell. definition: of a limit's measurement, in whose unit it is returned."""
    text = line.cells[column]
    if definition is not None and (written := units.splitUnit(text)):
        if (limit := units.inUnit(*written, definition.unit)) is None:
            key, what = line.cells["Measurement"], f"in {definition.unit}" if definition.unit else "a fraction"
            allowed = commaSeparated(units.unitsOf(definition.unit)) if definition.unit else "% or no unit"
            given = written[1]
            raise line.problem(column, f"{key} is {what}, so a limit cannot be in {given}; use {allowed}.")
        return limit
    try:
        number = float(text)
    except ValueError:
        hint = f"; write {text.replace(',', '.')}" if text.replace(",", ".", 1).replace(".", "", 1).isdigit() else ""
        raise line.problem(column, f"{text!r} is not a number{hint}.") from None
    if not math.isfinite(number):
        raise line.problem(column, f"it must be a finite number, not {text}.")
    return number

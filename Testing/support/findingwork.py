"""What results say of their data, for tests: findings by kind and values."""

from __future__ import annotations

import json
import re


def marksOf(result) -> str:
    """Return the kinds of the findings of a comparison, in the order of the alphabet.

    A file keeps all of them as they are.
    """
    again = type(result).fromDictionary(json.loads(json.dumps(result.toDictionary()))).findings
    told = [[(one, one.kind, one.values, one.reason, one.isAlarm) for one in some] for some in (again, result.findings)]
    assert told[0] == told[1]
    assert sorted(result.findings, key=lambda one: not one.isAlarm) == list(result.findings), "alarms come first"
    return " ".join(sorted(one["kind"] for one in result.toDictionary()["findings"]))


def ofKind(result, kind: str) -> list:
    """Return the findings of a comparison that are of a kind."""
    return [one for one in result.findings if one.toDictionary()["kind"] == kind]


def found(result, values: dict[str, str]) -> list:
    """Return the findings of a comparison of whose values some match these patterns."""
    return [
        one for one in result.findings if all(re.fullmatch(values[key], str(one.values.get(key))) for key in values)
    ]

"""What results say of their data, for tests: findings by kind, remarks by what they are about."""

from __future__ import annotations

import json
import re

# What remarks are about, by words of theirs: all other findings have kinds.
REMARKS = {
    "absent": "Absent in both",
    "added": "yet there is no gap",
    "beyond": "larger than the structures",
    "convention": "would report for",
    "edge": "the image edge",
    "faint": "has a membership of 0.5",
    "fine": "below the voxel size",
    "grids": "on different grids",
    "itself": "a critical structure itself",
    "noise": "single voxels, as in noise",
    "open": "open edges",
    "outlier": "determines HD",
    "pores": "missing inside",
    "thin": "thinner than the voxels on which overlap",
    "ties": "lies exactly",
    "volumes": "says nothing about where they are",
}


def marksOf(result) -> str:
    """Return the kinds of the findings of a comparison, and what remarks are about, in the order of the alphabet.

    A file keeps all of them as they are.
    """
    again = type(result).fromDictionary(json.loads(json.dumps(result.toDictionary()))).findings
    told = [[(one, one.kind, one.values, one.reason, one.isAlarm) for one in some] for some in (again, result.findings)]
    assert told[0] == told[1]
    assert sorted(result.findings, key=lambda one: not one.isAlarm) == list(result.findings), "alarms come first"
    kinds = [one["kind"] for one in result.toDictionary()["findings"]]
    about = [[mark for mark, words in REMARKS.items() if words in one] or [str(one)] for one in result.findings]
    return " ".join(sorted({kind if kind != "remark" else mark[0] for kind, mark in zip(kinds, about, strict=True)}))


def ofKind(result, kind: str) -> list:
    """Return the findings of a comparison that are of a kind."""
    return [one for one in result.findings if one.toDictionary()["kind"] == kind]


def found(result, said: str | dict[str, str]) -> list[str]:
    """Return the findings of a comparison that have some words, or of whose values some match these patterns."""
    if isinstance(said, str):
        return [one for one in result.findings if said in one]
    return [one for one in result.findings if all(re.fullmatch(said[key], str(one.values.get(key))) for key in said)]

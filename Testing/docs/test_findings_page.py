"""The page of surprises and the scripts in findings/: what shows a line exists, and a script runs for itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "surprises.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "shown by" not in line
]
SCRIPTS = sorted((ROOT / "findings").glob("*.sh"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def testEveryLineIsShown(row):
    expectation, happens, version, here, shown = row
    assert expectation and happens and re.search(r"\d", version) and here
    links = re.findall(r'\[(test|script)\]\(\.\./([^ )]+)(?: "(\w+)")?\)', shown)
    assert links
    for what, path, name in links:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert path.startswith("findings/") if what == "script" else f"def {name}(" in text, name


def testEveryScriptIsOnThePage():
    assert len(SCRIPTS) >= 12
    assert {path.name for path in SCRIPTS} == set(re.findall(r"findings/(\w+\.sh)\)", PAGE))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def testAScriptStatesWhatItShowsAndCleansUp(path):
    text = path.read_text(encoding="utf-8")
    head = text.split("set -eu")[0]
    assert text.startswith("#!/bin/sh\n# ")
    for word in ("# Guess: ", "# Seen:  ", "# Version: ", "# Output:\n"):
        assert word in head
    assert "folder=$(mktemp -d)" in text and "trap 'rm -rf \"$folder\"' EXIT" in text
    words = " ".join(re.findall(r"pip install (.*)", text)).split()
    assert all("==" in word for word in words if word[0] not in "-\\")
    assert re.search(r"^assert ", text, re.MULTILINE)
    assert "SegmentMetrics" not in text and "segment-metrics" not in text

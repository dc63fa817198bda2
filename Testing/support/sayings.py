"""What the library says to its users in the tests: kept in Testing/golden/sayings.txt, and reviewed there as a diff.

Tests name what a message has to tell, such as a file, a setting or a value, and leave its words to that file:

    with refused("spacing"):
        compare(mask, mask, spacing=0)

When a run ends, what was said is held against the file (Testing/conftest.py); "pytest --sayings" writes it anew.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

TESTS = Path(__file__).parents[1]
SAYINGS = TESTS / "golden" / "sayings.txt"
# How lines of the file begin: a text, and the further lines of one. All others are the tests that say what follows.
NEW, MORE = "  - ", "    "
# Folders of a test's own, whose names change from run to run.
TEMPORARY = re.compile(r"[^\s'\"=(]*pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/\s]+/?")

# What was said so far in the test that runs in this process.
heard: list[str] = []
# What was said in each test that has run, in any process; None if it did not pass.
told: dict[str, list[str] | None] = {}


def says(text: str, *names: object) -> str:
    """Keep a message for the file, and return it. names: what it has to tell, as texts that are in it."""
    assert text.strip(), "nothing is said"
    for name in names:
        assert str(name) in text, f"{name!s} is not in: {text}"
    kept = TEMPORARY.sub("", text).encode(errors="backslashreplace").decode()  # names of files may be no Unicode
    heard.append("\n".join(map(str.rstrip, kept.strip().splitlines())))
    return text


@contextmanager
def refused(*names: object, error: type[Exception] = ValueError) -> Iterator:
    """Pass if the block raises such an error, whose message is kept for the file. names: as of says."""
    import pytest  # which Slicer's own Python does not have; there, checks of the panel use the function above

    with pytest.raises(error) as raised:
        yield raised
    says(str(raised.value), *names)


def read() -> dict[str, list[str]]:
    """Return what the file holds, by test."""
    kept: dict[str, list[str]] = {}
    texts: list[str] = []
    for line in SAYINGS.read_text("utf-8").splitlines()[1:]:
        if line.startswith(NEW):
            texts.append(line.removeprefix(NEW))
        elif line.startswith(MORE) or not line:
            texts[-1] += f"\n{line.removeprefix(MORE)}"
        else:
            texts = kept[line] = []
    return kept


def updated(isWhole: bool) -> dict[str, list[str]]:
    """Return what the file has to hold now, by test: also what it holds of tests that did not run, or did not pass.

    isWhole: whether all tests have run that can, so that others of the same files had parameters that are gone.
    """
    files = {test.partition("::")[0] for test in told} if isWhole else set()
    said = {test: texts for test, texts in told.items() if texts}
    for test, texts in read().items():
        file, name = test.partition("::")[0], test.partition("[")[0].rpartition("::")[2]
        path = TESTS / file
        isLeft = test not in told and file not in files and path.exists() and f"def {name}(" in path.read_text("utf-8")
        if isLeft or told.get(test, []) is None:
            said[test] = texts
    return said


def write(said: Mapping[str, list[str]]) -> None:
    """Write the file."""
    lines = ["What is said in the tests; pytest --sayings writes it."]
    for test, texts in sorted(said.items()):
        lines += [test, *(NEW + indent(text, MORE).removeprefix(MORE) for text in texts)]
    SAYINGS.write_text("\n".join(lines) + "\n", "utf-8")


def changes(said: Mapping[str, list[str]]) -> list[str]:
    """Return the differences between the file and what it has to hold, as lines."""
    kept, found = read(), []
    for test in sorted({*kept, *said}):
        lines = difflib.ndiff(kept.get(test, []), said.get(test, []))
        if differing := [line for line in lines if line[0] in "+-"]:
            found += [test, *differing]
    return found

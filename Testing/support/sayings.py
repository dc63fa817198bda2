"""What the library says to its users in the tests: kept in Testing/golden/sayings.txt, and reviewed there as a diff.

Tests name what a message has to tell, such as a file, a setting or a value, and leave its words to that file:

    with refused("spacing"):
        compare(mask, mask, spacing=0)

When a run ends, what was said is held against the file (Testing/conftest.py); "pytest --sayings" writes it anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SAYINGS = TESTS / "golden" / "sayings.txt"
# How lines of the file begin: a text, and the further lines of one. All others are the tests that say what follows.
NEW, MORE = "  - ", "    "
# Folders of a test's own, whose names change from run to run.
TEMPORARY = re.compile(r"[^\s'\"=]*pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/\s]+/?")

# What was said in this process, by test.
heard: dict[str, list[str]] = {}


def says(text: str, *names: object) -> str:
    """Keep a message for the file, and return it. names: what it has to tell, as texts that are in it."""
    for name in names:
        assert str(name) in text, f"{name!s} is not in: {text}"
    test = os.environ["PYTEST_CURRENT_TEST"].rsplit(" (", 1)[0].removeprefix("Testing/")
    heard.setdefault(test, []).append(TEMPORARY.sub("", text).strip())
    return text


@contextmanager
def refused(*names: object, error: type[Exception] = ValueError) -> Iterator[pytest.ExceptionInfo]:
    """Pass if the block raises such an error, whose message is kept for the file. names: as of says."""
    with pytest.raises(error) as told:
        yield told
    says(str(told.value), *names)


def read() -> dict[str, list[str]]:
    """Return what the file holds, by test."""
    kept: dict[str, list[str]] = {}
    texts: list[str] = []
    for line in SAYINGS.read_text("utf-8").splitlines()[1:]:
        if line.startswith(NEW):
            texts.append(line.removeprefix(NEW))
        elif line.startswith(MORE):
            texts[-1] += f"\n{line.removeprefix(MORE)}"
        else:
            texts = kept[line] = []
    return kept


def write(said: Mapping[str, Sequence[str]]) -> None:
    """Write what was said into the file; what it holds of tests that did not run now stays while there are such."""
    named = re.compile(r"^(?:def|class) ([tT]est\w+)", re.MULTILINE)
    names = set().union(*(named.findall(path.read_text("utf-8")) for path in TESTS.glob("*/test_*.py")))
    kept = {test: texts for test, texts in read().items() if re.split(r"::|\[", test)[1] in names}
    lines = ["What is said in the tests; pytest --sayings writes it."]
    for test, texts in sorted({**kept, **said}.items()):
        lines += [test, *(NEW + text.replace("\n", f"\n{MORE}") for text in texts)]
    SAYINGS.write_text("\n".join(lines) + "\n", "utf-8")


def changes(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the differences between what was said and what the file holds, as lines."""
    kept, found = read(), []
    for test, texts in sorted(said.items()):
        before = kept.get(test, [])
        if before != texts:
            found += [test, *(f"  - {one}" for one in before if one not in texts)]
            found += [f"  + {one}" for one in texts if one not in before]
    return found

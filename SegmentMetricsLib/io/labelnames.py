"""Reading the names of labels from files that accompany label maps: JSON, tables, and color tables of Slicer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from ..base.errors import InputError, requireKind
from ..base.texts import commaSeparated, didYouMean, inAnyCase, oneLine
from ..model.structures import Labels
from .sheets import COMMENT, rowsOf, textOf

BACKGROUND = 0
# Slicer's name for unnamed colors.
UNNAMED = "(none)"
NUMBER = re.compile(r"\d{1,18}")
# A name may contain spaces; it is followed by red, green, blue and opacity.
COLOR = re.compile(r"(?P<number>\S+)\s+(?P<name>\S.*?)(\s+[-+.\deE]+){4}", re.ASCII)


@cache
def knownTables() -> dict[str, Path]:
    """Return the files with the names of labels that programs and challenges use, by what they are called."""
    folder = Path(str(resources.files(__package__) / "knownlabels"))
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


def labelNamesFrom(given: Mapping[int, str] | Mapping[Labels, str] | str | Path | None) -> dict[Labels, str]:
    """Return names by label number, from 1, from a mapping, a file or a known name; label 0 is ignored.

    A region of several labels, as in {"tumor": [1, 2]}, has a tuple of their numbers. A known name is one of
    knownTables(), such as TotalSegmentator, unless there is such a file. The file is a dataset.json of nnU-Net, JSON
    such as {"1": "liver"} or {"liver": 1}, a table of two columns with numbers and names in either order, with or
    without a heading (.csv, .tsv), or a color table of Slicer (.ctbl). Raises InputError, naming the file and the
    place, for other files, duplicate numbers or names, and a file without any name.
    """
    if given is None:
        return {}
    if isinstance(given, str | Path):
        known = None if Path(given).exists() else knownTables().get(inAnyCase(str(given), knownTables()))
        path = known or Path(given)
        return _collect(str(path), _entriesOf(path, "names of labels"))
    requireKind(given, Mapping, "The names of labels", "a mapping of numbers to names, or the path of a file")
    return _collect("labelNames", [("", number, name) for number, name in given.items()])


def readClasses(path: str | Path) -> dict[str, str]:
    """Return the names in a file by label, in a file as for labelNamesFrom(), where labels may have the same name."""
    found: dict[str, str] = {}
    for labels, name in _collect(str(path), _entriesOf(Path(path), "classes"), areUnique=False).items():
        found.update(dict.fromkeys(map(str, [labels] if isinstance(labels, int) else labels), name))
    return found


def _entriesOf(path: Path, what: str) -> Iterator[tuple[str, object, object]]:
    """Return place, number or numbers, and name of each entry of a file. what: that are read, for messages."""
    suffix = path.suffix.lower()
    if suffix not in READERS and not path.is_dir():
        raise InputError(
            f"{path}: {what} are read from {', '.join(READERS)}, not from this kind of file."
            f"{didYouMean(path.name, knownTables())}"
        )
    text = textOf(path, "for a list of label names")
    if "\0" in text:
        raise InputError(f"{path}: the file holds zero bytes, so it is not text.")
    return READERS[suffix](str(path), text)


def _collect(source: str, entries: Iterable[tuple[str, object, object]], areUnique: bool = True) -> dict[Labels, str]:
    """Return names by number. entries: place ("" if unknown), number or numbers, and name. areUnique: no name twice."""
    found: dict[Labels, str] = {}
    numbers: set[Labels] = set()
    for where, number, name in entries:
        place = f"{source}{where}"
        label = _labelsFrom(number, place)
        which = f"label {label}" if isinstance(label, int) else f"the region of {commaSeparated(map(str, label))}"
        if not isinstance(name, str) or not name.strip():
            raise InputError(oneLine(f"{place}: {which} needs a name, not {name!r}."))
        name = name.strip()
        if label in numbers:
            raise InputError(f"{place}: {which} is listed twice.")
        numbers.add(label)
        if label == BACKGROUND:
            continue
        if areUnique and name in found.values():
            raise InputError(oneLine(f"{place}: two labels are called {name!r}."))
        found[label] = name
    if not found:
        raise InputError(f"{source}: there are no label names.")
    return found


def _labelsFrom(given: object, place: str) -> Labels:
    """Return the number of a label, or the numbers of a region in ascending order. place: for messages."""
    # a region with a single label is equivalent to that label
    several = list(given) if isinstance(given, list | tuple) else [given]
    labels: list[int] = []
    for number in several:
        if isinstance(number, str) and NUMBER.fullmatch(number.strip()) and number.isascii():
            number = int(number)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise InputError(oneLine(f"{place}: a label is a whole number from 0, not {number!r}."))
        labels.append(number)
    if not labels or (len(labels) > 1 and BACKGROUND in labels):
        raise InputError(f"{place}: a region consists of labels from 1, not of {several}.")
    return labels[0] if len(set(labels)) == 1 else tuple(sorted(set(labels)))


def _ofJson(source: str, text: str) -> Iterator[tuple[str, object, object]]:
    def pairs(items: list[tuple[str, object]]) -> dict:
        # a plain dictionary would drop the first of two equal keys
        if len(dict(items)) < len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(oneLine(f"{source}: {twice!r} is listed twice."))
        return dict(items)

    try:
        content = json.loads(text, object_pairs_hook=pairs)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: the file is not JSON.") from error
    if isinstance(content, dict) and isinstance(content.get("labels"), dict):
        content = content["labels"]
    if not isinstance(content, dict):
        raise InputError(f'{source}: names of labels look like {{"1": "liver"}} or {{"liver": 1}}.')
    areNumbersFirst = all(isinstance(value, str) for value in content.values())
    for key, value in content.items():
        yield ("", key, value) if areNumbersFirst else ("", value, key)


def _ofTable(source: str, text: str) -> Iterator[tuple[str, object, object]]:
    found, *_ = rowsOf(text, source)
    rows = [(f", line {number}", [cell.strip() for cell in row]) for number, row in found]
    for where, cells in rows:
        if len(cells) != 2:
            raise InputError(f"{source}{where}: there must be two cells, a number and a name, not {len(cells)}.")
    if rows and not any(map(NUMBER.fullmatch, rows[0][1])):
        del rows[0]  # the heading
    # the labels are in the column with more numbers, in the first one of two alike
    counts = [sum(bool(NUMBER.fullmatch(cells[n])) for _, cells in rows) for n in (0, 1)]
    column = int(counts[1] > counts[0])
    for where, cells in rows:
        yield where, cells[column], cells[1 - column]


def _ofColorTable(source: str, text: str) -> Iterator[tuple[str, object, object]]:
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith(COMMENT):
            continue
        found = COLOR.fullmatch(line)
        if found is None:
            raise InputError(
                f"{source}, line {number}: a line of a color table is: number name red green blue opacity."
            )
        if found["name"] != UNNAMED:
            yield f", line {number}", found["number"], found["name"]


READERS: dict[str, Callable[[str, str], Iterator[tuple[str, object, object]]]] = {
    ".json": _ofJson,
    ".csv": _ofTable,
    ".tsv": _ofTable,
    ".ctbl": _ofColorTable,
}

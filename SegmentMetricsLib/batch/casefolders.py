"""The cases of a study as they lie in folders: one of references, and one of tests for each method.

A case is a file or a folder of files. Its name says which test belongs to which reference: the name without extension
and without words such as seg or prediction, which only say what kind of file it is.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..base.errors import InputError
from ..base.texts import commaSeparated, oneLine, pluralize
from ..io.reading import stemOf, suffixOf
from ..io.sheets import Line, Sheet
from ..io.structurenames import isOrgan
from ..model.structures import Labels
from .cases import OPTIONAL, RECORDS, CaseList, nameStructures

# Words at either end of a name that say what kind of file it is or who made it, but not which case.
AFFIXES = {
    *("seg", "segm", "segmentation", "segmentations", "mask", "masks", "label", "labels", "labelmap"),
    *("gt", "ground", "groundtruth", "truth", "manual", "ref", "reference", "auto", "test"),
    *("pred", "preds", "prediction", "predictions", "predicted", "result", "results", "output", "final", "0000"),
}
SEPARATORS = " _-."
# Where TotalSegmentator's dataset keeps the structures of a case, beside its image.
INNER = ("segmentations", "labels", "masks")
# The file in which nnU-Net names its labels, and the most names that a remark lists.
DATASET, MOST_NAMES = "dataset.json", 8


class Entry(NamedTuple):
    """A case of one folder. name: of its file, without extension, or of its folder. path: to read it from."""

    name: str
    path: Path
    isFile: bool

    @property
    def called(self) -> str:
        """The name of its file or folder there."""
        return self.path.name if self.isFile else self.name


def casesIn(
    reference: Path,
    tests: Sequence[tuple[str, Path]],
    labels: str | Path | Mapping[int, str] | Mapping[Labels, str] | None = None,
) -> CaseList:
    """Return the cases of a folder of references that have a test of at least one method.

    tests: name and folder of each method. labels: as of a CaseList, None for nnU-Net's file beside the cases, if there
    is one. Raises InputError for folders that cannot be read or hold no case, if no test belongs to any reference, and
    if the files are called like the structures of one patient.
    """
    references = entriesOf(reference)
    plain = [withoutAffixes(entry.name) for entry in references]
    isEach = len({name.casefold() for name in plain}) == len(set(map(_spell, references)))
    titles = dict(zip(references, plain if isEach else [entry.name for entry in references]))
    cases = tuple(dict.fromkeys(titles.values()))
    remarks = [f"{pluralize(len(cases), 'case')} in {reference}."]
    lines: list[tuple[Entry, Entry, str]] = []
    mistakes: dict[tuple[Entry, str], InputError] = {}
    unused: list[Entry] = []
    for method, folder in tests:
        entries = entriesOf(folder)
        groups = match(references, entries, method)
        for ours, theirs in groups:
            lines.append((ours[0], theirs[0], method))
            if told := " and ".join(
                f"{where} has {commaSeparated(entry.called for entry in some)}"
                for where, some in ((reference, ours), (folder, theirs))
                if len(some) > 1
            ):
                mistakes[ours[0], method] = InputError(
                    f"It is not clear which file of {titles[ours[0]]} is meant: {told}. Leave only one of them there."
                )
        clear = pluralize(sum(len(ours) == len(theirs) == 1 for ours, theirs in groups), "test")
        remarks.append(f"{clear} in {folder}{f' ({method})' if method else ''}.")
        used = {entry for ours, theirs in groups for entry in (*ours, *theirs)}
        lacking = [entry for entry in references if entry not in used]
        others = [entry for entry in entries if entry not in used]
        unused += others
        for here, there, all_, left in ((reference, folder, references, lacking), (folder, reference, entries, others)):
            known = {_plain(entry, method) for entry in used.intersection(all_)}
            beside = [entry.called for entry in left if _plain(entry, method) in known]
            rest = [entry for entry in left if _plain(entry, method) not in known]
            if beside:
                names = commaSeparated(beside, MOST_NAMES)
                remarks.append(f"Not compared, as {here} has another file of the same case: {names}.")
            if alone := [entry.name if here == reference else entry.called for entry in rest]:
                remarks.append(f"Only in {here}, not in {there}: {commaSeparated(alone, MOST_NAMES)}.")
    if not lines:
        raise InputError(
            f"No file of {reference} has a counterpart of the same name in {commaSeparated(str(f) for _, f in tests)}: "
            f"the names are like {references[0].name} and {unused[0].name}."
        )
    _requireCases(reference, tests[0][1], [line[0] for line in lines if line[0].isFile])
    # all methods of a case together, in the order of the cases
    order = {entry: number for number, entry in enumerate(references)}
    lines.sort(key=lambda line: order[line[0]])
    rows = []
    for entry, test, method in lines:
        paths = {"reference": str(entry.path.resolve()), "test": str(test.path.resolve())}
        cells = {**dict.fromkeys(OPTIONAL, ""), "case": titles[entry], **paths, "method": method}
        rows.append(Line(cells, str(entry.path), mistakes.get((entry, method))))
    # a file that stands for a case stands for no structure, whatever its name
    files = [[None if one.isFile else one.path for one in (entry, test)] for entry, test, _ in lines]
    structures = nameStructures(rows, files)
    if labels is None and (labels := labelsBeside(reference, tests)):
        remarks.append(f"The names of the labels are those of {labels}.")
    return CaseList(Sheet(str(reference), (), tuple(rows)), cases, labels, structures, tuple(map(oneLine, remarks)))


def _requireCases(reference: Path, test: Path, files: Sequence[Entry]) -> None:
    """Raise InputError if files are called like the structures of one patient, which are no cases of a cohort."""
    names = list(dict.fromkeys(entry.name for entry in files))
    organs = [entry for entry, own in zip(names, _withoutCommon(names, isEnd=True)) if isOrgan(own)]
    if len(organs) > 1 and 2 * len(organs) >= len(names):
        raise InputError(
            f"Are these the structures of one patient? Files of {reference} are named like organs: "
            f"{commaSeparated(organs, MOST_NAMES)}. To compare them: segment-metrics compare {reference} {test}. If "
            "each is a case, list them in a table with the columns case, reference and test."
        )


def entriesOf(folder: Path) -> list[Entry]:
    """Return the cases of a folder by name. Raises InputError if it cannot be read, or holds none."""
    try:
        members = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        reason = "there is no such folder" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{folder}: {reason}.") from error
    found = []
    for path in members:
        if suffixOf(path) and path.is_file():
            found.append(Entry(stemOf(path), path, True))
        elif path.is_dir():
            names = [inner.name for inner in path.iterdir()]
            # one with the results of a batch is none of its cases
            if RECORDS not in names and any(not name.startswith(".") for name in names):
                found.append(Entry(path.name, _within(path), False))
    if not found:
        raise InputError(f"{folder}: there is no case, neither a file that can be read nor a folder of such files.")

    def natural(entry: Entry) -> list:
        """Case 10 comes after case 9, and a file before a folder of its name."""
        parts = [(part.isdigit(), part) for part in re.split(r"(\d+)", entry.name)]
        return [[(isNumber, int(part) if isNumber else part.casefold()) for isNumber, part in parts], not entry.isFile]

    return sorted(found, key=natural)


def _within(folder: Path) -> Path:
    """Return what to read of the folder of a case: itself, its folder of masks, or its only segmentation.

    A file that has the words of a segmentation beside images of the same case is the only one of them that matters.
    """
    inner = [folder / name for name in INNER if (folder / name).is_dir()]
    if inner:
        return inner[0]
    files = [path for path in folder.iterdir() if suffixOf(path) and not path.name.startswith(".")]
    if len(files) == 1 and suffixOf(files[0]) != ".dcm":
        return files[0]
    named = [path for path in files if withoutAffixes(stemOf(path)) != stemOf(path)]
    areOfCase = all(stemOf(path).casefold().startswith(folder.name.casefold()) for path in files)
    return named[0] if len(named) == 1 and areOfCase else folder


def withoutAffixes(name: str, others: Iterable[str] = ()) -> str:
    """Return a name without the words at its ends that do not say which case it is. others: more such words."""
    words = AFFIXES | {word.casefold() for word in others}
    parts = _parts(name)
    while len(parts) > 1 and parts[-1].strip(SEPARATORS).casefold() in words:
        parts.pop()
    while len(parts) > 1 and parts[0].strip(SEPARATORS).casefold() in words:
        parts.pop(0)
    return "".join(parts).strip(SEPARATORS) or name


def _parts(name: str) -> list[str]:
    """Return the words of a name, each with the separators after it."""
    return re.findall(rf"[^{re.escape(SEPARATORS)}]+[{re.escape(SEPARATORS)}]*", name) or [name]


def match(
    references: Sequence[Entry], tests: Sequence[Entry], method: str = ""
) -> list[tuple[list[Entry], list[Entry]]]:
    """Return the references and the tests of each case that both have: of several, it is not clear which is meant.

    Equal names come first, then names that are equal without affixes, then without what all names of a folder end
    with, then without what all names of one of the two folders begin with, and at last names that go on with words
    where the other one ends, such as case1_net and case1.
    """
    ours, theirs = _namings(references, method), _namings(tests, method)
    left, right = list(references), list(tests)
    groups: list[tuple[list[Entry], list[Entry]]] = []

    def take(some: Iterable[tuple[list[Entry], list[Entry]]]) -> None:
        for group in some:
            groups.append(group)
            left[:], right[:] = ([e for e in all_ if e not in own] for all_, own in zip((left, right), group))

    # what several are called says nothing, until nothing else does
    clear = ((0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 2, 1), (2, 3, 1))
    for first, second, most in (*clear, (0, 0, len(references) + len(tests)), (1, 1, len(references) + len(tests))):
        own, others = _byKey(left, ours[first]), _byKey(right, theirs[second])
        both = [(own[key], others[key]) for key in own if key and key in others]
        take((some, more) for some, more in both if len(some) <= most and len(more) <= most)
    take(([entry], some) for entry, some in _goingOn(left, right, method).items())
    return groups


def _namings(entries: Sequence[Entry], method: str) -> list[dict[Entry, str]]:
    """Return names by entry: whole, without affixes, then without what all end with, then also what all begin with."""
    plain = [_plain(entry, method) for entry in entries]
    ends = _withoutCommon(plain, isEnd=True)
    namings = (map(_spell, entries), plain, ends, _withoutCommon(ends, isEnd=False))
    return [dict(zip(entries, names)) for names in namings]


def _goingOn(references: Iterable[Entry], tests: Sequence[Entry], method: str) -> dict[Entry, list[Entry]]:
    """Return the tests whose names go on where that of a reference ends, or the other way round, and no other does."""

    def goesOn(*names: str) -> bool:
        """Return whether one name is the other one and more words, none of which is a number of another case."""
        few, many = sorted(([part.strip(SEPARATORS) for part in _parts(name)] for name in names), key=len)
        more = many[len(few) :]
        return few == many[: len(few)] and not any(re.fullmatch(r"\W*\d+\W*", word) for word in more)

    found = {r: [t for t in tests if goesOn(_plain(r, method), _plain(t, method))] for r in references}
    times = Counter(test for others in found.values() for test in others)
    return {own: others for own, others in found.items() if others and all(times[test] == 1 for test in others)}


def _plain(entry: Entry, method: str = "") -> str:
    """Return a name without affixes; a method that is called like a case does not make it empty."""
    return withoutAffixes(_spell(entry), [method] if method else ())


def _spell(entry: Entry) -> str:
    """Return a name in lower case, with letters such as umlauts as one character, however the computer stores them."""
    return unicodedata.normalize("NFC", entry.name).casefold()


def _byKey(entries: Iterable[Entry], names: Mapping[Entry, str]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(names[entry], []).append(entry)
    return groups


def _withoutCommon(names: Sequence[str], isEnd: bool) -> list[str]:
    """Return names without the words that all of them end with, or begin with, and that leave something of each."""
    if len(set(names)) < 2:
        return list(names)
    words = [[part.strip(SEPARATORS) for part in _parts(name)] for name in names]
    words = [own[::-1] if isEnd else own for own in words]
    number = 0
    while all(len(own) > number + 1 for own in words) and len({own[number] for own in words}) == 1:
        number += 1
    return [" ".join(own[number:][::-1] if isEnd else own[number:]) for own in words]


def labelsBeside(reference: Path, tests: Sequence[tuple[str, Path]]) -> Path | None:
    """Return nnU-Net's file of label names in or above the folder of references, or with tests; None without one."""
    for place in (reference, reference.resolve().parent, *(folder for _, folder in tests)):
        try:
            content = json.loads((place / DATASET).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError):  # there is none, or it is of another program
            continue
        # files of other programs may have the same name
        if isinstance(content, dict) and isinstance(content.get("labels"), dict):
            return place / DATASET
    return None


def methodFolders(given: Sequence[str]) -> list[tuple[str, Path]]:
    """Return the methods and folders in texts like nnunet=pred1 or pred1.

    A single folder needs no name; several are called by the last part of their paths. Raises InputError for an empty
    folder, and for two methods of one name.
    """
    found = []
    for text in given:
        name, joint, folder = text.partition("=")
        if not joint or Path(text).exists():
            name, folder = (Path(text).resolve().name if len(given) > 1 else ""), text
        if not folder:
            raise InputError(f"The folder of tests is given as NAME=DIR or DIR, not {text!r}.")
        found.append((name.strip(), Path(folder)))
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"Two folders of tests are called {twice!r}: name them, as in --test-dir NAME=DIR.")
    return found

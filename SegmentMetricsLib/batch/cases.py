"""The list of cases of a study: a table of references and tests to compare."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.errors import InputError
from ..base.texts import oneLine
from ..base.version import __version__
from ..case.protocol.protocol import Protocol, readProtocol
from ..io.dicom.neighbors import MOST_FILES, filesNear, holdsWhatItNames
from ..io.dicom.opening import isDicom
from ..io.doses import weightedDoses
from ..io.formats.table import dataFileOf
from ..io.labelnames import labelNamesFrom
from ..io.reading import stemOf, suffixOf
from ..io.sheets import Line, Sheet, readSheet
from ..io.structurenames import namesOfFiles
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST, Labels
from ..settings.settings import Settings

OK, FAILED = "ok", "failed"
REQUIRED = ("case", "reference", "test")
OPTIONAL = ("protocol", "method", "image", "dose")
# The file that a batch writes line by line; a folder with such a file is an output folder.
RECORDS = "results.jsonl"


def caseTitle(case: str, method: str) -> str:
    """Return the title of a case, with its method."""
    return f"{case} ({method})" if method else case


@dataclass(frozen=True)
class Task:
    """One case as it is sent to a worker: small, plain, and independent of where it runs.

    case, method: its name; no two tasks have both in common. reference, test: paths. problem: why it cannot be run, ""
    if it can. report: file for a report, "" for none.
    choices: pairs of names of a reference and a test structure that are compared regardless of their names, if a case
    has both; for several ways to read a pair, see readableChoices(). labelNames: pairs of the number of a
    label, or those of a region, and its name, for files that do not name their labels. structure: name of the single
    structures without a name of their own in the two files, "" for that of their labels. displayed: function of a
    module that makes the surface which Slicer displays of a structure, None if the settings do not ask for it. names:
    of the structures to compare, in any spelling, besides those in choices; () for all. image: path of the image under
    the contours, "" for none. script: as of a Report. isSpread: as of a PairWork. doses: paths of the
    dose of a plan, or of its parts, and their weights. structuredReport: DICOM file for a report, "" for none;
    hasCopies: as for writeReport().
    """

    case: str
    method: str
    reference: str
    test: str
    settings: Settings = field(default_factory=Settings)
    protocol: Protocol | None = None
    problem: str = ""
    report: str = ""
    withConventions: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    labelNames: tuple[tuple[Labels, str], ...] = ()
    structure: str = ""
    displayed: Callable[[Structure], Structure] | None = None
    image: str = ""
    script: str = ""
    isSpread: bool = False
    names: tuple[str, ...] = ()
    doses: tuple[tuple[str, float], ...] = ()
    structuredReport: str = ""
    hasCopies: bool = True

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.method

    @property
    def title(self) -> str:
        """The title of the case on one line."""
        return oneLine(caseTitle(self.case, self.method))

    @cached_property
    def fingerprint(self) -> str:
        """Words that change whenever the outcome might.

        The first changes with the settings, rules, choices, names of labels and the software, the second with the
        files; the others say which reports are written.
        """

        def order(named: tuple[Labels, str]) -> tuple[int, ...]:
            return named[0] if isinstance(named[0], tuple) else (named[0],)

        content = {
            "software": __version__,
            "settings": self.settings.toDictionary(),
            "protocol": self.protocol and self.protocol.version,
            "choices": list(self.choices),
            "labelNames": sorted(self.labelNames, key=order),
            "structure": self.structure,
            "names": sorted(self.names),
            "doses": [weight for _, weight in self.doses if weight != 1],
            "isSpread": self.isSpread,
        }
        paths = filter(None, (self.reference, self.test, self.image, *(path for path, _ in self.doses)))
        texts = (json.dumps(part, sort_keys=True) for part in (content, [_state(Path(path)) for path in paths]))
        words = [hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32] for text in texts]
        words += ["report"] * bool(self.report) + ["conventions"] * self.withConventions
        return " ".join(words + ["dicom"] * bool(self.structuredReport) + ["named"] * (not self.hasCopies))


@dataclass(frozen=True)
class CaseList:
    """The cases of a batch as a table or folders give them.

    sheet: the table; of folders, as if somebody had listed their cases, where a case that a folder has twice is a line
    with a mistake. cases: the names of all cases, of folders those of the references. labels: the file with the names
    of labels, or these names, or a known name, None for none. structures: for each line, what a single structure
    without a name is called. remarks: sentences on what was found in folders, and on what has no counterpart.
    """

    sheet: Sheet
    cases: Sequence[str]
    labels: str | Path | Mapping[int, str] | Mapping[Labels, str] | None
    structures: Sequence[str]
    remarks: Sequence[str] = ()


def readList(path: str | Path, labels: str | Path | Mapping[int, str] | Mapping[Labels, str] | None = None) -> CaseList:
    """Return the cases in a CSV file: case, reference, test, optionally protocol, method, image and dose, and others.

    labels: as of a CaseList. Raises InputError, naming the line, for a file that is not such a table.
    """
    sheet = readSheet(path, REQUIRED, OPTIONAL, mayHaveOthers=True)
    if not sheet.lines:
        raise InputError(f"{path}: there are no cases.")
    cases = list(filter(None, dict.fromkeys(line.cells["case"] for line in sheet.lines)))
    files = [[Path(line.cells[side]) for side in REFERENCE_AND_TEST] for line in sheet.lines]
    return CaseList(sheet, cases, labels, nameStructures(sheet.lines, files))


def nameStructures(lines: Sequence[Line], files: Sequence[Sequence[Path | None]]) -> list[str]:
    """Return what a single structure without a name is called in each line, by its two files; None are no names.

    Folders have no suffix, and their names are not those of structures.
    """
    stems = [[stemOf(file) if file is not None and suffixOf(file) else "" for file in both] for both in files]
    return namesOfFiles((line.cells["case"], ours, theirs) for line, (ours, theirs) in zip(lines, stems, strict=True))


def tasksOf(
    given: CaseList,
    settings: Settings,
    protocol: Protocol | None = None,
    dose: str | Path | Sequence[str] | None = None,
    **common: Any,
) -> list[Task]:
    """Return the tasks in a list of cases.

    Paths are relative to the list's folder. In the list, a protocol is a file or the name of an example. A line that
    cannot be run, such as a second one of the same case and method, is a task with a problem. protocol, dose: for cases
    without one of their own. common: what is the same in all tasks, by its name in a Task. If any case has a dose, the
    settings of all of them ask for its family, so that one table can hold all. Raises InputError for a dose of another
    form.
    """
    sheet = given.sheet
    folder = Path(sheet.source).resolve().parent
    labelNames = labelNamesFrom(given.labels)
    usual = [] if dose is None else weightedDoses(dose, Path().resolve())
    doses = [weightedDoses(line.cells["dose"], folder) if line.cells["dose"] else usual for line in sheet.lines]
    if any(doses):
        settings = settings.replace(families=(*settings.families, "dose"))
    protocols: dict[str, Protocol | InputError | None] = {"": protocol}
    seen: dict[tuple[str, str], str] = {}
    tasks = []
    for line, structure, plan in zip(sheet.lines, given.structures, doses, strict=True):
        cells, problem = line.cells, ""
        key = (cells["case"], cells["method"])
        if line.mistake:
            problem = str(line.mistake)
        elif missing := [name for name in REQUIRED if not cells[name]]:
            problem = str(line.problem(missing[0], "it is empty."))
        elif key in seen:
            problem = str(line.problem("case", f"this case is already listed ({seen[key]})."))
        else:
            seen[key] = line.where
        if (name := cells["protocol"]) not in protocols:
            beside = folder / name
            try:
                protocols[name] = readProtocol(beside if beside.exists() else name)
            except InputError as error:
                protocols[name] = error
        rules = protocols[name]
        if isinstance(rules, InputError):
            problem, rules = problem or str(rules), None
        reference, test = (str(folder / cells[side]) for side in REFERENCE_AND_TEST)
        task = Task(
            cells["case"] or line.where,
            cells["method"],
            reference,
            test,
            settings,
            rules,
            problem,
            labelNames=tuple(labelNames.items()),
            structure=structure,
            image=str(folder / cells["image"]) if cells["image"] else "",
            doses=tuple(plan),
            **common,
        )
        tasks.append(task)
    return tasks


def _state(path: Path) -> Mapping:
    """Return size and time of change of a file and of those that are read with it, or of all files in a folder."""

    def state(file: Path) -> dict[str, Any]:
        try:
            status = file.stat()
        except (OSError, ValueError):
            return {"path": str(file)}
        return {"path": str(file), "size": status.st_size, "changed": status.st_mtime_ns}

    try:
        if path.is_dir():
            return {"path": str(path), "files": list(map(state, _filesBelow(path)))}
        others = _filesReadWith(path)
    except (OSError, ValueError):  # reported when the file is read
        others = []
    return {**state(path), "files": list(map(state, others))}


def _filesReadWith(path: Path) -> list[Path]:
    """Return the data files of a header, or the files that may be the image on which contours were drawn."""
    suffix = path.suffix.lower()
    if suffix == ".dcm" or (_mayBeDicom(path) and isDicom(path)):
        near = ([file for file in files if _mayBeDicom(file)] for files in filesNear(path))
        home = next(near)
        # reading then looks no further, so that a case does not depend on other patients beside it
        if holdsWhatItNames(path, home):
            return home
        return list(itertools.islice(itertools.chain(home, itertools.chain.from_iterable(near)), MOST_FILES))
    name = dataFileOf(path)
    if not name:
        return []
    named = path.parent / name
    # lists of files and patterns of names refer to the same folder
    return [named] if named.is_file() else sorted(file for file in path.parent.iterdir() if file.is_file())


def _mayBeDicom(path: Path) -> bool:
    """Return whether a file may be DICOM by its name: with the suffixes of DICOM, none, or a number at the end."""
    suffix = path.suffix.lower()
    return suffix in (".dcm", ".ima") or not suffix[1:].isalpha()


def _filesBelow(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders, except for output folders of a batch."""
    files = []
    for parent, folders, names in os.walk(folder):
        if RECORDS in names and Path(parent) != folder:
            folders.clear()
        else:
            files += [Path(parent, name) for name in names]
    return sorted(file for file in files if file.is_file())

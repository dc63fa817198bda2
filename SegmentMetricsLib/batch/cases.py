"""The list of cases of a study: a table of references and tests to compare."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..base.errors import InputError, asPath, requireKind
from ..base.texts import oneLine
from ..base.version import __version__
from ..case.protocol.protocol import Protocol, asProtocol, readProtocol
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
from ..settings.settings import Settings, asSettings

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
    if it can. fingerprint: words that change whenever the outcome might. report: file for a report, "" for none.
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
    fingerprint: str = ""
    report: str = ""
    withConventions: bool = False
    choices: tuple[tuple[str, str | None], ...] = ()
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


def readCases(
    path: str | Path,
    settings: Settings,
    *,
    protocol: Protocol | str | Path | None = None,
    choices: Mapping[str, str | None] | None = None,
    labelNames: Mapping[Labels, str] | None = None,
    dose: str | Path | Sequence[str] | None = None,
) -> list[Task]:
    """Return the tasks in a CSV file: case, reference, test, and optionally protocol, method, image and dose.

    Paths are relative to the file's folder. In the table, a protocol is a file or the name of an example. A line that
    cannot be run, such as a second one of the same case and method, is a task with a problem. protocol: for cases
    without one of their own, as for compareCase(), and so is dose. choices, labelNames: as of a Task. Raises
    InputError, naming the line, for a file that is not such a table.
    """
    path, settings = asPath(path), asSettings(settings)
    if choices is not None:
        requireKind(choices, Mapping, "The chosen pairs", "a Mapping")
    protocol = asProtocol(protocol)
    names = labelNamesFrom(labelNames) if labelNames is not None else None
    return tasksOf(readList(path), settings, protocol, tuple((choices or {}).items()), names, dose=dose)


def readList(path: str | Path) -> Sheet:
    """Return the table in a CSV file of cases, which may have other columns. Raises InputError as readCases()."""
    sheet = readSheet(path, REQUIRED, OPTIONAL, mayHaveOthers=True)
    if not sheet.lines:
        raise InputError(f"{path}: there are no cases.")
    return sheet


def tasksOf(
    sheet: Sheet,
    settings: Settings,
    protocol: Protocol | None = None,
    choices: Sequence[tuple[str, str | None]] = (),
    labelNames: Mapping[Labels, str] | None = None,
    names: Sequence[str] = (),
    structures: Sequence[str] | None = None,
    dose: str | Path | Sequence[str] | None = None,
) -> list[Task]:
    """Return the tasks in a table of cases, as readCases(). choices: pairs of names, as of a Task; names: as of a Task.

    structures: what single structures of each line are called, None to find out. If any case has a dose, the settings
    of all of them ask for its family, so that one table can hold all.
    """
    folder = Path(sheet.source).resolve().parent
    usual = [] if dose is None else weightedDoses(dose, Path().resolve())
    doses = [weightedDoses(line.cells["dose"], folder) if line.cells["dose"] else usual for line in sheet.lines]
    if any(doses):
        settings = settings.changed(families=(*settings.families, "dose"))
    protocols: dict[str, Protocol | InputError | None] = {"": protocol}
    seen: dict[tuple[str, str], str] = {}
    for name in dict.fromkeys(line.cells["protocol"] for line in sheet.lines):
        if name not in protocols:
            protocols[name] = _protocol(name, folder)
    chosen, named = tuple(choices), tuple((labelNames or {}).items())
    if structures is None:
        cells = (line.cells for line in sheet.lines)
        structures = namesOfFiles((one["case"], _stem(one["reference"]), _stem(one["test"])) for one in cells)
    return [
        _task(line, folder, settings, protocols, seen, chosen, named, structure, tuple(names), tuple(plan))
        for line, structure, plan in zip(sheet.lines, structures, doses, strict=True)
    ]


def _stem(path: str) -> str:
    """Return the name of a file without its suffix; "" for a folder."""
    return stemOf(Path(path)) if suffixOf(Path(path)) else ""


def _task(
    line: Line,
    folder: Path,
    settings: Settings,
    protocols: Mapping,
    seen: dict[tuple[str, str], str],
    choices: tuple[tuple[str, str | None], ...],
    labelNames: tuple[tuple[Labels, str], ...],
    structure: str,
    names: tuple[str, ...],
    doses: tuple[tuple[str, float], ...],
) -> Task:
    cells = line.cells
    problem = ""
    missing = [] if line.mistake else [name for name in REQUIRED if not cells[name]]
    key = (cells["case"], cells["method"])
    if line.mistake:
        problem = str(line.mistake)
    elif missing:
        problem = str(line.problem(missing[0], "it is empty."))
    elif key in seen:
        problem = str(line.problem("case", f"this case is already listed ({seen[key]})."))
    else:
        seen[key] = line.where
    protocol = protocols[cells["protocol"]]
    if isinstance(protocol, InputError):
        problem, protocol = problem or str(protocol), None
    reference, test = (str(folder / cells[name]) for name in REFERENCE_AND_TEST)
    image = str(folder / cells["image"]) if cells["image"] else ""
    return Task(
        cells["case"] or line.where,
        cells["method"],
        reference,
        test,
        settings,
        protocol,
        problem,
        fingerprint(
            tuple(filter(None, (reference, test, image, *(path for path, _ in doses)))),
            settings,
            protocol,
            choices,
            labelNames,
            structure,
            names,
            [weight for _, weight in doses if weight != 1],
        ),
        choices=choices,
        labelNames=labelNames,
        structure=structure,
        names=names,
        image=image,
        doses=doses,
    )


def _protocol(name: str, folder: Path) -> Protocol | InputError:
    """Return a protocol that cases name, or the error of reading it."""
    beside = folder / name
    try:
        return readProtocol(beside if beside.exists() else name)
    except InputError as error:
        return error


def fingerprint(
    paths: Sequence[str],
    settings: Settings,
    protocol: Protocol | None,
    choices: Sequence[tuple[str, str | None]] = (),
    labelNames: Sequence[tuple[Labels, str]] = (),
    structure: str = "",
    names: Sequence[str] = (),
    weights: Sequence[float] = (),
) -> str:
    """Return two words, of which the second changes with the files and the first with all else.

    That is the settings, rules, choices, names of labels and the software.
    """
    content = {
        "software": __version__,
        "settings": settings.toDictionary(),
        "protocol": protocol and protocol.version,
        "choices": list(choices),
        "labelNames": sorted(labelNames, key=_order),
        "structure": structure,
        "names": sorted(names),
        "doses": list(weights),
    }
    return f"{_hashOf(content)} {_hashOf([_state(Path(path)) for path in paths])}"


def _hashOf(content: object) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _order(named: tuple[Labels, str]) -> tuple[int, ...]:
    """Return what names of labels and regions are sorted by."""
    which, _ = named
    return which if isinstance(which, tuple) else (which,)


def _state(path: Path) -> Mapping:
    """Return size and time of change of a file and of those that are read with it, or of all files in a folder."""
    try:
        if path.is_dir():
            return {"path": str(path), "files": [_stateOfFile(file) for file in _filesBelow(path)]}
        others = _filesReadWith(path)
    except (OSError, ValueError):  # reported when the file is read
        others = []
    return {**_stateOfFile(path), "files": [_stateOfFile(file) for file in others]}


def _stateOfFile(path: Path) -> Mapping:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return {"path": str(path)}
    return {"path": str(path), "size": status.st_size, "changed": status.st_mtime_ns}


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

"""The outcomes of many cases on disk, written as they are completed, so that an interrupted run can continue."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from ..base.errors import InputError
from ..base.texts import oneLine
from ..conventions.convention import OWN_CONVENTION
from ..metrics.registry import REGISTRY, restore, select
from ..model.naming import PAIR_JOINT, notAmong
from ..model.structures import REFERENCE_AND_TEST
from ..show import verdicts as verdictwriting
from ..show.report.blocks import PLOTLY_FILE
from ..show.report.index import INDEX, CaseLine, indexOf
from ..show.resulttables import FAMILY_OF_LIST, LISTED, listedRows
from ..show.tablemodel import Column
from ..show.writing import UNENCODABLE, VERDICTS_FILE, cells, openTable, writeSchema
from . import lesionsizes, tableschema
from .alarms import inShort, titleOfPair
from .cases import FAILED, OK, RECORDS, Task, caseTitle
from .missing import BOTH, CountedNames, Roster
from .plots import removePlots
from .statistics import METHOD_WORDS, STRUCTURE_WORDS
from .summarywriting import SUMMARY_FILES, removeSummary
from .tableschema import CONVENTION_WORDS, RESULTS_FILE, SCHEMA_FILE, STRUCTURE

TABLE, SCHEMA = RESULTS_FILE, "results.schema.csv"
# The folder of the reports, and a pattern of their file names.
REPORTS, PAGE = "reports", re.compile(r"[^/\\]+\.html")
# The folder of the structured reports, with one for each case, and the name of the report there.
DICOM, REPORT = "dicom", "report.dcm"
PARQUET = "results.parquet"
IDENTITY = {
    "Case": "Name of the case",
    "Method": METHOD_WORDS,
    STRUCTURE: STRUCTURE_WORDS,
    "Status": "ok, failed, which side lacks the structure, or that it could not be used",
    "Reason": "Why it is not ok",
    "Reference": "Name of the reference structure",
    "Test": "Name of the test structure",
    "ReferenceFile": "File of the reference structure; if it is missing, the file or folder that lacks it",
    "TestFile": "File of the test structure; if it is missing, the file or folder that lacks it",
    "Pairing": "How the two structures were matched",
    "Verdict": "What the protocol says about the structure",
    "Alarms": "Alarms: what must be checked before the numbers can be used",
}
# The files that a batch writes.
OWN_NAMES = {
    *(RECORDS, TABLE, SCHEMA, SCHEMA_FILE, PARQUET, VERDICTS_FILE, *LISTED, *SUMMARY_FILES),
    *lesionsizes.FILES,
}
CONVENTION = {"Convention": CONVENTION_WORDS}


def requireInputsKept(folder: Path, inputs: Iterable[Path]) -> None:
    """Raise InputError if writing the results of a batch into a folder would overwrite one of its inputs."""
    for path in inputs:
        if path.name in OWN_NAMES and path.exists() and path.resolve().parent == folder.resolve():
            raise InputError(
                f"{path}: the results include a file of this name and would overwrite it. Rename it, or choose another "
                "output folder."
            )


class CohortFiles:
    """The files of a batch in its output folder; closes them at the end of a `with`.

    results.jsonl, with one line per case, is authoritative; the tables are derived from it. roster: of all outcomes in
    it.

    overwrites: whether outcomes of an earlier run that were made with other settings, or of other cases, are removed;
    else InputError is raised if there are any.
    """

    def __init__(self, folder: Path, tasks: Sequence[Task], overwrites: bool = False):
        self.folder = folder
        self.tasks = {task.key: task for task in tasks if not task.problem}
        self.columns = columnsOf(tasks)
        self.convention = tasks[0].settings.convention
        self.identity = IDENTITY if self.convention == OWN_CONVENTION else IDENTITY | CONVENTION
        self.isJudged = any(task.protocol is not None for task in tasks)
        self.offsets: dict[tuple[str, str], int] = {}
        self.roster = Roster()
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _openLocked(folder / ".segment-metrics.lock")
        try:
            self._keepValid(overwrites)
        except InputError:
            self._unlock()
            raise
        self._records = (folder / RECORDS).open("ab")
        self._opened = ExitStack()  # the tables
        # so that what is in the folder belongs together, however this run ends
        self.writeTables()

    def __enter__(self) -> CohortFiles:
        return self

    def __exit__(self, *_) -> None:
        self._records.close()
        self._opened.close()
        self._unlock()

    def _unlock(self) -> None:
        with suppress(OSError):  # Windows does not remove open files
            Path(self._lock.name).unlink()
        self._lock.close()

    @property
    def done(self) -> set[tuple[str, str]]:
        """The keys of the tasks that have an outcome."""
        return set(self.offsets)

    def add(self, outcome: Mapping) -> None:
        """Write the outcome of a task, into the tables as well, where users can watch the run."""
        self._records.seek(0, os.SEEK_END)
        self.offsets[outcome["case"], outcome["method"]] = self._records.tell()
        self._records.write(json.dumps(outcome, allow_nan=False).encode() + b"\n")
        self._records.flush()
        self.roster.learn(outcome)
        self._addRows(outcome)

    def outcomes(self) -> Iterator[dict]:
        """Yield all outcomes in the order of the cases, one at a time."""
        with (self.folder / RECORDS).open("rb") as file:
            for key in self.tasks:
                if key in self.offsets:
                    file.seek(self.offsets[key])
                    yield json.loads(file.readline())

    def writeTables(self, others: Sequence[Mapping] = ()) -> None:
        """Write the tables, in the order of the cases, and the schema. others: outcomes that are only in the tables."""
        families = {family for task in self.tasks.values() for family in task.settings.families}
        lists = [name for name, family in FAMILY_OF_LIST.items() if family in families]
        self._opened.close()
        for name in (VERDICTS_FILE, *LISTED):
            (self.folder / name).unlink(missing_ok=True)
        columns = [Column(key, description=text, isText=True) for key, text in self.identity.items()]
        columns += self.columns.values()
        writeSchema(columns, self.folder / SCHEMA)
        described = tableschema.write(columns, self.convention, self.folder, lists)
        self._names = CountedNames()
        self._tables: dict[str, TextIO] = {}
        for name in (TABLE, *[VERDICTS_FILE] * self.isJudged, *lists):
            self._tables[name] = self._opened.enter_context(openTable(self.folder / name))
            csv.writer(self._tables[name]).writerow([column.key for column in described[name]])
        for outcome in itertools.chain(self.outcomes(), others):
            self._addRows(outcome)

    def _addRows(self, outcome: Mapping) -> None:
        """Write the rows of an outcome into the tables."""
        for name, values in self._rows(outcome):
            if name in self._tables:
                csv.writer(self._tables[name]).writerow(cells([outcome["case"], outcome["method"], *values]))
        for file in self._tables.values():
            file.flush()

    def writeIndex(
        self, lines: Sequence[CaseLine], title: str, cohort: Mapping | None = None, remarks: Sequence[str] = ()
    ) -> None:
        """Write the page about all cases beside their reports, if there are any.

        lines: as from collected.lineOf(). cohort: what the page shows of all cases, as CohortPage.content() returns it.
        remarks: sentences on the cases that a method lacks.
        """
        folder = self.folder / REPORTS
        names = [line.report if line.report and (folder / line.report).exists() else "" for line in lines]
        if any(names) or any(task.report for task in self.tasks.values()):
            named = [line._replace(report=name) for line, name in zip(lines, names, strict=True)]
            text = indexOf(named, title, cohort, remarks)
            (folder / INDEX).write_text(text, encoding="utf-8", errors="backslashreplace")

    def _keepValid(self, overwrites: bool) -> None:
        """Keep the valid outcomes of an earlier run; drop those of files that have changed, failed and torn ones.

        Files derived from outcomes that are not kept are removed: their reports, and files about all cases together.
        Otherwise they would seem to belong to the new numbers.
        """
        path = self.folder / RECORDS
        if not path.exists():
            return
        reports: dict[bool, set[str]] = {True: set(), False: set()}
        # replaced last, so that nothing is lost if the run is killed before
        with _replacing(path) as unfinished:
            with path.open("rb") as old, unfinished.open("wb") as new:
                for line in old:
                    outcome = parseOutcome(line)
                    if outcome is None:
                        continue
                    key = (outcome["case"], outcome["method"])
                    task = self.tasks.get(key)
                    if not overwrites:
                        self._requireSame(outcome, task)
                    isKept = task is not None and key not in self.offsets and self._holds(outcome, task)
                    reports[isKept].add(outcome.get("report", ""))
                    if isKept:
                        self.offsets[key] = new.tell()
                        self.roster.learn(outcome)
                        new.write(line)
                new.flush()
                os.fsync(new.fileno())
            (self.folder / REPORTS / INDEX).unlink(missing_ok=True)
            for name in reports[False] - reports[True] - {""}:
                (self.folder / REPORTS / name).unlink(missing_ok=True)
            if self.tasks.keys() - self.done:
                removeSummary(self.folder)
                removePlots(self.folder)
                (self.folder / PARQUET).unlink(missing_ok=True)
        if not any(task.report for task in self.tasks.values()):
            if not any((self.folder / REPORTS).glob("*.html")):
                (self.folder / REPORTS / PLOTLY_FILE).unlink(missing_ok=True)
            with suppress(OSError):  # it does not exist or is not empty
                (self.folder / REPORTS).rmdir()

    def _requireSame(self, outcome: Mapping, task: Task | None) -> None:
        """Raise InputError for an outcome with results that were made with other settings, or of a case not listed."""
        # the first word of a fingerprint changes with all but the files and the report of a case
        isSame = task is not None and outcome["fingerprint"].split(" ")[0] == task.fingerprint.split(" ")[0]
        if outcome["status"] != OK or isSame:
            return
        title = oneLine(caseTitle(outcome["case"], outcome["method"]))
        why = "is no longer in the list" if task is None else "was measured with other settings or another version"
        raise InputError(
            f"{self.folder}: it has results of an earlier run, but {title} {why}, and old and new results are not "
            "mixed. Choose another folder, or give --overwrite to remove the old ones."
        )

    def _holds(self, outcome: Mapping, task: Task) -> bool:
        """Return whether an outcome of an earlier run is still valid for a task; an additional report does no harm."""
        if outcome["status"] != OK:
            return False
        if not task.report:
            known, asked = outcome["fingerprint"].split(" "), task.fingerprint.split(" ")
            return known[:2] == asked[:2] and set(asked) <= set(known)
        name = outcome.get("report")
        isThere = name == Path(task.report).name and (self.folder / REPORTS / name).exists()
        return outcome["fingerprint"] == task.fingerprint and isThere

    def _rows(self, outcome: Mapping) -> Iterator[tuple[str, list]]:
        """Yield the rows of an outcome, each with its file and without case and method, which come first in all."""
        names = self._names
        structures = {id(record): structure for record, structure, _ in names.of(outcome, self.roster)}
        judged = outcome.get("protocol") or {"structures": []}
        verdicts = {given["structure"]: given["verdict"] for given in judged["structures"]}
        missing = [record for record in outcome.get("missing", ()) if id(record) in structures]
        failures = outcome.get("failures", {})
        failed = notAmong(failures, (record["structure"] for record in missing))

        def row(measured: Mapping[str, Any], **identity: str) -> tuple[str, list]:
            return TABLE, [*map(identity.get, list(self.identity)[2:]), *map(measured.get, self.columns)]

        if not (outcome["pairs"] or missing or failed):
            yield row({}, Status=outcome["status"], Reason=outcome["reason"])
        titles = {}
        for record in (*outcome["pairs"], *missing):
            structure = structures.get(id(record), record["structure"])
            title = titleOfPair(record)
            titles[title] = structure
            status, side = OK, record.get("missing", "")
            if "leftOut" in record or (side and not record["measurements"]):
                status = "could not be used"
            elif side:
                status = "missing in both" if side == BOTH else f"missing in the {side}"
            reference, test = (record[name] for name in REFERENCE_AND_TEST)
            yield row(
                {key: restore(key, given) for key, given in record["measurements"].items()},
                Structure=structure,
                Status=status,
                Reason=record.get("reason", ""),
                Reference=reference["name"],
                Test=test["name"],
                ReferenceFile=reference["file"],
                TestFile=test["file"],
                Pairing=record["pairing"]["how"] if "pairing" in record else "",
                Verdict=verdicts.get(title, ""),
                Alarms=inShort(record),
                Convention=record.get("convention", ""),
            )
            for name in LISTED:
                yield from ((name, [structure, *listed]) for listed in listedRows(name, record) or ())
        for title in failed:
            name, joint, test = title.partition(PAIR_JOINT)
            known, why = names.nameFor(name), failures[title]
            yield row({}, Structure=known, Status=FAILED, Reason=why, Reference=name, Test=test if joint else title)
        for verdict in verdictwriting.rows(judged, lambda title: titles.get(title) or names.nameFor(title)):
            yield VERDICTS_FILE, verdict


def columnsOf(tasks: Sequence[Task]) -> dict[str, Column]:
    """Return the columns, by key, of all measurements that tasks may yield, in the registry's order.

    They must be known in advance, as the table's heading is written before the first case is compared.
    """
    wanted = {(id(task.settings), id(task.protocol)): (task.settings, task.protocol) for task in tasks}
    columns: dict[str, tuple[int, Column]] = {}
    for settings, protocol in wanted.values():
        if protocol is not None:  # whatever it asks for any structure
            rules = tuple(replace(rule, structure="*") for rule in protocol.rules)
            settings = replace(protocol, rules=rules).settingsFor(settings, "any")[settings.convention]
        for one in select(settings):
            unit, words = one.metric.unitFor(3, settings), one.words
            column = Column(one.key, one.metric.title.format(**words), unit, one.metric.description.format(**words))
            columns.setdefault(one.key, (REGISTRY.index(one.metric), column))
    return {key: column for key, (_, column) in sorted(columns.items(), key=lambda item: item[1][0])}


def parseOutcome(line: bytes) -> dict | None:
    """Return the outcome in a line of results.jsonl, None if it is incomplete or something else."""
    try:
        outcome = json.loads(line)
        complete = line.endswith(b"\n") and isinstance(outcome["pairs"], list)
        complete &= all(isinstance(outcome[key], str) for key in ("case", "method", "status", "fingerprint"))
        # the line may have been edited: a report is nothing outside its folder
        return outcome if complete and PAGE.fullmatch(outcome.get("report", "none.html")) else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _openLocked(path: Path) -> TextIO:
    """Return an open file that no other run can lock until it is closed or this process ends."""
    file = path.open("w")
    try:
        import fcntl
    except ImportError:  # on Windows an open file cannot be replaced, which is sufficient as a lock
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InputError(f"{path.parent}: another run is writing into this folder.") from error
    return file


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file that takes the place of another at the end; it is removed if that is not reached."""
    unfinished = path.with_name(f".{path.name}.new")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def writeParquet(folder: Path) -> None:
    """Write the table as results.parquet if pyarrow is installed."""
    (folder / PARQUET).unlink(missing_ok=True)  # one of an earlier run
    try:
        import pyarrow
        from pyarrow import csv as arrow
        from pyarrow import parquet
    except ImportError:
        return
    with (folder / TABLE).open(newline="", encoding="utf-8", errors=UNENCODABLE) as table:
        columns = next(csv.reader(table))
    # a case called 001 is not the number 1
    types = {name: pyarrow.string() if name in (*IDENTITY, *CONVENTION) else pyarrow.float64() for name in columns}
    options = arrow.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    with _replacing(folder / PARQUET) as unfinished:
        parquet.write_table(arrow.read_csv(folder / TABLE, convert_options=options), unfinished)

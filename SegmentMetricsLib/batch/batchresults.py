"""The results of a batch in Python: the numbers of all cases as data frames, for notebooks."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from pathlib import Path

from ..base.errors import InputError, asPath
from ..case.comparison import pandasOrError
from ..show.writing import UNENCODABLE, cells
from .cases import OK, RECORDS, caseTitle
from .resultfiles import REPORT, parseOutcome
from .statistics import Cohort, PairedTest, Summary, compareMethods, summarize, summarizeOverall
from .summaryoptions import Options
from .tableschema import RESULTS_FILE

# What identifies a row of a frame, and which side lacks the structure.
INDEX, MISSING = ("Case", "Method", "Structure"), "Missing"
# What reports lack that results have.
ONLY_PAIRS = (
    "Structured reports have no numbers of a structure that one side of a case lacks, so it does not count there."
)


class BatchResults:
    """The results of a batch.

    Parameters
    ----------
    outcomes : Iterable[dict]
        The outcomes of the cases, as in results.jsonl.
    cases : Iterable[str], optional
        Names of all cases that every method should have, including those of the outcomes.
    remarks : Iterable[str], optional
        Sentences on what was compared, and what was not.

    Attributes
    ----------
    cohort : Cohort
        The measurements of all cases.
    """

    def __init__(self, outcomes: Iterable[dict], cases: Iterable[str] = (), remarks: Iterable[str] = ()):
        self.outcomes, self.cases, self.remarks = list(outcomes), list(cases), list(remarks)

    def __repr__(self) -> str:
        structures, methods = len(self.cohort.structures), len(self.cohort.methods)
        return f"<BatchResults: {len(self.outcomes)} cases, structures: {structures}, methods: {methods}>"

    def _repr_html_(self) -> str:
        return self.toFrame()._repr_html_()

    @cached_property
    def cohort(self) -> Cohort:
        return Cohort(self.outcomes, cases=self.cases)

    def toFrame(self):
        """Return a data frame with a row per case, method and structure, and a column per measurement.

        Infinite values are inf, undefined ones NaN. The column "Missing" has the side that lacks the structure, or "".
        Raises InputError if pandas is not installed.
        """
        rows: dict[tuple[str, str, str], dict] = {}
        for (structure, method, key), group in self.cohort.values.items():
            for case, value in group.items():
                row = rows.setdefault((case, method, structure), {MISSING: value.missing})
                row[key] = value.value
        order = {(outcome["case"], outcome["method"]): number for number, outcome in enumerate(self.outcomes)}
        names = sorted(rows, key=lambda name: order[name[:2]])
        pandas = pandasOrError()
        index = pandas.MultiIndex.from_tuples(names, names=INDEX)
        return pandas.DataFrame([rows[name] for name in names], index=index, columns=[MISSING, *self.cohort.keys])

    def summary(self, options: Options | None = None):
        """Return a data frame of the statistics, as in summary.csv, with those of means.csv last."""
        rows = [*summarize(self.cohort, options), *summarizeOverall(self.cohort, options)]
        return _frame(Summary, rows).set_index(["structure", "method", "measurement"])

    def tests(self, options: Options | None = None):
        """Return a data frame of the tests between methods, as in tests.csv; empty for a single method."""
        rows = compareMethods(self.cohort, options)
        return _frame(PairedTest, rows).set_index(["structure", "measurement", "first", "second"])

    def failures(self) -> dict[str, str]:
        """Return why cases, or structures of them, could not be compared, by the title of the case."""
        return {
            caseTitle(outcome["case"], outcome["method"]): outcome["reason"]
            for outcome in self.outcomes
            if outcome.get("reason")
        }


def _frame(kind: type, rows: Iterable):
    """Return rows of a dataclass as a data frame with its fields as columns; None is NaN."""
    values = [{name: math.nan if value is None else value for name, value in asdict(row).items()} for row in rows]
    return pandasOrError().DataFrame(values, columns=[one.name for one in fields(kind)])


def readBatch(folder: str | Path) -> BatchResults:
    """Return the results of a batch, finished or not, from its output folder or from structured reports.

    Parameters
    ----------
    folder : str | Path
        Output folder of the batch, or a folder with a DICOM structured report of each case: in its subfolders, named
        like the cases, or in files of these names.

    Returns
    -------
    BatchResults
        The outcomes of all cases that are done, and their data frames.

    Raises
    ------
    InputError
        If the folder holds no results of a batch.
    """
    path = asPath(folder) / RECORDS
    try:
        with path.open("rb") as file:
            # a line that is torn is of a run that was killed while writing
            outcomes = [outcome for line in file if (outcome := parseOutcome(line)) is not None]
    except FileNotFoundError:
        if reports := sorted(asPath(folder).rglob("*.dcm")):
            found = [one for path in reports if (one := _outcomeOf(path, asPath(folder))) is not None]
            return BatchResults(found, remarks=[ONLY_PAIRS])
        raise InputError(f"{folder}: there are no results of a batch, as there is no {RECORDS}.") from None
    except OSError as error:
        raise InputError(f"{path}: the results cannot be read ({error.strerror}).") from error
    return BatchResults(_inOrder(outcomes, asPath(folder) / RESULTS_FILE))


def _outcomeOf(path: Path, folder: Path) -> dict | None:
    """Return the outcome of the case of a structured report in a folder; None for what is written beside the reports.

    Reports of several methods are in folders of their names, as withStructuredReports() plans it.
    """
    from ..show.structuredreport import readReport

    if path.name != REPORT and (path.parent / REPORT).exists():
        return None
    pairs = [{**record.toDictionary(), "structure": record.reference.name} for record in readReport(path)]
    case = path.parent.name if path.name == REPORT else path.stem
    folders = path.parent.relative_to(folder).parts
    method = folders[0] if path.name == REPORT and len(folders) == 2 else ""
    return {"case": case, "method": method, "status": OK, "reason": "", "pairs": pairs, "unmatched": {}, "missing": []}


def _inOrder(outcomes: Sequence[dict], table: Path) -> list[dict]:
    """Return outcomes in the order of a batch's table, which is that of its cases; they are in that of completion.

    So methods are in the same order as in the other tables. Without the table, they stay as they are.
    """
    try:
        with table.open(newline="", encoding="utf-8", errors=UNENCODABLE) as file:
            rows = [tuple(row[:2]) for row in csv.reader(file)]
    except OSError:  # somebody kept the record alone
        return list(outcomes)
    places = {name: place for place, name in reversed(list(enumerate(rows)))}
    # names are written as cells that no spreadsheet takes for a formula
    return sorted(outcomes, key=lambda one: places.get(tuple(cells([one["case"], one["method"]])), len(rows)))

"""Reading CSV files with a heading that people write in a spreadsheet; every error names the place of the mistake."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InputError, raiseAny, requireText
from ..base.texts import oneLine, pluralize

# Cell separators that spreadsheets use in different countries.
SEPARATORS = (",", ";", "\t")
COMMENT = "#"
# Where other columns are allowed, one whose name is this similar to an expected one is taken for a mistyped one.
ALIKE = 0.8
# No table that a person wrote is larger.
LARGEST_SHEET = 50_000_000


@dataclass(frozen=True)
class Line:
    """One line of a table.

    cells: stripped texts by column name. where: the file and line, for messages. mistake: the error to raise about the
    line as a whole, None if there is none; with a mistake, cells without a column are left out.
    """

    cells: Mapping[str, str]
    where: str
    mistake: InputError | None = None

    def problem(self, column: str, message: str) -> InputError:
        """Return the error to raise about a cell."""
        return InputError(oneLine(f"{self.where}, column {column}: {message}"))


@dataclass(frozen=True)
class Sheet:
    """A table: its source, comments and lines, the names of columns that nobody reads, and what separates its cells."""

    source: str
    comments: tuple[str, ...]
    lines: tuple[Line, ...]
    ignored: tuple[str, ...] = ()
    separator: str = ","


def textOf(path: Path, purpose: str, advice: str = "") -> str:
    """Return the text of a file written by a person.

    purpose: for the message that a file is too large "to be ...". advice: appended to the message that a file is not
    text. Raises InputError for a file that cannot be opened, is larger than LARGEST_SHEET, or is not text in UTF-8.
    """
    requireText(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder, not a file.")
    try:
        if path.is_file() and path.stat().st_size > LARGEST_SHEET:
            raise InputError(f"{path}: the file is too large {purpose}.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file is not text in UTF-8{advice}.") from error
    except OSError as error:
        raise InputError(f"{path}: the file cannot be opened ({error.strerror}).") from error


def readSheet(
    source: str | Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    keepsMistakes: bool = False,
    mayHaveOthers: bool = False,
    text: str | None = None,
) -> Sheet:
    """Read a CSV file whose columns have the required and optional names, in any case and order.

    Cells are separated by commas, semicolons or tabs; lines that start with # are comments; empty lines are skipped.
    keepsMistakes: whether to return lines with their mistakes instead of raising, so that the caller can report further
    mistakes in their cells. mayHaveOthers: whether to ignore other columns, unless their names look like mistyped ones.
    text: of the file if that was read already; source is then its name, for messages. Raises InputError, naming the
    file and the line, for a file that cannot be read, wrong quoting, lines with too many cells, and columns that are
    missing, unknown or duplicate.
    """
    if text is None:
        text = textOf(Path(source), "for a table of this kind", "; save it as CSV UTF-8")
    source = str(source)
    rows, comments, separator = rowsOf(text, source)
    if not rows:
        raise InputError(f"{source}: the file is empty; its first line must be {','.join((*required, *optional))}.")
    (number, heading), *body = rows
    columns = _columns(heading, f"{source}, line {number}", required, optional, mayHaveOthers)
    lines = []
    for number, row in body:
        where = f"{source}, line {number}"
        mistake = None
        if len(row) > len(columns) and any(cell.strip() for cell in row[len(columns) :]):
            there = pluralize(len(columns), "column")
            mistake = InputError(f"{where}: there are {len(row)} cells, but the heading has {there}.")
        cells = {name: cell.strip() for name, cell in zip(columns, row)}
        lines.append(Line({name: cells.get(name, "") for name in (*required, *optional)}, where, mistake))
    if not keepsMistakes:
        raiseAny([line.mistake for line in lines if line.mistake])
    ignored = tuple(cell.strip() for name, cell in zip(columns, heading) if name not in (*required, *optional))
    return Sheet(source, comments, tuple(lines), tuple(filter(None, ignored)), separator)


def rowsOf(text: str, source: str) -> tuple[list[tuple[int, list[str]]], tuple[str, ...], str]:
    """Return the rows of a table that are not empty, with the numbers of their lines, its comments and its separator.

    source: name of the file, for messages. Raises InputError for what is no text, and for wrong quotation marks.
    """
    if "\0" in text:
        raise InputError(f"{source}: the file holds zero bytes, so it is not text.")
    whole = text.splitlines(keepends=True)
    comments = tuple(line.strip()[1:].strip() for line in whole if line.startswith(COMMENT))
    # comments are blanked, not removed, so that lines keep their numbers
    kept = ["\n" if line.startswith(COMMENT) else line for line in whole]
    # the most frequent one in the heading
    separator = max(SEPARATORS, key=next((line for line in kept if line.strip()), "").count)
    reader = csv.reader(kept, delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    start = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((start, row))
            start = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error):
            raise InputError(f"{source}, line {start}: a cell is too long.") from error
        raise InputError(f"{source}, line {start}: the quotation marks are wrong ({error}).") from error
    return rows, comments, separator


def _columns(
    heading: Sequence[str], where: str, required: Sequence[str], optional: Sequence[str], mayHaveOthers: bool
) -> list[str]:
    """Return the canonical names of the columns, in the order of the heading; empty and other ones get their number."""
    known = {name.casefold(): name for name in (*required, *optional)}
    columns = []
    for number, cell in enumerate(heading, start=1):
        name = known.get(cell.strip().casefold())
        if name is None and cell.strip():
            likely = difflib.get_close_matches(cell.strip().casefold(), known, 1, ALIKE if mayHaveOthers else 0.6)
            if mayHaveOthers and not likely:
                columns.append(f"({number})")
                continue
            hint = f"; is it {known[likely[0]]}?" if likely else f"; the columns are {', '.join(known.values())}."
            raise InputError(oneLine(f"{where}, column {number}: there is no column {cell.strip()!r}{hint}"))
        if name in columns and name:
            raise InputError(f"{where}, column {number}: the column {name} occurs twice.")
        columns.append(name or f"({number})")
    missing = [name for name in required if name not in columns]
    if missing:
        raise InputError(f"{where}: the column {missing[0]} is missing; the heading is {','.join(required)},...")
    return columns

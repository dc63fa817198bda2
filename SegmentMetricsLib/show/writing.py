"""Writing results to files: metrics.json, metrics.csv with its schema, and the measured surfaces."""

from __future__ import annotations

import csv
import json
import os
import platform
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import SimpleITK
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError
from ..base.texts import oneLine
from ..base.version import __version__
from ..case.comparison import Comparison, identityOf
from ..case.multilabel import MultiLabel
from ..case.protocol.protocol import OPTIONAL, REQUIRED, Protocol
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface, toPolyData
from ..io.messages import quiet
from ..metrics.findings import asDictionaries
from ..metrics.slices import SliceRow
from ..model.structures import REFERENCE_AND_TEST, Pairing
from ..settings.settings import Settings
from .resulttables import GAPS_FILE, IDENTITY, LESIONS_FILE, LISTED, listedRows, pairsTable
from .tablemodel import Column, Table, plain

SCHEMA = "segment-metrics/2"
# File names that cannot be encoded are written with escapes, which are also valid in JSON.
UNENCODABLE = "backslashreplace"
# The files of a structure by kind: of a pair, and of several observers. {} is the name of the structure.
RESULT_FILES = {
    "distances": "distances_{}.vtp",
    "overlay": "overlay_{}.png",
    "slices": "slices_{}.csv",
    "consensus": "consensus_{}.seg.nrrd",
    "variation": "variation_{}.vtp",
    "picture": "variation_{}.png",
}
REPORT_FILE = "report.html"
VERDICTS_FILE = "verdicts.csv"
# All files of results that documents name.
OURS = (
    *(*RESULT_FILES.values(), LESIONS_FILE, GAPS_FILE, REPORT_FILE, VERDICTS_FILE),
    *("matrix_{}.csv", "risky_{}.nrrd", "neutral_{}.nrrd", "stress.{}.csv"),
)
# zlib's level for surfaces: VTK's default takes five times as long and saves only a tenth of the bytes.
COMPRESSION = 1
# Maximum length of a structure's name in a file name, in characters and in bytes: file systems allow 255 bytes in all.
LONGEST_STEM, MOST_BYTES = 80, 200


def versions() -> dict[str, str]:
    """Return the versions of all software that affects the numbers."""
    import scipy
    from vtkmodules.vtkCommonCore import vtkVersion

    return {
        "SegmentMetrics": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "SimpleITK": SimpleITK.Version_VersionString(),
        "VTK": vtkVersion.GetVTKVersion(),
    }


def headOf(schema: str, settings: Settings) -> dict:
    """Return what a document of results begins with. schema: name and version of its form."""
    return {"schema": schema, "software": versions(), "settings": settings.toDictionary()}


def document(
    records: Sequence[Comparison],
    pairing: Pairing,
    settings: Settings,
    files: Sequence[Mapping[str, str]] = (),
    multiLabel: MultiLabel | None = None,
) -> dict:
    """Return the content of metrics.json. files: their names by kind, for every record. multiLabel: of all labels."""
    pairs = [record.toDictionary() for record in records]
    for pair, names in zip(pairs, files):
        pair["files"] = dict(names)
    for pair, match in zip(pairs, pairing.pairs):
        pair["pairing"] = {"how": match.how, "confidence": match.confidence}
    content = {
        **headOf(SCHEMA, settings),
        "pairs": pairs,
        **({} if multiLabel is None else {"multiLabel": multiLabel.toDictionary()}),
        "unmatched": pairing.unmatched,
    }
    if pairing.proposals or pairing.findings:
        content["pairing"] = {
            "proposals": [match.toDictionary() for match in pairing.proposals],
            "findings": asDictionaries(pairing.findings),
        }
    return content


def writeJson(content: Mapping, path: Path) -> None:
    """Write strict JSON: no NaN, no Infinity."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors=UNENCODABLE)


def writeCsv(records: Sequence[Comparison], path: Path) -> None:
    """Write one row per pair and one column per measurement, and beside it a description of the columns."""
    table = pairsTable(records)
    writeTable(table, path)
    name = re.sub(r"\.csv$", "", path.name, flags=re.IGNORECASE)
    writeSchema(table.columns, path.with_name(f"{name}.schema.csv"))


def writeSlices(rows: Sequence[SliceRow], path: Path) -> None:
    """Write the per-slice profile: one row per slice, places in LPS mm, `inf` if only one of the two has the slice."""
    columns = [Column(key) for key in ("Slice", "Position", "Only", *rows[0].values, "X", "Y", "Z")]
    lines = [[row.index, row.position, row.only, *row.values.values(), *row.place] for row in rows]
    writeTable(Table(columns, lines), path)


def writeLists(pairs: Sequence[Mapping], folder: Path) -> None:
    """Write the lesions of all pairs, one per row, and their gaps and spurs, each file if it was measured.

    pairs: from Comparison.toDictionary().
    """
    for file, columns in LISTED.items():
        listed = [(pair, listedRows(file, pair)) for pair in pairs]
        if any(rows is not None for _, rows in listed):
            named = [(identityOf((pair["reference"], pair["test"])), rows) for pair, rows in listed]
            rows = [[*identity, *row] for identity, own in named for row in own or ()]
            writeTable(Table([*IDENTITY, *columns], rows), folder / file)


def writeTable(table: Table, path: Path) -> None:
    """Write a table as CSV, with the keys of the columns as heading and cells as from cells()."""
    with openTable(path) as file:
        writer = csv.writer(file)
        writer.writerow([column.key for column in table.columns])
        writer.writerows(map(cells, table.rows))


def writeSchema(columns: Sequence[Column], path: Path) -> None:
    """Write a description of the columns of a table as CSV: key, title, unit, description."""
    rows = [(column.key, column.heading, column.unit, column.description) for column in columns]
    writeTable(Table([Column(key) for key in ("key", "title", "unit", "description")], rows), path)


def openTable(path: Path) -> TextIO:
    """Open a CSV file for writing."""
    return path.open("w", newline="", encoding="utf-8", errors=UNENCODABLE)


def cells(values: Iterable[Any]) -> list[str]:
    """Return the values of a row as CSV cells: harmless() texts, and numbers in full precision.

    Infinite values are `inf`; undefined and missing ones are empty.
    """
    rows = map(plain, values)
    return ["" if v is None or v != v else harmless(v) if isinstance(v, str) else repr(v) for v in rows]


def harmless(text: str) -> str:
    """Return text that no spreadsheet executes as a formula, by adding an apostrophe before text that looks like one.

    Some spreadsheets ignore leading spaces and treat full-width characters of East Asian scripts like ASCII.
    """
    seen = unicodedata.normalize("NFKC", text)
    isFormula = seen.lstrip().startswith(("=", "+", "-", "@")) or seen.startswith(("\t", "\r", "\n"))
    return f"'{text}" if isFormula else text


def pasteable(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of texts in the clipboard format of spreadsheets, with harmless() applied to the first of each row.

    Tabs and line breaks in texts are replaced, because they would start another cell, which could be a formula.
    """
    lines = ([oneLine(text) for text in row] for row in rows)
    return "\n".join("\t".join([harmless(first), *rest]) for first, *rest in lines)


def measuredSurfaces(comparison: Comparison) -> vtkPolyData:
    """Return both measured surfaces of a comparison as one polydata in LPS mm.

    Point data Distance and SignedDistance in mm (positive where the test lies outside the reference), BLD, the
    bidirectional local distance in mm, if the similarity family was measured, and Dose in Gy with a dose, NaN where it
    is not known; point and cell data Side, 0 on the reference and 1 on the test; field data Side names the two.
    """
    directions = comparison.knownDistances.directions
    first, second = (direction.surface for direction in directions)
    cells = np.concatenate([first.cells, second.cells + len(first.points)])
    both = Surface(np.concatenate([first.points, second.points]), cells)
    result, sides = toPolyData(both), np.arange(2, dtype=np.int32)
    signed = np.concatenate([direction.atPoints for direction in directions])
    arrays = {"Distance": np.abs(signed), "SignedDistance": signed}
    if "similarity" in comparison.settings.families:
        arrays["BLD"] = np.concatenate(list(map(comparison.localDistances, REFERENCE_AND_TEST)))
    if comparison.dose is not None:
        arrays["Dose"] = comparison.dose.valuesAt(both.points)
    arrays["Side"] = np.repeat(sides, [len(first.points), len(second.points)])
    for name, values in arrays.items():
        addArray(result.GetPointData(), name, values)
    addArray(result.GetCellData(), "Side", np.repeat(sides, [first.count, second.count]))
    result.GetPointData().SetActiveScalars("SignedDistance")
    names = vtkStringArray()
    names.SetName("Side")
    for name in REFERENCE_AND_TEST:
        names.InsertNextValue(name)
    result.GetFieldData().AddArray(names)
    return result


def addArray(data, name: str, values: np.ndarray) -> None:
    """Add values (n,) of points or cells to their data."""
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    array.SetName(name)
    data.AddArray(array)


def writeMask(mask: Mask, path: Path, segment: str = "") -> None:
    """Write a mask as an image of 0 and 1 with the geometry of its grid, extended if the structure exceeds it.

    segment: its name, to write it as a segmentation of Slicer. Raises OSError if the file cannot be written.
    """
    low, high = np.minimum(mask.low, 0), np.maximum(mask.high, np.array(mask.grid.size) - 1)
    grid = mask.grid.resize(low, high)
    image = SimpleITK.GetImageFromArray(mask.block(low, high))
    image.SetSpacing(grid.spacing.tolist())
    image.SetOrigin(grid.origin.tolist())
    image.SetDirection(grid.direction.ravel().tolist())
    ends = [end for size in image.GetSize() for end in (0, size - 1)]
    fields = {
        "Segmentation_ContainedRepresentationNames": "Binary labelmap|",
        "Segmentation_MasterRepresentation": "Binary labelmap",
        "Segmentation_SourceRepresentation": "Binary labelmap",
        "Segmentation_ReferenceImageExtentOffset": "0 0 0",
        "Segment0_ID": "Segment_1",
        "Segment0_Name": oneLine(segment),
        "Segment0_LabelValue": "1",
        "Segment0_Layer": "0",
        "Segment0_Extent": " ".join(map(str, ends)),
        "Segment0_Color": "0.95 0.77 0.06",
    }
    for key, value in fields.items() if segment else ():
        image.SetMetaData(key, value)
    try:
        with quiet():
            SimpleITK.WriteImage(image, str(path), useCompression=True)
    except RuntimeError as error:
        raise OSError(f"{path}: the mask cannot be written.") from error


def writeSurfaces(comparison: Comparison, path: Path) -> None:
    """Write both measured surfaces of a comparison. Raises OSError if the file cannot be written."""
    writePolyData(measuredSurfaces(comparison), path)


def writePolyData(polyData: vtkPolyData, path: Path) -> None:
    """Write a polydata in LPS with the note from which Slicer determines that. Raises OSError if it cannot."""
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

    space = vtkStringArray()
    space.SetName("SPACE")
    space.InsertNextValue("LPS")
    polyData.GetFieldData().AddArray(space)
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(polyData)
    writer.SetCompressionLevel(COMPRESSION)
    with quiet():
        written = writer.Write()
    if not written or writer.GetErrorCode():
        raise OSError(f"{path}: the surfaces cannot be written.")


def writeProtocol(protocol: Protocol, path: Path) -> None:
    """Write a protocol as the CSV file that readProtocol() reads, with its comments above."""
    with openTable(path) as file:
        file.writelines(f"# {oneLine(comment)}\n" for comment in protocol.comments)
        # quoted, so that a name that starts with # is not taken for a comment
        writer = csv.DictWriter(file, (*REQUIRED, *OPTIONAL), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows({name: oneLine(cell) for name, cell in rule.cells().items()} for rule in protocol.rules)


def fileNames(names: Iterable[str]) -> list[str]:
    """Return a unique name for the files of every structure: letters of any script, digits, dot, dash, underscore.

    Names are shortened to 80 characters. All other characters, including those reserved by file systems, become
    underscores.
    """
    taken: set[str] = set()
    result = []
    for name in names:
        letters = unicodedata.normalize("NFC", name)
        # letters, combining marks, numbers and these
        allowed = (c if c in "._-" or unicodedata.category(c)[0] in "LMN" else "_" for c in letters)
        stem = re.sub("_{2,}", "_", "".join(allowed))
        stem = stem.strip("._")[:LONGEST_STEM].encode()[:MOST_BYTES].decode(errors="ignore") or "structure"
        unique, number = stem, 2
        # names must also differ on file systems that ignore case
        while unique.casefold() in taken:
            unique, number = f"{stem}_{number}", number + 1
        taken.add(unique.casefold())
        result.append(unique)
    return result


def fileName(kind: str, name: str) -> str:
    """Return the name of a file of a structure. name: of the structure, as returned by fileNames()."""
    return RESULT_FILES[kind].format(name)


def filesOf(name: str, folder: Path) -> dict[str, str]:
    """Return the names of the existing files of a structure in a folder, by kind."""
    return {kind: fileName(kind, name) for kind in RESULT_FILES if (folder / fileName(kind, name)).exists()}


def deliver(results: Path, output: Path, earlier: Sequence[Path] | None = None) -> None:
    """Move all files of a folder to the output folder, replacing the results of an earlier run: all of them or none.

    The output folder is created if needed; unrelated files in it are kept. earlier: results of an earlier run to
    replace, None for those that earlierResults() finds. Raises InputError or OSError on failure.
    """
    new = sorted(results.iterdir())
    earlier = earlierResults(output) if earlier is None else earlier
    old = {path for path in (*earlier, *(output / path.name for path in new)) if os.path.lexists(path)}
    for path in sorted(old):
        if path.is_dir():
            raise InputError(f"{path}: this is a folder, so no results can be written there.")
    made = [folder for folder in (output, *output.parents) if not folder.exists()]
    replaced = results / "replaced"
    moved = []
    try:
        output.mkdir(parents=True, exist_ok=True)
        replaced.mkdir()
        moves = [(path, replaced / path.name) for path in sorted(old)] + [(path, output / path.name) for path in new]
        for source, target in moves:
            moved.append((source, target))
            os.replace(source, target)
    except BaseException:  # including interruption by the user
        for source, target in reversed(moved):
            if not os.path.lexists(source):  # the last one may not have been moved
                os.replace(target, source)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise


def earlierResults(folder: Path) -> list[Path]:
    """Return what an earlier run wrote into a folder beside its metrics.json and metrics.csv, by the former.

    If they were not replaced, they would seem to belong to the new numbers.
    """

    def filesIn(content: Mapping) -> Iterable[object]:
        yield from (file for pair in content["pairs"] for file in pair["files"].values())
        if "protocol" in content:
            yield VERDICTS_FILE
        for file, name in ((LESIONS_FILE, "lesions"), (GAPS_FILE, "gaps")):
            if any(name in pair for pair in content["pairs"]):
                yield file
        yield content.get("report")

    return earlierFiles(folder / "metrics.json", SCHEMA, filesIn)


def earlierFiles(document: Path, schema: str, named: Callable[[Mapping], Iterable[object]]) -> list[Path]:
    """Return the files that an earlier run wrote beside its document; [] if another program wrote that, or nobody.

    named: returns the names in the document, which may have been edited: nothing but OURS may be taken for a result,
    least of all outside the folder.
    """
    pattern = "|".join(re.escape(name).replace(r"\{\}", r"[^/\\]+") for name in OURS)
    try:
        content = json.loads(document.read_text(encoding="utf-8"))
        names = list(named(content)) if content["schema"] == schema else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    ours = dict.fromkeys(name for name in names if isinstance(name, str) and re.fullmatch(pattern, name))
    return [document.parent / name for name in ours]

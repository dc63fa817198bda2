"""The command compare: two files or folders."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import InputError, oneLine
from ..settings import Settings
from .options import addSettings, criticalsOf, requireWritable, settingsFrom

# More findings than this are left to metrics.json.
MOST_FINDINGS = 12


def add(commands) -> None:
    """Add the command to the parser."""
    compare = commands.add_parser("compare", help="compare a test segmentation with a reference")
    compare.add_argument("reference", metavar="REFERENCE", type=Path, help="label map, segmentation, mesh or folder")
    compare.add_argument("test", metavar="TEST", type=Path, help="label map, segmentation, mesh or folder")
    compare.add_argument("--output", metavar="DIR", type=Path, required=True, help="folder for the results")
    compare.add_argument(
        "--structure", metavar="NAME", action="append", help="compare only this structure (may be repeated)"
    )
    addSettings(compare)
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare two files or folders and return the exit status."""
    settings = settingsFrom(options)
    requireWritable(options.output)
    from .. import files, structures

    sets = [files.readStructures(path, settings.threshold) for path in (options.reference, options.test)]
    pairing = structures.pairByName(*sets, options.structure)
    if not pairing.pairs and not options.structure:
        reference, test = (
            structures.listed(f"{s.name} (empty)" if s.isEmpty else s.name for s in given) for given in sets
        )
        raise InputError(
            f"No structure has the same name in both: {options.reference} has {reference}; {options.test} has {test}."
        )
    compareAndWrite(pairing, settings, options.output, criticals=criticalsOf(sets[0], settings))
    return 0


def compareAndWrite(
    pairing, settings: Settings, output: Path, extraFiles: Sequence[Path] = (), criticals: Mapping | None = None
) -> None:
    """Compare all pairs, write the results, print the tables. Either all files arrive in the output folder, or none."""
    from tqdm import tqdm

    from .. import tables, writing

    # on the same disk as the output folder, so that the files only need to be renamed
    existing = requireWritable(output)
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=".segment-metrics-", dir=existing))
    except OSError as error:
        raise InputError(f"{output}: results cannot be written into this folder ({error.strerror}).") from error
    try:
        records, files = [], []
        overlays = Overlays()
        names = writing.fileNames(reference.name for reference, _ in pairing.pairs)
        # the bar shows on terminals only, and only when there is something to wait for
        progress = tqdm(pairing.pairs, unit="pair", disable=None if len(pairing.pairs) > 1 else True, leave=False)
        for (reference, test), name in zip(progress, names, strict=True):
            progress.set_postfix_str(oneLine(reference.name))
            result = comparePair(reference, test, settings, criticals)
            if result.distances is not None:
                writing.writeSurfaces(result, unfinished / writing.fileName("distances", name))
                overlays.write(result, unfinished / writing.fileName("overlay", name))
            files.append(writing.filesOf(name, unfinished))
            records.append(result.record())
        writing.writeJson(writing.document(records, pairing, settings, files), unfinished / "metrics.json")
        writing.writeCsv(records, unfinished / "metrics.csv")
        writing.writeCsvSchema(records, unfinished / "metrics.schema.csv")
        for path in extraFiles:
            shutil.copy(path, unfinished / path.name)
        writing.deliver(unfinished, output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

    if records:
        print(tables.pairTable(records[0]) if len(records) == 1 else tables.overviewTable(records))
    else:
        print("None of the chosen structures is in both.")
    for which, structures in (("reference", pairing.unmatchedReference), ("test", pairing.unmatchedTest)):
        if structures:
            print(f"\nOnly in the {which}: {oneLine(', '.join(s.name for s in structures))}")
    findings = list(tables.remarks(records))
    if findings:
        more = len(findings) - MOST_FINDINGS
        print(
            "\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in metrics.json" if more > 0 else "")
        )
    print(f"\nResults are in {oneLine(str(output))}{os.sep}")
    if overlays.problem:
        print(f"No overlay pictures: {oneLine(overlays.problem)}", file=sys.stderr)


def comparePair(reference, test, settings: Settings, criticals: Mapping | None = None):
    """Return the comparison of two structures. Raises InputError that names the two when it is not possible."""
    from .. import comparison

    try:
        return comparison.compare(
            withSurface(reference, settings), withSurface(test, settings), settings, criticals=criticals
        )
    except (InputError, MemoryError) as error:
        problem = str(error) if isinstance(error, InputError) else "this takes more memory than the computer has."
        raise InputError(f"{reference.name} of {reference.file} and {test.name} of {test.file}: {problem}") from error


def withSurface(structure, settings: Settings):
    """Return a structure with the surface that the settings ask for."""
    if settings.surface == "unsmoothed" or structure.mask is None or structure.isEmpty:
        return structure
    from ..mrml import headless, inputs

    problem = headless.whyUnavailable()
    if problem:
        raise InputError(f"Displayed surfaces are made by Slicer's own conversion, but {problem}")
    return inputs.displayed(structure)


class Overlays:
    """Draws overlay pictures as long as the machine can; `problem` says why it cannot."""

    def __init__(self) -> None:
        self.problem = ""

    def write(self, result, path: Path) -> None:
        if self.problem:
            return
        from ..mrml import headless

        self.problem = headless.whyUnavailable()
        if self.problem:
            return
        from ..mrml import pictures, views

        try:
            pictures.writeOverlay(result, path)
        except views.NoOpenGLError as error:
            self.problem = str(error)

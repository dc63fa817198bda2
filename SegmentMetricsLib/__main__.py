"""The command line: segment-metrics compare, segment-metrics batch, segment-metrics demo."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .batchcommand import addBatch
from .errors import InputError, oneLine, requireText
from .settings import DEFAULT_FAMILIES, FAMILIES, GRIDS, PRESETS, SURFACES, VOXEL_UNITS, Settings
from .version import __version__

UNUSABLE_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143
# More findings than this are left to metrics.json.
MOST_FINDINGS = 12


class Parser(argparse.ArgumentParser):
    """An argument parser that says in one line what is wrong."""

    def error(self, message: str):
        self.exit(UNUSABLE_INPUT, f"segment-metrics: {oneLine(message)}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0, 1 if some cases failed, 2 for input that cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    options = makeParser().parse_args(arguments)
    try:
        # what a batch system sends; like Ctrl-C, it must leave nothing half-written
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    except ValueError:  # not in the main thread, where signals do not arrive
        before = None
    try:
        status = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # whoever reads the table has seen enough; the results are in their folder
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("segment-metrics: interrupted", file=sys.stderr)
        return INTERRUPTED
    except InputError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    except MemoryError:
        problem = "The input is too large for the memory of this computer."
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    print(f"segment-metrics: {oneLine(problem)}", file=sys.stderr)
    return UNUSABLE_INPUT


def makeParser() -> Parser:
    """Return the parser of all commands; each leaves the function that runs it in `run`."""
    parser = Parser(
        prog="segment-metrics",
        description="How two segmentations differ: exact boundary, overlap and signed metrics, and where.",
    )
    parser.add_argument("--version", action="version", version=f"SegmentMetrics {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)

    compare = commands.add_parser("compare", help="compare a test segmentation with a reference")
    compare.add_argument("reference", metavar="REFERENCE", type=Path, help="label map, segmentation, mesh or folder")
    compare.add_argument("test", metavar="TEST", type=Path, help="label map, segmentation, mesh or folder")
    compare.add_argument("--output", metavar="DIR", type=Path, required=True, help="folder for the results")
    compare.add_argument(
        "--structure", metavar="NAME", action="append", help="compare only this structure (may be repeated)"
    )
    compare.add_argument(
        "--pair",
        metavar="REFERENCE=TEST",
        action="append",
        help="compare these two structures whatever they are called (may be repeated; REFERENCE= pairs it with none)",
    )
    compare.add_argument("--protocol", metavar="FILE", help="table of limits to judge by, or an example's name")
    addSettings(compare)
    compare.set_defaults(run=runCompare)

    addBatch(commands, addSettings, settingsFrom)

    demo = commands.add_parser("demo", help="compare two made-up observers' head-and-neck contours")
    demo.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("segment-metrics-demo"), help="folder (%(default)s)"
    )
    addSettings(demo)
    demo.set_defaults(run=runDemo)
    return parser


def addSettings(parser: argparse.ArgumentParser) -> None:
    """Add the options that become Settings; those not given keep the defaults of the settings or the preset."""
    parser.add_argument(
        "--tolerance", metavar="MM", action="append", type=float, help="tau of NSD and BIoU (2; may be repeated)"
    )
    parser.add_argument(
        "--percentile", metavar="P", action="append", type=float, help="of the Hausdorff distance (95; may be repeated)"
    )
    parser.add_argument("--surface", choices=SURFACES, default="unsmoothed", help="boundary to measure (%(default)s)")
    parser.add_argument("--subdivisions", metavar="N", type=int, help="how often elements are cut (1, in 2D 5)")
    parser.add_argument("--oversampling", metavar="N", type=int, help="sub-voxels per axis for BIoU (automatic)")
    parser.add_argument(
        "--metrics",
        metavar="FAMILY,...",
        default=",".join(DEFAULT_FAMILIES),
        help=f"metric families, of {', '.join(FAMILIES)} (%(default)s; or all)",
    )
    parser.add_argument("--threshold", metavar="T", type=float, default=0.5, help="of membership images (%(default)s)")
    parser.add_argument("--fuzzy", action="store_true", help="count voxels of membership images in part")
    parser.add_argument("--cuts", metavar="K", type=int, help="with --fuzzy: cuts to average voxel distances over")
    parser.add_argument("--grid", choices=GRIDS, default="reference", help="where true negatives count (%(default)s)")
    parser.add_argument("--beta", metavar="B", action="append", type=float, help="of the F-measure (1; repeatable)")
    parser.add_argument(
        "--quantile", metavar="Q", action="append", type=float, help="of the voxels' Hausdorff distance (1; repeatable)"
    )
    parser.add_argument("--voxel-unit", choices=VOXEL_UNITS, default="mm", help="of the voxel family (%(default)s)")
    parser.add_argument(
        "--preset", choices=[name for name in PRESETS if name != "SegmentMetrics"], help="parity preset"
    )


def settingsFrom(options: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for. Raises InputError for values out of range."""
    given = {
        "tolerances": options.tolerance,
        "percentiles": options.percentile,
        "surface": options.surface,
        "subdivisions": options.subdivisions,
        "oversampling": options.oversampling,
        "families": tuple(filter(None, (family.strip() for family in options.metrics.split(",")))),
        "threshold": options.threshold,
        "fuzzy": options.fuzzy,
        "cuts": options.cuts,
        "grid": options.grid,
        "betas": options.beta,
        "quantiles": options.quantile,
        "voxelUnit": options.voxel_unit,
    }
    return Settings.preset(options.preset or "SegmentMetrics", **{k: v for k, v in given.items() if v is not None})


def runCompare(options: argparse.Namespace) -> int:
    """Compare two files or folders and return the exit status."""
    settings = settingsFrom(options)
    requireWritable(options.output)
    from . import files, structures
    from .pairing import pairStructures

    choices = choicesFrom(options.pair or ())
    protocol = protocolFrom(options.protocol)
    sets = [files.readStructures(path, settings.threshold) for path in (options.reference, options.test)]
    pairing = pairStructures(*sets, options.structure, choices)
    if not pairing.pairs and not options.structure:
        reference, test = (
            structures.listed(f"{s.name} (empty)" if s.isEmpty else s.name for s in given) for given in sets
        )
        proposals = "".join(f" {finding}" for finding in pairing.findings)
        raise InputError(
            f"No structure has the same name in both: {options.reference} has {reference}; {options.test} has {test}."
            f"{proposals}"
        )
    compareAndWrite(pairing, settings, options.output, protocol=protocol, isWhole=not options.structure)
    return 0


def protocolFrom(option: str | None):
    """Return the protocol that an option names, None without one."""
    if option is None:
        return None
    from .protocol import readProtocol

    return readProtocol(option)


def choicesFrom(options: Sequence[str]) -> dict[str, str | None]:
    """Return the pairs that the options name. Raises InputError for an option that names none, or one twice."""
    choices: dict[str, str | None] = {}
    for option in options:
        reference, equals, test = option.partition("=")
        if not reference or not equals:
            raise InputError(f"A pair is given as REFERENCE=TEST, not {option!r}.")
        if reference in choices:
            raise InputError(f"{reference!r} is in more than one of the given pairs.")
        choices[reference] = test or None
    return choices


def runDemo(options: argparse.Namespace) -> int:
    """Compare the two observers of the sample and return the exit status."""
    settings = settingsFrom(options)
    requireWritable(options.output)
    from . import files, samples
    from .pairing import pairStructures

    with tempfile.TemporaryDirectory() as folder:
        try:
            paths = samples.writeHeadAndNeck(folder)
        except ValueError as error:
            raise InputError(str(error)) from error
        # the results name the copies beside them, not the files in the folder that is about to vanish
        sets = [
            [replace(s, file=str(options.output / path.name)) for s in files.readStructures(path)] for path in paths
        ]
        compareAndWrite(pairStructures(*sets), settings, options.output, paths)
    return 0


def requireWritable(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists. Raises InputError when it takes no results."""
    requireText(folder)
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"{existing}: this is not a folder, so results cannot be written into it.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: results cannot be written into this folder.")
    return existing


def compareAndWrite(
    pairing, settings: Settings, output: Path, extraFiles: Sequence[Path] = (), protocol=None, isWhole: bool = True
) -> None:
    """Compare all pairs, write the results, print the tables. Either all files arrive in the output folder, or none.

    protocol: to judge by. isWhole: whether the pairing is about all structures.
    """
    from tqdm import tqdm

    from . import judgment, tables, verdictwriting, writing
    from .casework import compareMatch

    # on the same disk as the output folder, so that the files only need to be renamed
    existing = requireWritable(output)
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=".segment-metrics-", dir=existing))
    except OSError as error:
        raise InputError(f"{output}: results cannot be written into this folder ({error.strerror}).") from error
    try:
        records, files, measured = [], [], []
        overlays = Overlays()
        names = writing.fileNames(reference.name for reference, _ in pairing.pairs)
        # the bar shows on terminals only, and only when there is something to wait for
        progress = tqdm(pairing.pairs, unit="pair", disable=None if len(pairing.pairs) > 1 else True, leave=False)
        for match, name in zip(progress, names, strict=True):
            progress.set_postfix_str(oneLine(match.reference.name))
            result, byConvention = compareMatch(match, settings, protocol)
            measured.append(((match.reference.name, match.test.name), byConvention))
            if result.distances is not None:
                writing.writeSurfaces(result, unfinished / writing.fileName("distances", name))
                overlays.write(result, unfinished / writing.fileName("overlay", name))
            files.append(writing.filesOf(name, unfinished))
            records.append(result.record())
        document = writing.document(records, pairing, settings, files)
        judged = protocol and judgment.judgeCase(protocol, measured, document["unmatched"], isWhole)
        if judged:
            document["protocol"] = judged.toDictionary()
            verdictwriting.writeVerdicts(judged, unfinished / verdictwriting.VERDICTS_FILE)
        writing.writeJson(document, unfinished / "metrics.json")
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
    if judged:
        print(f"\nProtocol {oneLine(protocol.name)}: {judged.verdict}\n{verdictwriting.verdictTable(judged)}")
    findings = [*map(oneLine, pairing.findings), *tables.remarks(records)]
    if findings:
        more = len(findings) - MOST_FINDINGS
        print(
            "\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in metrics.json" if more > 0 else "")
        )
    print(f"\nResults are in {oneLine(str(output))}{os.sep}")
    if overlays.problem:
        print(f"No overlay pictures: {oneLine(overlays.problem)}", file=sys.stderr)


class Overlays:
    """Draws overlay pictures as long as the machine can; `problem` says why it cannot."""

    def __init__(self) -> None:
        self.problem = ""

    def write(self, result, path: Path) -> None:
        if self.problem:
            return
        from .mrml import headless

        self.problem = headless.whyUnavailable()
        if self.problem:
            return
        from .mrml import pictures, views

        try:
            pictures.writeOverlay(result, path)
        except views.NoOpenGLError as error:
            self.problem = str(error)


if __name__ == "__main__":
    sys.exit(main())

"""The command stress: the hazard family for two errors that Dice cannot distinguish."""

from __future__ import annotations

import argparse
import os

from ..errors import InputError
from ..settings import KERNELS, Settings
from ..texts import commaSeparated, didYouMean, oneLine
from .options import DEFAULTS, addLabelNames, addOutput, namedWeights, pathFrom, requireWritable
from .results import unfinishedResults

FAMILIES = ("boundary", "overlap", "hazard")


def add(commands) -> None:
    """Add the command to the parser."""
    stress = commands.add_parser(
        "stress",
        help="make a risky and a neutral variant of a structure with equal Dice",
        description="Make two variants of a structure with equally many errors, and so equal Dice: where errors are "
        "most dangerous, and where they are least.",
        usage="%(prog)s REFERENCE --structure NAME --critical NAME -o DIR [OPTION ...]",
        epilog=DEFAULTS,
    )
    stress.add_argument("reference", metavar="REFERENCE", type=pathFrom, help="label map, segmentation or folder")
    stress.add_argument("--structure", metavar="NAME", required=True, help="structure to change, or label")
    stress.add_argument(
        "--critical",
        metavar="NAME[=WEIGHT]",
        action="append",
        required=True,
        help="structure of the reference near which errors are hazardous (weight 1; may be repeated)",
    )
    addLabelNames(stress)
    stress.add_argument(
        "--count", metavar="K", type=int, help="voxels to leave out and to add (a tenth of the inner boundary)"
    )
    stress.add_argument("--kernel", choices=KERNELS, help="how hazard falls with the distance (polynomial)")
    addOutput(stress)
    stress.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make both variants, write and print their comparisons with the reference, and return the exit status."""
    kernel = {"hazardKernel": options.kernel} if options.kernel else {}
    settings = Settings(families=FAMILIES, critical=namedWeights(options.critical), **kernel)
    requireWritable(options.output)
    from .. import stress, structures, tables
    from ..cohort.casework import criticalsOf, withLabelsNamed
    from ..files import reading as files
    from ..files import stressfiles
    from ..files.labelnames import labelNamesFrom

    labelNames = labelNamesFrom(options.label_names)
    (found,) = files.readAll([options.reference], settings.threshold, labelNames=labelNames)
    settings = withLabelsNamed(settings, found, labelNames=labelNames)
    wanted = structures.nameMeant(options.structure, found, labelNames)
    matches = [structure for structure in found if structure.name == wanted]
    if len(matches) != 1:
        structures.requireUsable(wanted, found)
        problem = "more than one" if matches else "no"
        names = [structure.name for structure in found]
        raise InputError(
            f"{options.reference} has {problem} structure named {options.structure!r}; it has "
            f"{commaSeparated(names)}.{'' if matches else didYouMean(options.structure, names)}"
        )
    result = stress.stressTest(matches[0], criticalsOf(found, settings), settings, count=options.count)
    with unfinishedResults(options.output, stressfiles.earlierResults(options.output)) as unfinished:
        stressfiles.write(result, unfinished)
    print(stressfiles.table(result))
    are = "is" if result.count == 1 else "are"
    print(
        f"\n{result.count} of {result.inner} voxels of the inner boundary {are} left out, and {result.count} of "
        f"{result.outer} voxels of the outer one added."
    )
    if not result.varies:
        print("The hazard is the same on the whole boundary, so both variants are equally risky.")
    print(tables.evaluatedGrid([result.risky.record()]))
    print(f"\nResults are in {oneLine(str(options.output))}{os.sep}")
    return 0

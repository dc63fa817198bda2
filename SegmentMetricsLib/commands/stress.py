"""The command stress: the hazard family for two errors that Dice cannot distinguish."""

from __future__ import annotations

import argparse
from typing import Any

from ..base.errors import InputError
from ..base.texts import commaSeparated, oneLine, pluralize
from ..batch.summaryoptions import Options
from ..settings.checks import numberFrom
from ..settings.declarations import HAZARD
from ..settings.settings import Settings
from .options import OPTIONS, addOutput, addSet, addShared, givenSettings, pathFrom, requireOutput
from .parsing import Parser
from .results import SOME_FAILED, progressBar, tellFailures, tellWhere, terminalWidth, unfinishedResults

FAMILIES = ("boundary", "overlap", "hazard")
# What is measured of many cases: what tells the variants apart, beside what hardly does.
OF_CASES = ("HD95", "DSC", "hazard")
LISTS = (".csv", ".tsv")
NOTHING_RUN = 2


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = (
        "Make two variants of a structure with equally many errors, and so equal Dice: one with errors "
        "where they are most dangerous, one where they are least. For a list of cases, test whether measurements tell "
        "the two apart."
    )
    parser.usage = "%(prog)s REFERENCE|CASES --structure NAME --critical NAME -o DIR [OPTION ...]"
    reference = "label map, segmentation or folder; or a table of many: case, reference"
    parser.add_argument("reference", metavar="REFERENCE", type=pathFrom, help=reference)
    structure = "structure or label to change (for a list of cases, may be repeated)"
    parser.add_argument("--structure", metavar="NAME", action="append", required=True, help=structure)
    critical = "structure of the reference near which errors are hazardous (weight 1; may be repeated)"
    parser.add_argument("--critical", metavar="NAME[=WEIGHT]", action="append", required=True, help=critical)
    addShared(parser.add_argument, "--label-names")
    howMany = parser.add_mutually_exclusive_group()
    howMany.add_argument("--count", metavar="K", type=int, help="voxels to leave out and to add (see --share)")
    share = "the same as a share of the inner boundary, up to 0.5 (0.1)"
    howMany.add_argument("--share", metavar="SHARE", type=float, help=share)
    addSet(parser, parser, {HAZARD: [name for name in OPTIONS[HAZARD] if name != "critical"]})
    addShared(parser.add_argument, "--resamples", "--seed")
    addOutput(parser)


def run(options: argparse.Namespace) -> int:
    """Make both variants of one or of many structures, write and print the results, and return the exit status."""
    bootstrap = Options(resamples=options.resamples, seed=options.seed)
    hazard = givenSettings(options, OPTIONS[HAZARD])
    share = {} if options.share is None else {"share": numberFrom(options.share, "share")}
    if options.reference.suffix.lower() in LISTS and not options.reference.is_dir():
        return _runCases(options, Settings(metrics=OF_CASES, **hazard), share, bootstrap)
    return _runOne(options, Settings(families=FAMILIES, **hazard), share)


def _runOne(options: argparse.Namespace, settings: Settings, share: dict[str, Any]) -> int:
    from ..case import stress
    from ..case.casework import criticalsOf, withLabelsNamed
    from ..io import reading as files
    from ..io.labelnames import labelNamesFrom
    from ..model.structures import onlyNamed
    from ..show import stress as stressfiles
    from ..show import tables

    if len(options.structure) > 1:
        raise InputError(
            "In a single reference, one structure is changed: give --structure once, or give a list of cases."
        )
    labelNames = labelNamesFrom(options.label_names)
    (found,) = files.readAll([options.reference], settings.threshold, labelNames=labelNames)
    settings = withLabelsNamed(settings, found, labelNames=labelNames)
    structure = onlyNamed(options.structure[0], found, str(options.reference), labelNames)
    requireOutput(options)
    result = stress.stressTest(structure, criticalsOf(found, settings), settings, count=options.count, **share)
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
    tellWhere(options.output, isApart=True)
    return 0


def _runCases(options: argparse.Namespace, settings: Settings, share: dict[str, Any], bootstrap: Options) -> int:
    """Test every structure of every case.

    The exit status is 1 if any could not be tested, and 2, without results, if none could.
    """
    from ..batch import stresscases
    from ..io.labelnames import labelNamesFrom
    from ..show import stress as stressfiles

    labelNames = labelNamesFrom(options.label_names)
    cases = stresscases.readStressCases(options.reference)
    requireOutput(options)
    names = list(dict.fromkeys(options.structure))
    outcomes: list[stresscases.StressOutcome] = []
    with progressBar(len(cases), "case") as progress:
        for case in cases:
            outcomes += stresscases.stressCase(case, names, settings, options.count, labelNames=labelNames, **share)
            progress(case.case)
    failures = [f"{one.case}, {one.structure}: {one.reason}" for one in outcomes if one.reason]
    if len(failures) == len(outcomes):
        tellFailures(failures, "the list")
        return NOTHING_RUN
    found = stresscases.differences(outcomes, bootstrap)
    with unfinishedResults(options.output, stressfiles.earlierResults(options.output)) as unfinished:
        stresscases.writeStressCases(outcomes, found, settings, bootstrap, unfinished)
    print(stresscases.summaryTable(found, terminalWidth()))
    tested = [one for one in outcomes if not one.reason]
    print(
        f"\n{pluralize(len({one.case for one in tested}), 'case')} tested. Difference: risky minus neutral; p: that "
        "the risky variant is worse."
    )
    if alike := [f"{one.case}, {one.structure}" for one in tested if not one.varies]:
        print(f"No effect, because the hazard is the same on the whole boundary: {oneLine(commaSeparated(alike))}.")
    tellFailures(failures, "stress.csv")
    tellWhere(options.output)
    return SOME_FAILED if failures else 0

"""The command conventions: what other tools would have reported."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.errors import PairError
from ..base.texts import oneLine
from ..settings.settings import Settings
from .options import addOutput, addShared, addSome, givenSettings, openFrom, requireOutput
from .parsing import Parser
from .results import SOME_FAILED, progressBar, tellFailures, tellWhere, terminalWidth, unfinishedResults

if TYPE_CHECKING:
    from ..show.conventions import ConventionsRecord

LEGEND = (
    "In parentheses: difference from SegmentMetrics in mm or percentage points{colors}. Empty: the tool has no such "
    "number. A star: the tool's own number is not reproducible or differs from its definition, whose value is shown."
)
COLORS = "; yellow is over-optimistic, blue over-pessimistic, by 0.1 mm or 1 percentage point or more"
IN_VOXELS = (
    "A number in voxels is compared as if voxels were mm, as when the two numbers are put side by side; nothing is "
    "converted."
)


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = "Show what other tools would have reported about the same pair, and why."
    parser.usage = "%(prog)s REFERENCE TEST -o DIR [OPTION ...]"
    addShared(parser.add_argument, "reference", "test")
    addOutput(parser)
    addShared(parser.add_argument, "--structure", "--pair", "--label-names")
    addSome(parser, "tolerances", "percentiles")
    threshold = "count voxels of a membership image at or above T as inside (%(default)s)"
    parser.add_argument("--threshold", metavar="T", type=float, default=0.5, help=threshold)
    most = "value of full membership if values go beyond 1"
    parser.add_argument("--membership-maximum", metavar="N", type=int, dest="membershipMaximum", help=most)
    tool = "only this tool, such as MONAI (may be repeated)"
    parser.add_argument("--tool", metavar="TOOL", action="append", help=tool)
    atEdge = "measure images without adding background around them, as the tools do (background is added)"
    parser.add_argument("--at-edge", action="store_true", help=atEdge)
    parser.add_argument("--reasons", action="store_true", help="print what each tool does")


def run(options: argparse.Namespace) -> int:
    """Write and print the numbers that the tools would have reported, and return the exit status."""
    given = givenSettings(options, ("tolerances", "percentiles", "threshold", "membershipMaximum"))
    settings = Settings(families=("boundary", "overlap"), **given)
    from ..case.comparison import describe
    from ..conventions import allConventions, find
    from ..conventions.evaluation import conventions
    from ..model.naming import onlyIn
    from ..show import conventions as results
    from ..show.writing import writeJson

    tools = [find(key).key for key in (options.tool or allConventions())]
    case = openFrom(options, settings)
    requireOutput(options)
    found: dict[int, results.ConventionsRecord | PairError] = {}
    pairs = case.pairing.pairs
    with progressBar(len(pairs), "pair", len(pairs) > 1) as progress:
        for pack in case.packs():
            for number, one in zip(pack, case.pairs(pairs[number] for number in pack)):
                progress(pairs[number].reference.name)
                if isinstance(one, PairError):
                    found[number] = one
                else:
                    pair = (one.reference, one.test)
                    reported = conventions(pair, one.settings, tools, options.at_edge, one.measurements, one.distances)
                    found[number] = results.ConventionsRecord(describe(one.reference), describe(one.test), reported)
    result = case.result(found)
    result.requireAny()
    document = results.document(result, result.pairing, settings)
    if result.failures:
        document["failures"] = result.failures
    with unfinishedResults(options.output, []) as unfinished:
        writeJson(document, unfinished / "conventions.json")
        results.writeCsv(result, unfinished / "conventions.csv")
    show(result, options.reasons)
    for sentence in onlyIn(result.unmatched, result.failures):
        print(oneLine(sentence))
    tellWhere(options.output)
    problems = {**result.failures, **{title: str(error) for title, error in result.errors.items()}}
    tellFailures(list(dict.fromkeys(problems.values())), "conventions.json")
    return SOME_FAILED if problems else 0


def show(records: Sequence[ConventionsRecord], withReasons: bool) -> None:
    """Print the tables."""
    from ..show import conventions as results

    colored = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for record in records:
        print(results.textTable(record, colored, terminalWidth()), end="\n\n")
        if withReasons:
            print(results.reasons(record), end="\n\n")
    print(LEGEND.format(colors=COLORS if colored else ""))
    if any(number.isInVoxels for record in records for one in record.conventions.values() for number in one.values()):
        print(IN_VOXELS)
    if not withReasons:
        print("Add --reasons to see what each tool does and what it calls each number.")

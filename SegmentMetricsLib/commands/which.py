"""The command which: which tool, direction or common mistake gives a number for a pair."""

from __future__ import annotations

import argparse
import json

from ..base.texts import oneLine, pluralize
from ..settings.settings import Settings
from .options import addOutput, addShared, addSome, givenSettings, openFrom
from .parsing import Parser
from .results import SOME_FAILED, progressBar, tellFailures, tellWhere, terminalWidth, unfinishedResults

MOST = 10


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = (
        "Find out how somebody got a number for a pair: by which tool, percentile and direction, or by "
        "which common mistake, such as a spacing that was ignored. The nearest come first; a star marks what agrees "
        "with all given digits."
    )
    parser.usage = "%(prog)s VALUE REFERENCE TEST [OPTION ...]"
    value = "the number as it was reported, such as 3.7 (more digits narrow the list)"
    parser.add_argument("value", metavar="VALUE", help=value)
    addShared(parser.add_argument, "reference", "test")
    addOutput(parser, "folder for which.json with all candidates")
    addShared(parser.add_argument, "--structure", "--pair", "--label-names")
    key = "measurement that the number is said to be, such as HD95 or DSC (any)"
    parser.add_argument("--measurement", metavar="KEY", help=key)
    addSome(parser, "tolerances", "percentiles")
    parser.add_argument("--most", metavar="N", type=int, default=MOST, help="candidates to print (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print all candidates as JSON instead of a table")


def run(options: argparse.Namespace) -> int:
    """Print what gives the number, and return the exit status: 1 if a pair could not be compared."""
    settings = Settings(metrics=("DSC",), **givenSettings(options, ("tolerances", "percentiles")))
    from ..conventions.which import Wanted, numbersOf, which
    from ..show import which as shown
    from ..show.writing import writeJson

    Wanted.of(options.value)  # before anything is read
    case = openFrom(options, settings)
    pairs = case.pairing.pairs
    numbers = {}
    with progressBar(len(pairs), "pair", len(pairs) > 1) as progress:
        for match in pairs:
            numbers[match.title] = tuple(numbersOf((match.reference, match.test), settings))
            progress(match.reference.name)
    found = {name: which(options.value, own, options.measurement) for name, own in numbers.items() if own}
    found = {name: candidates for name, candidates in found.items() if candidates}
    document = shown.document(options.value, found, settings, options.measurement)
    if options.json:
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        for name, candidates in found.items():
            print(oneLine(f"{name}: {shown.answer(options.value, candidates, options.measurement)}"))
            print(f"\n{shown.textTable(candidates[: max(options.most, 1)], terminalWidth())}")
            if len(candidates) > options.most:
                print(f"... and {pluralize(len(candidates) - options.most, 'more candidate')} that are farther away")
            print()
    if options.output:
        with unfinishedResults(options.output, []) as unfinished:
            writeJson(document, unfinished / "which.json")
        tellWhere(options.output, isAside=options.json)
    lacking = [match.title for match in pairs if match.title not in found]
    empty = [f"{title}: there is no number, as both structures are empty." for title in lacking]
    tellFailures([*map(str, case.pairing.failures.values()), *empty], "which.json")
    return SOME_FAILED if case.pairing.failures or empty else 0

"""The parser of the command line, whose errors are one line with a suggestion and a pointer to the help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from copy import copy

from ..base import units
from ..base.texts import commaSeparated, didYouMean, inAnyCase, oneLine

UNUSABLE_INPUT = 2
# So many unknown arguments are shown as they were typed; more are files that a pattern stood for.
FEW = 10


class Parser(argparse.ArgumentParser):
    """An argument parser with errors in one line. fill: adds what it takes once it parses, None if that is known."""

    def __init__(self, fill: Callable[[Parser], None] | None = None, **options):
        self.fill = fill
        self.further: list[argparse.Action] = []
        super().__init__(**options)
        self.register("type", float, number)
        self.register("type", int, wholeNumber)

    def addFurther(self, *flags: str, help: str, **details) -> None:
        """Add an option that --help-settings lists, and not --help."""
        action = self.add_argument(*flags, help=argparse.SUPPRESS, **details)
        self.further.append(copy(action))
        self.further[-1].help = help

    def error(self, message: str):
        """Print an error with a pointer to the help, and exit."""
        self.exit(UNUSABLE_INPUT, f"segment-metrics: {oneLine(message)} (see {self.prog} --help)\n")

    def parse_known_args(self, args=None, namespace=None):
        """Parse arguments. Unknown ones are errors of the subcommand, whose help lists its options."""
        if (fill := self.fill) is not None:
            self.fill = None
            fill(self)
        if args is not None:
            self._requireKnown(args)
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hints = (didYouMean(one, self._option_string_actions) for one in unknown if one.startswith("-"))
            shown = " ".join(unknown) if len(unknown) < FEW else commaSeparated(unknown)
            self.error(f"unrecognized arguments: {shown}{next(filter(None, hints), '')}")
        return namespace, unknown

    def _requireKnown(self, arguments: Sequence[str]) -> None:
        """Exit for an unknown long option; otherwise arguments missing because of it would be reported first."""
        known = self._option_string_actions
        for argument in arguments:
            name = argument.partition("=")[0]
            if argument == "--" or (self._subparsers is not None and not argument.startswith("-")):
                return  # no options follow, or those of a subcommand
            # argparse treats text with spaces as a value, and accepts abbreviations of options
            if name.startswith("--") and " " not in name and not any(option.startswith(name) for option in known):
                self.error(f"there is no option {name}.{didYouMean(name, known)}")

    def _get_value(self, action: argparse.Action, arg_string: str):
        """Return the value of an argument; one of several words may be in any case."""
        value = super()._get_value(action, arg_string)
        isWord = isinstance(value, str) and action.choices is not None and self._subparsers is None
        return inAnyCase(value, map(str, action.choices or ())) if isWord else value

    def _check_value(self, action: argparse.Action, value) -> None:
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            hint = didYouMean(str(value), choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; choose from {', '.join(choices)}.{hint}")


def number(text: str) -> float | str:
    """Return the number in an argument, or the text of one with a unit or of several, which settings understand.

    Raises argparse.ArgumentTypeError for any other text.
    """
    try:
        return float(text)
    except ValueError:
        if all(map(units.isNumber, text.split(","))):
            return text
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def wholeNumber(text: str) -> int:
    """Return the whole number in an argument. Raises argparse.ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None

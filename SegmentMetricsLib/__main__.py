"""The command line of segment-metrics."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from .base.allocation import giveBackLargeArrays
from .base.errors import InputError, Mistakes
from .base.texts import oneLine
from .base.version import __version__
from .commands.parsing import UNUSABLE_INPUT, Parser

# The commands, each a file of the room of that name: it is imported when it is run.
COMMANDS = {
    "compare": "compare a test segmentation with a reference",
    "batch": "compare many cases and summarize them",
    "observers": "compare several observers with each other, and tests with them",
    "conventions": "what other tools would have reported, and why",
    "which": "which tool, percentile, direction or common mistake gives a number",
    "stress": "make a risky and a neutral variant of a structure with equal Dice",
    "demo": "compare two made-up observers' head-and-neck contours",
}
OUTPUT_CLOSED, INTERRUPTED, TERMINATED = 1, 130, 143
# Errors of writing to an open file: no space, quota exceeded, file too large, read-only file system, I/O error.
ABOUT_WRITING = {
    number
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO")
    if (number := getattr(errno, name, None)) is not None  # not all systems have all of them
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0, 1 if some cases failed, 2 for input that cannot be used.

    With --fail-on, it is 3 if a verdict is at least that bad.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # do not fail because of a name that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    options = makeParser().parse_args(arguments)
    giveBackLargeArrays()
    try:
        # batch systems send it; like Ctrl-C, it must leave nothing half-written
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    except ValueError:  # not in the main thread, where signals do not arrive
        before = None
    try:
        status = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader of standard output is gone, as of `segment-metrics ... | head`: nothing more can be written there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED
    except KeyboardInterrupt:
        print("segment-metrics: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Mistakes as error:
        problems = error.problems
    except InputError as error:
        problems = (str(error),)
    except OSError as error:
        problems = (_problemOf(error, getattr(options, "output", None)),)
    except MemoryError:
        problems = ("The input is too large for the memory of this computer.",)
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    for problem in problems:
        print(f"segment-metrics: {oneLine(problem)}", file=sys.stderr)
    return UNUSABLE_INPUT


def _problemOf(error: OSError, output: Path | None) -> str:
    """Return an error of the system in words, with the file. output: the folder of the results, None without one."""
    reason = error.strerror or str(error)
    # errors of writing, such as on a full disk, name no file; other errors without one do not concern the results
    isAboutWriting = error.errno in ABOUT_WRITING
    if where := error.filename or (output if isAboutWriting else None):
        return f"{where}: {reason}"
    if isAboutWriting or error.errno is None:  # without errno, the message is a complete sentence
        return reason
    return f"The system refused something that the command needs: {reason}."


def makeParser() -> Parser:
    """Return the parser of all commands; each sets `run` to the function that runs it."""
    parser = Parser(
        prog="segment-metrics",
        description="How two segmentations differ: exact boundary, overlap and signed metrics, and where.",
        epilog="segment-metrics COMMAND --help lists the options of a command. To begin with: segment-metrics demo, or "
        "segment-metrics compare REFERENCE TEST with two files of your own.",
    )
    parser.add_argument("--version", action="version", version=f"SegmentMetrics {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)

    def fill(name: str, command: Parser) -> None:
        module = importlib.import_module(f".commands.{name}", __package__)
        module.fill(command)
        command.epilog = "Defaults are given in parentheses."
        command.set_defaults(run=module.run)

    for name, purpose in COMMANDS.items():
        commands.add_parser(name, help=purpose, fill=partial(fill, name))
    return parser


if __name__ == "__main__":
    sys.exit(main())

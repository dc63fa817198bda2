"""The command line of segment-metrics."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from .allocation import giveBackLargeArrays
from .commands import batch, compare, conventions, demo, stress
from .commands.parsing import UNUSABLE_INPUT, Parser
from .errors import InputError, Mistakes, oneLine
from .version import __version__

INTERRUPTED, TERMINATED = 130, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0, 1 if some cases failed, 2 for input that cannot be used.

    Who asks for it with --fail-on gets 3 for a verdict that is too bad.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    options = makeParser().parse_args(arguments)
    giveBackLargeArrays()
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
    except Mistakes as error:
        problems = error.problems
    except InputError as error:
        problems = (str(error),)
    except OSError as error:
        # writing to a full disk names no file
        where = error.filename or getattr(options, "output", None)
        problems = (f"{where}: {error.strerror}" if where and error.strerror else error.strerror or str(error),)
    except MemoryError:
        problems = ("The input is too large for the memory of this computer.",)
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    for problem in problems:
        print(f"segment-metrics: {oneLine(problem)}", file=sys.stderr)
    return UNUSABLE_INPUT


def makeParser() -> Parser:
    """Return the parser of all commands; each leaves the function that runs it in `run`."""
    parser = Parser(
        prog="segment-metrics",
        description="How two segmentations differ: exact boundary, overlap and signed metrics, and where.",
        epilog="segment-metrics COMMAND --help lists the options of a command. To begin with: segment-metrics demo, or "
        "segment-metrics compare REFERENCE TEST with two files of your own.",
    )
    parser.add_argument("--version", action="version", version=f"SegmentMetrics {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)

    for command in (compare, batch, conventions, stress, demo):
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

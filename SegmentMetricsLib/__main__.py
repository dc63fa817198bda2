"""The command line of segment-metrics."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

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
# Seconds within which another signal to stop says nothing new.
AGAIN = 1.0
# Seconds until a signal is heard again that came while a module was imported.
SOON = 0.05
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
    options, stopped = None, UNUSABLE_INPUT
    problems: Sequence[str]
    try:
        with _stoppable(isWholeProcess=arguments is None):
            options = makeParser().parse_args(arguments)
            giveBackLargeArrays()
            from .commands.options import requireWritable  # slow imports, which the help does without

            if options.output is not None:
                requireWritable(options.output)
            status = options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
    except BrokenPipeError:
        # the reader of standard output is gone, as of `segment-metrics ... | head`: nothing more can be written there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED
    except KeyboardInterrupt:
        stopped, problems = INTERRUPTED, ("interrupted",)
    except Mistakes as error:
        problems = error.problems
    except InputError as error:
        problems = (str(error),)
    except OSError as error:
        problems = (_problemOf(error, getattr(options, "output", None)),)
    except MemoryError:
        problems = ("The input is too large for the memory of this computer.",)
    # the error is gone, and with it all that has kept output from the terminal
    for problem in problems:
        print(f"segment-metrics: {oneLine(problem)}", file=sys.stderr)
    return stopped


@contextmanager
def _stoppable(isWholeProcess: bool) -> Iterator[None]:
    """Let Ctrl-C, and SIGTERM, which batch systems send, stop the block, so that it leaves nothing half-written.

    Some senders send them twice, and the second must not stop what tidies up after the first. isWholeProcess: whether
    the process ends after the block, which another signal must not do with another status.
    """
    # signals arrive only in the main thread; Ctrl-C may be ignored, as in the background, or mean something else
    isMain = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT) if isMain}
    if handlers.get(signal.SIGINT) is not signal.default_int_handler:
        handlers.pop(signal.SIGINT, None)
    heard: list[float] = []
    later: list[threading.Timer] = []

    def stop(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                # extension modules that import others, such as VTK's, lose what is raised meanwhile, or crash
                later.append(threading.Timer(SOON, signal.raise_signal, (number,)))
                later[-1].start()
                return
            frame = frame.f_back
        heard.append(time.monotonic())
        if len(heard) == 1 or heard[-1] > heard[-2] + AGAIN:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(TERMINATED)

    try:
        for number in handlers:
            signal.signal(number, stop)
        yield
    finally:
        for timer in later:
            timer.cancel()
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_IGN if heard and isWholeProcess else handler)


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
        description="How and where two segmentations differ: boundary, overlap and signed metrics with error bounds.",
        epilog="segment-metrics COMMAND --help lists the options of a command. To begin with: segment-metrics demo, or "
        "segment-metrics compare REFERENCE TEST with two files of your own.",
    )
    parser.add_argument("--version", action="version", version=f"SegmentMetrics {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)

    def fill(name: str, command: Parser) -> None:
        module = importlib.import_module(f".commands.{name}", __package__)
        module.addArguments(command)
        command.epilog = "Defaults are given in parentheses."
        command.set_defaults(run=module.run)

    for name, purpose in COMMANDS.items():
        commands.add_parser(name, help=purpose, fill=partial(fill, name))
    return parser


if __name__ == "__main__":
    sys.exit(main())

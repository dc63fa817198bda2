"""The code blocks of README.md and docs/, so that they can be run; `Testing/docs/pages.py PAGE` makes a page anew.

What a block is for is said by its language, and by a sentence above it:

- ```` ```python ```` runs, in one namespace for the whole page; a ```` ```text ```` block behind it is what it prints.
- ```` ```console ```` holds command lines behind `$ `, each with what it prints. A line `...` stands for any lines.
- "Write `FILE`:" above a block writes it into a file, "Append to `FILE`:" adds it to the end of one,
  "Insert into `FILE`, behind `LINE`:" puts it behind a line of one, "Replace in `FILE`, the line `LINE`:" in its place.
- ```` ```bash ```` sets up programs; nothing of it runs here. ```` ```math ```` is a formula.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from SegmentMetricsLib import __main__

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?:^(?P<what>Write|Append to|Insert into|Replace in) `(?P<file>[^`\n]+)`"
    r"(?:, (?:behind|the line) `(?P<line>[^`\n]+)`)?:\n\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.M)
# stands for any lines in what a block prints
REST = "..."
# made by the documentation's program, not code
DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{.*?^\1$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A code block. what: is done with it and a file, in words; "" if nothing. line: of the file, where it belongs."""

    page: str
    number: int
    language: str
    text: str
    what: str = ""
    file: str = ""
    line: str = ""


def pages() -> list[Path]:
    """Return README.md and all pages of the documentation."""
    return [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page in their order."""
    text = DIRECTIVE.sub("", page.read_text(encoding="utf-8"))
    name = page.relative_to(ROOT).as_posix()
    return [
        Block(name, number, *(found[part] or "" for part in ("language", "text", "what", "file", "line")))
        for number, found in enumerate(BLOCK.finditer(text), start=1)
    ]


def run(
    page: Path,
    folder: Path,
    command: Callable[[str], str] | None = None,
    same: Callable[[str, str, str], None] | None = None,
) -> list[str]:
    """Do what the blocks of a page say, in a folder; return what each of them printed.

    command: runs a command line and returns what it prints; segment-metrics in this process when None. same: takes what
    was printed, what the page says and where; requireSame when None, which raises AssertionError where the two differ.
    """
    command, same = command or segmentMetrics, same or requireSame
    namespace: dict = {}
    printed: list[str] = []
    with contextlib.chdir(folder):
        for block in blocks(page):
            where = f"{block.page}, block {block.number}"
            if block.what:
                write(block)
                printed.append("")
            elif block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(block.text, where, "exec"), namespace)
                printed.append(output.getvalue())
            elif block.language == "console":
                printed.append("")
                for line, expected in commands(block):
                    output = command(line)
                    same(output, expected, f"{where}: {line}")
                    printed[-1] += output
            elif block.language == "text":
                same(printed[-1], block.text, where)
            elif block.language not in ("bash", "math"):
                raise AssertionError(f"{where}: nothing is known about the language {block.language!r}.")
    return printed


def isOfSlicer(page: Path) -> bool:
    """Return whether the blocks of a page need Slicer's application, or the stand-in for it."""
    return any("slicer.util." in block.text for block in blocks(page) if block.language == "python")


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the command lines of a console block and what they print."""
    for found in COMMAND.finditer(block.text):
        yield found[1].replace("\\\n", " "), found[2]


def write(block: Block) -> None:
    """Put a block into a file of the current folder, as the sentence above it says."""
    path = Path(block.file)
    if block.what == "Write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8")
    if block.what == "Append to":
        path.write_text(f"{before}\n\n{block.text}", encoding="utf-8")
        return
    found = re.findall(rf"^[ ]*{re.escape(block.line)}\n", before, re.M)
    assert len(found) == 1, f"{block.page}: {block.file} has {len(found)} lines {block.line!r}."
    kept = found[0] if block.what == "Insert into" else ""
    path.write_text(before.replace(found[0], kept + block.text), encoding="utf-8")


def requireSame(printed: str, expected: str, where: str) -> None:
    """Raise AssertionError where something else was printed than expected; a line `...` stands for any lines."""
    if not expected.strip():
        return
    printed = printed.replace(os.sep, "/")  # folders are written as the pages write them
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line == REST else re.escape(line) + r"[ ]*\n" for line in lines)
    assert re.fullmatch(pattern, printed.strip("\n") + "\n"), f"{where} prints\n\n{printed}\ninstead of\n\n{expected}"


def updated(page: Path, folder: Path) -> str:
    """Return the text of a page with what its blocks print now; blocks with `...` must be right already."""
    text = page.read_text(encoding="utf-8")

    def remember(printed: str, expected: str, where: str) -> None:
        nonlocal text
        shown = expected.strip("\n").splitlines()
        if REST in shown:
            requireSame(printed, expected, where)
        elif shown:
            now = [line.rstrip() for line in printed.strip("\n").splitlines()]
            text = text.replace("\n".join(["", *shown, ""]), "\n".join(["", *now, ""]), 1)

    run(page, folder, same=remember)
    return text


def segmentMetrics(line: str) -> str:
    """Run a command line of segment-metrics in this process and return what it prints."""
    program, *arguments = shlex.split(line)
    assert program == "segment-metrics", line
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = __main__.main(arguments)
    assert status == 0, f"{line} ended with {status}."
    return output.getvalue()


def processIn(folder: Path) -> Callable[[str], str]:
    """Return a function that runs command lines with the library of a copy of this repository."""

    def command(line: str) -> str:
        program, *arguments = shlex.split(line)
        known = {"segment-metrics": ["-m", "SegmentMetricsLib"], "python": []}
        done = subprocess.run(
            [sys.executable, *known[program], *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return command


if __name__ == "__main__":
    import tempfile

    sys.path[1:1] = [str(ROOT / "Testing" / "support"), str(ROOT / "SegmentMetrics")]
    from SegmentMetricsLib import samples

    for name in sys.argv[1:]:
        with contextlib.ExitStack() as stack:
            if isOfSlicer(Path(name).resolve()):
                from desktop import Desktop

                stack.enter_context(Desktop()).loadModule()
            given = stack.enter_context(tempfile.TemporaryDirectory())
            samples.writeHeadAndNeck(Path(given) / "segment-metrics-demo")
            Path(name).write_text(updated(Path(name).resolve(), Path(given)), encoding="utf-8")

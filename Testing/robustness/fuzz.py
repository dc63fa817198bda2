"""Reads damaged and odd files of every kind, and reports crashes, hangs, internal errors and what is lost silently.

    python Testing/robustness/fuzz.py [--kind nrrd --kind obj ...] [--count 1000] [--seed 0] [--keep FOLDER]

The files are made from whole ones, the same ones for the same seed: cut off, with bytes, numbers, words or lines
changed, removed, repeated or exchanged, or continued by something else. A child process reads one after another. When
it dies or does not come back, that is reported, and another one goes on behind the file. The exit status is the number
of problems, at most 100.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Longest time for a file in seconds, and most memory of a child in bytes.
LONGEST, MEMORY = 30.0, 6 * 1024**3
# What a sentence for users never has.
INTERNALS = re.compile(r"0x|\bitk|\bvtk|Traceback|Exception|Errno|np\.|\.cxx|\.hxx|\n", re.IGNORECASE)
# Values that readers may not expect, in text and in binary.
WORDS = (b"-1", b"0", b"1e308", b"-1e300", b"nan", b"inf", b"", b"99999999999999999999", b"2147483648", b"%s", b"x")
BYTES = (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\xc0\x7f", b"\0\0\x80\x7f")
# Smallest share of the voxels or the volume of the whole file that a part of it may have without a remark.
LEAST_SHARE = 0.999


@dataclass(frozen=True)
class Problem:
    """What went wrong with a file. what: "crash", "hang", "internal error", "message" or "silent loss"."""

    kind: str
    number: int
    what: str
    details: str

    def __str__(self) -> str:
        return f"{self.kind} {self.number}: {self.what}: {self.details}"


# --- damage


def damaged(data: bytes, draw: random.Random, others: list[bytes]) -> tuple[bytes, str]:
    """Return data with one to three kinds of damage, and their names. others: contents of other files of the kind."""
    names = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        names.append(draw.choice((*DAMAGES, "changeWord")))
        data = DAMAGES[names[-1]](data, draw, others)
    return data, "+".join(names)


def changeBytes(data, draw, others):
    result = bytearray(data)
    for _ in range(draw.randint(1, 8) if data else 0):
        result[draw.randrange(len(result))] = draw.randrange(256)
    return bytes(result)


def overwrite(data, draw, others):
    given = draw.choice(BYTES) if draw.random() < 0.7 else draw.randbytes(draw.randint(1, 50))
    return replaced(data, draw, given, len(given))


def replaced(data, draw, given: bytes, length: int) -> bytes:
    """Return data with something in place of a number of bytes anywhere."""
    place = draw.randrange(len(data) + 1)
    return data[:place] + given + data[place + length :]


def repeat(data, draw, others):
    place, length = draw.randrange(len(data) + 1), draw.randint(1, 300)
    return data[:place] + data[place : place + length] * draw.randint(2, 5) + data[place + length :]


def changeWord(data, draw, others):
    """Replace a number or a word, more often one of the header."""
    found = list(re.finditer(rb"[-+.\w]+", data[: draw.choice((600, 3000, len(data)))]))
    if not found:
        return data
    word = draw.choice(found)
    given = draw.choice((*WORDS, draw.choice(found).group()))
    return data[: word.start()] + given + data[word.end() :]


def exchangeLines(data, draw, others):
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one] if draw.random() < 0.7 else b""
    return b"".join(lines)


def goOnAsAnother(data, draw, others):
    other = draw.choice(others)
    return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]


# By name: what returns damaged data, from data, what draws, and the contents of others.
DAMAGES: dict[str, Callable[[bytes, random.Random, list[bytes]], bytes]] = {
    "cutOff": lambda data, draw, others: data[: draw.randrange(len(data) + 1)],
    "cutOffTheEnd": lambda data, draw, others: data[: max(0, len(data) - draw.randint(1, 200))],
    "remove": lambda data, draw, others: replaced(data, draw, b"", draw.randint(1, 300)),
    "insert": lambda data, draw, others: replaced(data, draw, draw.choice((*WORDS, *BYTES, b"\n", b" ")), 0),
    "append": lambda data, draw, others: data + draw.choice((draw.randbytes(20), data[-100:], draw.choice(others))),
    "changeTheBeginning": lambda data, draw, others: changeBytes(data[:400], draw, others) + data[400:],
    **{function.__name__: function for function in (changeBytes, overwrite, repeat, exchangeLines, goOnAsAnother)},
    "changeWord": changeWord,
}
CUTS = ("cutOff", "cutOffTheEnd", "remove")

# --- reading


class Child:
    """A process that reads files, one at a time."""

    def __init__(self):
        command = [sys.executable, str(Path(__file__).resolve()), "--child"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, path: Path) -> dict | str:
        """Return what is read from a file, or "crash" or "hang", after which there must be another child."""
        try:
            self._process.stdin.write(f"{json.dumps(str(path))}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        ready, _, _ = select.select([self._process.stdout], [], [], LONGEST)
        if not ready:
            self.stop()
            return "hang"
        line = self._process.stdout.readline()
        return json.loads(line) if line else self._ended()

    def _ended(self) -> str:
        return f"crash (status {self._process.wait()})"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def readEach() -> None:
    """Read the files that are named on standard input, one per line, and print what is found in each."""
    import faulthandler
    import os
    import resource

    sys.path.insert(0, str(HERE.parents[1]))
    from SegmentMetricsLib import readStructures
    from SegmentMetricsLib.io.reading import UnusableFile

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing that a library prints is taken for a result
    for line in sys.stdin:
        try:
            found = _found(readStructures(json.loads(line)))
        except UnusableFile as error:
            found = {"refused": str(error)}
        except BaseException as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=results, flush=True)


def _found(structures) -> dict:
    """Return the size of all structures, and whether anything is remarked on them."""
    remarks = [note for s in structures for note in s.notes]
    size = 0.0
    for structure in structures:
        if structure.mask is not None:
            voxels = structure.memberships if structure.memberships is not None else structure.mask
            size += float(voxels.values.sum()) if hasattr(voxels, "values") else float(structure.mask.count)
        else:
            size += abs(structure.surface.volume)
            remarks += [f"{structure.surface.openEdges} open edges"] if structure.surface.openEdges else []
            remarks += structure.surface.repairs
    return {"structures": len(structures), "size": size, "remarks": remarks}


def problemOf(whole: dict, found: dict | str, damage: str, path: Path) -> tuple[str, str] | None:
    """Return what went wrong and how, None if nothing did. whole: what is read from the file before the damage."""
    if isinstance(found, str):
        return found.split()[0], f"{damage}: {found}"
    if "error" in found:
        return "internal error", f"{damage}: {found['error']}"
    if "refused" in found:
        said = found["refused"]
        isBad = not said.startswith(str(path)) or INTERNALS.search(said[len(str(path)) :]) or len(said) > 500
        return ("message", f"{damage}: {said[:500]!r}") if isBad else None
    isLess = found["structures"] < whole["structures"] or found["size"] < LEAST_SHARE * whole["size"]
    if damage in CUTS and isLess and set(found["remarks"]) <= set(whole["remarks"]):
        return "silent loss", f"{damage}: {found} instead of {whole}"
    return None


def fuzz(kind: str, count: int, seed: int, folder: Path, outcomes: Counter | None = None) -> Iterator[Problem]:
    """Read a number of damaged files of a kind, and yield the problems; their files stay in the folder.

    outcomes: counts of what became of the files, to be added to.
    """
    from wholefiles import KINDS

    (folder / kind).mkdir(parents=True, exist_ok=True)
    paths = KINDS[kind](folder / kind)
    contents = [path.read_bytes() for path in paths]
    child = Child()
    try:
        wholes = [child.read(path) for path in paths]
        for path, whole in zip(paths, wholes):
            if isinstance(whole, str) or "structures" not in whole:
                raise RuntimeError(f"The whole file {path} cannot be read: {whole}")
        for number in range(count):
            draw = random.Random(f"{kind} {seed} {number}")
            which = draw.randrange(len(paths))
            data, damage = damaged(contents[which], draw, contents)
            name = paths[which].name
            suffix = name[name.index(".") :]
            # beside the whole file, as its voxels or its image may be in other files
            path = paths[which].with_name(f"odd{number}{suffix}")
            path.write_bytes(data)
            found = child.read(path)
            if isinstance(found, str):
                child.stop()
                child = Child()
            problem = problemOf(wholes[which], found, damage, path)
            if outcomes is not None:
                outcomes["refused" if "refused" in found else "read" if "structures" in found else "failed"] += 1
            if problem:
                yield Problem(kind, number, problem[0], f"{name}: {problem[1]}")
            else:
                path.unlink()
    finally:
        child.stop()


def main() -> int:
    """Run the command and return the exit status."""
    from wholefiles import KINDS

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="a kind of files (all)")
    parser.add_argument("--count", type=int, default=1000, help="damaged files of each kind (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other files (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for the files with problems (none)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        readEach()
        return 0
    folder, total = options.keep or Path(tempfile.mkdtemp()), 0
    try:
        for kind in options.kind or KINDS:
            outcomes: Counter = Counter()
            for problem in fuzz(kind, options.count, options.seed, folder, outcomes):
                total += 1
                print(problem, flush=True)
            print(f"{kind}: {', '.join(f'{count} {what}' for what, count in sorted(outcomes.items()))}", flush=True)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)
    return min(total, 100)


if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parents[1])]
    sys.exit(main())

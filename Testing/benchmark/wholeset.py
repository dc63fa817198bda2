"""A whole structure set from files, from the command line: processes from their start to the written numbers."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import measure
import numpy as np
import pairs
import peers
import SimpleITK

NUMBERS, EVERYTHING, SCRIPT = "compare --numbers-only", "compare", "a script with surface-distance"
COMPARE = ("-m", "SegmentMetricsLib", "compare")
LABEL_SCRIPT = Path(__file__).with_name("labelscript.py")
# Voxels along i, j, k, and structures.
SET, QUICK_SET = ((360, 300, 200), 40), ((160, 130, 70), 12)
COLUMNS = ("whole process", "s", "ratio", "cores")


@contextmanager
def drawn(isQuick: bool) -> Iterator[list[Path]]:
    """Yield the files of two generated label maps: the second is the first, moved by 1.3 voxels along each axis."""
    with tempfile.TemporaryDirectory() as folder:
        yield pairs.writeVolumes(Path(folder), *(QUICK_SET if isQuick else SET))


def wholeSet(files: Sequence[Path], rounds: int) -> dict:
    """Return for each command the median processor seconds, the cores that it kept busy, and every single time.

    files: of two label maps.
    """
    labels = [SimpleITK.ReadImage(file) for file in files]
    values = [set(np.unique(SimpleITK.GetArrayViewFromImage(image))) for image in labels]
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            NUMBERS: [*COMPARE, *files, "--numbers-only", "--output", Path(folder, "numbers")],
            EVERYTHING: [*COMPARE, *files, "--output", Path(folder, "everything")],
            SCRIPT: [LABEL_SCRIPT, *files, Path(folder, "script.csv")],
        }
        if not peers.TOOLS["surface-distance"].isInstalled:
            del commands[SCRIPT]
        times: dict[str, list[float]] = {name: [] for name in commands}
        cores: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                start, spent = time.perf_counter(), processorSeconds()
                measure.runPython(list(map(str, command)))
                wall = time.perf_counter() - start
                # other programs delay a process, but hardly add to its processor time
                times[name].append((processorSeconds() - spent) or wall)
                cores[name].append(times[name][-1] / wall)
    taken = {
        name: {
            "seconds": median(times[name]),
            "ratio": measure.ratio(times[name], times[NUMBERS]),
            "cores": median(cores[name]),
            "rounds": times[name],
        }
        for name in commands
    }
    return {"size": list(labels[0].GetSize()), "structures": len(set.intersection(*values) - {0}), "commands": taken}


def processorSeconds() -> float:
    """Return the processor seconds of all processes that were started here and have ended; 0 on Windows."""
    spent = os.times()
    return spent.children_user + spent.children_system


def described(found: dict) -> str:
    """Return what was measured, in words."""
    return f"two label maps of {' x '.join(map(str, found['size']))} voxels with {found['structures']} structures"


def rows(found: dict) -> list[list[str]]:
    """Return the rows of a table, a command each, with the cells of COLUMNS."""
    return [
        [f"`{name}`" if name != SCRIPT else name, *(f"{taken[key]:.2f}" for key in ("seconds", "ratio", "cores"))]
        for name, taken in found["commands"].items()
    ]

"""Memory of the command compare on a large label map of many structures, by number of processes.

    python Testing/benchmark/memory.py [--size 512,512,400] [--structures 100] [--workers 1,2]

Draws two label maps, compares them, and prints the peak of what the process and its children held together, and how
much that is beyond the two volumes themselves. What several processes share, such as the code of libraries, counts
once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import SimpleITK

POLL_SECONDS = 0.02
# mm along i, j, k: of the voxels, and half-axes of the structure around all others.
SPACING, TRUNK = np.array([0.9, 0.9, 1.5]), np.array([190.0, 125.0, 270.0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a line for every number of processes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="512,512,400", help="voxels along i, j, k (%(default)s)")
    parser.add_argument("--structures", type=int, default=100, help="%(default)s")
    parser.add_argument("--workers", default="1,2", help="%(default)s")
    options = parser.parse_args(arguments)
    size = tuple(map(int, options.size.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        files = writeVolumes(Path(folder), size, options.structures)
        for workers in options.workers.split(","):
            start = time.perf_counter()
            peak = peakOfCompare(*files, Path(folder, "results"), ["--workers", workers])
            beyond = peak - 2 * np.prod(size)
            seconds = time.perf_counter() - start
            print(f"{workers} processes: peak {peak / 1e6:.0f} MB, {beyond / 1e6:.0f} MB beyond both, {seconds:.0f} s")


def writeVolumes(folder: Path, size: Sequence[int], structures: int) -> list[Path]:
    """Write two label maps (uint8) of so many ellipsoids, the first a trunk of 38 x 25 cm, and return their files."""
    shape = np.array(size[::-1])
    files = []
    for which in ("reference", "test"):
        random = np.random.default_rng(0)
        labels = np.zeros(shape, np.uint8)
        for label in range(1, structures + 1):
            center, radii = shape / 2, np.minimum(TRUNK / SPACING, 0.45 * shape[::-1])[::-1]
            if label > 1:
                center = shape * random.uniform(0.3, 0.7, 3)
                radii = np.maximum(shape * random.uniform(0.02, 0.12 if label < 20 else 0.05, 3), 3)
            draw(labels, center + 1.3 * (which == "test"), radii, label)
        image = SimpleITK.GetImageFromArray(labels)
        image.SetSpacing(SPACING.tolist())
        files.append(folder / f"{which}.nii.gz")
        SimpleITK.WriteImage(image, str(files[-1]), True)
    return files


def draw(labels: np.ndarray, center: np.ndarray, radii: np.ndarray, label: int) -> None:
    """Draw an ellipsoid into labels [k, j, i]."""
    low = np.maximum(np.floor(center - radii).astype(int), 0)
    high = np.minimum(np.ceil(center + radii).astype(int) + 1, labels.shape)
    axes = np.ogrid[tuple(slice(*ends) for ends in zip(low, high, strict=True))]
    inside = sum(((axis - c) / r) ** 2 for axis, c, r in zip(axes, center, radii, strict=True)) < 1
    labels[tuple(slice(*ends) for ends in zip(low, high, strict=True))][inside] = label


def peakOfCompare(reference: Path, test: Path, output: Path, options: Sequence[str] = ()) -> int:
    """Return the peak of the memory in bytes that the command compare and its worker processes held together."""
    command = [sys.executable, "-m", "SegmentMetricsLib", "compare", reference, test, "--output", output, *options]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    peak = 0

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, sum(map(proportionalBytes, family(process.pid))))
            time.sleep(POLL_SECONDS)

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    watcher.join()
    if status:
        raise SystemExit(f"compare ended with status {status}.")
    return peak


def family(process: int) -> list[int]:
    """Return the numbers of a process and of all that it has started, and these in turn; of Linux only."""
    found = [process]
    for number in found:
        try:
            tasks = list(Path(f"/proc/{number}/task").iterdir())
            found.extend(int(child) for task in tasks for child in (task / "children").read_text().split())
        except OSError:  # it has just ended
            continue
    return found


def proportionalBytes(process: int) -> int:
    """Return what a process holds in memory, of what it shares with others only its part."""
    try:
        status = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return next((1024 * int(line.split()[1]) for line in status if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()

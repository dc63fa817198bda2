"""Hand-made faults in the code that makes the numbers, and how many of them the tests notice.

Run as ``python Testing/benchmark/faults.py [--only NAME]``. Each fault is put into a copy of the project, in which the
tests of that part of the library run until one fails. A fault is found by what its line says, not by its number; one
whose line is gone is reported and does not count. It takes four minutes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
IGNORED = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "*.egg-info")
# The tests of each part of the library, without "test_".
TESTS = {
    "distances": "unit/field unit/nearest unit/lattice unit/boundary unit/signed truth/properties door/extent",
    "metrics/boundary.py": "unit/boundary unit/field truth/properties truth/ground_truth door/comparison",
    "metrics/overlap.py": "unit/agreement",
    "metrics/agreement.py": "unit/agreement truth/independent",
    "metrics/voxel.py": "unit/agreement truth/independent",
    "metrics/hazard.py": "unit/hazard truth/independent",
    "metrics/signed.py": "unit/signed unit/facing unit/boundary",
    "metrics/similarity.py": "door/similarity_index",
    "metrics/instances.py": "unit/instances door/lesions",
    "metrics/effort.py": "door/effort",
    "metrics/topology.py": "door/vessels",
    "metrics/dose.py": "door/dose_volume",
    "case/protocol/judgment.py": "door/protocols",
    "case/observers/consensus.py": "door/severalobservers",
    "case/observers/limits.py": "door/severalobservers",
    "case/places.py": "unit/places door/dose_commands",
    "case/pairing.py": "door/pairing",
    "case/stress.py": "door/stress",
    "case/findings/wholecase.py": "door/pairing",
    "case/findings/decisiveends.py": "door/extent",
    "case/gridspread.py": "door/grid_uncertainty",
}


class Fault(NamedTuple):
    """A fault: the first place in a file or folder of the library where a pattern is, and what then stands there."""

    where: str
    old: str
    new: str


FAULTS = [
    Fault("distances", r"fine \+ differences / 3", "fine"),
    Fault("distances", r"isWhole = high <= ofEach if side == 0", "isWhole = high < ofEach if side == 0"),
    Fault("distances", r"coarse, fine = np\.abs\(coarse\), np\.abs\(fine\)", "pass"),
    Fault("distances", r"value - error\b", "value + error"),
    Fault("distances", r"/ 3\b", "/ 2"),
    Fault("distances", r"isExact = isWhole and reached \+ longest <= limit", "isExact = isWhole"),
    Fault("distances", r"\[wanted - error, min", "[wanted, min"),
    Fault("metrics/boundary.py", r"limit = withTies\(tolerance\)", "limit = tolerance * 0.999"),
    Fault("metrics/boundary.py", r"withTies\(tolerance, -1\), withTies\(tolerance\)", "tolerance, withTies(tolerance)"),
    Fault("metrics/overlap.py", r"else test - reference", "else reference - test"),
    Fault("metrics/agreement.py", r"\(together \+ apart\) / ", "(together + inReference) / "),
    Fault("metrics/agreement.py", r"\.test, exactCounts\.outsideTest", ".test, exactCounts.outsideReference"),
    Fault("metrics/agreement.py", r"chance, exactCounts\.size - chance", "chance, exactCounts.size"),
    Fault("metrics/voxel.py", r"way\.total / ways\[0\]\.count", "way.total / way.count"),
    Fault("metrics/voxel.py", r"otherCount \* otherSpread\) / \(count", "count * otherSpread) / (count"),
    Fault("metrics/voxel.py", r"unit == .voxel. or goal\.grid\.isRectangular", "True"),
    Fault("metrics/hazard.py", r"1\.0 - \(distances / self\.reach\)", "1.0 - (distances / (self.reach + 1))"),
    Fault("metrics/hazard.py", r"squared\[critical\.block\(low, high\) != 0\] = 0", "squared += 0"),
    Fault("metrics/signed.py", r"\(sign > 0\) == someStructures", "(sign < 0) == someStructures"),
    Fault("metrics/signed.py", r"\(outside & 0b010101\) << 1", "(outside & 0b010101)"),
    Fault("metrics/signed.py", r"sum\(m \* s for m, s in zip\(parts, sizes\)\) / sum\(sizes\)", "sum(parts) / 2"),
    Fault("metrics/signed.py", r"max\(0\.0, \*values\)", "max(values)"),
    Fault("metrics/similarity.py", r"-0\.5 \* \(np\.asarray", "-1.0 * (np.asarray"),
    Fault("metrics/similarity.py", r"return \(means\[0\] \+ means\[1\]\) / 2", "return means[0]"),
    Fault("metrics/instances.py", r"mask\.count >= lesionMinimum", "mask.count > lesionMinimum"),
    Fault("metrics/instances.py", r"1 \+ scores \+ ROUNDING", "scores"),
    Fault("metrics/instances.py", r"2 \* ious / \(1 \+ ious\) if isByDice else ious", "ious"),
    Fault("metrics/effort.py", r"within\[0\] & within\[1\]", "within[0] | within[1]"),
    Fault("metrics/topology.py", r"parts \+ cavities - euler", "parts - euler"),
    Fault("metrics/dose.py", r"~areShared\[areWithin\]", "areShared[areWithin]"),
    Fault("case/protocol/judgment.py", r"measurement\.empty and \(isKept or isWarning\)", "False"),
    Fault("case/protocol/judgment.py", r"if verdict\.verdict == PASS\)", "if verdict.verdict != FAIL)"),
    Fault("case/observers/consensus.py", r"astype\(np\.int32\) > len\(numbers\)", "astype(np.int32) >= len(numbers)"),
    Fault("case/observers/consensus.py", r"\(count - 1\) \* float", "count * float"),
    Fault("case/places.py", r"second <= CLEAR_LEAD \* first", "True"),
    Fault("case/places.py", r"place\.dose, reverse=True", "place.dose, reverse=False"),
    Fault("case/pairing.py", r">= LEAST_DICE", ">= 2 * LEAST_DICE"),
    Fault("case/stress.py", r"argsort\(", "argsort(-"),
    Fault("case/observers/limits.py", r"\(math\.ceil, -1e-9\) if better", "(math.floor, -1e-9) if better"),
    Fault("case/findings/wholecase.py", r"\{Kind\.OTHER_STRUCTURE, \*explained\}", "{*explained}"),
    Fault("case/findings/decisiveends.py", r"within > DECISIVE \* worst", "within > worst"),
    Fault("case/gridspread.py", r"values\.std\(ddof=1\)", "values.std()"),
]


def placeOf(fault: Fault, library: Path) -> tuple[Path, str] | None:
    """Return the file of a fault and its text with it, or None if the pattern is nowhere."""
    where = library / fault.where
    for path in [where] if where.is_file() else sorted(where.rglob("*.py")):
        text, count = re.subn(fault.old, fault.new.replace("\\", r"\\"), path.read_text("utf-8"), count=1)
        if count:
            return path, text
    return None


def isNoticed(fault: Fault, copy: Path) -> bool | None:
    """Return whether a test fails in a copy of the project with a fault, None if the fault has no place there."""
    place = placeOf(fault, copy / "SegmentMetricsLib")
    if place is None:
        return None
    path, text = place
    before = path.read_text("utf-8")
    path.write_text(text, "utf-8")
    files = ["Testing/{}/test_{}.py".format(*name.split("/")) for name in TESTS[fault.where].split()]
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    status = subprocess.run([*line, *files], cwd=copy, capture_output=True).returncode
    path.write_text(before, "utf-8")
    if status not in (0, 1):
        raise RuntimeError(f"pytest ended with status {status}, so nothing is known of {fault}")
    return status == 1


def main() -> int:
    """Print each fault with whether it was noticed, and the share of all that were."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="faults of files whose path has this text")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if options.only in fault.where]
    found: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        shutil.copytree(ROOT, copy, ignore=IGNORED, symlinks=True)
        for fault in chosen:
            start = time.monotonic()
            result = isNoticed(fault, copy)
            told = {True: "noticed", False: "NOT NOTICED", None: "no such line"}[result]
            print(f"{told:12} {time.monotonic() - start:5.0f} s  {fault.where}: {fault.old} -> {fault.new}", flush=True)
            found += [] if result is None else [result]
    print(f"{sum(found)} of {len(found)} faults were noticed; {len(chosen) - len(found)} have no place any more.")
    return 0 if all(found) and found else 1


if __name__ == "__main__":
    sys.exit(main())

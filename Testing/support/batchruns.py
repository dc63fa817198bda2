"""Runs of the command batch for tests, in this process, and the tables that they write."""

from __future__ import annotations

import csv
import json
import math
from concurrent.futures import Executor, Future, process
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import __main__


def rowsOf(path) -> list[dict[str, str]]:
    """Return the rows of a table that a command has written."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


class Inline(Executor):
    """Stands for a pool of other processes, whose start takes longer than a small case; counts what is done in it."""

    count = 0

    def __init__(self, workers, context, prepare, given):
        (self.work,) = given

    def submit(self, function, *given):
        Inline.count += 1
        done = Future()
        try:
            done.set_result(self.work(*given) if given else function())
        except Exception as error:
            done.set_exception(error)
        return done


@pytest.fixture
def inline():
    """Cases are counted from here on."""
    Inline.count = 0


@pytest.fixture
def inProcesses(monkeypatch):
    """Work is done in other processes, as if no test ran."""
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", process.ProcessPoolExecutor)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder with images, in which the test runs; ref.nrrd and t1.nrrd ... that are shifted by so many voxels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 9, 9)), "data/ref.nrrd")
    for shift in range(6):
        SimpleITK.WriteImage(shapes.box((6 + shift, 6, 6), (15 + shift, 9, 9)), f"data/t{shift}.nrrd")
    SimpleITK.WriteImage(shapes.imageOf(np.zeros((24, 24, 24), np.uint8)), "data/none.nrrd")
    return tmp_path


def write(*rows: str, heading: str = "case,reference,test,protocol,method") -> str:
    """Write the list of cases of a study."""
    Path("data/cases.csv").write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return "data/cases.csv"


def batch(*options, cases: str = "data/cases.csv") -> int:
    """Run the list of cases of a study."""
    return __main__.main(["batch", cases, "--output", "out", *map(str, options)])


def records() -> list[dict]:
    """Return what a run has kept of each case."""
    return [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]


def table(name: str = "results") -> list[dict]:
    """Return the rows of a table of a run."""
    return rowsOf(f"out/{name}.csv")


def outcome(case: str, values: dict, method: str = "", name: str = "Lens", diagonal=100.0) -> dict:
    """Return what results.jsonl has of a case of one pair with such numbers: infinite ones, and NaN for undefined."""
    measurements = {}
    for key, value in values.items():
        status = "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"
        unit, reason = "" if key in ("DSC", "PBD") else "mm", "" if status == "ok" else "made up"
        stored = {"value": value if status == "ok" else None, "unit": unit, "status": status, "reason": reason}
        measurements[key] = stored | ({"sign": -1} if value == -math.inf else {})
    names = {side: {"name": name} for side in ("reference", "test")}
    pair = {"structure": name, **names, "measurements": measurements, "diagonal": diagonal}
    return {"case": case, "method": method, "pairs": [pair]}

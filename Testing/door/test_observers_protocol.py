"""A protocol from observers judges the files that it was made from."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import metrics
from commandruns import run as run
from tiers import rarely


def drawn(path: str, *centers: tuple[int, int, int]) -> str:
    """Write a label map with a cube of its own label around each center."""
    cubes = {label: (np.subtract(center, 6), np.add(center, 6)) for label, center in enumerate(centers, 1)}
    Path(path).parent.mkdir(exist_ok=True)
    SimpleITK.WriteImage(shapes.labelImage(cubes, (40, 40, 30)), path)
    return path


@pytest.mark.parametrize(
    "names",
    [
        "reader0 reader1 reader2 reader3",
        "Prostate_anna Prostate_ben Prostate_carla case7",
        "two_anna two_ben two_carla two_ai",
        *rarely(["anna ben carla ai", "anna/Prostate ben/Prostate carla/Prostate ai/Prostate"]),
    ],
)
def testStructuresAreCalledAsProtocolsFindThem(names, run):
    """names: of the files of three observers and of another one, some of which have two structures."""
    second = [(10, 28, 15)] if names.startswith("two") else []
    structures = {"Label 1", "Label 2"} if second else {"Prostate" if "/" in names else "*"}
    places = [(28, 12, 15), (29, 12, 15), (28, 13, 15), (28, 12, 16)]
    paths = [drawn(f"{name}.nrrd", place, *second) for name, place in zip(names.split(), places)]
    given = ("--metrics", "DSC,HD95", "--numbers-only")
    assert run("observers", *paths[:3], *given, "--write-protocol", "limits.csv", "-o", "observed")[0] == 0
    with open("limits.csv", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        assert {row["Structure"] for row in rows} == structures
    for test in paths[1:]:
        assert run("compare", paths[0], test, *given, "--protocol", "limits.csv", "-o", "judged")[0] == 0
        judged = metrics("judged")["protocol"]["structures"]
        assert len(judged) == len(structures)
        assert {one["verdict"] for one in judged} <= {"pass", "warn", "fail"}
    Path("cases.csv").write_text(f"case,reference,test\n1,{paths[0]},{paths[3]}\n")
    assert run("batch", "cases.csv", *given[:2], "--protocol", "limits.csv", "--workers", "1", "-o", "all")[0] == 0
    (outcome,) = (json.loads(line) for line in Path("all/results.jsonl").read_text().splitlines())
    assert outcome["protocol"]["verdict"] in ("pass", "warn", "fail")

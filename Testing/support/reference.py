"""Real pairs and every tool's numbers of them, which are kept outside the project: where they are, and the pairs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from SegmentMetricsLib import Structure, readStructures

FOLDER = Path(os.environ.get("SEGMENTMETRICS_REFERENCE", Path(__file__).parents[3] / "shared" / "reference"))
HEAD_AND_NECK = FOLDER / "data" / "headneck"
OBSERVERS = ("oncologist", "radiographer")
# lists of pairs and of what the tools say of them; those that are label maps end like this
SOURCES = ("organs_3mm.json", "organs_aniso.json", "headneck.json", "examples.json")
LABEL_MAPS = {"organs_3mm.json": "", "organs_aniso.json": "_aniso"}

needsReference = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs the reference pairs: set SEGMENTMETRICS_REFERENCE to their folder"
)


def pairs(source: str, only: str = "") -> Iterator[tuple[str, Structure, Structure, dict]]:
    """Yield name, reference, test and the tools' numbers of every pair of one list, or only of the one of that name."""
    numbers = json.loads((FOLDER / source).read_text())
    data = FOLDER / "data"
    if source in LABEL_MAPS:
        files = [readStructures(data / f"organs_{side}{LABEL_MAPS[source]}.nii.gz") for side in ("reference", "test")]
    for name, entry in [(only, numbers[only])] if only else numbers.items():
        if source in LABEL_MAPS:
            structures = [next(one for one in file if one.number == int(name)).rename(name) for file in files]
        else:
            if source == "headneck.json":
                case, organ = name.split("/")
                paths = [HEAD_AND_NECK / case / observer / f"{organ}.nrrd" for observer in OBSERVERS]
            else:
                paths = [data / f"{name}_{side}.nii.gz" for side in ("reference", "test")]
            structures = [readStructures(path)[0].rename(name) for path in paths]
        yield name, *structures, entry["tools"]

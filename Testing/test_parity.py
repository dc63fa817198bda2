"""Parity with MeshMetrics 0.1 and 1.4.1 on real pairs, whose numbers and images are kept outside the project."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import SimpleITK

from SegmentMetricsLib import Settings, Structure, compare
from SegmentMetricsLib.inputs import labelMasks, structureFromImage

FOLDER = Path(os.environ.get("SEGMENTMETRICS_REFERENCE", Path(__file__).parents[2] / "shared" / "reference"))
SOURCES = ("organs_3mm.json", "organs_aniso.json", "headneck.json", "examples.json")
IMAGES = {"organs_3mm.json": "", "organs_aniso.json": "_aniso"}

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs the reference pairs: set SEGMENTMETRICS_REFERENCE to their folder"
)

# The sampling of either version; for BIoU the paper's dense grid takes too long for a test and has no numbers to match.
SETTINGS = {
    "MeshMetrics-0.1-paper": Settings(tolerances=(1.0, 2.0), accuracy="sampled", families=("boundary", "overlap")),
    "MeshMetrics-1.4.1": Settings.preset("MeshMetrics-1.4.1", tolerances=(1.0, 2.0), families=("boundary", "overlap")),
}
KEYS = {
    "HD": ("HD", 1e-3),
    "HD95": ("HD95", 1e-3),
    "MASD": ("MASD", 1e-3),
    "ASSD": ("ASSD", 1e-3),
    "NSD1": ("NSD_1mm", 1e-3),
    "NSD2": ("NSD_2mm", 1e-3),
    "BIoU2": ("BIoU_2mm", 1e-3),
    "DSC": ("DSC", 1e-6),
    "IoU": ("IoU", 1e-6),
}


def pairs(source: str):
    """Yield name, reference, test and the tools' numbers of every pair of one list."""
    numbers = json.loads((FOLDER / source).read_text())
    data = FOLDER / "data"
    if source in IMAGES:
        sets = [
            labelMasks(SimpleITK.ReadImage(str(data / f"organs_{side}{IMAGES[source]}.nii.gz")), 0.5)
            for side in ("reference", "test")
        ]
    for name, entry in numbers.items():
        if source in IMAGES:
            structures = [Structure(name, masks[int(name)]) for masks in sets]
        else:
            if source == "headneck.json":
                case, organ = name.split("/")
                paths = [data / "headneck" / case / who / f"{organ}.nrrd" for who in ("oncologist", "radiographer")]
            else:
                paths = [data / f"{name}_{side}.nii.gz" for side in ("reference", "test")]
            structures = [structureFromImage(SimpleITK.ReadImage(str(p)), name, None, 0.5) for p in paths]
        yield name, *structures, entry["tools"]


@pytest.mark.parametrize("tool", SETTINGS)
@pytest.mark.parametrize("source", SOURCES)
def testParity(source, tool):
    failures, compared = [], 0
    for name, reference, test, tools in pairs(source):
        comparison = compare(reference, test, SETTINGS[tool])
        for key, (ours, tolerance) in KEYS.items():
            if key not in tools[tool]:
                continue
            compared += 1
            theirs = float(tools[tool][key])
            if not abs(comparison[ours].value - theirs) <= tolerance:
                failures.append(f"{name} {ours}: {comparison[ours].value} instead of {theirs}")
    assert compared >= 7
    assert not failures, "\n".join(failures)

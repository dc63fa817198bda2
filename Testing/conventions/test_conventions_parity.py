"""The conventions against the numbers that the tools themselves gave for real pairs, kept outside the project."""

from __future__ import annotations

import pytest
from reference import SOURCES, needsReference, pairs

from SegmentMetricsLib import Settings, compare

pytestmark = [pytest.mark.nightly, needsReference]

TOOLS = {
    "DeepMind": "DeepMind",
    "MONAI": "MONAI",
    "MetricsReloaded": "MetricsReloaded",
    "MedPy": "MedPy",
    "seg-metrics": "seg-metrics",
    "pymia": "pymia",
    "Plastimatch": "Plastimatch",
    "SimpleITK": "SimpleITK",
    "EvaluateSegmentation": "EvaluateSegmentation",
    "MISeval": "MISeval",
    "MeshMetrics-0.1": "MeshMetrics-0.1-paper",
    "MeshMetrics-1.4.1": "MeshMetrics-1.4.1",
}
TOLERANCES = {"Plastimatch": 1e-3}  # others: 1e-4
KEYS = {
    "HD": "HD",
    "HD95": "HD95",
    "MASD": "MASD",
    "ASSD": "ASSD",
    "NSD1": "NSD_1mm",
    "NSD2": "NSD_2mm",
    "BIoU2": "BIoU_2mm",
    "DSC": "DSC",
    "IoU": "IoU",
    "HDRFDST": "HD",
    "AVGDIST": "MASD",
    "DICE": "DSC",
    "JACRD": "IoU",
}
SETTINGS = Settings(tolerances=(1.0, 2.0), families=("overlap",))


@pytest.mark.nightly
@pytest.mark.parametrize("source", SOURCES)
def testEveryToolsOwnNumbers(source):
    failures, compared = [], dict.fromkeys(TOOLS, 0)
    for name, reference, test, tools in pairs(source):
        conventions = compare(reference, test, SETTINGS).conventions(TOOLS)
        for key in TOOLS:
            for theirName, ours in KEYS.items():
                theirs = tools.get(TOOLS[key], {}).get(theirName)
                if theirs is None or not conventions[key][ours].isReproducible:
                    continue
                compared[key] += 1
                value = conventions[key][ours].value
                if not abs(value - float(theirs)) <= TOLERANCES.get(key, 1e-4):
                    failures.append(f"{key} {name} {ours}: {value} instead of {theirs}")
    expected = [tool for tool in TOOLS if source != "examples.json" or tool != "EvaluateSegmentation"]
    assert all(compared[tool] for tool in expected), compared
    assert not failures, f"{len(failures)} of {sum(compared.values())}\n" + "\n".join(failures)

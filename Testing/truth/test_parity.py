"""Parity with MeshMetrics 0.1 and 1.4.1 on real pairs, whose numbers and images are kept outside the project."""

from __future__ import annotations

import pytest
from reference import SOURCES, needsReference, pairs

from SegmentMetricsLib import Settings, compare

pytestmark = needsReference

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

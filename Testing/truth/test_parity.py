"""Parity of the conventions MeshMetrics-0.1 and -1.4.1 with these tools on real pairs, kept outside the project."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK
from reference import SOURCES, needsReference, pairs

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.masks import boxAround
from SegmentMetricsLib.metrics.pair import Pair

pytestmark = needsReference

SETTINGS = Settings(tolerances=(1.0, 2.0), surface="unsmoothed", families=("overlap",))
# The conventions, by the names of the tools' numbers.
TOOLS = {"MeshMetrics-0.1-paper": "MeshMetrics-0.1", "MeshMetrics-1.4.1": "MeshMetrics-1.4.1"}
# Files of so many structures that they are measured nightly.
LARGE = ("headneck.json", "organs_aniso.json")
# What the README says; the tools' numbers have six digits behind the point.
KEYS = {
    "HD": ("HD", 1e-5),
    "HD95": ("HD95", 1e-5),
    "MASD": ("MASD", 1e-6),
    "ASSD": ("ASSD", 1e-6),
    "NSD1": ("NSD_1mm", 1e-6),
    "NSD2": ("NSD_2mm", 1e-6),
    "BIoU2": ("BIoU_2mm", 1e-6),
    "DSC": ("DSC", 1e-6),
    "IoU": ("IoU", 1e-6),
}
# How much lower the program's own NSD may be, which leaves to rounding whether a distance equals the tolerance.
TIES = 0.008


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("source", [pytest.param(s, marks=pytest.mark.nightly if s in LARGE else ()) for s in SOURCES])
def testParity(source, tool):
    failures, compared = [], 0
    for name, reference, test, tools in pairs(source):
        found = compare(reference, test, SETTINGS).conventions([TOOLS[tool]])[TOOLS[tool]]
        for key, (ours, tolerance) in KEYS.items():
            if key not in tools[tool] or not found[ours].isReproducible:
                continue
            compared += 1
            theirs = float(tools[tool][key])
            if not abs(found[ours].value - theirs) <= tolerance:
                failures.append(f"{name} {ours}: {found[ours].value} instead of {theirs}")
    assert compared >= 6
    assert not failures, "\n".join(failures)


def programOf(reference, test):
    """Return the program itself, with the voxels of a pair."""
    meshmetrics = pytest.importorskip("meshmetrics", reason="pymeshmetrics is not installed")
    masks = Pair(reference, test, SETTINGS).masks
    box, images = boxAround(*masks), []
    for mask in masks:
        voxels, spacing, flat = mask.block(*box).astype(np.uint8), mask.grid.spacing, mask.grid.flatAxis
        if flat is not None:
            voxels, spacing = voxels.squeeze(2 - flat), np.delete(spacing, flat)
        images.append(SimpleITK.GetImageFromArray(np.pad(voxels, 2)))
        images[-1].SetSpacing(spacing.tolist())
    program = meshmetrics.DistanceMetrics(verbose=False)
    program.set_input(*images)
    return program


@pytest.mark.nightly
@pytest.mark.parametrize("source", SOURCES)
def testTheProgramsOwnNSD(source):
    """Its own nsd(tolerance) is ours or less, by the places whose distance equals the tolerance and no others."""
    failures, ties = [], []
    for name, reference, test, _ in pairs(source):
        comparison, program = compare(reference, test, SETTINGS), programOf(reference, test)
        found = comparison.conventions(["MeshMetrics-1.4.1"])["MeshMetrics-1.4.1"]
        for tolerance in (1.0, 2.0):
            ours, own = found[f"NSD_{tolerance:g}mm"].value, program.nsd(tolerance)
            withTies, without = (program.nsd(tolerance + step) for step in (1e-4, -1e-4))
            ties.append(withTies - without)
            isSame = abs(ours - withTies) <= 1e-6
            if not isSame or not without - 1e-6 <= own <= ours + 1e-6 or ours - own > TIES:
                failures.append(f"{name} {tolerance:g} mm: {ours}; the program {own}, with ties {withTies}")
    assert not failures, "\n".join(failures)
    if source == "organs_3mm.json":
        assert max(ties) > 0.005, "some distances equal the tolerance"

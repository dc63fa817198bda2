"""The conventions against the numbers that the tools themselves gave for real pairs, kept outside the project."""

from __future__ import annotations

import math

import numpy as np
import pytest
import SimpleITK
from reference import SOURCES, needsReference, pairs

from SegmentMetricsLib import Settings, Structure, compare
from SegmentMetricsLib.geometry.masks import Mask, boxAround
from SegmentMetricsLib.metrics.pair import Pair
from SegmentMetricsLib.metrics.registry import REGISTRY

pytestmark = needsReference

SETTINGS = Settings(tolerances=(1.0, 2.0), surface="unsmoothed", families=("overlap",))
# Conventions, by groups, and the tools where they have other names.
MESHES = ("MeshMetrics-0.1", "MeshMetrics-1.4.1")
OTHERS = ("DeepMind", "MONAI", "MetricsReloaded", "MedPy", "seg-metrics", "pymia", "Plastimatch", "SimpleITK")
OTHERS += ("EvaluateSegmentation", "MISeval")
NAMES = {"MeshMetrics-0.1": "MeshMetrics-0.1-paper"}
# What the README says of MeshMetrics, whose numbers have six digits behind the point; of others 1e-4.
TOLERANCES = {"MeshMetrics-0.1": 1e-6, "MeshMetrics-1.4.1": 1e-6, "Plastimatch": 1e-3}
# What is measured daily: of all files and groups the others take too long.
DAILY = [(MESHES, "organs_3mm.json", ""), (MESHES, "examples.json", "plane")]
EVERY = [(group, source, "") for group in (MESHES, OTHERS) for source in SOURCES]
KEYS = {"NSD1": "NSD_1mm", "NSD2": "NSD_2mm", "BIoU2": "BIoU_2mm", "HDRFDST": "HD", "AVGDIST": "MASD", "DICE": "DSC"}
KEYS |= {"JACRD": "IoU", **{key: key for key in ("HD", "HD95", "MASD", "ASSD", "DSC", "IoU")}}
# How much lower the program's own NSD may be, which leaves to rounding whether a distance equals the tolerance.
TIES = 0.008


@pytest.mark.parametrize(
    ("conventions", "source", "only"),
    [*DAILY, *(pytest.param(*one, marks=pytest.mark.nightly) for one in EVERY if one not in DAILY)],
)
def testEveryToolsOwnNumbers(source, conventions, only):
    failures, compared = [], dict.fromkeys(conventions, 0)
    for name, reference, test, tools in pairs(source, only):
        found = compare(reference, test, SETTINGS).conventions(conventions)
        for key in conventions:
            for theirName, ours in KEYS.items():
                theirs = tools.get(NAMES.get(key, key), {}).get(theirName)
                if theirs is None or not found[key][ours].isReproducible:
                    continue
                compared[key] += 1
                limit = TOLERANCES.get(key, 1e-4) * (10 if key in MESHES and ours in ("HD", "HD95") else 1)
                if not abs(found[key][ours].value - float(theirs)) <= limit:
                    failures.append(f"{key} {name} {ours}: {found[key][ours].value} instead of {theirs}")
    expected = [key for key in conventions if source != "examples.json" or key != "EvaluateSegmentation"]
    assert all(compared[key] >= (6 if key in MESHES else 1) for key in expected), compared
    assert not failures, f"{len(failures)} of {sum(compared.values())}\n" + "\n".join(failures)


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


# Agreement and distances of voxels


OF_VOXELS = Settings(families=("overlap", "agreement", "voxel"))
# The names in EvaluateSegmentation, where it computes what its source says.
DIFFERENT = ("AVGDIST", "PROBDST", "ICCORR")
THEIRS = {one.alias: one.keyFor({}) for one in REGISTRY if one.alias and one.alias not in DIFFERENT}


def cropped(reference: Structure, test: Structure, whole: bool) -> list[Structure]:
    """Return two structures on the box around both, or their whole image, and two voxels of background."""
    low = np.minimum(reference.mask.low, test.mask.low) - 2
    high = np.maximum(reference.mask.high, test.mask.high) + 2
    if whole:
        low, high = np.full(3, -2), np.array(reference.mask.grid.size) + 1
    grid, pair = reference.mask.grid.resize(low, high), (reference, test)
    return [Structure(s.name, Mask(s.mask.voxels, tuple((s.mask.low - low).tolist()), grid)) for s in pair]


@pytest.mark.nightly
@pytest.mark.parametrize("source", SOURCES)
def testEvaluateSegmentation(source):
    failures, seen, odd = [], 0, 0
    for name, reference, test, tools in pairs(source):
        theirs = tools.get("EvaluateSegmentation")
        if not theirs:
            continue
        seen += 1
        comparison = compare(*cropped(reference, test, source == "examples.json"), OF_VOXELS)
        ours = {key: comparison[key].value for key in comparison}
        # what it takes for the average distance is the mean of both directions, not their maximum
        average = comparison["AVD"]
        pairsOfValues = {their: (theirs[their], ours[key]) for their, key in THEIRS.items()}
        pairsOfValues["AVGDIST"] = (theirs["AVGDIST"], (average.referenceToTest + average.testToReference) / 2)
        # it takes the products of memberships up to 255
        pairsOfValues["PROBDST"] = (theirs["PROBDST"], ours["PBD"] / 255)
        # it looks for the nearest voxel within as many voxels as it is mm to the other's center, in blocks of 7: where
        # voxels are no cubes of 1 mm it does not always find it, and its average distance is longer, never shorter
        if np.ptp(reference.mask.grid.spacing) > 1e-6:
            for key in ("AVGDIST", "bAVD"):
                their, our = pairsOfValues.pop(key)
                if float(their) < our - 2e-6:
                    failures.append(f"{name} {key}: {our}, more than {their}")
        for key, (their, our) in pairsOfValues.items():
            if not math.isclose(float(their), our, rel_tol=2e-6, abs_tol=2e-6):
                failures.append(f"{name} {key}: {our} instead of {their}")
        odd += abs(float(theirs["ICCORR"]) - ours["ICC"]) > 1e-4
    assert seen
    assert not failures, "\n".join(failures)
    assert odd > seen / 2, "its interclass correlation mixes two scales"

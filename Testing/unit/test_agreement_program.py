"""Agreement and distances of voxels against the source's own program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import SOURCES, needsReference, pairs
from test_agreement import BOTH

from SegmentMetricsLib import Structure, compare
from SegmentMetricsLib.geometry.masks import Mask

pytestmark = [pytest.mark.nightly, needsReference]

# The names in the source's own program, where it computes what the source says; FACTORS where it does not.
THEIRS = {
    "DICE": "DSC", "JACRD": "IoU", "AUC": "AUC", "KAPPA": "KAP", "RNDIND": "RI", "ADJRIND": "ARI", "VOLSMTY": "VS",
    "MUTINF": "MI", "HDRFDST": "HDvox", "MAHLNBS": "MHD", "VARINFO": "VOI", "GCOERR": "GCE", "SNSVTY": "TPR",
    "SPCFTY": "TNR", "PRCISON": "PPV", "FMEASR": "FMS", "ACURCY": "ACC", "FALLOUT": "FPR",
    "TP": "TP", "FP": "FP", "FN": "FN", "TN": "TN", "bAVD": "bAVD",
}  # fmt: skip


def cropped(reference: Structure, test: Structure, whole: bool) -> list[Structure]:
    """Return two structures on the box around both, or their whole image, and two voxels of background."""
    low = np.minimum(reference.mask.low, test.mask.low) - 2
    high = np.maximum(reference.mask.high, test.mask.high) + 2
    if whole:
        low, high = np.full(3, -2), np.array(reference.mask.grid.size) + 1
    grid = reference.mask.grid.resize(low, high)
    return [
        Structure(s.name, Mask(s.mask.voxels, tuple(int(n) for n in s.mask.low - low), grid)) for s in (reference, test)
    ]


@pytest.mark.parametrize("source", SOURCES)
def testTheSourcesOwnProgram(source):
    failures, seen, odd = [], 0, 0
    for name, reference, test, tools in pairs(source):
        theirs = tools.get("EvaluateSegmentation")
        if not theirs:
            continue
        seen += 1
        comparison = compare(*cropped(reference, test, source == "examples.json"), BOTH)
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

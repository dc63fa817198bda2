"""Agreement and distances of voxels against the source's own program, and where its search errs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import SOURCES, needsReference, pairs
from scipy import ndimage
from test_agreement import BOTH

from SegmentMetricsLib import Settings, Structure, compare
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
        # where voxels are no cubes of 1 mm it does not always find the nearest one (see the next test), which ours is
        # (testDistancesAgainstDistanceMaps): its average distance is then longer, never shorter
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


def foundOnItsWay(start: np.ndarray, goal: np.ndarray, spacing: np.ndarray) -> float:
    """Return the mean distance of the voxels of one mask [k, j, i] from another as the source's program finds it.

    It walks from each voxel toward the other's center, 1 mm a step, until it is inside; the number of steps, in mm, is
    as many voxels as it then looks for the nearest one, in blocks of 7: too few where voxels are finer than 1 mm. Where
    it finds none it takes the one that it found before.
    """
    last = np.array(start.shape[::-1]) - 1
    rim = np.argwhere(goal & ~ndimage.binary_erosion(goal))[:, ::-1]
    center = np.argwhere(goal)[:, ::-1].mean(axis=0)
    total, nearest = 0.0, None
    for voxel in np.argwhere(start & ~goal)[:, ::-1]:
        step = (center - voxel) / np.linalg.norm((center - voxel) * spacing)
        within, steps = np.ones(len(rim), bool), 1
        while ((place := voxel + steps * step) >= 0).all() and (place <= last).all():
            if goal[tuple(place.astype(int)[::-1])]:
                low = np.maximum((voxel - steps) / 7, 0).astype(int)
                high = np.minimum((voxel + steps) // 7, last // 7)
                within = ((rim // 7 >= low) & (rim // 7 <= high)).all(axis=1)
                break
            steps += 1
        if within.any():
            candidates = rim[within]
            nearest = candidates[np.linalg.norm((candidates - voxel) * spacing, axis=1).argmin()]
        total += np.linalg.norm((nearest - voxel) * spacing)
    return total / np.count_nonzero(start)


def testErratumOfTheSourcesSearch():
    """Its longer average distances come from its search, to the last digit."""
    longer = seen = 0
    for name, reference, test, tools in pairs("organs_aniso.json"):
        theirs = tools.get("EvaluateSegmentation")
        if not theirs or seen == 3 or reference.mask.count > 20_000:
            continue
        structures = cropped(reference, test, False)
        high = np.array(structures[0].mask.grid.size) - 1
        masks = [s.mask.block((0, 0, 0), high).astype(bool) for s in structures]
        if (masks[0] ^ masks[1]).sum() > 1500:
            continue
        seen += 1
        spacing = reference.mask.grid.spacing
        average = (foundOnItsWay(*masks, spacing) + foundOnItsWay(*masks[::-1], spacing)) / 2
        assert average == pytest.approx(float(theirs["AVGDIST"]), abs=2e-6), name
        ours = compare(*structures, Settings(families="voxel"))["AVD"]
        longer += average > (ours.referenceToTest + ours.testToReference) / 2 + 2e-6
    assert seen and longer

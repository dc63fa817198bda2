"""The registry's entries of the voxel family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..definitions import TAHA, Definition, Empty
from ..errors import Undefined
from ..geometry.masks import Mask
from ..metrics import voxels

if TYPE_CHECKING:
    from ..pair import Pair


def cutsOf(pair: Pair) -> list[tuple[Mask, Mask]]:
    """Return the voxels whose distances are measured: the masks', or those of every cut not empty on both sides."""
    if not _isCut(pair):
        return [pair.masks]
    levels = (number / pair.settings.cuts for number in range(1, pair.settings.cuts + 1))
    cuts = (tuple(mask.cut(level) for mask in pair.memberships) for level in levels)
    return [cut for cut in cuts if not all(mask.isEmpty for mask in cut)]


def distancesOf(pair: Pair) -> list[tuple[voxels.VoxelDistances, voxels.VoxelDistances]]:
    """Return the distances in every cut."""
    areMeshes = all(s.samplingGrid is None for s in pair.structures)
    most = voxels.MOST_OF_MESH if areMeshes else None
    return [voxels.measure(*cut, pair.settings.voxelUnit, most) for cut in pair.once(cutsOf)]


def _isCut(pair: Pair) -> bool:
    return pair.isFuzzy and pair.settings.cuts is not None


def _emptiness(pair: Pair) -> str:
    if not _isCut(pair):
        return pair.emptiness
    cuts = pair.once(cutsOf)
    if not cuts:
        raise Undefined("every cut of the memberships is empty on both sides")
    for number, which in enumerate(("reference", "test")):
        if any(cut[number].isEmpty for cut in cuts):
            return f"the {which} is empty in a cut of the memberships"
    return ""


def _note(pair: Pair) -> str:
    if not _isCut(pair):
        return ""
    omitted = pair.settings.cuts - len(pair.once(cutsOf))
    are = "is" if omitted == 1 else "are"
    return f"{omitted} of {pair.settings.cuts} cuts {are} empty on both sides and left out" if omitted else ""


def _noteOfDistances(pair: Pair) -> str:
    """Return what is left out, or that voxels were taken together."""
    ways = [way for ways in pair.done(distancesOf) or () for way in ways]
    step = max((way.step for way in ways), default=1)
    return _note(pair) if step == 1 else f"voxels alone in one mesh were taken together in cubes {step} voxels long"


VOXEL = (
    Definition(
        "AVD", "Average distance of voxels", "mm", 0, math.inf, "lower", "voxel", TAHA, Empty.INFINITE,
        "Mean distance from the voxels of one structure to the nearest of the other, the larger of the two directions; "
        "shared voxels count as 0.",
        lambda pair: voxels.averageDistance(pair.once(distancesOf)), isMain=True, identity=0,
        emptiness=_emptiness, note=_noteOfDistances, unitSetting=lambda settings: settings.voxelUnit,
        hint="Small structures and low density: less sensitive to single voxels than overlap.",
        formula=r"\mathrm{AVD} = \max\left(\frac{1}{n_A} \sum_{a \in A} \min_{b \in B} \lVert a - b \rVert, \; "
        r"\frac{1}{n_B} \sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
        code="metrics.voxels.averageDistance",
        steps=("metrics.voxels.VoxelDistances.mean",),
        deviation="The source's own program takes the mean of the two directions instead of the larger one.",
    ),
    Definition(
        "HDvox_{quantile}", "Hausdorff distance of voxels, quantile {quantile}", "mm", 0, math.inf, "lower", "voxel",
        TAHA, Empty.INFINITE,
        "Distance to the nearest voxel of the other structure that a share of {quantile} of all voxels does not "
        "exceed; the larger of the two directions.",
        lambda pair, quantile: voxels.hausdorff(pair.once(distancesOf), quantile), identity=0, trend="rising",
        emptiness=_emptiness, note=_noteOfDistances, unitSetting=lambda settings: settings.voxelUnit,
        hint="With quantile 1 a single outlier decides it: take a smaller one where outliers do not matter.",
        formula=r"\mathrm{HDvox}_q = \max\left(\mathrm{quantile}_q\left\lbrace \min_{b \in B} \lVert a - b "
        r"\rVert : a \in A \right\rbrace, \; "
        r"\mathrm{quantile}_q\left\lbrace \min_{a \in A} \lVert a - b \rVert : b \in B \right\rbrace\right)",
        code="metrics.voxels.hausdorff",
        steps=("metrics.voxels.VoxelDistances.quantile",),
    ),
    Definition(
        "MHD", "Mahalanobis distance", "", 0, math.inf, "lower", "voxel", TAHA, Empty.INFINITE,
        "Distance of the two centers in standard deviations of the voxels around them.",
        lambda pair: voxels.averageMahalanobis(pair.once(cutsOf)), identity=0,
        emptiness=_emptiness, note=_note,
        hint="Sees general shape and position only: 0 for concentric structures of any size.",
        formula=r"\mathrm{MHD} = \sqrt{(\mu_A - \mu_B)^\top S^{-1} (\mu_A - \mu_B)}, \quad "
        r"S = \frac{n_A S_A + n_B S_B}{n_A + n_B}",
        code="metrics.voxels.mahalanobis",
        steps=("metrics.voxels.moments",),
    ),
)  # fmt: skip

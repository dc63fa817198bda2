"""The registry's entries of the voxel family."""

from __future__ import annotations

import math

from ...comparison.definitions import TAHA, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as voxels
from .ofpair import cutsOf, distancesOf, emptinessOfCuts, noteOnCuts, noteOnDistances

AYDIN = "Aydin et al., doi:10.1186/s41747-020-00200-2"

VOXEL = (
    Definition(
        key="AVD", title="Average distance of voxels", family="voxel", source=TAHA,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Mean distance from the voxels of one structure to the nearest of the other, the larger of the two "
        "directions; shared voxels count as 0.",
        compute=lambda pair: voxels.averageDistance(pair.once(distancesOf)),
        needs=(Workspace.masks,),
        isMain=True, identity=0,
        emptiness=emptinessOfCuts, note=noteOnDistances, unitSetting=lambda settings: settings.voxelUnit,
        hint="Small structures and low density: less sensitive to single voxels than overlap.",
        formula=r"\mathrm{AVD} = \max\left(\frac{1}{n_A} \sum_{a \in A} \min_{b \in B} \lVert a - b \rVert, \; "
        r"\frac{1}{n_B} \sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
        code="families.voxel.formulas.averageDistance", alias="AVGDIST",
        steps=("families.voxel.formulas.VoxelDistances.mean",),
        deviation="The source's own program takes the mean of the two directions instead of the larger one.",
    ),
    Definition(
        key="bAVD", title="Balanced average distance of voxels", family="voxel", source=AYDIN,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Half the sum of the distances from all voxels of each structure to the nearest of the other, per "
        "voxel of the reference; shared voxels count as 0.",
        compute=lambda pair: voxels.balancedDistance(pair.once(distancesOf)),
        needs=(Workspace.masks,),
        symmetric=False, identity=0,
        emptiness=emptinessOfCuts, note=noteOnDistances, unitSetting=lambda settings: settings.voxelUnit,
        hint="Choose it to rank several tests of one reference: a large test does not dilute its own errors.",
        formula=r"\mathrm{bAVD} = \frac{1}{2 n_A} \left(\sum_{a \in A} \min_{b \in B} \lVert a - b \rVert + "
        r"\sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
        code="families.voxel.formulas.balancedDistance", alias="bAVD",
        steps=("families.voxel.formulas.VoxelDistances.total",),
    ),
    Definition(
        key="HDvox_{quantile}", title="Hausdorff distance of voxels, quantile {quantile}", family="voxel", source=TAHA,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Distance to the nearest voxel of the other structure that a share of {quantile} of all voxels "
        "does not exceed; the larger of the two directions.",
        compute=lambda pair, quantile: voxels.hausdorff(pair.once(distancesOf), quantile),
        needs=(Workspace.masks,),
        identity=0, trend="rising",
        emptiness=emptinessOfCuts, note=noteOnDistances, unitSetting=lambda settings: settings.voxelUnit,
        hint="With quantile 1 a single outlier determines it: take a smaller one where outliers do not matter.",
        formula=r"\mathrm{HDvox}_q = \max\left(\mathrm{quantile}_q\left\lbrace \min_{b \in B} \lVert a - b "
        r"\rVert : a \in A \right\rbrace, \; "
        r"\mathrm{quantile}_q\left\lbrace \min_{a \in A} \lVert a - b \rVert : b \in B \right\rbrace\right)",
        code="families.voxel.formulas.hausdorff", alias="HDRFDST",
        steps=("families.voxel.formulas.VoxelDistances.quantile",),
    ),
    Definition(
        key="MHD", title="Mahalanobis distance", family="voxel", source=TAHA,
        unit="", low=0, high=math.inf, better="lower", empty=Empty.INFINITE,
        description="Distance of the two centers in standard deviations of the voxels around them.",
        compute=lambda pair: voxels.averageMahalanobis(pair.once(cutsOf)),
        needs=(Workspace.masks,),
        identity=0,
        emptiness=emptinessOfCuts, note=noteOnCuts,
        hint="Sees general shape and position only: 0 for concentric structures of any size.",
        formula=r"\mathrm{MHD} = \sqrt{(\mu_A - \mu_B)^\top S^{-1} (\mu_A - \mu_B)}, \quad "
        r"S = \frac{n_A S_A + n_B S_B}{n_A + n_B}",
        code="families.voxel.formulas.mahalanobis", alias="MAHLNBS",
        steps=("families.voxel.formulas.moments",),
    ),
)  # fmt: skip

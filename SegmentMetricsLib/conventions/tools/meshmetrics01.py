"""MeshMetrics 0.1, the version of the paper."""

from __future__ import annotations

import math

from ..convention import DISTANCES, Convention, Number
from ..elements import masks
from ..meshes import Meshes, exactBands, numbersOf

WHERE = "from the centers of marching cubes' triangles, cut into four, to the other surface"

CONVENTION = Convention(
    key="MeshMetrics-0.1",
    tool="MeshMetrics",
    version="0.1.0",
    source="doi:10.48550/arXiv.2410.02630, https://github.com/gasperpodobnik/MeshMetrics",
    elements=Meshes(subdivisions=1, segments=5),
    numbers=numbersOf(
        WHERE,
        Number(
            exactBands,
            "biou({tolerance})",
            "exact overlap of the bands inside the two surfaces",
            masks,
            notReproducible="the program's grid of five points along each voxel errs by up to 2 %pt, in steps",
        ),
    ),
    oneEmpty={**dict.fromkeys(DISTANCES, math.inf), "": 0.0},
)

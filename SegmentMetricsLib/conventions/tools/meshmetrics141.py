"""MeshMetrics 1.4.1."""

from __future__ import annotations

import math

from ..bandrules import VoxelBands
from ..convention import DISTANCES, Convention, Number
from ..elements import masks
from ..meshes import Meshes, nearSurface, numbersOf

WHERE = "from the centers of marching cubes' triangles to the other surface"

CONVENTION = Convention(
    key="MeshMetrics-1.4.1",
    tool="MeshMetrics",
    version="1.4.1",
    source="https://pypi.org/project/pymeshmetrics",
    elements=Meshes(subdivisions=0, segments=0),
    numbers=numbersOf(
        WHERE,
        Number(
            VoxelBands(nearSurface),
            "biou({tolerance})",
            "voxel centers inside and closer than the tolerance to the own surface",
            masks,
        ),
    ),
    oneEmpty={**dict.fromkeys(DISTANCES, math.inf), "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, 0.0), "": 1.0},
)

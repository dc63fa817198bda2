"""MeshMetrics 1.4.1."""

from __future__ import annotations

import math

from ..convention import DISTANCES, Convention, Number, each
from ..elements import masks
from ..meshes import MeshBands, Meshes, numbersOf

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
            MeshBands(1),
            "biou({tolerance})",
            "voxel centers inside and closer than the tolerance to the own surface",
            masks,
        ),
    ),
    oneEmpty={**each(DISTANCES, math.inf), "": 0.0},
    bothEmpty={**each(DISTANCES, 0.0), "": 1.0},
)

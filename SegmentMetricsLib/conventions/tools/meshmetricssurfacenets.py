"""MeshMetrics of the repository in 2026, with surface nets."""

from __future__ import annotations

import math

from ..bandrules import VoxelBands
from ..convention import DISTANCES, Convention, Number
from ..elements import masks
from ..facenets import faces, nearFaces
from ..meshes import numbersOf

WHERE = "from the centers of the triangles of voxel faces to the other voxel faces"

CONVENTION = Convention(
    key="MeshMetrics-surfacenets",
    tool="MeshMetrics",
    version="0.2.1",
    source="https://github.com/gasperpodobnik/MeshMetrics",
    elements=faces,
    numbers=numbersOf(
        WHERE,
        Number(
            VoxelBands(nearFaces),
            "biou({tolerance})",
            "voxel centers inside and closer than the tolerance to the own surface",
            masks,
        ),
    ),
    oneEmpty={**dict.fromkeys(DISTANCES, math.inf), "": 0.0},
    bothEmpty={**dict.fromkeys(DISTANCES, 0.0), "": 1.0},
)

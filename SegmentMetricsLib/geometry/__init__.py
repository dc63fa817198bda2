"""Geometry: grids, masks, boundaries, and the ways from one to another.

A structure begins as a mask on a grid or as triangles. ``meshing`` makes the boundary of either (``surfaces.Surface``,
or ``contours`` where there is one slice), ``voxelization`` goes back to masks, ``slicing`` cuts, ``closest`` says
how far points are from a boundary.
"""

from __future__ import annotations

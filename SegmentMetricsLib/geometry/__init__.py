"""Geometry: grids, masks, boundaries, and the conversions between them.

A structure begins as a mask on a grid or as triangles. ``meshing`` makes the boundary of either (``surfaces.Surface``,
or ``contours`` where there is one slice), ``voxelization`` converts back to masks, ``slicing`` cuts into slices, and
``closest`` measures distances from points to a boundary.
"""

from __future__ import annotations

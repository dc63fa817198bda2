"""Agreement of voxels, after Taha and Hanbury."""

from __future__ import annotations

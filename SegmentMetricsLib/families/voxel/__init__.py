"""Distances between voxels, after Taha and Hanbury."""

from __future__ import annotations

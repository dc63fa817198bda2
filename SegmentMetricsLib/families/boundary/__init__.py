"""Distances between boundaries, and overlap of the bands along them."""

from __future__ import annotations

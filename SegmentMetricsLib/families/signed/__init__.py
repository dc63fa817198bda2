"""Signed and directional distances: over- and under-contouring."""

from __future__ import annotations

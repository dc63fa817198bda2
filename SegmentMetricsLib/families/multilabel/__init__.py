"""Overlap of all structures of an image at once."""

from __future__ import annotations

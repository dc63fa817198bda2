"""The formats of images and meshes; table.py lists them."""

from __future__ import annotations

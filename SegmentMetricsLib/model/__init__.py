"""What is compared: structures, their names, and images and meshes in memory."""

from __future__ import annotations

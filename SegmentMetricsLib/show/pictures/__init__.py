"""Pictures as PNG files, which need no graphics driver: a pair with its distances, and where observers differ."""

from __future__ import annotations

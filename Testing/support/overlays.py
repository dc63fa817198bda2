"""The picture of one comparison, on views of its own."""

from __future__ import annotations

from pathlib import Path


def writeOverlay(comparison, path: Path, *arguments, **options) -> Path:
    """Draw the picture of a comparison, write it as PNG and return the path. Further arguments: those of Overlay."""
    from SegmentMetricsLib.mrml import pictures

    with pictures.ViewCache() as cache:
        return pictures.Overlay(comparison, *arguments, **options).write(path, cache)

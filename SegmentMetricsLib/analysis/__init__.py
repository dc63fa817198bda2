"""What is shown of distances: worst places, sides, histograms."""

from __future__ import annotations

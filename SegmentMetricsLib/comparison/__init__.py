"""One comparison: two structures on a bench, their measurements, and what a reader should know about them."""

from __future__ import annotations

"""Every number, family by family: entries that declare it, the formulas, and what entries of a pair share."""

from __future__ import annotations

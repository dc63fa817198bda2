"""The family of slices has no single numbers to declare: its result is a table, the per-slice profile."""

from __future__ import annotations

from ...comparison.definitions import Definition

SLICES: tuple[Definition, ...] = ()

"""Batches of cases: their list, the tasks, the result files and the statistics."""

from __future__ import annotations

"""Many cases: the list of them, the tasks, what is written as they end, and what they have in common."""

from __future__ import annotations

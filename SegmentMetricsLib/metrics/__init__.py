"""Every number, one file per family, and what all of them have in common. Begin with metric.py and pair.py."""

from __future__ import annotations

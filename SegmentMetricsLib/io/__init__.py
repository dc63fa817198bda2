"""Reading, checking and writing files."""

from __future__ import annotations

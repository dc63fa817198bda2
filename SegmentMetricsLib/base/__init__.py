"""What everything stands on: errors, texts, progress, processors and processes, palettes."""

from __future__ import annotations

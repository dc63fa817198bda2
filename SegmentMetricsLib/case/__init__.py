"""The structures of one case: how they are paired, compared and judged."""

from __future__ import annotations

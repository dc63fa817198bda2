"""The report: a self-contained HTML file about one case, for screen and print."""

from __future__ import annotations

from .document import Report

__all__ = ["Report"]

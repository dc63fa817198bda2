"""The report: one HTML file about one case, complete in itself, for the screen and for paper."""

from __future__ import annotations

from .document import Report, requirePlotly

__all__ = ["Report", "requirePlotly"]

"""The report: a self-contained HTML file about one case, for screen and print."""

from __future__ import annotations

from .document import Report, requirePlotly

__all__ = ["Report", "requirePlotly"]

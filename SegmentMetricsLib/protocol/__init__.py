"""Protocols: which measurements of which structures must keep which limits, and the verdicts that follow."""

from __future__ import annotations

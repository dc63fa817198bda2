"""Findings: sentences that a reader of the numbers should know about a pair."""

from __future__ import annotations

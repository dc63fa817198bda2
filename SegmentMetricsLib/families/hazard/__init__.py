"""Errors weighted by their distance to critical structures: SIS, STAR and the stress test."""

from __future__ import annotations

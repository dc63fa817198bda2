"""Profiles slice by slice."""

from __future__ import annotations

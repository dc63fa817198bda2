"""Overlap and volumes."""

from __future__ import annotations

"""The Medical Similarity Index."""

from __future__ import annotations

"""What people read: tables, sentences, reports."""

from __future__ import annotations

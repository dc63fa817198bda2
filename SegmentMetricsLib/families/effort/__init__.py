"""How much of a contour has to be drawn again, and how far it was moved."""

from __future__ import annotations

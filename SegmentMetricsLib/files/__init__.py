"""Files: what is read, what is written, and what can be wrong with them."""

from __future__ import annotations

"""What a comparison is asked for, and how a wrong answer to that is refused."""

from __future__ import annotations

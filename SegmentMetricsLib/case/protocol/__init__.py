"""Protocols: limits for measurements of structures, and the resulting verdicts."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parent / "examples"


def exampleNames() -> list[str]:
    """Return the names of the protocols that come with the library."""
    return sorted(path.stem for path in EXAMPLES.glob("*.csv"))

"""Protocols: which measurements of which structures must keep which limits, and the verdicts that follow."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parent / "examples"


def exampleNames() -> list[str]:
    """Return the names of the protocols that come with the library."""
    return sorted(path.stem for path in EXAMPLES.glob("*.csv"))

"""What users can do wrong."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be compared or settings out of range; the message says what and which, in words for users."""

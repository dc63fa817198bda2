"""Slicer's translation of texts; without its application, as in tests of the model, they stay as they are."""

try:
    from slicer.i18n import tr as _
    from slicer.i18n import translate
except ImportError:

    def _(text: str) -> str:
        return text

    def translate(_context: str, text: str) -> str:
        """Return the text; Slicer's function looks it up in a context."""
        return text


__all__ = ["_", "translate"]

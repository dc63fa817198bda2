"""Slicer's translation of texts; without its application, as in tests of the model, they stay as they are."""

try:
    from slicer.i18n import tr as _
except ImportError:

    def _(text: str) -> str:
        return text


__all__ = ["_"]

"""The version of the distribution and of the extension."""

__version__ = "0.1.0"

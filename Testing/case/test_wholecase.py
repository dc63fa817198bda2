"""Why structures do not fit is decided for all structures of a case together, so that the explanations agree."""

from __future__ import annotations

"""The formulas: one file per family of metrics, as pure functions of arrays, masks and distances.

The measurements that call these functions, with their keys and units, are listed in ``registry``.
"""

from __future__ import annotations

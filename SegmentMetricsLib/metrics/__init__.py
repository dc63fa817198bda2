"""The formulas: one family of metrics a file, as pure functions of arrays, masks and distances.

Which measurement calls which function, under which key and unit, is said in ``registry``.
"""

from __future__ import annotations

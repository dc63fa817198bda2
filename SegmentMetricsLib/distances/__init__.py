"""Distances between two boundaries.

``surfacedistances.BoundaryPair`` is the entry point. Behind it ``lattice`` looks distances up where both masks lie on
one grid, ``geometry.closest`` searches everywhere else, and ``field`` defines the numbers.
"""

from __future__ import annotations

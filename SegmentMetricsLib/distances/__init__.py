"""Distances between two boundaries.

``surfacedistances.BoundaryPair`` is the entry point for a pair, and ``surfacedistances.measureTogether`` for many, of
which small masks of one grid are measured together. Behind them ``lattice`` looks distances up where both masks lie on
one grid, ``geometry.closest`` searches everywhere else, and ``field`` defines the numbers.
"""

from __future__ import annotations

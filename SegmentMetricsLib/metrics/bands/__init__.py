"""Boundary intersection over union: the overlap of the bands just inside two contours. Begin with methods.

methods: the choice of a way, by input and accuracy.
sizes: what every way returns, the sizes of the bands' intersection and union.

The ways:
lookup: by tables, for masks on one lattice.
bandsearch: by search, for any two closed boundaries; bandvoxels: at which points; depths: how deep these lie,
interpolated; importancesampling: which of them are searched as well, so that the result has no bias.
"""

from __future__ import annotations

"""Error estimates of extrapolated numbers; see refinement.py for the extrapolation."""

from __future__ import annotations

import numpy as np

from .crossing import total

# Fractions that remain as error after extrapolation: of the sum of differences, and of its random part, the root of the
# sum of squares. Means are smoother than sizes up to a limit, whose line jumps from one side of a kink to the other;
# they are smoother still when all sides were halved twice.
LEFT_OF_MEAN, LEFT_OF_FINE_MEAN, LEFT_OF_SIZE = (0.15, 0.3), (0.05, 0.3), (0.2, 1.0)
# In one of twenty pairs an error may reach this multiple of its estimate.
BOUNDS = 5.5
# Smallest error of a share: estimates from few elements are not more precise than this.
LEAST_SHARE_ERROR = 0.0003
# Rounding error of any distance, mm.
ROUNDING = 1e-6
# Relative rounding error of a sum of sizes.
SIZE_ROUNDING = 1e-12


def errorOf(differences: np.ndarray, left: tuple[float, float] = LEFT_OF_SIZE) -> float:
    """Return the estimated error of an extrapolated sum.

    differences: (n,) finer minus coarser summands. left: remaining fractions of their sum and of its random part.
    """
    root = total(differences, differences) ** 0.5
    return left[0] * abs(float(differences.sum())) + left[1] * root

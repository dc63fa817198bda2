"""How wrong extrapolated numbers may still be; see refinement.py for where they come from."""

from __future__ import annotations

import numpy as np

from .crossing import total

# What is left after extrapolation of a sum of differences, and of the part left to chance. Means are smoother than
# sizes up to a limit, whose line jumps from one side of a kink to the other; once more so when all sides were halved
# twice.
LEFT_OF_MEAN, LEFT_OF_FINE_MEAN, LEFT_OF_SIZE = (0.15, 0.3), (0.05, 0.3), (0.2, 1.0)
# How many times its estimate an error may be in one of twenty pairs.
BOUNDS = 5.5
# A share's error cannot be told more closely than this where few elements tell of it.
LEAST_SHARE_ERROR = 0.0003
# What rounding may add to any distance, mm.
ROUNDING = 1e-6
# What rounding may change in a sum of sizes, as a share of it.
SIZE_ROUNDING = 1e-12


def errorOf(differences: np.ndarray, left: tuple[float, float] = LEFT_OF_SIZE) -> float:
    """Return the estimated error of an extrapolated sum whose finer and coarser summands (n,) differ so much."""
    root = total(differences, differences) ** 0.5
    return left[0] * abs(float(differences.sum())) + left[1] * root

"""Matrix products that keep to their own thread."""

from __future__ import annotations

import numpy as np

# Multiplications of a matrix product up to which OpenBLAS, which numpy comes with, starts no threads of its own.
MULTIPLICATIONS = 1 << 18


def product(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the matrix product (n, m) of many rows (n, k) with a small matrix (k, m), worked out on this thread alone.

    The threads of numpy's matrix products wait for each other without letting go of their cores. Where anything else
    runs there, that takes many times as long as the product; and the last digits depend on how many there are.
    """
    result = np.empty((len(rows), matrix.shape[1]), np.result_type(rows, matrix))
    step = max(1, MULTIPLICATIONS // max(1, matrix.size))
    for first in range(0, len(rows), step):
        np.matmul(rows[first : first + step], matrix, out=result[first : first + step])
    return result

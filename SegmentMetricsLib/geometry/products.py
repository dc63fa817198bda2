"""Matrix products on a single thread."""

from __future__ import annotations

import numpy as np

from ..base.progress import chunks

# Up to this many multiplications in a matrix product, OpenBLAS, which comes with numpy, starts no threads.
MULTIPLICATIONS = 1 << 18


def product(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the matrix product (n, m) of many rows (n, k) with a small matrix (k, m), computed on this thread alone.

    The threads of numpy's matrix products wait for each other without releasing their cores. If anything else runs
    there, this takes many times as long as the product. The last digits also depend on the number of threads.
    """
    result = np.empty((len(rows), matrix.shape[1]), np.result_type(rows, matrix))
    step = max(1, MULTIPLICATIONS // max(1, matrix.size))
    for chosen in chunks(len(rows), step):
        np.matmul(rows[chosen], matrix, out=result[chosen])
    return result

"""How the C library hands out memory, where a process works through many structures of very different size."""

from __future__ import annotations

import os
import sys

# Names of two settings of glibc's mallopt(), and its variables that say the same.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
VARIABLES = "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"
# Bytes of an array from which on it has pages of its own. Of arrays of organs, which are smaller, those that were freed
# are used again, which is faster.
LARGE = 4 << 20


def giveBackLargeArrays() -> None:
    """Let the memory of every large array go back to the system as soon as the array is gone.

    By itself glibc, the C library of most Linux systems, does so only until the first large array is freed: from then
    on arrays of up to 32 MB share one heap, where those that live on hold fast what was freed around them. Of the
    largest structures that is up to a quarter of a GB. It takes no more time, as the heap keeps what smaller arrays
    leave. Nothing is changed on other systems, nor where the environment has set it.
    """
    if not sys.platform.startswith("linux") or any(name in os.environ for name in VARIABLES):
        return
    import ctypes

    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:  # other C libraries of Linux have none
        setting(M_MMAP_THRESHOLD, LARGE)
        # as glibc itself would choose for that
        setting(M_TRIM_THRESHOLD, 2 * LARGE)

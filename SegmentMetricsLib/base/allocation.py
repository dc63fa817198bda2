"""Memory allocation of the C library, for processes that work through many structures of very different sizes."""

from __future__ import annotations

import sys

# Two parameters of glibc's mallopt().
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
# Arrays of at least this many bytes are allocated in pages of their own. Those of organs are smaller; they reuse freed
# memory, which is faster.
LARGE = 4 << 20


def giveBackLargeArrays() -> None:
    """Make the C library return the memory of every large array to the system as soon as the array is freed.

    By default glibc, the C library of most Linux systems, does so only until the first large array is freed. From then
    on arrays of up to 32 MB share one heap, where live arrays prevent freed memory around them from being returned: up
    to a quarter of a GB for the largest structures. The change costs no time, as the heap still keeps the memory of
    smaller arrays. Nothing is changed on other systems.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:  # other C libraries on Linux do not have it
        setting(M_MMAP_THRESHOLD, LARGE)
        # the ratio that glibc itself uses
        setting(M_TRIM_THRESHOLD, 2 * LARGE)

"""What the headers of several formats have in common: they must say where an image lies, in numbers that make sense.

The readers silently ignore what they do not understand (a position that is not a number becomes 0, a length in cm is
taken as mm), and crash on some headers. Neither must affect a patient.
"""

from __future__ import annotations

import gzip
import math
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from xml.parsers import expat

import numpy as np

from ...base.errors import InputError
from ...geometry.grids import requireScale

# What reading damaged bytes raises.
DAMAGES = (ValueError, LookupError, ArithmeticError, EOFError, struct.error, zlib.error, expat.ExpatError)
# Longer than any header, in bytes.
LONGEST_HEADER = 100_000_000
# A numbered series of data files: a name with one number format, then first, last and step.
SERIES = re.compile(r"[^%]*%0?\d{0,2}d[^%]*( -?\d+){3,4}")
MILLIMETERS = frozenset({"", "mm", "millimeter", "millimeters", "millimetre", "millimetres", "?", "???"})
NO_PLACE = "the file does not say where in the patient the image lies, so its first voxel was taken to be at the origin"
NO_VOXEL_SIZE = "the file does not say how large its voxels are: they were taken to be 1 mm along each axis"
NO_NUMBER = "its header has a place or a voxel size that is not a number."
NO_SIZE = "its header has a voxel that is 0 mm long."
NO_VOLUME = "the axes in its header do not span space."


@contextmanager
def refuseDamage(said: str) -> Iterator[None]:
    """Raise InputError that says so in place of what reading damaged bytes raises inside the block."""
    try:
        yield
    except InputError:
        raise
    except (*DAMAGES, gzip.BadGzipFile) as error:
        raise InputError(said) from error


def tellMissing(isVoxelKnown: bool, isPlaceKnown: bool) -> tuple[str, ...]:
    """Return remarks on what a header does not say."""
    return (() if isVoxelKnown else (NO_VOXEL_SIZE,)) + (() if isPlaceKnown else (NO_PLACE,))


def numbers(text: str) -> list[float]:
    """Return the numbers in a text. Raises InputError for what is no number."""
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(NO_NUMBER) from None


def requirePlace(places: list[float], lengths: list[float]) -> None:
    """Raise InputError for coordinates that are no numbers or too large, and for lengths of voxels that are 0."""
    if not all(map(math.isfinite, places)):
        raise InputError(NO_NUMBER)
    if 0 in lengths:
        raise InputError(NO_SIZE)
    requireScale(max(map(abs, places), default=0.0), min(lengths, default=1.0))


def spansSpace(axes: np.ndarray) -> bool:
    """Return whether vectors, the rows of (n, n), are finite and linearly independent."""
    lengths = np.linalg.norm(axes, axis=1)
    isLong = bool(np.isfinite(axes).all() and lengths.all())
    return isLong and bool(abs(np.linalg.det(axes / lengths[:, None])) > 1e-6)


def requireMillimeters(unit: str) -> None:
    """Raise InputError for any other unit of length."""
    if unit.strip().lower() not in MILLIMETERS:
        raise InputError(f"its header gives lengths in {unit.strip()[:20]} instead of mm.")


def requireDataFile(name: str) -> None:
    """Raise ValueError for a data file name that the readers would use as a number format although it is not one."""
    if "%" in name and not SERIES.fullmatch(name):
        raise ValueError("The name of the data file is wrong.")


def unicodeText(value: str) -> str:
    """Return a header's text; text that is not UTF-8 is decoded as Latin-1, the most common alternative."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


def normal(along: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the unit vector (3,) at right angles to two vectors that are not parallel."""
    across = np.cross(along, down)
    return across / np.linalg.norm(across)

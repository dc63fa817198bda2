"""Qt's enumerators as PythonQt shows them: numbers."""

from __future__ import annotations

import enum


class Enumerator(int):
    """An enumerator or a combination of flags: a number that remembers which Qt type it has."""

    native: enum.Enum

    def __new__(cls, native: enum.Enum):
        self = super().__new__(cls, native.value)
        self.native = native
        return self

    def _combine(self, other, operation):
        value = operation(int(self), int(other))
        try:
            return Enumerator(type(self.native)(value))
        except ValueError:  # not a flag: an ordinary number
            return value

    def __or__(self, other):
        return self._combine(other, int.__or__)

    def __and__(self, other):
        return self._combine(other, int.__and__)

    def __xor__(self, other):
        return self._combine(other, int.__xor__)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __invert__(self):
        try:
            return Enumerator(~self.native)
        except TypeError:
            return ~int(self)

    def __repr__(self) -> str:
        return f"{self.native.name} (0x{int(self):08x})"

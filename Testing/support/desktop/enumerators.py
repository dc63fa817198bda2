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

    def __or__(self, other):
        return Enumerator(type(self.native)(int(self) | int(other)))

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"{self.native.name} (0x{int(self):08x})"

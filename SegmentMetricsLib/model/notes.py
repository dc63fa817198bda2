"""Remarks from reading a structure, which can be said of it by another name."""

from __future__ import annotations


class Note(str):
    """A remark that begins with the structure: "it ...", "its ..." or "3 of its ..."; a plain string to other code.

    isOwner: whether it begins with what belongs to the structure, as "its". number: of so many of these, 0 for all.
    rest: what follows.
    """

    isOwner: bool
    number: int
    rest: str

    def __new__(cls, rest: str, isOwner: bool = True, number: int = 0) -> Note:
        note = super().__new__(cls, f"{_many(number)}{'its' if isOwner else 'it'} {rest}")
        note.rest, note.isOwner, note.number = rest, isOwner, number
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, bool, int]]:
        return type(self), (self.rest, self.isOwner, self.number)

    def about(self, name: str) -> str:
        """Return the remark as the beginning of a sentence about the structure of a name."""
        said = f"{_many(self.number)}{name}{chr(39) + 's' if self.isOwner else ''} {self.rest}"
        return said[0].upper() + said[1:]


def _many(number: int) -> str:
    return f"{number} of " if number else ""

"""Remarks from reading a structure, which can be said of it by another name."""

from __future__ import annotations


class Note(str):
    """A remark that begins with the structure: "it ...", "its ..." or "3 of its ..."; a plain string to other code.

    rest: what follows. isPossessive: whether it begins with "its". number: of so many of what follows, 0 for all.
    """

    rest: str
    isPossessive: bool
    number: int

    def __new__(cls, rest: str, isPossessive: bool = True, number: int = 0) -> Note:
        note = super().__new__(cls, _say("its" if isPossessive else "it", rest, number))
        note.rest, note.isPossessive, note.number = rest, isPossessive, number
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, bool, int]]:
        return type(self), (self.rest, self.isPossessive, self.number)

    def about(self, name: str) -> str:
        """Return the remark about the structure of a name, with a capital letter and without a period."""
        said = _say(f"{name}'s" if self.isPossessive else name, self.rest, self.number)
        return said[0].upper() + said[1:]


def _say(owner: str, rest: str, number: int) -> str:
    return f"{f'{number} of ' if number else ''}{owner} {rest}"

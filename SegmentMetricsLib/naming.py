"""Names and codes of structures: which spellings mean the same, and which side of the body they are on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

LEFT, RIGHT = "left", "right"
# Between the two names of a pair.
PAIR_JOINT = " / "
SIDE_WORDS = {
    **dict.fromkeys(("l", "lt", "lft", "left"), LEFT),
    **dict.fromkeys(("r", "rt", "rgt", "right"), RIGHT),
}
# Words that AAPM Task Group 263 (doi:10.1016/j.ijrobp.2017.12.013) shortens in the names of organs.
ABBREVIATIONS = {"glnd": "gland", "nrv": "nerve", "submand": "submandibular"}
# Words that are left out as often as they are written.
DISPENSABLE = frozenset({"gland"})
# What Slicer writes for a segment that nobody gave a meaning: SNOMED CT's "Tissue", in its own and its older codes.
UNSPECIFIC = frozenset({("SCT", "85756007"), ("SRT", "T-D0050")})
# Lung+5mm is not Lung-5mm, Dose>50% not Dose<50%; AAPM Task Group 263 puts ~ before partial structures and ! behind
# those that were cropped. Others only separate words, also < and > as brackets.
SIGNS = r"[+~!\u2212]|[<>](?=\s*=?\s*\d)"
# A hyphen before a target takes it away: Lungs-GTV are the lungs without it. Elsewhere it separates words, as in
# Optic-Nerve, and also behind what only says which target it is, as in HR-CTV or Boost-PTV.
MINUS = "\u2212"
HYPHEN_BEFORE_TARGET = re.compile(r"\s*[-\u2013]\s*(?=i?(?:[gcp]tv|itv))", re.IGNORECASE)
QUALIFIERS = frozenset(
    ("high", "low", "mid", "intermediate", "risk", "dose", "boost", "opt", "eval", "plan", "total", "sum", "initial",
     "final", "primary", "nodal", "node", "nodes", "old", "new")
)  # fmt: skip
SIDE_CODES = {
    ("SCT", "7771000"): LEFT,
    ("SRT", "G-A101"): LEFT,
    ("SCT", "24028007"): RIGHT,
    ("SRT", "G-A100"): RIGHT,
}


@dataclass(frozen=True)
class Name:
    """What a structure's name says.

    words: in order, in small letters, without the side. side: "left", "right" or "".
    """

    words: tuple[str, ...]
    side: str

    @property
    def spelled(self) -> tuple[str, str]:
        """Equal for names that differ in case and separators only, or in how and where they write the side."""
        return _joined(self.words), self.side

    @property
    def meaning(self) -> tuple[str, str]:
        """Equal also for names with their words in another order, in full or shortened, with "gland" or without."""
        words = [word for part in _parts(self.words) for word in sorted(ABBREVIATIONS.get(word, word) for word in part)]
        return _joined([word for word in words if word not in DISPENSABLE] or words), self.side

    @property
    def standard(self) -> str:
        """The name in one fixed form, like parotid_l."""
        return "_".join(filter(None, (_joined(self.words), self.side[:1])))


def parse(name: str) -> Name:
    """Return the words and the side of a structure's name.

    Words end at anything but letters and numbers, and where a small letter is followed by a capital. Signs that tell
    structures apart are words. A side is a word of its own: L, Lt, Left and so on, anywhere; not if a number follows,
    as in the vertebra "L 1".
    """
    text = _withMinus(unicodedata.normalize("NFKC", name).replace(MINUS, "-"))
    words = re.findall(f"{SIGNS}|[^\\W_]+", _apart(text).casefold())
    isSide = [word in SIDE_WORDS and not (following[:1].isdigit()) for word, following in zip(words, [*words[1:], ""])]
    sides = {SIDE_WORDS[word] for word, found in zip(words, isSide) if found}
    rest = tuple(word for word, found in zip(words, isSide) if not found)
    # a name that is nothing but a side, or names both, has no side to compare
    return Name(rest, sides.pop()) if rest and len(sides) == 1 else Name(tuple(words), "")


def _apart(text: str) -> str:
    """Return a name with a space where a small letter is followed by a capital."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)


def _withMinus(text: str) -> str:
    """Return a name with a minus sign in place of a hyphen that takes a target away."""

    def sign(found: re.Match) -> str:
        before = re.findall(r"[^\W\d_]{3,}", _apart(text[: found.start()]).casefold())
        return MINUS if any(word not in SIDE_WORDS and word not in QUALIFIERS for word in before) else found.group()

    return HYPHEN_BEFORE_TARGET.sub(sign, text)


def _parts(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the words cut before every minus: what is taken away is not what it is taken from."""
    starts = [0, *(number for number, word in enumerate(words) if word == MINUS), len(words)]
    return [words[start:end] for start, end in pairwise(starts)]


def _joined(words) -> str:
    """Return words as one, so that SpinalCord is Spinal_Cord; numbers stay apart, so that 1 2 is not 12."""
    return re.sub(r"(?<=\d) (?=\d)", "_", " ".join(words)).replace(" ", "")


def oppositeSides(first: str, second: str) -> bool:
    """Return whether one name says left and the other right."""
    return {parse(first).side, parse(second).side} == {LEFT, RIGHT}


@dataclass(frozen=True)
class Code:
    """What a segment is by its terminology.

    parts: (scheme, value) of its type, the type's modifier, its region, the region's modifier. side: as for names.
    """

    parts: tuple[tuple[str, str], ...]
    side: str


def parseTerminology(entry: str) -> Code | None:
    """Return the code in a segment's terminology entry as Slicer writes it; None if there is none or it says nothing.

    The entry is context~category~type~modifier~region context~region~region modifier, each scheme^value^meaning.
    """
    parts = entry.split("~")
    if len(parts) not in (4, 7):
        return None
    triplets = [parts[n].split("^") for n in (2, 3, 5, 6) if n < len(parts)]
    codes = tuple((t[0], t[1]) if len(t) == 3 and t[1] else ("", "") for t in triplets)
    codes += (("", ""),) * (4 - len(codes))
    region = codes[2]
    if not all(codes[0]) or (codes[0] in UNSPECIFIC and not all(region)):
        return None
    sides = {SIDE_CODES[code] for code in codes if code in SIDE_CODES}
    return Code(codes, sides.pop() if len(sides) == 1 else "")


def pairTitle(names: Iterable[str]) -> str:
    """Return what a pair is called, by the names of its two structures: "Lens-Lt / Lens_L", or the one that they share.

    It is also what a pair that could not be compared is called among failures.
    """
    return PAIR_JOINT.join(dict.fromkeys(names))

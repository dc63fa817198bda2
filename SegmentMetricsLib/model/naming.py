"""Names and codes of structures: equivalent spellings, and sides of the body."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from ..base.errors import InputError
from ..base.texts import commaSeparated, didYouMean

LEFT, RIGHT = "left", "right"
# Separates the two names of a pair.
PAIR_JOINT = " / "
# How people give a label by its number.
LABEL = re.compile(r"(?:label[\s_-]*)?(\d+)", re.IGNORECASE | re.ASCII)
# In patterns of names.
WILDCARDS = "*?"
SIDE_WORDS = {**dict.fromkeys(("l", "lt", "lft", "left"), LEFT), **dict.fromkeys(("r", "rt", "rgt", "right"), RIGHT)}
# Words that AAPM Task Group 263 (doi:10.1016/j.ijrobp.2017.12.013) abbreviates in the names of organs.
ABBREVIATIONS = {"glnd": "gland", "nrv": "nerve", "submand": "submandibular"}
# Words that are often omitted.
DISPENSABLE = frozenset({"gland"})
# Codes that Slicer writes for a segment without a terminology: "Tissue", in SNOMED CT's current and older codes.
UNSPECIFIC = frozenset({("SCT", "85756007"), ("SRT", "T-D0050")})
# Signs that distinguish structures: Lung+5mm from Lung-5mm, Dose>50% from Dose<50%. AAPM Task Group 263 puts ~ before
# partial structures and ! after cropped ones. Other signs only separate words, as do < and > as brackets.
SIGNS = r"[+~!\u2212]|[<>](?=\s*=?\s*\d)"
# A hyphen before a target subtracts it: Lungs-GTV are the lungs without it. Elsewhere it separates words, as in
# Optic-Nerve, and also after a word that only qualifies the target, as in HR-CTV or Boost-PTV.
MINUS = "\u2212"
HYPHEN_BEFORE_TARGET = re.compile(r"\s*[-\u2013]\s*(?=i?(?:[gcp]tv|itv))", re.IGNORECASE)
QUALIFIERS = {
    *("high", "low", "mid", "intermediate", "risk", "dose", "total", "sum", "old", "new"),
    *("boost", "opt", "eval", "plan", "initial", "final", "primary", "nodal", "node", "nodes"),
}
SIDE_CODES = {("SCT", "7771000"): LEFT, ("SRT", "G-A101"): LEFT, ("SCT", "24028007"): RIGHT, ("SRT", "G-A100"): RIGHT}


@dataclass(frozen=True)
class Name:
    """The parsed name of a structure. words: in order, in lower case, without the side. side: "left", "right" or ""."""

    words: tuple[str, ...]
    side: str

    @property
    def spelled(self) -> tuple[str, str]:
        """Equal for names that differ only in case and separators, or in the spelling and position of the side."""
        return _joinWords(self.words), self.side

    @property
    def meaning(self) -> tuple[str, str]:
        """Equal also for names that differ in word order, in abbreviations, or in the word "gland"."""
        words = [word for part in _parts(self.words) for word in sorted(ABBREVIATIONS.get(word, word) for word in part)]
        return _joinWords([word for word in words if word not in DISPENSABLE] or words), self.side

    @property
    def standard(self) -> str:
        """The name in one fixed form, like parotid_l."""
        return "_".join(filter(None, (_joinWords(self.words), self.side[:1])))


def parse(name: str) -> Name:
    """Return the words and the side of a structure's name.

    Words end at anything but letters and digits, and where a lower-case letter is followed by a capital. Signs that
    distinguish structures are words. A side is a separate word at any position: L, Lt, Left and so on, unless a number
    follows, as in the vertebra "L 1".
    """
    text = _withMinus(unicodedata.normalize("NFKC", name).replace(MINUS, "-"))
    words = re.findall(f"{SIGNS}|[^\\W_]+", _apart(text).casefold())
    isSide = [word in SIDE_WORDS and not (following[:1].isdigit()) for word, following in zip(words, [*words[1:], ""])]
    sides = {SIDE_WORDS[word] for word, found in zip(words, isSide) if found}
    rest = tuple(word for word, found in zip(words, isSide) if not found)
    # a name that consists only of a side, or contains both, has no side to compare
    return Name(rest, sides.pop()) if rest and len(sides) == 1 else Name(tuple(words), "")


def separateWords(name: str) -> str:
    """Return a name in lower case with one underscore between its words, like optic_nerve_lt; signs remain."""
    return re.sub(r"[\s_.-]+", "_", _apart(_withMinus(unicodedata.normalize("NFKC", name))).casefold())


def _apart(text: str) -> str:
    """Return a name with a space between words in camel case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)


def _withMinus(text: str) -> str:
    """Return a name with a minus sign in place of each hyphen that subtracts a target."""

    def sign(found: re.Match) -> str:
        before = re.findall(r"[^\W\d_]{3,}", _apart(text[: found.start()]).casefold())
        return MINUS if any(word not in SIDE_WORDS and word not in QUALIFIERS for word in before) else found.group()

    return HYPHEN_BEFORE_TARGET.sub(sign, text)


def _parts(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the words split before every minus, so that subtracted structures are not mixed with the others."""
    starts = [0, *(number for number, word in enumerate(words) if word == MINUS), len(words)]
    return [words[start:end] for start, end in pairwise(starts)]


def _joinWords(words) -> str:
    """Return words joined, so that SpinalCord equals Spinal_Cord; numbers stay separate, so that 1 2 is not 12."""
    return re.sub(r"(?<=\d) (?=\d)", "_", " ".join(words)).replace(" ", "")


def oppositeSides(first: str, second: str) -> bool:
    """Return whether one name is of a left structure and the other of a right one."""
    return {parse(first).side, parse(second).side} == {LEFT, RIGHT}


@dataclass(frozen=True)
class Code:
    """The meaning of a segment by its terminology.

    parts: (scheme, value) of its type, the type's modifier, its region, the region's modifier. side: as for names.
    """

    parts: tuple[tuple[str, str], ...]
    side: str


def parseTerminology(entry: str) -> Code | None:
    """Return the code in a segment's terminology entry as Slicer writes it; None if it is missing or unspecific.

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
    """Return the title of a pair, from the names of its two structures: "Lens-Lt / Lens_L", or the name they share.

    Pairs that could not be compared have the same title among failures.
    """
    return PAIR_JOINT.join(dict.fromkeys(names))


def findMeant(given: str, names: Iterable[str]) -> list[str]:
    """Return those of some names that a given one means.

    It is itself, or all that fit it if it is a pattern, or else all that differ from it only in spelling.
    """
    names = list(dict.fromkeys(names))
    if given in names:
        return [given]
    if isPattern(given):
        return [name for name in names if fits(given, name)]
    spelled = parse(given).spelled
    return [name for name in names if parse(name).spelled == spelled]


def onlyMeant(given: str, names: Collection[str], what: str) -> str:
    """Return the only one of some names that a given one means. Raises InputError unless there is one.

    what: has these names, with {} for the given one in the message.
    """
    meant = findMeant(given, names)
    if len(meant) != 1:
        there = f"choose from {commaSeparated(meant or names)}" if names else "none is given"
        number, hint = ("more than one", "") if meant else ("no", hintAt(given, names))
        raise InputError(f"There is {number} {what.format(repr(given))}; {there}.{hint}")
    return meant[0]


def labelNumber(name: str) -> int | None:
    """Return the number of the label that a name such as 5 or Label 5 means, None for other names."""
    found = LABEL.fullmatch(name.strip())
    return found and int(found[1])


def isPattern(name: str) -> bool:
    """Return whether a name stands for all that fit it: with * for any characters, or ? for one."""
    return any(character in name for character in WILDCARDS)


def fits(pattern: str, name: str) -> bool:
    """Return whether a name fits a pattern.

    It is compared, in lower case, as it is and in its standard form, which is parotid_l for the left parotid, and once
    more regardless of separators.
    """
    folded = pattern.casefold()
    forms = ((name.casefold(), folded), (parse(name).standard, folded), (separateWords(name), separateWords(pattern)))
    # brackets are ordinary characters in names
    return any(fnmatchcase(form, own.replace("[", "[[]")) for form, own in forms)


def hintAt(given: str, names: Iterable[str]) -> str:
    """Return a sentence to append to a message about an unknown name: which names have it as a part, or a similar one.

    It begins with a space, and is "" if there is no such name.
    """
    names = list(dict.fromkeys(names))
    parts = [name for name in names if separateWords(given).strip("_") in separateWords(name)] if given.strip() else []
    return f" It fits several: {commaSeparated(parts)}." if len(parts) > 1 else didYouMean(given, parts or names)


def placeOf(given: str, called: Sequence[Collection[str]]) -> int:
    """Return the place of the only item that a name means, in any spelling. called: what each item is called.

    Raises KeyError, with the names that there are, unless there is one.
    """
    exact = [place for place, names in enumerate(called) if given in names]
    found = exact or [place for place, names in enumerate(called) if findMeant(given, names)]
    if len(found) == 1:
        return found[0]
    several = list(dict.fromkeys(name for place in found for name in called[place]))
    if several:
        raise KeyError(f"{given!r} fits several structures: {commaSeparated(several)}.")
    known = list(dict.fromkeys(name for names in called for name in names))
    raise KeyError(f"There is no structure {given!r} here; choose from {commaSeparated(known)}.{hintAt(given, known)}")


def onlyIn(unmatched: Mapping[str, Iterable[str]], failures: Iterable[str] = ()) -> list[str]:
    """Return for each side that alone has some structures "Only in the reference: Lens_L, Lens_R".

    unmatched: the names of these structures by side. failures: names of structures that could not be used; a structure
    is left out if the other side has it but cannot use it.
    """
    failures = list(failures)
    found = {side: notAmong(names, failures) for side, names in unmatched.items()}
    return [f"Only in the {side}: {commaSeparated(names)}" for side, names in found.items() if names]


def notAmong(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the names that match none of the others, in any spelling."""
    spelled = {parse(other).spelled for other in others}
    return [name for name in names if parse(name).spelled not in spelled]

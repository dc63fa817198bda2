"""The pairs of structures that the user has edited, as the parameter node keeps them."""

from collections.abc import Sequence

from .segments import segmentNames

# How a pair was found, as stored in the parameter node in every language: chosen by the user, or by overlap, which is
# followed by the Dice similarity coefficient.
CHOSEN, OVERLAP = "chosen", "overlap"


def entriesOf(parameters) -> list[tuple[str, str, str]]:
    """Return the edited pairs: reference name, test name ("" for none), and how the pair was found.

    Only entries whose structures are in the chosen segmentations are returned; the others are kept until their
    segmentations are chosen again.
    """
    known = [set(segmentNames(parameters.reference)), {"", *segmentNames(parameters.test)}]
    return [entry for entry in entriesIn(parameters.pairs) if entry[0] in known[0] and entry[1] in known[1]]


def choicesOf(parameters) -> dict[str, str | None]:
    """Return the edited pairs in the form that pairing.pairStructures expects."""
    return {reference: test or None for reference, test, _how in entriesOf(parameters)}


def swapped(pairs: Sequence[str]) -> list[str]:
    """Return the edited pairs with reference and test exchanged, without the structures that have no counterpart."""
    return [text for reference, test, how in entriesIn(pairs) if test for text in (test, reference, how)]


def entriesIn(pairs: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the edited pairs that a parameter holds, where they are flattened."""
    texts = list(pairs)
    return list(zip(texts[::3], texts[1::3], texts[2::3]))

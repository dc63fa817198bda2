"""Explanations of why structures do not fit, decided for all pairs of a case together.

A file in another unit, with other axes or with left and right exchanged holds all its structures that way. So
structures that fit as they are refute such an explanation for the others, and of two explanations the one that explains
more pairs is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...metrics.findings import ALIKE, UNITS, Kind, asFinding, shareOfBoxes
from ...model.structures import Match

AXES = np.array([-1, -1, 1])


def refute(matches: Sequence[Match]) -> list[frozenset[Kind]]:
    """Return for each pair the kinds of findings that the other pairs of the case refute."""
    known = [n for n, (r, t) in enumerate(matches) if not (r.isEmpty or t.isEmpty) and r.dimension == t.dimension == 3]
    found: list[set[Kind]] = [set() for _ in matches]
    if len(known) < 2:
        return [frozenset(kinds) for kinds in found]
    pairs = [matches[n] for n in known]
    reference, test = (np.array([s.box for s in structures]) for structures in zip(*pairs, strict=True))
    areAlike = shareOfBoxes(test, reference) > ALIKE
    turned = shareOfBoxes(np.sort(test * AXES, axis=1), reference) > ALIKE
    mirrored = _fitMirrored(pairs, reference, test)
    exchanged = np.array([any(asFinding(text).kind == Kind.EXCHANGED for text in match.findings) for match in pairs])
    if _isRefuted(turned, areAlike):
        turned[:] = False
        for number in known:
            found[number].add(Kind.OTHER_AXES)
    if _isRefuted(mirrored, areAlike):
        mirrored[:] = False
    # the simplest first: of explanations of equally many pairs it is taken
    explained = {Kind.EXCHANGED: exchanged, Kind.MIRRORED: mirrored & ~areAlike, Kind.OTHER_AXES: turned & ~areAlike}
    best = max(explained, key=lambda kind: explained[kind].sum())
    for number, isExplained in zip(known, explained[best], strict=True):
        if isExplained:
            found[number] |= {Kind.OTHER_STRUCTURE, *explained} - {best}
    for number, isFitting in zip(known, _inAnotherUnit(pairs, reference, test, areAlike), strict=True):
        if not isFitting:
            found[number].add(Kind.OTHER_UNITS)
    return [frozenset(kinds) for kinds in found]


def _isRefuted(fits: np.ndarray, areAlike: np.ndarray) -> bool:
    """Return whether an explanation contradicts at least as many pairs (n,) that fit as they are as it explains."""
    return bool((areAlike & ~fits).sum() >= max((fits & ~areAlike).sum(), 1))


def _fitMirrored(pairs: Sequence[Match], reference: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return which tests (n,) fit mirrored at one plane: the patient's origin, or the middle of one of the images."""
    grids = {id(s.samplingGrid): s.samplingGrid for match in pairs for s in match if s.samplingGrid is not None}
    planes = {0.0, *(round(float(grid.corners()[:, 0].mean()), 3) for grid in grids.values())}

    def fitsAt(plane: float) -> np.ndarray:
        boxes = test.copy()
        boxes[:, :, 0] = 2 * plane - test[:, ::-1, 0]
        return shareOfBoxes(boxes, reference) > ALIKE

    return max((fitsAt(plane) for plane in sorted(planes)), key=np.sum)


def _inAnotherUnit(pairs: Sequence[Match], reference: np.ndarray, test: np.ndarray, areAlike: np.ndarray) -> np.ndarray:
    """Return which pairs (n,) may fit in another unit, which is that of a whole file."""
    result = np.zeros(len(pairs), bool)
    for own, other, which in ((test, reference, "test"), (reference, test, "reference")):
        files = np.array([getattr(match, which).file for match in pairs])
        for scale in UNITS:
            fits = shareOfBoxes(scale * own, other) > ALIKE
            for number in np.flatnonzero(fits):
                same = files == files[number] if files[number] else np.ones(len(files), bool)
                result[number] |= not _isRefuted(fits & same, areAlike & same)
    return result

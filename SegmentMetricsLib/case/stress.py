"""The matched-Dice stress test: two variants of a structure with equal Dice coefficients, one risky and one not.

The same number of boundary voxels is removed and added in both: in the risky variant those with the most hazard, in the
neutral one those with the least. A metric that is sensitive to risk distinguishes the two.
Source: Beyond Dice: SIS and STAR, section 2.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..base.errors import InputError, Undefined
from ..geometry.masks import Mask, boxAround
from ..metrics.pair import Pair
from ..model.inputs import HALF, imageFromArray, requireUse
from ..model.structure import Structure
from ..settings.settings import Settings, asSettings
from .comparison import Comparison, compare
from .given import Comparable, asCriticals, asStructure

# Fraction of the inner boundary that is removed unless a count is given.
USUAL_SHARE = 0.1
# Beyond this, both variants would share voxels.
LARGEST_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class StressTest:
    """Both variants of a structure, each compared with it; the variant is the comparison's test.

    Parameters
    ----------
    risky : Comparison
        The comparison of the variant with the most hazardous errors.
    neutral : Comparison
        The comparison of the variant with the least hazardous errors.
    count : int
        Number of voxels removed, and of voxels added, in each variant.
    inner, outer : int
        Number of voxels of the boundaries from which they are chosen.
    varies : bool
        Whether some of these voxels are more hazardous than others.
    """

    risky: Comparison
    neutral: Comparison
    count: int
    inner: int
    outer: int
    varies: bool

    def __repr__(self) -> str:
        return f"<StressTest of {self.risky.reference.name}: {self.count} voxels removed and added per variant>"

    @property
    def variants(self) -> dict[str, Comparison]:
        """The comparisons of both variants by name."""
        return {"risky": self.risky, "neutral": self.neutral}


def stressTest(
    reference: Comparable,
    criticals: Mapping[str, Comparable],
    settings: Settings | None = None,
    *,
    count: int | None = None,
    share: float = USUAL_SHARE,
    name: str | int | None = None,
    spacing: float | Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    direction: Sequence | np.ndarray | None = None,
) -> StressTest:
    """Return a risky and a neutral variant of a structure and all measurements of both.

    The inner boundary consists of the structure's voxels that share a face with the outside, the outer boundary of the
    voxels outside that share a face with the structure; neither extends beyond the edge of the image. Voxels of equal
    hazard are ordered as in the image.

    Parameters
    ----------
    reference : Comparable
        An image, an array or a file of one mask, or a Structure with voxels.
    criticals : Mapping[str, Comparable]
        Critical structures by name, of the kinds that compare() takes.
    settings : Settings | None, optional
        None means boundary, overlap and hazard; the families overlap and hazard are added if missing, and the grid is
        always the reference's image.
    count : int | None, optional
        Number of voxels to remove, and of voxels to add; None takes the share of the inner boundary, at least 1.
    share : float, optional
        Share of the inner boundary's voxels, in (0, 0.5].
    name : str | int | None, optional
        The structure in a file that holds several, in any spelling.
    spacing, origin, direction : optional
        Of arrays, as for compare().

    Returns
    -------
    StressTest

    Raises
    ------
    InputError
        When the structure has no voxels, a boundary has fewer than twice the count, there is no hazard, or the
        structure itself is a critical one.
    """
    if not 0 < share <= LARGEST_SHARE:
        raise InputError(f"The share of the boundary to change must be greater than 0 and at most 0.5, not {share}.")
    settings = Settings(families=("boundary", "overlap", "hazard")) if settings is None else asSettings(settings)
    toImage = partial(imageFromArray, spacing=spacing, origin=origin, direction=direction)
    # only whole voxels are removed and added
    threshold = HALF if settings.threshold is None else settings.threshold
    families = (*settings.families, "overlap", "hazard")
    settings = replace(settings, families=families, grid="reference", threshold=threshold)
    given = {} if criticals is None else asCriticals(criticals, settings, toImage)
    requireUse(toImage.keywords, reference, *(criticals or {}).values())
    reference = asStructure(reference, "reference", None, settings, name=name, toImage=toImage)
    if reference.mask is None:
        raise InputError(f"The stress test moves voxels, and {reference.name} is a surface: give it as an image.")
    if reference.isEmpty:
        raise InputError(f"{reference.name} is empty, so there is no boundary to change.")
    mask = reference.mask
    # measure the boundary of the voxels, as that is what changes
    reference = replace(reference, givenSurface=None, surfaceKind="unsmoothed", memberships=None)
    pair = Pair(reference, reference, settings, given)
    for critical, _ in pair.criticals:
        if critical.mask is not None and mask.isSameAs(critical.mask):
            raise InputError(
                f"The critical structure {critical.name} is the structure to be changed, so all of it would be "
                "equally hazardous. Choose another one near it."
            )
    try:
        hazard = pair["hazardField"]
    except Undefined as undefined:
        raise InputError(f"There is no hazard: {undefined}.") from undefined
    inner, outer = boundaries(mask)
    if count is None:
        count = max(1, int(share * len(inner)))
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InputError(f"The count of voxels to change must be a whole number from 1, not {count!r}.")
    for which, size in (("inner", len(inner)), ("outer", len(outer))):
        if size < 2 * count:
            advice = f": choose a count of at most {size // 2}." if size > 1 else "."
            raise InputError(
                f"The {which} boundary of {reference.name} has too few voxels, {size}, to change {count} for the risky "
                f"and {count} for the neutral variant{advice}"
            )
    # in ascending order of hazard
    ranked, varies, variants = [], False, []
    for index in (inner, outer):
        low, high = index.min(axis=0), index.max(axis=0)
        values = hazard.block(low, high)[tuple((index - low).T[::-1])]
        ranked.append(index[np.argsort(values, kind="stable")])
        varies = varies or bool(np.ptp(values) > 0)
    for name, chosen in (("risky", slice(-count, None)), ("neutral", slice(count))):
        other = change(mask, *(index[chosen] for index in ranked))
        variant = Structure(f"{reference.name} ({name})", other, frameOfReference=reference.frameOfReference)
        variants.append(compare(reference, variant, settings, criticals=given))
    risky, neutral = variants
    return StressTest(risky, neutral, count, len(inner), len(outer), varies)


def boundaries(mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """Return the voxel indices (n, 3), i, j, k, of the inner and the outer boundary, in the order of the image.

    mask: not empty. Voxels that share a face are neighbors: a ball with a radius of one voxel.
    """
    from scipy.ndimage import binary_dilation, binary_erosion

    # a structure may leave the image it was drawn on
    low = np.minimum(mask.low, np.maximum(mask.low - 1, 0))
    high = np.maximum(mask.high, np.minimum(mask.high + 1, np.array(mask.grid.size) - 1))
    inside = mask.block(low, high).astype(bool)
    inner = inside & ~binary_erosion(inside, border_value=1)
    outer = binary_dilation(inside) & ~inside
    return tuple(np.argwhere(voxels)[:, ::-1] + low for voxels in (inner, outer))


def change(mask: Mask, without: np.ndarray, added: np.ndarray) -> Mask:
    """Return a mask with some voxels removed and others added, both given as voxel indices (n, 3), i, j, k."""
    low, high = boxAround(mask, mask, (added.min(axis=0), added.max(axis=0)))
    voxels = mask.block(low, high)
    for index, value in ((without, 0), (added, 1)):
        voxels[tuple((index - low).T[::-1])] = value
    return Mask.fromArray(voxels, mask.grid, low)

"""A structure: a named contour with a mask, a surface or both."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import NoneType
from typing import NamedTuple, cast

import numpy as np

from ..base.errors import InputError, requireKind
from ..geometry import meshing
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface


class Ignored(NamedTuple):
    """What was left out of a structure because nobody annotated there.

    label: of the reference that marks these voxels. mask: all that it marks, None if it is not there. size: of the
    structure's part in it, in mm3 (mm2 on a plane).
    """

    label: str
    mask: Mask | None = None
    size: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Identity:
    """What a structure is called and where it comes from, without its voxels or surface: as in Structure."""

    name: str
    _: KW_ONLY
    file: str = ""
    label: str = ""
    number: int | None = None
    isUnlabeled: bool = False
    isOfCase: bool = False
    terminology: str = ""
    nodeID: str | None = None
    segmentation: str = ""
    segmentID: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Structure(Identity):
    """One contour of one observer, with its name and where it comes from.

    Parameters
    ----------
    name : str
        What the structure is called.
    mask : Mask | None, optional
        Its voxels, None when only a surface is known.
    file : str, optional
        Path of the file that it was read from.
    label : str, optional
        Name of its label, such as Label 1, if it is called by its file because that label has no name.
    number : int | None, optional
        Number of its label in the file, even if the label has a name; None without a label.
    isUnlabeled : bool, optional
        Whether it stands for an image without labels.
    isOfCase : bool, optional
        Whether its only name is that of a file which stands for a case.
    terminology : str, optional
        Terminology of the segment, as Slicer writes it.
    nodeID : str | None, optional
        ID of its segmentation node, "" if that was removed, None without a node.
    segmentation : str, optional
        Name of that node.
    segmentID : str, optional
        ID of the segment in a node or a file.
    givenSurface : Surface | None, optional
        A surface in LPS mm, None to make it from the mask.
    surfaceKind : str, optional
        "unsmoothed" (made from the mask), "displayed" (as Slicer shows it) or "imported".
    frameOfReference : str, optional
        UID of the frame of reference of its coordinates.
    patient : str, optional
        Fingerprint of the patient's ID.
    color : tuple[float, float, float] | None, optional
        Red, green, blue in [0, 1].
    memberships : Mask | None, optional
        The fraction of each voxel that belongs to it, None for binary masks.
    notes : tuple[str, ...], optional
        Remarks from reading it.
    otherLabels : tuple[int | str, ...] | None, optional
        The labels of the image, if it is empty and stands for a label that does not occur there.
    isUnfilled : bool, optional
        Whether it was drawn but is empty, as its contours enclose no voxel.
    instances : tuple[Mask, ...] | None, optional
        The voxels of each of its lesions, None for those that are not known: they are its separate parts.
    drawnOn : Grid | None, optional
        The grid of the image that it was drawn on, if its voxels are parts of those of the image.
    ignored : Ignored | None, optional
        What was left out of it because nobody annotated there, None if all was annotated.

    Attributes
    ----------
    isEmpty : bool
        Whether there is neither a voxel nor a boundary.
    dimension : int
        3 for a structure in space, 2 for contours in a plane.
    samplingGrid : Grid | None
        The image grid that the structure belongs to; None for meshes.
    """

    mask: Mask | None = None
    _: KW_ONLY
    givenSurface: Surface | None = None
    surfaceKind: str = "unsmoothed"
    frameOfReference: str = ""
    patient: str = ""
    color: tuple[float, float, float] | None = None
    memberships: Mask | None = None
    notes: tuple[str, ...] = ()
    otherLabels: tuple[int | str, ...] | None = None
    isUnfilled: bool = False
    instances: tuple[Mask, ...] | None = None
    drawnOn: Grid | None = None
    ignored: Ignored | None = None
    isEmpty: bool = field(init=False)
    dimension: int = field(init=False)
    samplingGrid: Grid | None = field(init=False)

    def __post_init__(self) -> None:
        requireKind(self.name, str, "The name of a structure", "a text")
        requireKind(self.mask, (Mask, NoneType), f"The mask of {self.name!r}", "a Mask")
        requireKind(self.givenSurface, (Surface, NoneType), f"The surface of {self.name!r}", "a Surface")
        if self.mask is None and self.givenSurface is None:
            raise InputError(f"The structure {self.name!r} has neither voxels nor a surface.")
        shape = cast(Mask, self.mask) if self.givenSurface is None else self.givenSurface
        grid = None if self.mask is None else self.mask.grid
        isFlat = cast(Grid, grid).planar if self.givenSurface is None else self.givenSurface.dimension == 2
        vars(self).update(isEmpty=shape.isEmpty, dimension=2 if isFlat else 3, samplingGrid=grid)

    def __repr__(self) -> str:
        size = "empty" if self.isEmpty else f"{self.mask.count} voxels" if self.mask else "a surface"
        return f"<Structure {self.name!r}{f' of {self.file}' if self.file else ''}: {size}>"

    def rename(self, name: str) -> Structure:
        """Return the structure under another name."""
        return replace(self, name=name)

    def anew(self) -> Structure:
        """Return a copy that shares the voxels but not the cached results derived from them."""
        return replace(self, mask=None if self.mask is None else replace(self.mask))

    def withoutSmoothing(self) -> Structure:
        """Return the structure with the surface of its voxels instead of the one that Slicer displays.

        Structures without a displayed surface are returned unchanged; imported surfaces have no alternative. Raises
        ValueError when only a displayed surface is known.
        """
        if self.surfaceKind != "displayed":
            return self
        if self.mask is None:
            raise InputError(
                f"Only the displayed surface of {self.name} can be measured: a transform has bent its voxels, so they "
                "are no longer an image grid, and a surface without smoothing cannot be made of them."
            )
        return replace(self, givenSurface=None, surfaceKind="unsmoothed")

    def cutAt(self, threshold: float) -> Structure:
        """Return the structure with the voxels at or above a membership; unchanged if it has no memberships.

        Raises ValueError when its surface is given, as that is the surface at 0.5.
        """
        if self.memberships is None:
            return self
        if self.givenSurface is not None:
            raise InputError(f"The displayed surface of {self.name} is always the one at 0.5: leave the threshold out.")
        return replace(self, mask=self.memberships.cut(threshold))

    @property
    def ownMask(self) -> Mask:
        """The mask of a structure that has one, as every structure without a given surface does."""
        return cast(Mask, self.mask)

    @cached_property
    def surface(self) -> Surface:
        """The boundary that is measured."""
        return meshing.fromMask(cast(Mask, self.mask)) if self.givenSurface is None else self.givenSurface

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest LPS coordinates (3,) in mm of a structure that is not empty."""
        if self.givenSurface is not None:
            return self.givenSurface.box
        corners = cast(Mask, self.mask).corners()
        return corners.min(axis=0), corners.max(axis=0)

"""Whether the image under the contours is theirs: of the same patient, in the same frame, and at the same place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ...base.errors import InputError
from ...base.texts import commaSeparated, oneLine
from ...geometry.grids import Grid
from ...io.grayimages import readGrayImage
from ...metrics.findings import Finding, Kind
from ...model.grayimages import GrayImage
from ...model.structure import Structure
from .pairfindings import areOfOneKind

# Most names in a finding.
MOST_NAMES = 6
# Part of an image kept around the structures, in mm.
MARGIN = 40.0
# About so many points of a structure are looked up.
MOST_POINTS = 20_000


def imageUnder(path: Path, pairs: Sequence[Iterable[Structure]]) -> tuple[GrayImage | None, list[str]]:
    """Return the part around the structures of pairs of the image in a file or folder, and findings on it.

    The image is None if it cannot be shown, which a finding says: it changes no number, so nothing ends with it.
    """
    try:
        image = readGrayImage(path)
        if boxes := [structure.box for match in pairs for structure in match if not structure.isEmpty]:
            image = image.crop(np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1], MARGIN)
    except InputError as error:
        return None, [f"The image under the contours is not shown: {oneLine(str(error))}"]
    return image, [*image.remarks, *imageFindings(image, pairs)]


def imageFindings(image: GrayImage, pairs: Iterable[Iterable[Structure]]) -> Iterator[Finding]:
    """Yield what is doubtful about an image under the contours of pairs."""
    structures = [structure for match in pairs for structure in match]
    frame, grid = image.frameOfReference, image.whole or image.grid
    shares = {id(one): 1.0 if one.isEmpty else _shareCovered(one, grid) for one in structures}
    doubts: dict[Kind, Callable[[Structure], bool]] = {
        Kind.IMAGE_OF_OTHER: lambda structure: structure.patient not in ("", image.patient) and bool(image.patient),
        Kind.IMAGE_IN_OTHER_FRAME: lambda structure: (
            bool(frame)
            and structure.frameOfReference not in ("", frame)
            and areOfOneKind(frame, structure.frameOfReference)
        ),
        Kind.IMAGE_ELSEWHERE: lambda structure: not shares[id(structure)],
        Kind.IMAGE_IN_PART: lambda structure: 0 < shares[id(structure)] < 1,
    }
    for kind, isDoubtful in doubts.items():
        if names := dict.fromkeys(one.name for one in structures if isDoubtful(one)):
            yield Finding.of(kind, image=image.name, names=commaSeparated(names, MOST_NAMES))


def _shareCovered(structure: Structure, grid: Grid) -> float:
    """Return the share of a structure, by its voxels or its surface, that lies in the voxels of an image, in [0, 1]."""
    if structure.mask is None:
        points = structure.surface.points
        points = points[:: max(len(points) // MOST_POINTS, 1)]
    else:
        voxels = np.argwhere(structure.mask.voxels)[:, ::-1]
        points = structure.mask.grid.toWorld(voxels[:: max(len(voxels) // MOST_POINTS, 1)] + structure.mask.low)
    index = grid.toIndex(points)
    slack = np.full(3, 0.5 + 1e-3)
    # contours in a plane may lie anywhere across it
    if grid.flatAxis is not None and structure.dimension == 2:
        slack[grid.flatAxis] = np.inf
    return float(((index >= -slack) & (index <= np.array(grid.size) - 1 + slack)).all(axis=1).mean())

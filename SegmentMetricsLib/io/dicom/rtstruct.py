"""DICOM RTSTRUCT: planar contours, filled on the slices of the image that they were drawn on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base.errors import InputError
from ...base.progress import checkpoint
from ...base.texts import commaSeparated, pluralize
from ...geometry.filling import CUT, EXCLUSIVE, JOINED
from ...geometry.grids import requireScale
from ...geometry.masks import Mask
from ...model.notes import Note
from ...model.structure import Structure
from ...model.structureset import LeftOut, StructureSet
from .filledslices import FilledSlices, filledSlices
from .images import imagesFor, imagesOf
from .opening import patientOf, read, readable, textOf
from .placing import SlicePlace, placesFor
from .planes import planesBySlice

# A contour may deviate from its plane by this fraction of the distance between slices.
FLATNESS = 0.25
NO_POSITIONS = "a contour has coordinates that are not positions in space."
EXCLUSIVE_TYPE = "CLOSEDPLANAR_XOR"
# Types of contours without blanks and underscores: closed ones, and how all others begin that are known to be open.
CLOSED_KIND, EXCLUSIVE_KIND, OPEN = "CLOSEDPLANAR", "CLOSEDPLANARXOR", ("OPEN", "POINT")
# What is said of its contours that cross, with a placeholder for the number of slices.
ODD = {
    JOINED: "contours cross each other on {}; the areas inside those that cross were joined",
    CUT: (
        "contours cross each other on {}, where one is almost wholly inside another; it was taken for a "
        "hole, or inside a hole for an island"
    ),
    EXCLUSIVE: (
        f"contours of the type {EXCLUSIVE_TYPE} cross or repeat each other on {{}}; areas inside an odd "
        "number of them were filled"
    ),
}
# Phrases for one contour, and for several.
REMARKS = {
    "open": ("is an open line or point and was left out", "are open lines or points and were left out"),
    "short": ("has fewer than three points and was left out", "have fewer than three points and were left out"),
    "unknown": (
        "is of the type {}, which DICOM does not know, and was filled like a closed one",
        "are of the type {}, which DICOM does not know, and were filled like closed ones",
    ),
}
DISPLACED = "lies between slices and was", "lie between slices and were"
THROUGH = "runs through the centers of pixels and was", "run through the centers of pixels and were"


class Contours(NamedTuple):
    """The contours of a region.

    loops: those that are filled, LPS points (n, 3) in mm each. exclusive: numbers of those that are combined by
    exclusive or. remarks: on those that are left out, and on types that DICOM does not know.
    """

    loops: list[np.ndarray]
    exclusive: Collection[int]
    remarks: Sequence[str]


@readable()  # mandatory elements may be missing
def readStructureSet(path: Path, title: str) -> StructureSet:
    """Return the regions of interest of an RTSTRUCT file, with voxels on the grid of the image they were drawn on.

    A voxel belongs to a structure when its center lies inside the contours of its slice. Holes may be separate contours
    or joined to the outer one by a channel. Without the image near the file, a grid is made from the contours. Regions
    with contours that are damaged or cannot be filled are left out, with remarks in the set and its structures, as are
    contours that belong to no region. title: of the file in remarks. Raises InputError for a file without regions of
    interest, and when none can be used.
    """
    dataset = read(path)
    listed = _byNumber(dataset.get("StructureSetROISequence", []), "ROINumber")
    if any(len(items) > 1 for items in listed.values()):
        raise InputError(
            "two regions of interest have the same number, so it is unclear which contours belong to which."
        )
    regions: dict = {number: items[0] for number, items in listed.items()}
    if not regions:
        raise InputError("the structure set has no regions of interest.")
    if "ROIContourSequence" not in dataset:
        raise InputError("the part of the structure set that holds the contours of its regions of interest is missing.")
    drawn = _byNumber(dataset.get("ROIContourSequence", []), "ReferencedROINumber")
    names = {number: textOf(region, "ROIName") or f"ROI {number}" for number, region in regions.items()}
    everyImage = imagesOf(dataset)
    leftOut: dict[str, str] = {}
    contours, images = {}, {}
    for number, region in regions.items():
        try:
            with readable():  # damage here does not affect the other regions
                if len(items := drawn.get(number, [])) > 1:
                    raise InputError(
                        f"the file has {len(items)} lists of contours for it, and does not say which of them is the "
                        "right one."
                    )
                own = items[0] if items else {}
                contours[number], images[number] = _contoursOf(own), imagesFor(region, own, everyImage)
        except InputError as error:
            leftOut.setdefault(names[number], str(error))
    try:
        placeFor = placesFor(path, images, {number: own.loops for number, own in contours.items()})
    except InputError as error:
        raise (_unusable(leftOut) if leftOut else error) from None
    patient, frame = patientOf(dataset), str(dataset.get("FrameOfReferenceUID", ""))
    remark = _ofNobody(title, drawn, regions)
    structures = []
    for number, own in contours.items():
        checkpoint()
        try:
            place = placeFor(number)
            mask, notes = _fill(own, place)
        except InputError as error:
            leftOut.setdefault(names[number], str(error))
            continue
        structures.append(
            Structure(
                names[number],
                mask,
                file=str(path),
                frameOfReference=str(regions[number].get("ReferencedFrameOfReferenceUID", ""))
                or frame
                or images[number][0].frame,
                color=_colorOf(drawn.get(number, [])),
                patient=patient,
                notes=tuple(filter(None, (place.remark, remark, *notes, *own.remarks))),
                isUnfilled=bool(own.loops) and mask.isEmpty,
                drawnOn=None if mask.grid is place.grid else place.grid,
            )
        )
    if not structures:
        raise _unusable(leftOut)
    remarks = [f"The structure {name!r} of {title} was left out: {why}" for name, why in leftOut.items()]
    noted = (replace(structure, notes=(*structure.notes, *remarks)) for structure in structures)
    return StructureSet(tuple(noted), path=str(path), leftOut=tuple(map(LeftOut, leftOut, remarks)))


def _unusable(leftOut: Mapping[str, str]) -> InputError:
    """Return the error for a file without any usable structure. leftOut: reasons by name."""
    name, why = next(iter(leftOut.items()))
    return InputError(f"the structure {name!r} cannot be used{', nor any other' if len(leftOut) > 1 else ''}: {why}")


def _byNumber(items, name: str) -> dict[int | None, list]:
    """Return the items of a sequence by their number, None for items without one."""
    found: dict[int | None, list] = {}
    for item in items:
        number = item.get(name, None)
        found.setdefault(None if number is None else int(number), []).append(item)
    return found


def _ofNobody(title: str, drawn: Mapping[int | None, Sequence], regions: Collection[int]) -> str:
    """Return a remark about contours that belong to no region of interest, "" without any.

    drawn: all items of contours by the number of their region. regions: the existing numbers.
    """
    others = [number for number in drawn if number not in regions]
    others = [number for number in others if any(item.get("ContourSequence", None) for item in drawn[number])]
    if not others:
        return ""
    numbers = commaSeparated("without a number" if number is None else f"number {number}" for number in others)
    return (
        f"Contours in {title} belong to a region of interest that the file does not list ({numbers}): they were "
        "left out."
    )


def _contoursOf(drawn) -> Contours:
    """Return the contours of a region from its item in the sequence of contours. Raises InputError for invalid ones."""
    loops: list[np.ndarray] = []
    exclusive: set[int] = set()
    odd: Counter[tuple[str, str]] = Counter()
    for contour in drawn.get("ContourSequence", []):
        # the bytes of the file: pydicom would make an object of every number, which takes most of the time
        data = contour.get_item("ContourData").value if "ContourData" in contour else None
        try:
            if isinstance(data, bytes):
                text = data.decode("ascii").strip(" \0")
                data = text.split("\\") if text else []
            points = np.array(data or [], float)
        except ValueError as error:  # a word among the numbers
            raise InputError(NO_POSITIONS) from error
        if len(points) != 3 * int(contour.get("NumberOfContourPoints", len(points) / 3)):
            raise InputError("a contour does not have as many points as it says.")
        if len(points) % 3 or not np.isfinite(points).all():
            raise InputError(NO_POSITIONS)
        requireScale(float(np.abs(points).max(initial=0)))
        told = textOf(contour, "ContourGeometricType").strip()
        # some programs write blanks or small letters
        kind = "".join(filter(str.isalnum, told)).upper()
        if kind.startswith(OPEN):
            odd["open", ""] += 1
        elif len(points) < 9:
            odd["short", ""] += 1
        else:
            if kind == EXCLUSIVE_KIND:
                exclusive.add(len(loops))
            elif kind not in ("", CLOSED_KIND):
                odd["unknown", told] += 1
            loops.append(points.reshape(-1, 3))
    remarks = [
        Note(f"contours {REMARKS[which][int(number > 1)].format(told)}", number=number)
        for (which, told), number in odd.items()
    ]
    return Contours(loops, exclusive, remarks)


def _colorOf(drawn: Sequence) -> tuple[float, float, float] | None:
    color = drawn[0].get("ROIDisplayColor", None) if drawn else None
    if color is None or len(color) != 3:
        return None
    red, green, blue = (min(max(int(c) / 255, 0.0), 1.0) for c in color)
    return red, green, blue


def _fill(contours: Contours, place: SlicePlace) -> tuple[Mask, Sequence[str]]:
    """Return the voxels inside the contours of a region, and remarks.

    The voxels are those of the place's grid, or parts of them where contours run through the centers of pixels.
    Contours are assigned to the nearest slice. A slice is filled from the nearest of its planes, and from other planes
    only with parts that are separate from those. Raises InputError when a contour is not parallel to the slices.
    """
    grid, slabs = place.grid, place.slabs
    if not contours.loops:
        return Mask.empty(grid), []
    planar = [grid.toIndex(loop) for loop in contours.loops]
    if slabs is not None:
        planar = [np.column_stack([index[:, :2], slabs.numbersAt(index[:, 2])]) for index in planar]
    if any(np.abs(index[:, 2] - index[:, 2].mean()).max() > FLATNESS for index in planar):
        raise InputError("a contour does not run along the slices of the image, so it cannot be filled on them.")
    heights = _level(planar)
    slices = planesBySlice(heights)
    filled = filledSlices([index[:, :2] for index in planar], slices, contours.exclusive)
    voxels, begin = filled.voxels, min(slices)
    if slabs is not None:
        voxels, begin = slabs.layersOf(voxels, begin)
    own = grid if filled.parts == 1 else grid.divide((filled.parts, filled.parts, 1))
    mask = Mask.fromArray(voxels, own, (*(filled.low * filled.parts), begin))
    return (Mask.empty(grid) if mask.isEmpty else mask), list(_remarks(heights, slices, filled, mask))


def _level(planar: Sequence[np.ndarray]) -> np.ndarray:
    """Return the heights (n,) of contours, voxel indices (m, 3) each, corrected for a common tilt against the slices.

    If all are tilted slightly, as for an oblique image that is not available, the center of a hole would otherwise be
    at another height than that of its outer contour.
    """
    middles = np.array([index.mean(axis=0) for index in planar])
    away = np.concatenate([index - middle for index, middle in zip(planar, middles, strict=True)])
    slope = np.linalg.lstsq(away[:, :2], away[:, 2], rcond=None)[0]
    return middles[:, 2] - (middles[:, :2] - middles[:, :2].mean(axis=0)) @ slope


def _remarks(
    heights: np.ndarray, slices: Mapping[int, list[np.ndarray]], filled: FilledSlices, mask: Mask
) -> Iterator[str]:
    """Yield remarks about contours at heights (n,), in slices, that were filled. mask: the enclosed voxels."""
    if filled.divided:
        how = f"with pixels divided into {filled.parts} x {filled.parts}, so that none moves to one side"
        if filled.parts == 1:
            how = "with a shift of up to half a pixel to one side, as parts of pixels would take too much memory"
        which = filled.divided if filled.divided < len(heights) else 0
        yield Note(f"contours {THROUGH[which != 1]} filled {how}", number=which)
    if mask.isEmpty:
        many = f"{len(heights)} contours enclose" if len(heights) > 1 else "only contour encloses"
        yield Note(f"{many} no voxel center of the image")
    displaced = sum(np.count_nonzero(np.abs(heights[planes[0]] - k) > FLATNESS) for k, planes in slices.items())
    if displaced:
        yield Note(f"contours {DISPLACED[int(displaced > 1)]} filled on the nearest one", number=int(displaced))
    several = sum(len(planes) > 1 for planes in slices.values())
    if several:
        these = "one slice" if several == 1 else f"each of {several} slices"
        yield Note(
            f"has contours at several heights for {these}; where they overlap, those nearest to the slice were filled",
            isPossessive=False,
        )
    for kind, sentence in ODD.items():
        if kind in filled.odd:
            yield Note(sentence.format(pluralize(filled.odd[kind], "slice")))
    missing = max(slices) - min(slices) + 1 - len(slices)
    if missing:
        said = f"has no contour on {pluralize(missing, 'slice')} between its first and its last one"
        yield Note(said, isPossessive=False)

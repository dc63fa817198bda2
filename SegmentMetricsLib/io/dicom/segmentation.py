"""DICOM SEG: segments as frames of voxels, binary or fractional."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import cast

import numpy as np
import SimpleITK

from ...base.errors import InputError
from ...base.texts import commaSeparated
from ...geometry.grids import Grid
from ...geometry.masks import Mask, fromLabels
from ...model import inputs
from ...model.structure import Structure
from ...model.structureset import StructureSet
from . import planes, series
from .images import Image, imagesNamedIn
from .opening import canDecode, patientOf, read, readable, requireInstalled, textOf
from .unevenslices import Slabs, areUneven, goOn

# The code of the background: scheme and value.
BACKGROUND = "DCM", "125040"
# Transfer syntaxes that pydicom may not know by name yet.
LATER_SYNTAXES = {"1.2.840.10008.1.2.8.1": "Deflated Image Frame Compression"}
# Frames at one distance are evenly spaced if they are at least so many.
FEWEST_EVEN = 3
UNTOLD = "The segmentation does not say how far apart its slices are"


def readSegmentation(path: Path, threshold: float | None = None) -> StructureSet:
    """Return every segment of a SEG file, on the grid of its frames; fractional segments also have memberships.

    If frames of some slices are not stored, the grid is that of the image that they belong to, if it is near the file.
    Frames at uneven distances have their own thickness each. A single frame is a slice of a structure in space, not a
    contour in a plane. The background is no structure.

    threshold: see Settings. Raises InputError for files that cannot be read, for kinds of segmentations that are not
    supported, for frames that do not form a volume, and without highdicom.
    """
    requireInstalled("highdicom", "reading DICOM SEG needs highdicom")
    import highdicom

    dataset = read(path)
    with readable():
        _requireSupported(dataset)
        try:
            frames = Frames(path, dataset)
            note, slabs = frames.tellDistance(dataset)
            segmentation = highdicom.seg.Segmentation.from_dataset(dataset, copy=False)
            numbers = [number for number in segmentation.segment_numbers if not _isBackground(segmentation, number)]
            if not numbers:
                raise InputError("the segmentation has no segment but the background.")
            given, unnamed = _segmentsOf(segmentation, numbers, threshold)
            notes = tuple(filter(None, (note, unnamed)))
            place = frames.place if slabs is None else partial(frames.placeOnSlabs, slabs)
            structures = [
                _describe(replace(structure, file=str(path), notes=notes), place, segmentation, number)
                for number, structure in zip(numbers, given)
            ]
        except NotImplementedError:  # pydicom's for the type of an element that does not exist: the file is damaged
            raise
        except RuntimeError as error:
            why = " ".join(str(error).split())
            raise InputError(f"the segmentation's frames make no regular volume ({why}).") from error
    return StructureSet(tuple(structures), path=str(path))


def _requireSupported(dataset) -> None:
    """Raise InputError for whole files of a kind that cannot be read, and with other frames than are described."""
    from pydicom.uid import UID, ExplicitVRBigEndian, RLELossless

    syntax = UID(dataset.file_meta.TransferSyntaxUID)
    isPacked = syntax == RLELossless and dataset.BitsAllocated == 1  # libraries expect whole bytes for the pixels
    if not canDecode(syntax) or isPacked or syntax == ExplicitVRBigEndian:
        raise InputError(
            f"the segmentation is stored as {LATER_SYNTAXES.get(syntax, syntax.name)}, which is not supported; store "
            "it as Explicit VR Little Endian, without compression."
        )
    groups = list(_groupsOf(dataset))
    if "TotalPixelMatrixColumns" in dataset or any("PlanePositionSlideSequence" in group for group in groups):
        raise InputError("this is a segmentation of a microscopic slide, which is not supported.")
    if groups and not any("PlanePositionSequence" in group for group in groups):
        raise InputError(
            "the segmentation does not say where in the patient it lies, as one of a radiograph or a photograph: this "
            "kind is not supported."
        )
    described = len(dataset.get("PerFrameFunctionalGroupsSequence", []))
    if described and int(dataset.get("NumberOfFrames", None) or 1) != described:  # which highdicom does not check
        raise InputError(
            f"the segmentation is damaged: NumberOfFrames is {dataset.NumberOfFrames}, but {described} are described."
        )


def _isBackground(segmentation, number: int) -> bool:
    """Return whether a segment is the background: 0 of a label map, or one that says so by its code or as number 0."""
    description = segmentation.get_segment_description(number)
    codes = description.get("SegmentedPropertyTypeCodeSequence", None) or ()
    if any((code.get("CodingSchemeDesignator"), code.get("CodeValue")) == BACKGROUND for code in codes):
        return True
    isNamedSo = textOf(description, "SegmentLabel").strip().lower() == "background"
    return number == 0 and (isNamedSo or segmentation.segmentation_type.value == "LABELMAP")


def _segmentsOf(segmentation, numbers: Sequence[int], threshold: float | None) -> tuple[Iterator[Structure], str]:
    """Return the structures of segments without a name, on the grid of the frames, and a remark, "" without one."""
    kind = segmentation.segmentation_type.value
    if kind != "LABELMAP":

        def segment(number: int) -> Structure:
            image = _imageOf(segmentation, segment_numbers=[number], dtype=None, rescale_fractional=True)
            image = SimpleITK.Cast(image, SimpleITK.sitkFloat32 if kind == "FRACTIONAL" else SimpleITK.sitkUInt8)
            return inputs.structureFromImage(image, "", None, threshold)

        return map(segment, numbers), ""
    # all at once: asked for a single segment, highdicom 0.28 takes its number modulo 256
    image = _imageOf(segmentation, combine_segments=True, dtype=np.uint16)
    grid = Grid.fromImage(image)
    masks = fromLabels(SimpleITK.GetArrayViewFromImage(image), grid)
    known = {int(item.SegmentNumber) for item in segmentation.SegmentSequence}
    others = sorted(masks.keys() - known - {segmentation.get("PixelPaddingValue", 0)})
    listed = commaSeparated(map(str, others))
    remark = f"the label map has numbers that it does not describe ({listed}): they were left out" if others else ""
    return (Structure("", masks.get(number, Mask.empty(grid))) for number in numbers), remark


def _imageOf(segmentation, **options) -> SimpleITK.Image:
    # a large tolerance, as the spacing of frames was checked before
    volume = segmentation.get_volume(rtol=planes.LEAST_SHARE, **options)
    # from slices, rows and columns to columns, rows and slices
    return SimpleITK.PermuteAxes(volume.squeeze_channel().to_simpleitk(), (2, 1, 0))


def _describe(structure: Structure, place: Callable[[Mask], Mask], segmentation, number: int) -> Structure:
    """Return a segment with what the file says of it. place: returns where its voxels lie."""
    description = segmentation.get_segment_description(number)
    return replace(
        structure,
        name=textOf(description, "SegmentLabel"),
        mask=place(structure.ownMask),
        number=number,
        memberships=None if structure.memberships is None else place(structure.memberships),
        frameOfReference=str(segmentation.get("FrameOfReferenceUID", "")),
        color=_colorOf(description),
        patient=patientOf(segmentation),
    )


class Frames:
    """The positions of the frames of a SEG file, and the image that it was drawn on.

    stored: one frame at each place, in ascending order; empty for files without a position for each frame. normal: (3,)
    of the frames. heights: (n,) of the stored frames in mm along the normal. thickness: in mm, 0 if unknown. image: as
    far as the file names it.
    """

    def __init__(self, path: Path, dataset):
        frames = list(series.slicesIn(dataset))
        self.thickness = frames[0].thickness if frames else 0.0
        self.heights, self.normal, self.stored = np.zeros(0), np.zeros(3), frames
        if frames:
            self.normal, heights = frames[0].normal, series.heightsOfSlices(frames)
            self.heights = planes.thinOut(np.unique(heights), planes.ROUNDING)
            self.stored = [frames[int(np.abs(heights - height).argmin())] for height in self.heights]
        self.image = next(imagesNamedIn(dataset), Image("", "", "", ()))
        self.path = path

    @cached_property
    def slices(self) -> list[series.Slice]:
        """The slices of the image near the file, one at each place, ascending; they are searched when asked for."""
        found, instances = series.findSlices(self.path, self.image), self.image.instances
        named = [one for one in found if one.instance in instances]
        groups = [one for one in series.groupsOf(named or found) if abs(self.normal @ one[0].normal) >= planes.PARALLEL]
        if not groups:
            return []
        largest = max(groups, key=len)
        return series.stackSlices(largest, found, instances, self.heights * np.sign(self.normal @ largest[0].normal))

    @cached_property
    def home(self) -> Grid | None:
        """The grid of the image, None if it is not near the file or its slices are unevenly spaced."""
        # the distance of a single slice is unknown; uneven ones are not needed, as the frames have their own positions
        return series.gridOf(self.slices) if self.slices else None

    def tellDistance(self, dataset) -> tuple[str, Slabs | None]:
        """Set the distance of slices in a dataset that lacks it, or has one at which its frames do not lie.

        Return a note if it had to be assumed, else "", and for slices at uneven distances their layers, else None; then
        the frames in the dataset are 1 mm apart. Only the dataset in memory is changed, not the file. Raises InputError
        for frames that are not above each other.
        """
        if not len(self.heights):
            return "", None
        measures = [item for group in _groupsOf(dataset) for item in group.get("PixelMeasuresSequence", [])]
        told = [abs(float(item.get("SpacingBetweenSlices", None) or 0.0)) for item in measures]
        distance = next((length for length in told if length and planes.lieOnSlices(self.heights, length)), 0.0)
        note, slabs = "", None if distance else self._slabs()
        if slabs is not None:
            self._spread(dataset, slabs)
            distance, note = 1.0, f"The segmentation's slices are not equally spaced: they are {slabs.description}."
        elif not distance:
            distance, note = self._assumeDistance()
        for item in measures:
            item.SpacingBetweenSlices = distance
            item.SliceThickness = item.get("SliceThickness", None) or distance  # required by highdicom
        return note, slabs

    def _assumeDistance(self) -> tuple[float, str]:
        """Return the distance of slices in mm, and a note if it had to be assumed.

        It is that of the image if all frames lie on its slices, else that of the frames if they are evenly spaced, else
        the thickness of frames if they lie on slices at that distance, else the smallest distance between two.
        """
        if self._areOnImage:
            return abs(float(cast(Grid, self.home).axes[:, 2] @ self.normal)), ""
        thickness, isAlone = self.thickness, len(self.heights) == 1
        distance = (thickness or 1.0) if isAlone else planes.leastDistance(self.heights)
        if isAlone and not thickness:
            return distance, f"{UNTOLD}, nor how thick its only one is: {distance:g} mm is assumed."
        isEven = self._areEven
        if not thickness or isEven or not planes.lieOnSlices(self.heights, thickness):
            isThick = isEven and abs(distance - thickness) <= planes.allowance(distance)
            how = "its frames are evenly spaced, and their distance" if isEven else "the smallest distance between two"
            return distance, "" if isThick else f"{UNTOLD}: {how}, {distance:.4g} mm, is assumed."
        isSkipping = thickness < distance - planes.allowance(thickness)
        return thickness, f"{UNTOLD}: their thickness, {thickness:.4g} mm, is assumed." if isSkipping else ""

    @property
    def _areEven(self) -> bool:
        """Whether the frames lie at one distance, and are enough to tell."""
        if len(self.heights) < FEWEST_EVEN:
            return False
        distance = planes.leastDistance(self.heights)
        isEvery = (planes.stepCounts(np.diff(self.heights), distance) == 1).all()
        return bool(isEvery) and planes.lieOnSlices(self.heights, distance)

    def _slabs(self) -> Slabs | None:
        """Return the layers of slices at uneven distances, those of the image if frames lie on these; else None."""
        if self._areOnImage:
            return None
        if len(self.slices) > 1 and self.home is None:
            heights = np.sort(np.array([one.position for one in self.slices]) @ self.normal)
            if all(np.abs(heights - height).min() <= planes.TENTH for height in self.heights):
                return Slabs.of(goOn(heights, heights[0], heights[-1]))
        heights = self.heights
        if len(heights) < FEWEST_EVEN or self._areEven:
            return None
        isOn = self.thickness and planes.lieOnSlices(heights, self.thickness)
        if not areUneven(heights, self.thickness if isOn else planes.leastDistance(heights)):
            return None
        steps = np.diff(heights)
        # one beyond each end, so that the last frame does not lie at the edge of an image
        return Slabs.of(goOn(heights, heights[0] - steps[0], heights[-1] + steps[-1]))

    def _spread(self, dataset, slabs: Slabs) -> None:
        """Move the frames in a dataset to multiples of 1 mm along the normal: the numbers of their slices."""
        start, way = series.lineThrough(self.stored)
        for group in _groupsOf(dataset):
            for plane in group.get("PlanePositionSequence", []):
                position = np.array(plane.ImagePositionPatient, float)
                height = float(position @ self.normal)
                if np.linalg.norm(start + height * way - position) > planes.allowance(float(slabs.thickness.min())):
                    raise InputError("the segmentation's frames make no volume: they do not lie above each other.")
                number = int(np.abs(slabs.heights - height).argmin())
                plane.ImagePositionPatient = [float(x) for x in start + number * self.normal]

    def placeOnSlabs(self, slabs: Slabs, mask: Mask) -> Mask:
        """Return the voxels of a segment with the thickness of its slices. mask: of frames moved by _spread()."""
        start, _ = series.lineThrough(self.stored)
        moved = mask.on(series.gridAlong(self.stored[0], start, self.normal, len(slabs.heights)))
        grid = series.gridOfSlabs(self.stored, slabs)
        if moved.isEmpty:
            return Mask.empty(grid)
        voxels, first = slabs.layersOf(moved.voxels, moved.offset[2])
        return Mask(voxels, (*moved.offset[:2], first), grid)

    @property
    def _areOnImage(self) -> bool:
        """Whether all frames lie on slices of the image, which is known."""
        home = self.home
        if home is None or abs(self.normal @ home.direction[:, 2]) < planes.PARALLEL:
            return False
        numbers = home.toIndex(np.array([one.position for one in self.stored]))[:, 2]
        return bool(np.abs(numbers - np.rint(numbers)).max() * home.spacing[2] <= planes.allowance(home.spacing[2]))

    def place(self, mask: Mask) -> Mask:
        """Return the voxels of a segment on the grid of the image that it was drawn on.

        Frames without voxels need not be stored, nor the slices named that have none, so the extent of the image is
        taken from its slices near the file. If these are not found, and the file names more slices than there are
        frames or frames are missing between others, the grid is extended by one slice at each end, so that the last
        stored frame is not taken for the image edge.
        """
        columns, rows, depth = mask.grid.size
        mask = replace(mask, grid=Grid(mask.grid.size, mask.grid.matrix))  # in space, though there may be one frame
        home = self.home if len(self.heights) else None
        if home is not None:
            moved = replace(mask, grid=_onSlicesOf(home, mask.grid))
            if moved.alongAxesOf(home).grid.offsetOn(home) is not None:
                return moved.on(home)
        if depth >= len(self.image.instances) and len(self.heights) in (0, depth):
            return mask
        return mask.on(mask.grid.resize((0, 0, -1), (columns - 1, rows - 1, depth)))


def _groupsOf(dataset) -> Iterator:
    """Yield the items about all frames of a file, then those about each frame."""
    for groups in ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"):
        yield from dataset.get(groups, [])


def _onSlicesOf(home: Grid, grid: Grid) -> Grid:
    """Return the grid of frames, moved exactly onto the slices of an image if it deviates from these only by rounding.

    A single frame gets the thickness of the image's slices.
    """
    along = float(grid.direction[:, 2] @ home.direction[:, 2])
    step, most = home.axes[:, 2] * np.sign(along), planes.allowance(home.spacing[2])
    reach = grid.size[2] - 1
    if abs(along) < planes.PARALLEL or np.linalg.norm((grid.axes[:, 2] - step) * reach) > most:
        return grid
    number = float(home.toIndex(grid.origin[None])[0, 2])
    beside = (np.rint(number) - number) * home.axes[:, 2]
    matrix = grid.matrix.copy()
    matrix[:3, 2] = step
    if np.linalg.norm(beside) <= most:
        matrix[:3, 3] += beside
    return Grid(grid.size, matrix)


def _colorOf(segment) -> tuple[float, float, float] | None:
    """Return a segment's recommended CIELab color as red, green and blue in [0, 1], None without one."""
    value = segment.get("RecommendedDisplayCIELabValue", None)
    if value is None:
        return None
    from vtkmodules.vtkCommonCore import vtkMath

    lightness, a, b = (np.array(value, float) / 65535) * (100, 255, 255) - (0, 128, 128)
    color = [0.0, 0.0, 0.0]
    vtkMath.LabToRGB([lightness, a, b], color)
    red, green, blue = (min(max(c, 0.0), 1.0) for c in color)
    return red, green, blue

"""The pairs of segmentations that are measured: organs of a folder, and ellipsoids of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkWindowedSincPolyDataFilter

from SegmentMetricsLib.geometry.surfaces import toPolyData
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.model.structure import Structure

# Voxels left around both structures.
MARGIN = 2
# Of ellipsoids at 1 mm: proportions of the half-axes along i, j, k, and how far the second one lies apart in mm.
PROPORTIONS, APART = np.array([1.0, 0.8, 1.2]), np.array([1.6, -0.9, 0.7])


@dataclass(frozen=True, eq=False)
class Pair:
    """Two masks on one grid, cropped to their common box plus a margin: as images, and as bool arrays [k, j, i]."""

    name: str
    reference: SimpleITK.Image
    test: SimpleITK.Image
    arrays: tuple[np.ndarray, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        arrays = tuple(SimpleITK.GetArrayFromImage(image).astype(bool) for image in self.images)
        object.__setattr__(self, "arrays", arrays)

    @property
    def images(self) -> tuple[SimpleITK.Image, SimpleITK.Image]:
        return self.reference, self.test

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Voxel size in mm along k, j, i."""
        return self.reference.GetSpacing()[::-1]

    @property
    def structures(self) -> list[Structure]:
        return [inputs.structureFromImage(image, "", None, 0.5) for image in self.images]

    @cached_property
    def triangles(self) -> int:
        """Number of triangles of both unsmoothed surfaces."""
        return sum(structure.surface.count for structure in self.structures)

    @cached_property
    def smoothed(self) -> list[vtkPolyData]:
        """The unsmoothed surfaces after 20 steps of windowed sinc smoothing, in LPS mm: no lattice helps with these."""
        found = []
        for structure in self.structures:
            smoothing = vtkWindowedSincPolyDataFilter()
            smoothing.SetInputData(toPolyData(structure.surface))
            smoothing.SetNumberOfIterations(20)
            smoothing.SetPassBand(0.1)
            smoothing.NormalizeCoordinatesOn()
            smoothing.Update()
            found.append(smoothing.GetOutput())
        return found


@dataclass(frozen=True, eq=False)
class Case:
    """Pairs that are measured one after the other and reported as one."""

    name: str
    pairs: tuple[Pair, ...]

    @property
    def triangles(self) -> int:
        return sum(pair.triangles for pair in self.pairs)


def write(given: tuple[Pair, ...], folder: Path) -> list[Path]:
    """Write pairs for another process, and return the files; read() brings them back."""
    files = []
    for number, pair in enumerate(given):
        for which, image in zip(("reference", "test"), pair.images):
            files.append(folder / f"{number:03}_{which}.mha")
            SimpleITK.WriteImage(image, files[-1])
    return files


def read(folder: Path) -> list[Pair]:
    """Return the pairs that were written into a folder."""
    files = [sorted(folder.glob(f"*_{which}.mha")) for which in ("reference", "test")]
    return [Pair(r.stem, SimpleITK.ReadImage(r), SimpleITK.ReadImage(t)) for r, t in zip(*files)]


def cropped(name: str, reference: np.ndarray, test: np.ndarray, grid: SimpleITK.Image) -> Pair:
    """Return the pair of two bool masks [k, j, i] on the grid of an image."""
    filled = np.argwhere(reference | test)
    # the margin may reach beyond the grid, hence the padding
    start = filled.min(axis=0)
    box = tuple(slice(a, b + 1) for a, b in zip(start, filled.max(axis=0)))
    origin = grid.TransformIndexToPhysicalPoint([int(s) - MARGIN for s in start[::-1]])
    images = []
    for mask in (reference, test):
        image = SimpleITK.GetImageFromArray(np.pad(mask[box], MARGIN).astype(np.uint8))
        image.SetOrigin(origin)
        image.SetSpacing(grid.GetSpacing())
        image.SetDirection(grid.GetDirection())
        images.append(image)
    return Pair(name, *images)


def labelMaps(folder: Path) -> tuple[Path, Path]:
    """Return the files of two label maps of the same organs; raises FileNotFoundError where there are none."""
    files = tuple(folder / f"organs_{which}_1mm.nii.gz" for which in ("reference", "test"))
    if not all(file.exists() for file in files):
        raise FileNotFoundError(f"{folder}: there is no {files[0].name} with {files[1].name} here.")
    return files


def fromFolder(folder: Path) -> list[Case]:
    """Return all organs of two label maps, and all structures of the first patient in folders headneck/CASE."""
    images = [SimpleITK.ReadImage(file) for file in labelMaps(folder)]
    spacing = " x ".join(f"{s:.3g}" for s in images[0].GetSpacing())
    chosen, structures = tuple(organs(*images)), tuple(headAndNeck(folder))
    cases = [Case(f"{len(chosen)} organs, {spacing} mm", chosen)]
    return cases + ([Case(f"{len(structures)} structures of a head and neck", structures)] if structures else [])


def organs(reference: SimpleITK.Image, test: SimpleITK.Image) -> Iterator[Pair]:
    """Yield the pairs of all labels that two label maps on one grid have."""
    maps = [SimpleITK.GetArrayViewFromImage(image) for image in (reference, test)]
    for label in sorted(set(np.unique(maps[0])) & set(np.unique(maps[1])) - {0}):
        yield cropped(f"Label {label}", *(labelMap == label for labelMap in maps), reference)


def headAndNeck(folder: Path) -> Iterator[Pair]:
    """Yield the structures that two observers drew of the first patient."""
    for patient in sorted((folder / "headneck").glob("*"))[:1]:
        for file in sorted((patient / "oncologist").glob("*.nrrd")):
            other = patient / "radiographer" / file.name
            if other.exists():
                images = [SimpleITK.ReadImage(path) for path in (file, other)]
                yield cropped(file.stem, *(SimpleITK.GetArrayViewFromImage(image) > 0 for image in images), images[0])


def ellipsoids(triangles: float) -> Pair:
    """Return two ellipsoids at 1 mm whose surfaces together have about so many triangles."""
    # a sphere of radius r has about 29 r^2 triangles at 1 mm
    radii = PROPORTIONS * np.sqrt(triangles / 2 / 29)
    high = np.ceil(radii + np.abs(APART)).astype(int) + 2
    places = np.stack(np.meshgrid(*(np.arange(-n, n + 1) for n in high), indexing="ij"), axis=-1)
    masks = [(((places - shift) / radii) ** 2).sum(axis=-1).T < 1 for shift in (np.zeros(3), APART)]
    return cropped(f"{triangles:g}", *masks, SimpleITK.Image([1, 1, 1], SimpleITK.sitkUInt8))

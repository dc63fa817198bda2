"""The pairs of segmentations that are measured: generated ones, or organs from a folder of label maps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

LIVER = 5  # its label in the label maps of a data folder
# The smallest structures of a patient, of some hundred to two thousand triangles.
SMALL = ("Cochlea-Lt", "Cochlea-Rt", "Lens-Lt", "Lens-Rt", "Optic-Nerve-Lt", "Optic-Nerve-Rt")
# Voxels left around both structures.
MARGIN = 2
# Of generated label maps, mm along i, j, k: of the voxels, and half-axes of the structure around all others.
SPACING, TRUNK = np.array([0.9, 0.9, 1.5]), np.array([190.0, 125.0, 270.0])


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

    @cached_property
    def triangles(self) -> int:
        """Number of triangles of both unsmoothed surfaces."""
        from SegmentMetricsLib.model import inputs

        return sum(len(inputs.structureFromImage(image, "", None, 0.5).surface.cells) for image in self.images)

    @cached_property
    def smoothed(self) -> tuple[vtkPolyData, vtkPolyData]:
        """The unsmoothed surfaces after 20 steps of windowed sinc smoothing, in LPS mm: no lattice helps with these."""
        return tuple(_smoothed(image) for image in self.images)


def _smoothed(image: SimpleITK.Image) -> vtkPolyData:
    from vtkmodules.vtkFiltersCore import vtkWindowedSincPolyDataFilter

    from SegmentMetricsLib.geometry.surfaces import toPolyData
    from SegmentMetricsLib.model import inputs

    smoothing = vtkWindowedSincPolyDataFilter()
    smoothing.SetInputData(toPolyData(inputs.structureFromImage(image, "", None, 0.5).surface))
    smoothing.SetNumberOfIterations(20)
    smoothing.SetPassBand(0.1)
    smoothing.NormalizeCoordinatesOn()
    smoothing.Update()
    return smoothing.GetOutput()


@dataclass(frozen=True, eq=False)
class Case:
    """Pairs that are measured one after the other and reported as one."""

    name: str
    pairs: tuple[Pair, ...]

    @property
    def triangles(self) -> int:
        return sum(pair.triangles for pair in self.pairs)

    def write(self, folder: Path) -> list[Path]:
        """Write the pairs for another process, and return the files; read() brings them back."""
        files = []
        for number, pair in enumerate(self.pairs):
            for which, image in zip(("reference", "test"), pair.images):
                files.append(folder / f"{number:03}_{which}.mha")
                SimpleITK.WriteImage(image, files[-1])
        return files


def read(folder: Path) -> list[Pair]:
    """Return the pairs that a case wrote into a folder."""
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


# ---- organs from a folder


def fromFolder(folder: Path, quick: bool) -> list[Case]:
    """Return all organs of two label maps in a folder, and all structures of a head and neck if there is one.

    The label maps are organs_reference_1mm.nii.gz and organs_test_1mm.nii.gz, the structures those of the first folder
    headneck/CASE. quick: the liver of organs_reference.nii.gz and organs_test.nii.gz, and the small structures only.
    Raises FileNotFoundError when there are no label maps.
    """
    files = labelMaps(folder, "" if quick else "_1mm")
    if files is None:
        raise FileNotFoundError(f"{folder}: there is no organs_reference_1mm.nii.gz with organs_test_1mm.nii.gz here.")
    images = [SimpleITK.ReadImage(file) for file in files]
    spacing = " x ".join(f"{s:.3g}" for s in images[0].GetSpacing())
    chosen = tuple(organs(*images, [LIVER] if quick else None))
    cases = [Case(f"liver, {spacing} mm" if quick else f"{len(chosen)} organs, {spacing} mm", chosen)]
    structures = tuple(headAndNeck(folder, SMALL if quick else None))
    if structures:
        cases.append(Case(f"{len(structures)} {'small ' * quick}structures of a head and neck", structures))
    return cases


def labelMaps(folder: Path, ending: str = "_1mm") -> tuple[Path, Path] | None:
    """Return the files of two label maps of the same organs in a folder; None where there are none."""
    reference, test = (folder / f"organs_{which}{ending}.nii.gz" for which in ("reference", "test"))
    return (reference, test) if reference.exists() and test.exists() else None


def headAndNeck(folder: Path, names: Collection[str] | None = None) -> Iterator[Pair]:
    """Yield the structures that two observers drew of the first patient in a folder. names: of those; None for all."""
    for patient in sorted((folder / "headneck").glob("*"))[:1]:
        for file in sorted((patient / "oncologist").glob("*.nrrd")):
            other = patient / "radiographer" / file.name
            if other.exists() and (names is None or file.stem in names):
                images = [SimpleITK.ReadImage(path) for path in (file, other)]
                yield cropped(file.stem, *(SimpleITK.GetArrayViewFromImage(image) > 0 for image in images), images[0])


def organs(reference: SimpleITK.Image, test: SimpleITK.Image, labels: list[int] | None = None) -> Iterator[Pair]:
    """Yield the pairs of the labels of two label maps on one grid; None: of all that both have."""
    maps = [SimpleITK.GetArrayViewFromImage(image) for image in (reference, test)]
    if labels is None:
        labels = sorted(set(np.unique(maps[0])) & set(np.unique(maps[1])) - {0})
    for label in labels:
        yield cropped(f"Label {label}", *(labelMap == label for labelMap in maps), reference)


# ---- generated pairs


@dataclass(frozen=True)
class Blob:
    """An ellipsoid with bumps, drawn twice: the test departs from it by a smooth wobble and one local error.

    radii, spacing in mm along x, y, z; bumps, wobble: standard deviations in mm, of waves about as long as `wavelength`
    mm; error: height in mm of the local error; bend: in mm, of a slender shape's middle.
    """

    name: str
    radii: tuple[float, float, float]
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0)
    bumps: float = 1.0
    wobble: float = 0.8
    wavelength: float = 20.0
    error: float = 5.0
    bend: float = 0.0

    def pair(self) -> Pair:
        room = np.array(self.radii) + 4 * self.bumps + 4 * self.wobble + self.error + self.bend
        x, y, z = (np.arange(-r, r, s) for r, s in zip(room, self.spacing))
        positions = x[None, None, :], y[None, :, None], z[:, None, None]
        drawn = self.distance(positions) - self.bumps * waves((x, y, z), self.wavelength, 1)
        toError = sum((p - c) ** 2 for p, c in zip(positions, (self.radii[0], 0, 0)))
        departure = self.wobble * waves((x, y, z), self.wavelength, 2)
        departure += self.error * np.exp(-toError / (4 * self.error**2))
        grid = SimpleITK.Image([len(x), len(y), len(z)], SimpleITK.sitkUInt8)
        grid.SetSpacing(self.spacing)
        grid.SetOrigin([x[0], y[0], z[0]])
        return cropped(self.name, drawn < 0, drawn < departure, grid)

    def distance(self, positions: tuple) -> np.ndarray:
        """Return about the signed distance in mm to the bent ellipsoid, negative inside."""
        x, y, z = positions
        x = x - self.bend * np.cos(np.pi * z / (2 * self.radii[2]))
        scaled = np.sqrt(sum((p / r) ** 2 for p, r in zip((x, y, z), self.radii)))
        slope = np.sqrt(sum((p / r**2) ** 2 for p, r in zip((x, y, z), self.radii)))
        return scaled * (scaled - 1) / np.maximum(slope, 1e-6)


def waves(axes: tuple[np.ndarray, ...], wavelength: float, seed: int) -> np.ndarray:
    """Return a smooth field [z, y, x] of standard deviation 1: plane waves of random directions, always the same."""
    count = 12
    random = np.random.default_rng(seed)
    directions = random.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    numbers = 2 * np.pi / (wavelength * random.uniform(0.7, 2, size=(count, 1))) * directions
    # a plane wave is a product of one factor per axis
    x, y, z = (np.exp(1j * axis[:, None] * number) for axis, number in zip(axes, numbers.T))
    x *= np.exp(2j * np.pi * random.random(count))
    plane = (y[:, None] * x[None]).reshape(-1, count)
    return np.sqrt(2 / count) * (z @ plane.T).real.reshape(len(z), len(y), len(x))


BLOBS = (
    Blob("liver-like, 1 mm", (84, 70, 58), bumps=4, wobble=1.0, wavelength=45, error=8),
    Blob("parotid-size, 1 mm", (12, 22, 27)),
    Blob("optic-nerve-size, 1 mm", (3, 2.8, 24), bumps=0.2, wobble=0.5, error=2, bend=6),
    Blob("parotid-size, 0.98 x 0.98 x 2.5 mm", (12, 22, 27), (500 / 512, 500 / 512, 2.5)),
)
QUICK = (Blob("liver-like, 2.5 mm", (84, 70, 58), (2.5, 2.5, 2.5), 4, 1.0, 45, 8), *BLOBS[1:])


def generated(quick: bool) -> list[Case]:
    """Return the generated pairs, each a case of its own."""
    return [Case(blob.name, (blob.pair(),)) for blob in (QUICK if quick else BLOBS)]


# ---- generated label maps


def writeVolumes(folder: Path, size: Sequence[int], structures: int) -> list[Path]:
    """Write two label maps (uint8) of so many ellipsoids, the first a trunk of 38 x 25 cm, and return their files."""
    shape = np.array(size[::-1])
    files = []
    for which in ("reference", "test"):
        random = np.random.default_rng(0)
        labels = np.zeros(shape, np.uint8)
        for label in range(1, structures + 1):
            center, radii = shape / 2, np.minimum(TRUNK / SPACING, 0.45 * shape[::-1])[::-1]
            if label > 1:
                center = shape * random.uniform(0.3, 0.7, 3)
                radii = np.maximum(shape * random.uniform(0.02, 0.12 if label < 20 else 0.05, 3), 3)
            draw(labels, center + 1.3 * (which == "test"), radii, label)
        image = SimpleITK.GetImageFromArray(labels)
        image.SetSpacing(SPACING.tolist())
        files.append(folder / f"{which}.nii.gz")
        SimpleITK.WriteImage(image, str(files[-1]), True)
    return files


def draw(labels: np.ndarray, center: np.ndarray, radii: np.ndarray, label: int) -> None:
    """Draw an ellipsoid into labels [k, j, i]."""
    low = np.maximum(np.floor(center - radii).astype(int), 0)
    high = np.minimum(np.ceil(center + radii).astype(int) + 1, labels.shape)
    axes = np.ogrid[tuple(slice(*ends) for ends in zip(low, high, strict=True))]
    inside = sum(((axis - c) / r) ** 2 for axis, c, r in zip(axes, center, radii, strict=True)) < 1
    labels[tuple(slice(*ends) for ends in zip(low, high, strict=True))][inside] = label

"""Which voxel centers lie inside a closed surface, compared with VTK's stencil."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapes
from scipy.spatial.transform import Rotation
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkImagingStencil import vtkImageStencilToImage, vtkPolyDataToImageStencil

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.surfaces import Surface, toPolyData
from SegmentMetricsLib.geometry.voxelization import maskOf

# What has the faces of a tetrahedron, all facing outward or all inward.
FACES = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)])


def box(low, high) -> Surface:
    return meshing.fromPolyData(shapes.boxMesh(low, high))


def turned(generator: np.random.Generator, surface: Surface, scale=1.0) -> Surface:
    return Surface(surface.points @ Rotation.random(random_state=generator).as_matrix() * scale, surface.cells)


def ball(generator: np.random.Generator, radius: float, resolution: int, facing: int = 1) -> Surface:
    """Return a bumpy ball about the origin, turned at random."""
    surface = meshing.fromPolyData(shapes.ballMesh(1, resolution=resolution))
    waves = generator.uniform(-4, 4, (4, 3)) @ surface.points.T + generator.uniform(0, 6, (4, 1))
    points = surface.points * radius * (1 + 0.1 * np.cos(waves).sum(axis=0))[:, None]
    return turned(generator, Surface(points, surface.cells[:, ::facing]))


def boxes(generator) -> Surface:
    return shapes.together(*(box(low, low + generator.uniform(1, 15, 3)) for low in generator.uniform(-10, 10, (3, 3))))


def voxels(generator) -> np.ndarray:
    """Some that touch along edges and at corners: more than two triangles meet there."""
    return shapes.blob(int(generator.integers(1e6)), tuple(generator.integers(4, 16, 3)), 0.4, 0.5)


def tetrahedra(generator) -> Surface:
    """Tetrahedra between a few points: they cross, and share corners, edges and faces."""
    corners = np.array([generator.choice(7, 4, replace=False) for _ in range(6)])
    return Surface(generator.uniform(-12, 12, (7, 3)), corners[:, FACES].reshape(-1, 3))


SHAPES = {
    "bumpy": lambda random: ball(random, random.uniform(0.3, 20), int(random.integers(4, 60))),
    "flat": lambda random: turned(random, ball(random, 15, 20), random.uniform(0.01, 1, 3)),
    "hollow": lambda random: shapes.together(ball(random, 20, 24), ball(random, 5, 12, facing=-1)),
    "voxels": lambda random: turned(random, shapes.boundaryOf(voxels(random)), 1.7),
    "overlapping": lambda random: turned(random, boxes(random)),
    "tetrahedra": tetrahedra,
}


def lattice(generator: np.random.Generator) -> Grid:
    """Return a grid with voxels of any shape that runs in any direction, somewhere."""
    axes = Rotation.random(random_state=generator).as_matrix() * generator.uniform(0.4, 3, 3)
    if generator.random() < 0.5:
        axes = np.diag(generator.choice([-1, 1], 3) * generator.uniform(0.4, 3, 3))
    return shapes.gridOf(origin=generator.uniform(-1, 1, 3) * generator.choice([1, 100, 1e5]), direction=axes)


def stencilled(index: np.ndarray, cells: np.ndarray, low: np.ndarray, high: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the voxels [k, j, i] from one index to another that VTK finds inside triangles between voxel indices."""
    stencil = vtkPolyDataToImageStencil()
    stencil.SetInputData(toPolyData(Surface(index, cells)))
    stencil.SetTolerance(tolerance)
    stencil.SetOutputSpacing(1, 1, 1)
    stencil.SetOutputOrigin(0, 0, 0)
    stencil.SetOutputWholeExtent([int(n) for pair in zip(low, high) for n in pair])
    image = vtkImageStencilToImage()
    image.SetInputConnection(stencil.GetOutputPort())
    image.SetInsideValue(1)
    image.SetOutsideValue(0)
    image.SetOutputScalarTypeToUnsignedChar()
    image.Update()
    return vtk_to_numpy(image.GetOutput().GetPointData().GetScalars()).reshape((high - low + 1)[::-1])


@pytest.mark.parametrize("shape", SHAPES)
def testSameVoxelsAsVtk(shape):
    generator = np.random.default_rng(11)
    voxels = 0
    for _ in range(25):
        grid, surface = lattice(generator), SHAPES[shape](generator)
        surface = Surface(surface.points + grid.origin, surface.cells)
        index = grid.toIndex(surface.points)
        low, high = np.floor(index.min(axis=0)).astype(int), np.ceil(index.max(axis=0)).astype(int)
        mask, cropped = maskOf(surface, grid), maskOf(surface, grid, isCropped=True)
        np.testing.assert_array_equal(*(one.block((0, 0, 0), np.array(grid.size) - 1) for one in (mask, cropped)))
        voxels += mask.count
        # to VTK, centers nearer to the surface than a tolerance are inside
        np.testing.assert_array_equal(mask.block(low, high), stencilled(index, surface.cells, low, high, 0.0))
    assert voxels > 2000


def testLowFacesHoldTheirCentersHighFacesDoNot():
    mask = maskOf(box((2, 2, 2), (5, 6, 7)), shapes.gridOf())
    assert mask.low.tolist() == [2, 2, 2] and mask.high.tolist() == [4, 5, 6] and mask.voxels.all()


@pytest.mark.parametrize("facing", [1, -1])
def testPartsOfACubeShareItsVoxels(facing):
    """Six tetrahedra around a diagonal: their faces, straight and slanted, run through voxel centers."""
    grid = shapes.gridOf()
    owners = np.zeros((9, 9, 9), int)
    for order in itertools.permutations(np.eye(3)):
        corners = 1 + 6 * np.cumsum([np.zeros(3), *order], axis=0)
        mask = maskOf(Surface(corners, FACES[:, ::facing]), grid)
        owners += mask.block((0, 0, 0), (8, 8, 8))
        assert mask.count
    expected = np.zeros_like(owners)
    expected[1:7, 1:7, 1:7] = 1
    np.testing.assert_array_equal(owners, expected)


def testBoxesSideBySideShareAllVoxelsInSpiteOfRounding():
    """Faces on voxel centers of an oblique grid, where no corner lies exactly where it should."""
    grid = shapes.gridOf((12, 12, 12), (0.7, 0.9, 1.3), (-133.7, 81.3, 512.9), shapes.rotation((1, 2, 3), 37))
    owners = np.zeros((12, 12, 12), int)
    for low in itertools.product((1, 4), (2, 5), (3, 6)):
        part = box(low, np.add(low, 3))
        owners += maskOf(Surface(grid.toWorld(part.points), part.cells), grid).block((0, 0, 0), (11, 11, 11))
    expected = np.zeros_like(owners)
    expected[3:9, 2:8, 1:7] = 1
    np.testing.assert_array_equal(owners, expected)

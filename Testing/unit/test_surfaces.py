"""Boundaries: of masks from the cases of their cells, as VTK's filter makes them; of polygons and contours."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import shapes
from shapes import maskOf
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.meshing import MaskSurface, fromMask, paddedImage
from SegmentMetricsLib.geometry.surfaces import Surface, triangleIndices

OBLIQUE = shapes.rotation((1, 2, -0.5), 33)
GRIDS = {
    "straight": {},
    "anisotropic": {"spacing": (0.7, 1.2, 3.1), "origin": (-20, 5, 300)},
    "mirrored": {"direction": np.diag([-1.0, 1, 1]), "spacing": (1, 1, 2)},
    "axes exchanged": {"direction": np.eye(3)[[2, 0, 1]], "spacing": (1, 2, 3)},
    "oblique": {"direction": OBLIQUE, "spacing": (0.9, 1.1, 3.3), "origin": (1e4, -1e4, 7e3)},
    "oblique and left-handed": {"direction": OBLIQUE * (-1, 1, 1), "spacing": (0.9, 1.1, 3.3)},
}
SHAPES = {
    "noise": np.random.default_rng(1).random((5, 6, 7)) < 0.5,
    "blob": shapes.blob(4, (9, 8, 7)),
    "one voxel": np.pad(np.ones((1, 1, 1), bool), 1),
    "sheet": np.pad(np.ones((1, 4, 3), bool), 1),
    "hollow": np.pad(np.zeros((2, 2, 1), bool), 2, constant_values=True),
    "touching corners": np.eye(3, dtype=bool)[None] & np.eye(3, dtype=bool)[:, None],
}


def byFilter(mask) -> Surface:
    """Return the surface of VTK's filter of the padded mask, turned outward."""
    from vtkmodules.vtkFiltersGeneral import vtkDiscreteFlyingEdges3D

    edges = vtkDiscreteFlyingEdges3D()
    edges.SetInputData(paddedImage(mask))
    edges.SetValue(0, 1)
    edges.ComputeScalarsOff()
    edges.ComputeNormalsOff()
    edges.Update()
    output = edges.GetOutput()
    cells = triangleIndices(output)
    if np.linalg.det(mask.grid.axes) < 0:
        cells = cells[:, [0, 2, 1]]
    return Surface(mask.grid.toWorld(vtk_to_numpy(output.GetPoints().GetData()).astype(float) + mask.offset), cells)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("shape", SHAPES)
class TestAgainstTheFilter:
    def testTriangles(self, shape, grid):
        """The same ones in the same order, facing the same way; which corner is named first does not matter."""
        mask = maskOf(SHAPES[shape], **GRIDS[grid])
        found, expected = fromMask(mask), byFilter(mask)
        assert isinstance(found, MaskSurface) and found.count == len(found.cells) == expected.count
        corners, others = found.points[found.cells], expected.points[expected.cells]
        ways = np.stack([np.roll(corners, step, axis=1) for step in range(3)])
        assert np.abs(ways - others).max(axis=(2, 3)).min(axis=0).max() < 1e-6
        # each point once, and all of them used
        assert len(np.unique(found.points.round(6), axis=0)) == len(found.points) == len(np.unique(found.cells))
        assert found.mask.grid.toWorld(found.lattice) == pytest.approx(found.points)

    def testSizes(self, shape, grid):
        mask = maskOf(SHAPES[shape], **GRIDS[grid])
        found, expected = fromMask(mask), byFilter(mask)
        # asked before there are triangles, whose points it does not need
        assert (found.volume, found.sizes.sum()) == pytest.approx((expected.volume, expected.sizes.sum()), rel=1e-9)
        low, high = found.box
        assert not {"_triangles", "points"} & set(found.__dict__) or "oblique" in grid
        assert np.array([low, high]) == pytest.approx(np.array(expected.box), abs=1e-6)
        assert found.sizes == pytest.approx(expected.sizes, rel=1e-9)
        # and by the corners
        assert found.sizes == pytest.approx([naive.sizeOf(one) for one in found.points[found.cells]], rel=1e-6)
        assert found.isClosed and found.dimension == 3 and not found.isEmpty


def testCopiesAreMadeAgain():
    import pickle

    surface = fromMask(maskOf(SHAPES["blob"]))
    assert len(surface.points)
    copy = pickle.loads(pickle.dumps(surface))
    assert set(copy.__dict__) == {"mask"}
    assert (copy.points == surface.points).all() and (copy.cells == surface.cells).all()


@pytest.mark.parametrize("grid", GRIDS)
def testClosedSurfacesOfSlicer(grid, scene):
    """Of the same segment at smoothing 0."""
    import slicer

    from SegmentMetricsLib.mrml.conversion import addVoxels, closedSurface

    mask, segmentation = maskOf(np.pad(shapes.blob(1, (9, 8, 7)), 1), **GRIDS[grid]), slicer.vtkSegmentation()
    addVoxels(segmentation, "Organ", mask)
    shown = closedSurface(segmentation, segmentation.GetNthSegmentID(0), {"Smoothing factor": "0"})
    points, cells = vtk_to_numpy(shown.GetPoints().GetData()) * (-1.0, -1, 1), triangleIndices(shown)
    theirs, ours = Surface(points, cells), fromMask(mask)
    # its points have single precision
    near = 1e-6 + 1e-7 * np.abs(points).max()
    assert ours.count == theirs.count
    assert ours.sizes.sum() == pytest.approx(theirs.sizes.sum(), rel=near)
    assert ours.volume == pytest.approx(abs(theirs.volume), rel=near)


def testPolygonsAreTriangulated():
    points = [(x, y, z) for z in (0, 1) for y in (0, 2) for x in (0, 3)]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    surface = meshing.fromPolyData(shapes.meshOf(points, quads))
    assert len(surface.cells) == 12 and surface.isClosed and surface.nonManifoldEdges == 0
    assert surface.volume == pytest.approx(6)
    assert surface.repairs == ()


def testContoursWithAHole():
    outer, hole = [(0, 0), (9, 0), (9, 6), (0, 6)], [(2, 2), (4, 2), (4, 4), (2, 4)]
    for second in (hole, hole[::-1]):
        surface = meshing.fromPolyData(shapes.loops(outer, second, z=3.5))
        assert surface.dimension == 2 and surface.volume == pytest.approx(54 - 4)
        assert surface.sizes.sum() == pytest.approx(30 + 8)
        places = np.array([[1, 1, 3.5], [3, 3, 3.5], [-2, 3, 3.5], [8, 3, 3.5]])
        assert ClosestSurface(surface).signedDistances(places) == pytest.approx([-1, 1, 2, -1])


def testContoursOfAMaskInAnyPlane():
    array = np.zeros((12, 1, 10), bool)
    array[3:8, 0, 2:9] = True
    surface = shapes.boundaryOf(array, (0.5, 3, 2), (1, 2, 3))
    assert surface.dimension == 2
    # the corners are cut half-way between pixel centers
    assert surface.volume == pytest.approx(7 * 0.5 * 5 * 2 - 4 * (0.25 * 1) / 2)
    assert np.ptp(surface.points[:, 1]) == 0

"""Small shapes that the tests compare."""

from __future__ import annotations

import numpy as np
import SimpleITK
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkTriangleFilter
from vtkmodules.vtkFiltersSources import vtkCubeSource, vtkSphereSource
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from SegmentMetricsLib import Grid, Mask, Structure, Surface


def imageOf(array, spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), direction=None) -> SimpleITK.Image:
    """Return an image of an array indexed [k, j, i] (or [j, i])."""
    array = np.asarray(array)
    image = SimpleITK.GetImageFromArray(array.astype(np.uint8) if array.dtype == bool else array)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    if direction is not None:
        image.SetDirection(np.asarray(direction, float).ravel().tolist())
    return image


def ball(radius: float, center=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), origin=(-30, -30, -30), size=(60, 60, 60)):
    """Return the image of a ball: radius and center in mm, voxel centers inside are 1."""
    x, y, z = (np.arange(n) * step + start - at for n, step, start, at in zip(size, spacing, origin, center))
    return imageOf(np.sqrt(x**2 + y[:, None] ** 2 + z[:, None, None] ** 2) <= radius, spacing, origin)


def box(low, high, size=(24, 24, 24), spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), value=1) -> SimpleITK.Image:
    """Return the image of a box of voxels from index low to high (i, j, k), both included."""
    return labelImage({value: (low, high)}, size, spacing=spacing, origin=origin)


def structureOf(image, name: str = "Organ", **details) -> Structure:
    """Return the voxels of an image that are not 0 as a structure. details: more of it, such as its file."""
    return Structure(name, maskOf(image), **details)


def blob(seed: int, size=(16, 18, 14), share: float = 0.5, smooth: float = 1.5) -> np.ndarray:
    """Return a random smooth mask [k, j, i] that fills about that share of its grid."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(seed).standard_normal(size[::-1]), smooth)
    return noise > np.quantile(noise, 1 - share)


def ballMesh(radius: float, center=(0.0, 0.0, 0.0), resolution: int = 64) -> vtkPolyData:
    """Return the triangles of a ball."""
    source = vtkSphereSource()
    source.SetRadius(radius)
    source.SetCenter(*center)
    source.SetThetaResolution(resolution)
    source.SetPhiResolution(resolution)
    source.SetOutputPointsPrecision(1)
    source.Update()
    return source.GetOutput()


def boxMesh(low, high) -> vtkPolyData:
    """Return the twelve triangles of a box."""
    source = vtkCubeSource()
    source.SetBounds(*[c for pair in zip(low, high, strict=True) for c in pair])
    source.SetOutputPointsPrecision(1)
    triangles = vtkTriangleFilter()
    triangles.SetInputConnection(source.GetOutputPort())
    triangles.Update()
    return triangles.GetOutput()


def openBox(x: float = 0.0, size: float = 10.0) -> vtkPolyData:
    """Return the mesh of a cube of so many mm, which begins at x, without its first two triangles."""
    box = boxMesh((x, 0, 0), (x + size, size, size))
    points, cells = (vtk_to_numpy(data) for data in (box.GetPoints().GetData(), box.GetPolys().GetConnectivityArray()))
    return meshOf(points, cells.reshape(-1, 3)[2:])


def append(*meshes: vtkPolyData) -> vtkPolyData:
    """Return the triangles of several meshes as one."""
    result = vtkAppendPolyData()
    for mesh in meshes:
        result.AddInputData(mesh)
    result.Update()
    return result.GetOutput()


def pointsOf(points) -> vtkPoints:
    """Return points (n, 3) in double precision."""
    result = vtkPoints()
    result.SetData(numpy_to_vtk(np.array(points, float).reshape(-1, 3), deep=True))
    return result


def meshOf(points, cells=(), lines=()) -> vtkPolyData:
    """Return polygons and lines, given by the numbers of their corners, between points (n, 3)."""
    result = vtkPolyData()
    result.SetPoints(pointsOf(points))
    for give, given in ((result.SetPolys, cells), (result.SetLines, lines)):
        array = vtkCellArray()
        for cell in given:
            array.InsertNextCell(len(cell))
            for number in cell:
                array.InsertCellPoint(int(number))
        give(array)
    return result


def gridOf(size=(9, 9, 9), spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), direction=None) -> Grid:
    """Return a grid, as that of an image."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = (np.eye(3) if direction is None else direction) * np.array(spacing), origin
    return Grid(tuple(size), matrix)


def maskOf(given, *geometry, **more) -> Mask:
    """Return the voxels that are not 0 of an image, or of an array [k, j, i] as an image of some geometry."""
    image = given if isinstance(given, SimpleITK.Image) else imageOf(given, *geometry, **more)
    array = SimpleITK.GetArrayFromImage(image)
    return Mask.fromArray(array if array.ndim == 3 else array[None], Grid.fromImage(image))


def boundaryOf(given, *geometry, **more) -> Surface:
    """Return the boundary of an image or array, given as for maskOf()."""
    return Structure("", maskOf(given, *geometry, **more)).surface


def surfaceOf(image) -> vtkPolyData:
    """Return the boundary of a mask."""
    boundary = boundaryOf(image)
    return meshOf(boundary.points, **{"cells" if boundary.dimension == 3 else "lines": boundary.cells})


def together(*surfaces: Surface) -> Surface:
    """Return several surfaces as one."""
    first = np.cumsum([0, *(len(s.points) for s in surfaces[:-1])])
    cells = np.concatenate([s.cells + n for s, n in zip(surfaces, first, strict=True)])
    return Surface(np.concatenate([s.points for s in surfaces]), cells)


def loops(*polygons, z: float = 0.0) -> vtkPolyData:
    """Return closed polylines through points (n, 2) in the plane of that z."""
    points, lines = [], []
    for polygon in polygons:
        first = len(points)
        points.extend((x, y, z) for x, y in polygon)
        lines.append([*range(first, len(points)), first])
    return meshOf(points, lines=lines)


def rotation(axis, degrees: float) -> np.ndarray:
    """Return the 3x3 matrix of a rotation."""
    from scipy.spatial.transform import Rotation

    axis = np.asarray(axis, float)
    return Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis)).as_matrix()


def labelImage(boxes: dict, size=(24, 24, 24), dtype=np.uint8, **geometry) -> SimpleITK.Image:
    """Return a label map: boxes has label -> (low, high), voxel indices (i, j, k) of which both are included."""
    array = np.zeros(size[::-1], dtype)
    for label, (low, high) in boxes.items():
        array[tuple(slice(a, b + 1) for a, b in zip(low[::-1], high[::-1], strict=True))] = label
    return imageOf(array, **geometry)


def segmentation(layers: list, segments: list[dict], **geometry) -> SimpleITK.Image:
    """Return an image as Slicer stores segmentations: arrays [k, j, i], one a layer, and header fields per segment."""
    array = np.stack(layers, axis=-1) if len(layers) > 1 else layers[0]
    image = SimpleITK.GetImageFromArray(array, isVector=len(layers) > 1)
    for name, value in geometry.items():
        getattr(image, f"Set{name.capitalize()}")(value)
    for number, fields in enumerate(segments):
        for key, value in fields.items():
            image.SetMetaData(f"Segment{number}_{key}", str(value))
    return image


def readMesh(path) -> vtkPolyData:
    """Return what a .vtp file holds."""
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def writeMesh(polyData: vtkPolyData, path, space: str = "", ascii: bool = False):
    """Write a mesh, with the note of its coordinate system that Slicer adds, and return the path."""
    from vtkmodules.vtkCommonCore import vtkStringArray
    from vtkmodules.vtkIOGeometry import vtkOBJWriter, vtkSTLWriter
    from vtkmodules.vtkIOPLY import vtkPLYWriter
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

    suffix, note = path.suffix.lower(), f"3D Slicer output. SPACE={space}"
    writer = {".stl": vtkSTLWriter, ".obj": vtkOBJWriter, ".ply": vtkPLYWriter, ".vtp": vtkXMLPolyDataWriter}[suffix]()
    if suffix == ".vtp":
        copy = vtkPolyData()
        copy.ShallowCopy(polyData)
        if space:
            array = vtkStringArray()
            array.SetName("SPACE")
            array.InsertNextValue(space)
            copy.GetFieldData().AddArray(array)
        polyData = copy
        if ascii:
            writer.SetDataModeToAscii()
    elif suffix == ".stl":
        writer.SetHeader(note if space else "mesh")
    elif suffix == ".ply" and space:
        writer.AddComment(note)
    if suffix in (".stl", ".ply"):
        (writer.SetFileTypeToASCII if ascii else writer.SetFileTypeToBinary)()
    writer.SetFileName(str(path))
    writer.SetInputData(polyData)
    writer.Write()
    if suffix == ".obj" and space:
        path.write_text(f"# {note}\n{path.read_text()}")
    return path

"""Files of every kind in, and one sentence with the file's name for everything that cannot be used."""

from __future__ import annotations

import gzip
import os
import struct
import zlib

import numpy as np
import pytest
import shapes
import SimpleITK
from hostile.builders import cut, nrrd
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersSources import vtkCubeSource

from SegmentMetricsLib import compare, inputs, readStructures, samples, structures
from SegmentMetricsLib.files import ply
from SegmentMetricsLib.files import reading as files

# A label map in an oblique, left-handed place of the patient.
BOXES = {1: ((2, 3, 4), (5, 7, 9)), 5: ((7, 3, 4), (10, 4, 5))}
DIRECTION = shapes.rotation((1, 2, 3), 30) @ np.diag([-1, 1, 1])
GEOMETRY = {"spacing": (1.5, 0.75, 2.5), "origin": (-100.25, 50.5, 12.0), "direction": DIRECTION}
SIZE = (12, 10, 14)
LABELS = shapes.labelImage(BOXES, SIZE, **GEOMETRY)


def save(image: SimpleITK.Image, path, compressed=True):
    SimpleITK.WriteImage(image, str(path), compressed)
    return path


def read(path, **options):
    return {structure.name: structure for structure in readStructures(path, **options)}


def middleOf(structure) -> np.ndarray:
    """Return the LPS middle of a structure's bounding box in voxel axes, or of its points."""
    if structure.mask is not None:
        return structure.mask.corners().mean(axis=0)
    points = structure.surface.points
    return (points.min(axis=0) + points.max(axis=0)) / 2


def refusal(path, **options) -> str:
    """Return the sentence with which a file is refused, without the file's name, with which it must begin."""
    with pytest.raises(files.UnusableFile) as caught:
        readStructures(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}")
    # nothing of the readers' inner life
    for word in ("0x", "itk", "ITK", "Exception", ".cxx", ".hxx", "vtk"):
        assert word not in message.replace(str(path), "")
    return message[len(str(path)) :].lstrip(": ")


# Images


@pytest.mark.parametrize(
    "suffix", [".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd", ".seg.nrrd", ".NRRD", ".Seg.Nrrd"]
)
@pytest.mark.parametrize("compressed", [True, False])
def testImagesOfEveryKind(tmp_path, suffix, compressed):
    found = read(save(LABELS, tmp_path / f"organs{suffix}", compressed))
    assert list(found) == ["Label 1", "Label 5"]
    for label, (low, high) in BOXES.items():
        structure = found[f"Label {label}"]
        assert structure.mask.count == np.prod(np.array(high) - low + 1)
        middle = LABELS.TransformContinuousIndexToPhysicalPoint(((np.array(low) + high) / 2).tolist())
        assert middleOf(structure) == pytest.approx(middle, abs=1e-4)
        assert structure.mask.grid.size == SIZE
        assert structure.file == str(tmp_path / f"organs{suffix}")
        assert structure.surfaceKind == "unsmoothed"


@pytest.mark.parametrize(
    "pixel", ["UInt8", "Int8", "UInt16", "Int16", "UInt32", "Int32", "UInt64", "Int64", "Float32", "Float64"]
)
def testPixelTypes(tmp_path, pixel):
    image = SimpleITK.Cast(LABELS, getattr(SimpleITK, f"sitk{pixel}"))
    found = read(save(image, tmp_path / "organs.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"Label 1": 120, "Label 5": 16}


def testNrrdInRasIsTurned(tmp_path):
    path = save(shapes.labelImage(BOXES, SIZE), tmp_path / "lps.nrrd", compressed=False)
    ras = tmp_path / "ras.nrrd"
    ras.write_bytes(path.read_bytes().replace(b"left-posterior-superior", b"right-anterior-superior"))
    for name, structure in read(path).items():
        assert middleOf(read(ras)[name]) == pytest.approx(middleOf(structure) * (-1, -1, 1))


def testAnImageWithoutLabelsIsOneEmptyStructure(tmp_path):
    (structure,) = readStructures(save(shapes.labelImage({}), tmp_path / "Spleen.nii.gz"))
    assert (structure.name, structure.isEmpty, structure.mask.grid.size) == ("Spleen", True, (24, 24, 24))


@pytest.mark.parametrize(("threshold", "voxels"), [(0.2, 8), (0.25, 8), (0.25001, 4), (0.75, 4), (0.9, 0), (1.0, 0)])
def testMemberships(tmp_path, threshold, voxels):
    array = np.zeros((8, 8, 8), np.float32)
    array[2:4, 2:4, 2], array[2:4, 2:4, 3] = 0.25, 0.75
    (structure,) = readStructures(save(shapes.imageOf(array), tmp_path / "liver.nii.gz"), threshold=threshold)
    assert structure.mask.count == voxels and structure.memberships is None


def testMembershipsCountInPartWithoutAThreshold(tmp_path):
    array = np.zeros((8, 8, 8), np.float32)
    array[2:4, 2:4, 2], array[2:4, 2:4, 3] = 0.25, 0.75
    path = save(shapes.imageOf(array), tmp_path / "liver.nii.gz")
    (structure,) = readStructures(path)
    assert structure.mask.count == 4 and structure.memberships.voxels.sum() == 4
    percent = save(shapes.imageOf((100 * array).astype(np.uint8)), tmp_path / "percent.nrrd")
    assert set(read(percent)) == {"Label 25", "Label 75"}
    (structure,) = readStructures(percent, maximum=100)
    assert structure.mask.count == 4 and structure.memberships.voxels.sum() == 4
    assert readStructures(percent, 0.2, 100)[0].mask.count == 8
    assert (
        refusal(percent, maximum=50) == "The image is no map of memberships from 0 to 50: it has values from 0 to 75."
    )
    folder = tmp_path / "folder"
    folder.mkdir()
    save(shapes.imageOf((100 * array).astype(np.uint8)), folder / "Spleen.nrrd")
    assert readStructures(folder, maximum=100)[0].memberships is not None


@pytest.mark.parametrize(("dtype", "low", "high"), [(np.int8, -108, 108), (np.uint8, 0, 216), (np.float32, 0, 1)])
def testFractionalSegmentations(tmp_path, dtype, low, high):
    """The range of a fractional label map follows from its type; what lies outside a segment's extent means nothing."""
    layers = [np.zeros((6, 6, 6), dtype) for _ in range(2)]
    layers[0][1:4, 1:4, 1:4] = low
    layers[0][1:3, 2, 2] = (high, (low + high) / 2)
    layers[1][:] = low
    layers[1][5, 5, 5] = high
    segments = [
        {"ID": "a", "Name": "Liver", "LabelValue": 1, "Layer": 0, "Extent": "1 3 1 3 1 3"},
        {"ID": "b", "Name": "Cord", "LabelValue": 1, "Layer": 1},
    ]
    for header in ("Segmentation_MasterRepresentation", "Segmentation_SourceRepresentation"):
        image = shapes.segmentation(layers, segments, spacing=(1, 2, 3))
        image.SetMetaData(header, "Fractional labelmap")
        found = read(save(image, tmp_path / "x.seg.nrrd"))
        assert found["Liver"].memberships.voxels.ravel().tolist() == [1, 0.5]
        assert found["Liver"].mask.count == 2 and found["Liver"].memberships.offset == (2, 2, 1)
        assert found["Cord"].memberships.voxels.ravel().tolist() == [1] and found["Cord"].mask.offset == (5, 5, 5)
        crisp = read(tmp_path / "x.seg.nrrd", threshold=0.6)["Liver"]
        assert crisp.mask.count == 1 and crisp.memberships is None


def testFractionalSegmentationsThatCannotBeRead(tmp_path):
    def message(layers, segments):
        image = shapes.segmentation(layers, segments)
        image.SetMetaData("Segmentation_MasterRepresentation", "Fractional labelmap")
        return refusal(save(image, tmp_path / "x.seg.nrrd"))

    one, two = ({"ID": name, "Name": name, "Layer": 0} for name in "ab")
    assert "Slicer saved none of its voxels" in message([np.zeros((1, 1, 1), np.int8)], [one])
    layer = np.zeros((4, 4, 4), np.int8)
    assert "several fractional segments into one layer" in message([layer], [one, two])
    assert "a layer that the file does not have" in message([layer], [{**one, "Layer": 3}])
    assert "values beyond its range from -108 to 108" in message([layer + 109], [one])


def testGridsOfFiles(tmp_path):
    image = shapes.imageOf(np.random.default_rng(0).normal(size=(4, 5, 6)), (1, 2, 3), (7, 8, 9))
    grid = files.readGrid(save(image, tmp_path / "ct.nii.gz"))
    assert grid.size == (6, 5, 4) and grid.offsetOn(inputs.Grid.fromImage(image)) == (0, 0, 0)
    # a segmentation stands for the image that it was drawn on
    mask = samples.writeHeadAndNeck(tmp_path)[0]
    assert files.readGrid(mask).offsetOn(readStructures(mask)[0].mask.grid) == (0, 0, 0)
    assert files.readGrid(mask).size == readStructures(mask)[0].mask.grid.size
    (tmp_path / "bad.nrrd").write_text("nothing")
    nrrd(tmp_path / "cm.nrrd", space_units='"cm" "cm" "cm"')
    # the voxels are not looked at
    assert files.readGrid(cut("cut.nii.gz", 0.9)(tmp_path)).size == (24, 24, 24)
    for name, words in (
        ("gone.nrrd", "there is no such file"),
        ("mesh.stl", "no image whose grid could be taken"),
        ("bad.nrrd", "cannot be read as an image"),
        ("cm.nrrd", "its header gives lengths in cm instead of mm"),
    ):
        with pytest.raises(files.UnusableFile, match=words) as caught:
            files.readGrid(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)


def testLabelsBeyondEveryByte(tmp_path):
    array = np.zeros((6, 6, 6), np.uint64)
    array[1:3, 1:3, 1:3], array[4, 4, 4] = 2**63 + 5, 70000
    found = read(save(shapes.imageOf(array), tmp_path / "x.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"Label 70000": 1, f"Label {2**63 + 5}": 8}


def testPlanarImages(tmp_path):
    array = np.zeros((20, 30), np.uint8)
    array[5:15, 5:25] = 1
    flat = save(shapes.imageOf(array, (2.0, 0.5), (0.0, 0.0)), tmp_path / "flat.nrrd")
    slice_ = save(shapes.imageOf(array[None], (2.0, 0.5, 3.0)), tmp_path / "slice.nii.gz")
    sagittal = save(shapes.imageOf(array[:, :, None], (3.0, 2.0, 0.5)), tmp_path / "sagittal.mha")
    for path in (flat, slice_, sagittal):
        (structure,) = readStructures(path)
        assert structure.dimension == 2 and structure.mask.size == pytest.approx(200)
    # the same pixels in the file of one slice and in the two-dimensional file
    comparison = compare(*(readStructures(path)[0] for path in (flat, slice_)))
    assert comparison["HD"].value == 0 and comparison["VolumeTest"].unit == "mm2"


@pytest.mark.parametrize(("code", "frame"), [(0, ""), (1, "scanner"), (2, ""), (3, "Talairach"), (4, "MNI 152")])
def testFrameOfReferenceOfNifti(tmp_path, code, frame):
    path = save(LABELS, tmp_path / "x.nii")
    data = bytearray(path.read_bytes())
    struct.pack_into("<2h", data, 252, code, code)
    path.write_bytes(data)
    assert readStructures(path)[0].frameOfReference == frame


def testFrameOfReferenceOfDicomOrigin(tmp_path):
    image = SimpleITK.Image(LABELS)
    image.SetMetaData("0020|0052", "1.2.840.1 ")
    assert readStructures(save(image, tmp_path / "x.mha"))[0].frameOfReference == "1.2.840.1"


# Segmentations of Slicer


def testSampleSegmentation(tmp_path):
    paths = samples.writeHeadAndNeck(tmp_path)
    found = read(paths[0])
    array = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(paths[0])))
    assert list(found) == [organ.name for organ in samples.ORGANS]
    for label, (structure, organ) in enumerate(zip(found.values(), samples.ORGANS, strict=True), start=1):
        assert structure.mask.count == np.count_nonzero(array == label)
        assert structure.color == pytest.approx(np.array(organ.color) / 255, abs=1e-6)
        assert structure.source == {"segmentID": f"Segment_{label}"}
    assert set(read(paths[1])) == set(found) - {"Submandibular_R"}


def layer(*boxes, size=(10, 10, 10)):
    array = np.zeros(size, np.uint8)
    for label, box in enumerate(boxes, start=1):
        array[box] = label
    return array


OVERLAPPING = (
    layer(np.s_[1:5, 1:5, 1:5], np.s_[6:8, 6:8, 6:8]),
    layer(np.s_[3:9, 3:9, 3:9]),
)
SEGMENTS = [
    {"ID": "a", "Name": "Tumor, left", "LabelValue": 1, "Layer": 0, "Color": "1 0.5 0"},
    {"ID": "b", "Name": "Node", "LabelValue": 2, "Layer": 0, "Color": "red"},
    {"ID": "c", "Name": "Margin", "LabelValue": 1, "Layer": 1},
    {"ID": "d", "Name": "Nothing drawn", "LabelValue": 7, "Layer": 1, "Color": "nan 2 0"},
    {"ID": "e", "LabelValue": 9, "Layer": 0},
]


@pytest.mark.parametrize("kind", [b"vector", b"list"])
def testOverlappingSegmentsInLayers(tmp_path, kind):
    path = save(shapes.segmentation(OVERLAPPING, SEGMENTS, spacing=(1, 2, 3)), tmp_path / "x.seg.nrrd", False)
    path.write_bytes(path.read_bytes().replace(b"kinds: vector", b"kinds: " + kind, 1))
    found = read(path)
    assert {name: s.mask.count for name, s in found.items()} == {
        "Tumor, left": 64,
        "Node": 8,
        "Margin": 216,
        "Nothing drawn": 0,
        "e": 0,  # without a name the ID serves
    }
    assert found["Margin"].mask.size == 6 * 216
    assert [s.color for s in found.values()] == [(1, 0.5, 0), None, None, None, None]


def testSegmentsOfOldSlicerHaveALayerEach(tmp_path):
    segments = [{"ID": "a", "Name": "A"}, {"ID": "b", "Name": "B"}]
    layers = [(array > 0).astype(np.uint8) for array in OVERLAPPING]
    found = read(save(shapes.segmentation(layers, segments), tmp_path / "old.seg.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"A": 72, "B": 216}


def testLabelsThatTheHeaderForgotAreNotDropped(tmp_path):
    found = read(save(shapes.segmentation(OVERLAPPING[:1], SEGMENTS[:1]), tmp_path / "x.seg.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"Tumor, left": 64, "Label 2": 8}
    found = read(save(shapes.segmentation(OVERLAPPING, SEGMENTS[:2]), tmp_path / "y.seg.nrrd"))
    assert found["Label 1 of layer 1"].mask.count == 216


@pytest.mark.parametrize(
    ("geometry", "size"),
    [
        # RAS matrix of the same lattice, one voxel lower in L and P, extent 0 0 0 .. 19 29 39
        ("-1;0;0;1;0;-1;0;1;0;0;1;0;0;0;0;1;0;19;0;29;0;39;", (20, 30, 40)),
        ("-2;0;0;0;0;-1;0;0;0;0;1;0;0;0;0;1;0;19;0;29;0;39;", (10, 10, 10)),  # another spacing
        ("1;0;0;0;0;0;0;0;0;0;1;0;0;0;0;1;0;19;0;29;0;39;", (10, 10, 10)),  # no volume
        ("nan;0;0;0;0;1;0;0;0;0;1;0;0;0;0;1;0;19;0;29;0;39;", (10, 10, 10)),
        ("-1;0;0;0;0;-1;0;0;0;0;1;0;0;0;0;1;0;inf;0;29;0;39;", (10, 10, 10)),
        ("-1;0;0", (10, 10, 10)),
        ("", (10, 10, 10)),
    ],
)
def testTheWholeImageOfACroppedSegmentation(tmp_path, geometry, size):
    image = shapes.segmentation(OVERLAPPING[:1], SEGMENTS[:2])
    image.SetMetaData("Segmentation_ConversionParameters", f"Smoothing|0|x&Reference image geometry|{geometry}|y&")
    found = read(save(image, tmp_path / "x.seg.nrrd"))
    assert found["Node"].mask.grid.size == size
    assert middleOf(found["Node"]) == pytest.approx((6.5, 6.5, 6.5))


def testASegmentationWrittenBySlicer(tmp_path):
    slicer = pytest.importorskip("slicer")
    from vtkmodules.util.numpy_support import numpy_to_vtk

    from SegmentMetricsLib import mrml

    scene = mrml.ensureScene()
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    for name, box in (("Kidney", np.s_[2:8, 2:8, 2:8]), ("Cyst", np.s_[5:9, 5:9, 5:10])):
        image = slicer.vtkOrientedImageData()
        image.SetDimensions(10, 10, 10)
        image.SetSpacing(1, 2, 3)
        array = np.zeros((10, 10, 10), np.uint8)
        array[box] = 1
        scalars = numpy_to_vtk(array.ravel(), deep=True)
        image.GetPointData().SetScalars(scalars)
        segment = slicer.vtkSegment()
        segment.SetName(name)
        segment.AddRepresentation("Binary labelmap", image)
        node.GetSegmentation().AddSegment(segment)
    storage = slicer.vtkMRMLSegmentationStorageNode()
    storage.SetFileName(str(tmp_path / "slicer.seg.nrrd"))
    assert storage.WriteData(node)
    scene.RemoveNode(node)

    found = read(tmp_path / "slicer.seg.nrrd")
    assert {name: s.mask.size for name, s in found.items()} == {"Kidney": 6 * 216, "Cyst": 6 * 80}
    # RAS (4.5, 9, 13.5) and (7, 13, 19.5)
    assert middleOf(found["Kidney"]) == pytest.approx((-4.5, -9, 13.5))
    assert middleOf(found["Cyst"]) == pytest.approx((-7, -13, 19.5))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"LabelValue": "one"}, "the header has 'one' where a segment's label or layer should be."),
        ({"Layer": "0.5"}, "the header has '0.5' where a segment's label or layer should be."),
        ({"Layer": 2}, "the header puts segment 'A' into a layer that the file does not have."),
        ({"Layer": -1}, "the header puts segment 'A' into a layer that the file does not have."),
        ({"LabelValue": 0}, "the header gives segment 'A' the label 0, which is the background."),
    ],
)
def testDamagedSegmentHeaders(tmp_path, fields, message):
    segment = {"ID": "a", "Name": "A", "LabelValue": 1, "Layer": 0, **fields}
    assert refusal(save(shapes.segmentation(OVERLAPPING, [segment]), tmp_path / "x.seg.nrrd")) == message


def testSegmentationsOfFractions(tmp_path):
    image = SimpleITK.Cast(shapes.segmentation(OVERLAPPING[:1], []), SimpleITK.sitkFloat32)
    image.SetMetaData("Segment0_ID", "a")
    assert (
        refusal(save(image, tmp_path / "x.seg.nrrd"))
        == "the segmentation is stored with values that are not whole numbers."
    )


# Meshes


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".vtp", ".STL"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("space", ["", "LPS", "RAS"])
def testMeshesOfEveryKind(tmp_path, suffix, ascii, space):
    path = shapes.writeMesh(shapes.boxMesh((10, 20, 30), (14, 26, 38)), tmp_path / f"Box.v2{suffix}", space, ascii)
    (structure,) = readStructures(path)
    assert (structure.name, structure.file, structure.surfaceKind) == ("Box.v2", str(path), "imported")
    assert middleOf(structure) == pytest.approx((-12, -23, 34) if space == "RAS" else (12, 23, 34))
    assert structure.surface.volume == pytest.approx(4 * 6 * 8)
    assert structure.surface.isClosed and structure.surface.repairs == ()
    assert structure.mask is None and structure.samplingGrid is None


def testMeshOfPolygons(tmp_path):
    source = vtkCubeSource()
    source.Update()  # six squares, whose corners are not shared
    path = shapes.writeMesh(source.GetOutput(), tmp_path / "squares.vtp")
    (structure,) = readStructures(path)
    assert structure.surface.isClosed and structure.surface.volume == pytest.approx(1)


def testContoursInAFile(tmp_path):
    path = shapes.writeMesh(shapes.loops([(0, 0), (4, 0), (4, 3), (0, 3)], z=7), tmp_path / "rectangle.vtp")
    (structure,) = readStructures(path)
    assert structure.dimension == 2 and structure.surface.volume == pytest.approx(12)


def plyText(faces, order="ascii", vertices=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), newline="\n") -> bytes:
    """Return a PLY file as other programs write them: double coordinates, colors, flags behind the faces' corners."""
    header = [
        "ply",
        f"format {order} 1.0",
        "comment made by hand",
        "obj_info nothing",
        f"element vertex {len(vertices)}",
        "property double x",
        "property float64 y",
        "property float z",
        "property uchar red",
        f"element face {len(faces)}",
        "property list uint8 int32 vertex_indices",
        "property short flag",
        "end_header",
    ]
    header = (newline.join(header) + newline).encode()
    if order == "ascii":
        rows = [f"{x} {y} {z} 255" for x, y, z in vertices] + [f"{len(f)} {' '.join(map(str, f))} 3" for f in faces]
        return header + (newline.join(rows) + newline).encode()
    sign = "<" if order == "binary_little_endian" else ">"
    body = b"".join(struct.pack(f"{sign}ddfB", *vertex, 255) for vertex in vertices)
    return header + body + b"".join(struct.pack(f"{sign}B{len(f)}ih", len(f), *f, 3) for f in faces)


TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian", "binary_big_endian"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def testPlyOfOtherPrograms(tmp_path, order, newline):
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(TETRAHEDRON, order, newline=newline))
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(1 / 6) and structure.surface.isClosed


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian"])
def testPlyOfMixedPolygons(tmp_path, order):
    # a pyramid on a square, with a face of two corners that has no area
    vertices = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, 3))
    faces = ((0, 3, 2, 1), (0, 1, 4), (1, 2), (1, 2, 4), (2, 3, 4), (3, 0, 4))
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(faces, order, vertices))
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(4) and structure.surface.isClosed


def testPlyKeepsDoublePrecision(tmp_path):
    path = tmp_path / "x.ply"
    path.write_bytes(plyText(TETRAHEDRON, "ascii", ((123.4567890123, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))))
    polyData, comments = ply.readPly(path)
    assert polyData.GetPoint(0)[0] == 123.4567890123 and comments == "made by hand"


def ascii(text: str) -> bytes:
    return f"ply\nformat ascii 1.0\n{text}".encode()


XYZ = "property float x\nproperty float y\nproperty float z\n"


@pytest.mark.parametrize(
    "content",
    [
        b"not a mesh",
        b"ply\nend_header\n"[:6],
        plyText(TETRAHEDRON).replace(b"ascii", b"EBCDIC"),
        plyText(TETRAHEDRON).replace(b"float64", b"float128"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face 5"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face 99999999999999999999"),
        plyText(TETRAHEDRON).replace(b"element face 4", b"element face four"),
        plyText(TETRAHEDRON).replace(b"vertex_indices", b"corners"),
        plyText(TETRAHEDRON).replace(b"property double x\n", b""),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"3 0 2 one"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"3 0 2 nan"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"-3 0 2 1"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"4294967296 0 2 1"),
        plyText(TETRAHEDRON).replace(b"3 0 2 1", b"2.5 0 2 1"),
        ascii(f"property float w\nelement vertex 1\n{XYZ}end_header\n0 0 0\n"),
        ascii(f"element vertex 1\n{XYZ}property float x\nend_header\n0 0 0 0\n"),
    ],
)
def testDamagedPly(tmp_path, content):
    path = tmp_path / "x.ply"
    path.write_bytes(content)
    assert refusal(path) == "the file is damaged or incomplete."


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian"])
def testPlyCutOffAnywhere(tmp_path, order):
    whole = plyText(TETRAHEDRON, order)
    path = tmp_path / "x.ply"
    # a missing line end at the end is no harm
    for length in range(1, len(whole) - (2 if order == "ascii" else 0)):
        path.write_bytes(whole[:length])
        assert refusal(path) == "the file is damaged or incomplete.", length


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".vtp"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.8, 0.99])
def testMeshesCutOff(tmp_path, capfd, suffix, ascii, share):
    whole = shapes.writeMesh(shapes.ballMesh(10, resolution=12), tmp_path / f"whole{suffix}", "LPS", ascii)
    data = whole.read_bytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(data[: int(len(data) * share)])
    # a .obj holds no count: what is cut at the end of a line is open, which a finding tells
    if suffix == ".obj":
        try:
            assert not readStructures(path)[0].surface.isClosed
        except files.UnusableFile:
            refusal(path)
    else:
        assert "damaged" in refusal(path)
    assert capfd.readouterr().err == ""


def meshOf(points, cells=(), lines=()) -> vtkPolyData:
    from vtkmodules.vtkCommonDataModel import vtkCellArray

    polyData = vtkPolyData()
    polyData.SetPoints(shapes.doublePoints(np.array(points, float).reshape(-1, 3)))
    for setter, given in ((polyData.SetPolys, cells), (polyData.SetLines, lines)):
        array = vtkCellArray()
        for cell in given:
            array.InsertNextCell(len(cell))
            for number in cell:
                array.InsertCellPoint(number)
        setter(array)
    return polyData


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("polyData", "message"),
    [
        (meshOf(CORNERS), "the mesh has no cells: no triangles and no contour lines."),
        (meshOf([]), "the mesh has no cells: no triangles and no contour lines."),
        (meshOf(CORNERS, [(0, 1, 9)]), "The surface has triangles or lines between points that do not exist."),
        (meshOf(CORNERS, [(0, 1, -1)]), "The surface has triangles or lines between points that do not exist."),
        (meshOf(CORNERS, [], [(0, 1, 3, 0)]), "The surface has triangles or lines between points that do not exist."),
        (meshOf([*CORNERS, (0, 0, np.nan)], [(0, 1, 3)]), "The surface has points whose coordinates are not numbers."),
        (meshOf([*CORNERS, (np.inf, 0, 0)], [(0, 1, 2)]), "The surface has points whose coordinates are not numbers."),
        (meshOf(CORNERS, [(0, 1, 1)]), "The surface has no triangle with an area."),
        (meshOf(CORNERS, [], [(0, 1, 2)]), "The contour lines are not closed."),
        (
            meshOf([*CORNERS, (0, 0, 1)], [], [(0, 1, 2, 3, 0)]),
            "The contour lines do not lie in one plane.",
        ),
    ],
)
def testMeshesThatCannotBeCompared(tmp_path, polyData, message):
    assert refusal(shapes.writeMesh(polyData, tmp_path / "x.vtp")) == message
    # the same in memory
    if "no cells" not in message:
        with pytest.raises(ValueError) as caught:
            compare(polyData, shapes.ballMesh(3))
        assert str(caught.value) == f"The reference cannot be compared. {message}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cloud.ply", ascii(f"element vertex 3\n{XYZ}end_header\n0 0 0\n1 0 0\n0 1 0\n"), "the mesh has no cells"),
        ("cloud.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "the mesh has no cells"),
        ("none.stl", b"solid x\nendsolid x\n", "the mesh has no cells"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "The surface has triangles or lines between points"),
        ("text.obj", b"hello, this is a letter\n", "the mesh has no cells"),
        ("text.stl", b"hello, this is a letter\n", "the file cannot be read as a mesh: it is damaged"),
        ("text.vtp", b"hello, this is a letter\n", "the file cannot be read as a mesh: it is damaged"),
        ("noise.stl", np.random.default_rng(0).bytes(3000), "the file cannot be read as a mesh: it is damaged"),
        ("noise.vtp", np.random.default_rng(0).bytes(3000), "the file cannot be read as a mesh: it is damaged"),
        ("noise.ply", np.random.default_rng(0).bytes(3000), "the file is damaged or incomplete."),
    ],
)
def testMeshFilesThatCannotBeUsed(tmp_path, capfd, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path).startswith(message)
    assert capfd.readouterr() == ("", "")


# Files that are damaged


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def testImagesCutOff(tmp_path, capfd, suffix, compressed, share):
    path = save(LABELS, tmp_path / f"cut{suffix}", compressed)
    data = path.read_bytes()
    path.write_bytes(data[: min(int(len(data) * share), len(data) - 1)])
    message = refusal(path)
    assert "damaged or incomplete" in message or "its content is not that of" in message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz", ".mha"])
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def testFlippedBitsInCompressedImages(tmp_path, suffix, share):
    array = shapes.blob(1, (40, 40, 40)).astype(np.uint8)
    path = save(shapes.imageOf(array), tmp_path / f"flipped{suffix}")
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x55
    path.write_bytes(data)
    assert "damaged" in refusal(path)


def testNiftiInSeveralGzipMembers(tmp_path):
    whole = save(LABELS, tmp_path / "whole.nii", False).read_bytes()
    path = tmp_path / "members.nii.gz"
    path.write_bytes(gzip.compress(whole[:1000]) + gzip.compress(whole[1000:]))
    assert set(read(path)) == {"Label 1", "Label 5"}
    path.write_bytes(gzip.compress(whole[:1000]))
    assert refusal(path) == "the file is damaged or incomplete."


def testEndingsInCapitals(tmp_path, capfd):
    path = save(LABELS, tmp_path / "x.nii.gz").rename(tmp_path / "x.NII.GZ")
    assert set(read(path)) == {"Label 1", "Label 5"}
    path = save(LABELS, tmp_path / "x.mha").rename(tmp_path / "x.MHA")
    assert refusal(path).endswith("rename it so that it ends in .mha, in small letters.")
    path = save(LABELS, tmp_path / "x.nii.gz").rename(tmp_path / "x.Nii.Gz")
    assert refusal(path).endswith("rename it so that it ends in .nii.gz, in small letters.")
    assert capfd.readouterr() == ("", "")


def testUncompressedNiftiWithTheWrongName(tmp_path):
    path = tmp_path / "plain.nii.gz"
    path.write_bytes(save(LABELS, tmp_path / "plain.nii", False).read_bytes())
    assert set(read(path)) == {"Label 1", "Label 5"}


@pytest.mark.parametrize("order", "<>")
def testNiftiOfBothByteOrders(tmp_path, order):
    path = tmp_path / "x.nii"
    values = np.zeros(4 * 5 * 6, f"{order}i2")
    values[:24] = 3
    header = struct.pack(f"{order}i36x8h14xhh2x8fff", 348, 3, 4, 5, 6, 1, 1, 1, 1, 4, 16, *[1] * 4, *[0] * 4, 352, 1)
    path.write_bytes(header.ljust(344, b"\0") + b"n+1\0" + bytes(4) + values.tobytes())
    (structure,) = readStructures(path)
    assert (structure.name, structure.mask.count, structure.mask.grid.size) == ("Label 3", 24, (4, 5, 6))
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path) == "the file is damaged or incomplete."


def testHeadersThatPromiseTooMuch(tmp_path, capfd):
    nrrd = tmp_path / "x.nrrd"
    nrrd.write_bytes(b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1000000 1000000 1000000\nencoding: raw\n\nabc")
    assert "too large for the memory" in refusal(nrrd)
    nrrd.write_bytes(
        b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 9 9 9\nencoding: gzip\n\n" + gzip.compress(b"x" * 10)
    )
    assert "damaged or incomplete" in refusal(nrrd)
    meta = tmp_path / "x.mha"
    header = "ObjectType = Image\nNDims = 3\nDimSize = {}\nElementType = MET_UCHAR\n{}ElementDataFile = LOCAL\n"
    meta.write_bytes(header.format("0 10 10", "").encode())
    assert "at least one voxel along each axis" in refusal(meta)
    compressed = zlib.compress(b"x" * 10)
    extra = f"CompressedData = True\nCompressedDataSize = {len(compressed)}\n"
    meta.write_bytes(header.format("9 9 9", extra).encode() + compressed)
    assert "damaged or incomplete" in refusal(meta)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".mhd", ".nhdr"])
def testDataFileMissing(tmp_path, capfd, suffix):
    path = save(LABELS, tmp_path / f"organs{suffix}")
    for data in tmp_path.glob("organs.*raw*"):
        data.unlink()
    assert "the data file that belongs to it is missing" in refusal(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("offset", "format", "values", "message"),
    [
        (40, "<8h", (3, -12, 10, 14, 1, 1, 1, 1), "its content is not that of a .nii file"),
        (
            252,
            "<2h26x12f",
            (0, 1, 1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0),
            "the axes in its header do not span space",
        ),
        (252, "<2h26x12f", (0, 1, *[0.0] * 12), "the axes in its header do not span space"),
        (
            112,
            "<2f",
            (0.7, 0.0),
            "neither a label map nor a map of memberships in [0, 1]: it has values from 0 to 3.5.",
        ),
        (112, "<2f", (1.0, -1024.0), "The image is not a label map: it has negative values, from -1024 to -1019."),
    ],
)
def testStrangeNiftiHeaders(tmp_path, capfd, offset, format, values, message):
    path = save(LABELS, tmp_path / "x.nii", False)
    data = bytearray(path.read_bytes())
    struct.pack_into(format, data, offset, *values)
    path.write_bytes(data)
    assert message in refusal(path)
    assert capfd.readouterr() == ("", "")


# Images that are no segmentations

RANDOM = np.random.default_rng(1)
BALL = SimpleITK.GetArrayFromImage(shapes.ball(8, size=(24, 24, 24), origin=(-12, -12, -12)))


def smoothNoise(levels: int) -> np.ndarray:
    """Return what a smooth MR image is like: structures, gradients and noise."""
    from scipy.ndimage import gaussian_filter

    image = gaussian_filter(RANDOM.standard_normal((24, 40, 40)), 2)
    image += 0.05 * RANDOM.standard_normal(image.shape)
    return np.interp(image, (image.min(), image.max()), (0, levels - 1))


def softEdges() -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(BALL.astype(float), 3)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (
            smoothNoise(3000).astype(np.int16) - 1000,
            "The image is not a label map: it has negative values, from -1000 to",
        ),
        (
            smoothNoise(4000).astype(np.uint16),
            "The image is not a label map: its values, up to 3999, change from voxel",
        ),
        (smoothNoise(256).astype(np.uint8), "The image is not a label map: its values, up to 255, change from voxel"),
        (smoothNoise(1000).round().astype(np.float32), "The image is not a label map: its values, up to 999, change"),
        ((255 * softEdges()).astype(np.uint8), "The image is not a label map: its values, up to "),
        (np.arange(27000, dtype=np.int32).repeat(8).reshape(60, 60, 60), "The image is not a label map: "),
        (
            BALL * np.float32(1.3),
            "The image is neither a label map nor a map of memberships in [0, 1]: it has values from 0",
        ),
        (BALL * np.float32(-1), "The image is not a label map: it has negative values, from -1 to 0."),
        (
            BALL - np.float32(0.5),
            "The image is neither a label map nor a map of memberships in [0, 1]: it has values from",
        ),
        (
            BALL * 1e30,
            "The image is neither a label map nor a map of memberships in [0, 1]: it has values from 0 to 1e+30.",
        ),
        (np.where(BALL, np.nan, 0), "The image has values that are not numbers."),
        (np.where(BALL, np.inf, 0), "The image has values that are not numbers."),
        (BALL * np.complex64(1), "The image has complex values; a segmentation has labels."),
    ],
)
@pytest.mark.filterwarnings("error")
def testImagesThatAreNoSegmentation(tmp_path, image, message):
    assert refusal(save(shapes.imageOf(image), tmp_path / "CT.nrrd")).startswith(message)


def testVectorAndTimeImages(tmp_path):
    vector = SimpleITK.GetImageFromArray(np.stack([BALL] * 3, axis=-1), isVector=True)
    for name in ("rgb.nrrd", "rgb.nii.gz", "rgb.mha"):
        assert refusal(save(vector, tmp_path / name)).startswith("The image has several values per voxel")
    time = SimpleITK.JoinSeries([shapes.imageOf(BALL)] * 2)
    for name in ("time.nrrd", "time.nii.gz", "time.mha"):
        assert refusal(save(time, tmp_path / name)).startswith("Images of 2 or 3 dimensions can be compared")


def testManyLabelsAreStillALabelMap(tmp_path):
    k, j, i = np.indices((30, 30, 30)) // 3
    cubes = (1 + i + 10 * j + 100 * k).astype(np.uint16)  # a thousand cubes of 27 voxels
    assert len(read(save(shapes.imageOf(cubes), tmp_path / "cubes.nrrd"))) == 1000
    # single voxels far from each other
    spots = np.zeros((40, 40, 40), np.uint16)
    spots[::5, ::5, ::5] = np.arange(1, 513).reshape(8, 8, 8)
    assert len(read(save(shapes.imageOf(spots), tmp_path / "spots.nrrd"))) == 512


# Paths


def testPathsThatCannotBeUsed(tmp_path):
    assert refusal(tmp_path / "no.nrrd") == "there is no such file."
    for name in ("table.csv", "scan.ima", "README", "model.vtk"):
        (tmp_path / name).write_text("x")
        assert refusal(tmp_path / name).startswith("this kind of file is not supported; use .seg.nrrd, .nrrd,")
    for suffix in files.SUFFIXES:
        (tmp_path / f"empty{suffix}").touch()
        assert refusal(tmp_path / f"empty{suffix}") == "the file is empty."
    (tmp_path / "dangling.nrrd").symlink_to(tmp_path / "gone.nrrd")
    assert refusal(tmp_path / "dangling.nrrd") == "there is no such file."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only Unix has named pipes")
def testPipesAreNotWaitedFor(tmp_path):
    os.mkfifo(tmp_path / "pipe.nrrd")
    assert refusal(tmp_path / "pipe.nrrd") == "this is neither a file nor a folder."


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is open to root")
def testUnreadableFile(tmp_path):
    path = save(LABELS, tmp_path / "secret.nrrd")
    path.chmod(0)
    assert refusal(path) == "the file cannot be opened (Permission denied)."


@pytest.mark.parametrize(
    "name", ["Leber ä.nrrd", "肝臓.nii.gz", "a b;c'd.mha", "🫀.stl", "😀.ply", "ü.vtp", "é.obj", "=1+1.nrrd"]
)
def testNamesOfFiles(tmp_path, name):
    path = tmp_path / name
    if files.suffixOf(path) in files.MESH_SUFFIXES:
        shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), path)
        (structure,) = readStructures(path)
        assert structure.name == files.stemOf(path)
    else:
        structure = readStructures(save(LABELS, path))[0]
    assert structure.file == str(path)


def testFolders(tmp_path):
    save(shapes.labelImage({4: BOXES[1]}), tmp_path / "Liver.nii.gz")
    save(LABELS, tmp_path / "many.nrrd")
    save(shapes.labelImage({}), tmp_path / "Spleen.seg.nrrd")
    shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), tmp_path / "Heart.stl")
    save(shapes.segmentation(OVERLAPPING, SEGMENTS[:3]), tmp_path / "slicer.seg.nrrd")
    (tmp_path / "notes.txt").write_text("not a structure")
    (tmp_path / ".hidden.nrrd").write_text("not a structure")
    (tmp_path / "folder.nrrd").mkdir()
    found = read(tmp_path)
    assert list(found) == [
        "Heart",
        "Liver",
        "Spleen",
        "many Label 1",
        "many Label 5",
        "slicer Tumor, left",
        "slicer Node",
        "slicer Margin",
    ]
    assert found["Spleen"].isEmpty and found["Liver"].mask.count == 120


def testFoldersThatCannotBeUsed(tmp_path):
    assert refusal(tmp_path).startswith("the folder holds no files that can be compared (.seg.nrrd, .nrrd,")
    save(LABELS, tmp_path / "good.nrrd")
    broken = tmp_path / "broken.nrrd"
    broken.write_text("x")
    with pytest.raises(files.UnusableFile, match=r"broken\.nrrd: the file cannot be read as an image"):
        readStructures(tmp_path)
    broken.unlink()
    broken.symlink_to(tmp_path / "gone")
    with pytest.raises(files.UnusableFile, match=r"broken\.nrrd: there is no such file"):
        readStructures(tmp_path)


# Pairs


def named(*names):
    """Return structures of these names; those that begin with a minus are empty."""
    images = {True: shapes.labelImage({}), False: shapes.box((2, 2, 2), (5, 5, 5))}
    return [inputs.structureFromImage(images[name.startswith("-")], name, None, 0.5) for name in names]


@pytest.mark.parametrize(
    ("reference", "test", "names", "pairs", "unmatched"),
    [
        ("A", "A", None, "A=A", "|"),
        ("A", "B", None, "A=B", "|"),
        ("A,B,C", "C,A,D", None, "A=A C=C", "B|D"),
        ("A,B", "C,D", None, "", "A,B|C,D"),
        ("A", "A,B", None, "A=A", "|B"),
        ("A", "B,C", None, "", "A|B,C"),
        ("A,B,C", "C,B,A", ("C", "A"), "A=A C=C", "|"),
        ("A,B,C", "A,B", ("C",), "", "C|"),
        # two names that were asked for are two structures, not a pair
        ("A,C", "B,C", ("A", "B"), "", "A|B"),
        # one structure on each side: either name means the pair
        ("A", "B", ("A",), "A=B", "|"),
        ("A", "B", ("B",), "A=B", "|"),
        # a name that occurs twice only matters when it is asked for
        ("A,A,B", "A,B", ("B",), "B=B", "|"),
        ("a", "A,B", None, "", "a|A,B"),
    ],
)
def testPairing(reference, test, names, pairs, unmatched):
    pairing = structures.pairByName(named(*reference.split(",")), named(*test.split(",")), names)
    assert " ".join(f"{a.name}={b.name}" for a, b in pairing.pairs) == pairs
    left = [",".join(s.name for s in side) for side in (pairing.unmatchedReference, pairing.unmatchedTest)]
    assert "|".join(left) == unmatched


def testAnImageWithoutLabelsLacksEverything(tmp_path):
    two = {1: ((2, 2, 2), (5, 5, 5)), 2: ((8, 8, 8), (9, 9, 9))}
    for name, boxes in (("two", two), ("zero", {})):
        SimpleITK.WriteImage(shapes.labelImage(boxes), str(tmp_path / f"{name}.nii.gz"))
    full, nothing = (readStructures(tmp_path / f"{name}.nii.gz") for name in ("two", "zero"))
    for pairing in (structures.pairByName(full, nothing), structures.pairByName(nothing, full)):
        assert [(a.name, b.name) for a, b in pairing.pairs] == [("Label 1", "Label 1"), ("Label 2", "Label 2")]
        assert all(a.isEmpty != b.isEmpty for a, b in pairing.pairs)
        assert not pairing.unmatchedReference and not pairing.unmatchedTest
    (chosen,) = structures.pairByName(full, nothing, ["Label 2"]).pairs
    assert chosen.reference.name == "Label 2" and chosen.test.isEmpty
    # in a folder it is the empty structure of its name
    folder = structures.pairByName(full, readStructures(tmp_path))
    assert not folder.pairs and "zero" in [s.name for s in folder.unmatchedTest]


def testPairingRefuses():
    with pytest.raises(ValueError, match=r"The reference has more than one structure named 'A'\."):
        structures.pairByName(named("A", "A"), named("A", "B"))
    with pytest.raises(ValueError, match=r"The test has more than one structure named 'B'\."):
        structures.pairByName(named("A", "B"), named("B", "B"), ["B"])
    with pytest.raises(ValueError, match=r"no structure named 'Lver'; there are Liver, Spleen, Heart\."):
        structures.pairByName(named("Liver", "Spleen"), named("Heart"), ["Liver", "Lver"])


def testListed():
    assert structures.listed([]) == "none"
    assert structures.listed("abc") == "a, b, c"
    assert structures.listed(map(str, range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"

"""Segmentations as Slicer saves them: segments in layers, fractions, and headers that are damaged."""

from __future__ import annotations

import anatomy
import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import OVERLAPPING, SEGMENTS, middleOf, read, refusal, save
from sayings import refused, says

from SegmentMetricsLib import compareCase, readStructures, samples


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
    def write(layers, segments):
        image = shapes.segmentation(layers, segments)
        image.SetMetaData("Segmentation_MasterRepresentation", "Fractional labelmap")
        says(refusal(save(image, tmp_path / "x.seg.nrrd")))

    one, two = ({"ID": name, "Name": name, "Layer": 0} for name in "ab")
    write([np.zeros((1, 1, 1), np.int8)], [one])
    write([np.zeros((4, 4, 4), np.int8)], [one, two])


def testSampleSegmentation(tmp_path):
    paths = samples.writeHeadAndNeck(tmp_path)
    found = read(paths[0])
    array = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(paths[0])))
    assert list(found) == [organ.name for organ in anatomy.ORGANS]
    for label, (structure, organ) in enumerate(zip(found.values(), anatomy.ORGANS, strict=True), start=1):
        assert structure.mask.count == np.count_nonzero(array == label)
        assert structure.color == pytest.approx(np.array(organ.color) / 255, abs=1e-6)
        assert structure.segmentID == f"Segment_{label}" and structure.terminology == ""
    assert set(read(paths[1])) == set(found) - {"Submandibular_R"}


def testStructuresAreChosenByName(tmp_path):
    path = samples.writeHeadAndNeck(tmp_path)[0]
    for name in ("Parotid_L", "left parotid", "Parotid-Lt", "PAROTID L"):
        (parotid,) = readStructures(path, name=name)
        assert parotid.name == "Parotid_L" and parotid.mask.count == read(path)["Parotid_L"].mask.count
    known = ", ".join(organ.name for organ in anatomy.ORGANS)
    says(refusal(path, name="Parotid"), "'Parotid'", known, ": Parotid_L, Parotid_R.")
    image = save(shapes.labelImage({5: ((1, 1, 1), (3, 3, 3))}), tmp_path / "labels.nrrd")
    for name in ("Label 5", "label 5", "label5", "5", 5, np.uint8(5), np.int64(5)):
        assert [s.name for s in readStructures(image, name=name)] == ["labels"]
    says(refusal(image, name=6), "'6'", "labels")


@pytest.mark.parametrize("name", [["x"], 5.0, b"Liver", None], ids=str)
def testNamesThatAreNone(tmp_path, name):
    """They are told before a file is looked for, where one is given."""
    if name is not None:
        with refused(repr(name)):
            readStructures(tmp_path / "missing.nrrd", name=name)
    path = samples.FOLDER / samples.FILES[0]
    with refused(repr(name)):
        compareCase(path, path, names=[name])


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


BACKGROUND = {"ID": "z", "Name": "Background", "LabelValue": 0, "Layer": 0}
NAMELESS = [{"ID": "Segment_1", "Name": "", "LabelValue": 1, "Layer": 0}, {"ID": "b", "LabelValue": 2, "Layer": 0}]


@pytest.mark.parametrize(
    ("layers", "segments", "counts"),
    [
        # Slicer 4.10: a layer for each segment
        ([a > 0 for a in OVERLAPPING], [{"ID": "a", "Name": "A"}, {"ID": "b", "Name": "B"}], {"A": 72, "B": 216}),
        # labels that the header forgot are not dropped
        (OVERLAPPING[:1], SEGMENTS[:1], {"Tumor, left": 64, "Label 2": 8}),
        (OVERLAPPING, SEGMENTS[:2], {"Tumor, left": 64, "Node": 8, "Label 1 of layer 1": 216}),
        # some programs list the label 0, by the name of what it is
        (OVERLAPPING[:1], [BACKGROUND, SEGMENTS[0]], {"Tumor, left": 64, "Label 2": 8}),
        (OVERLAPPING[:1], NAMELESS, {"Segment_1": 64, "b": 8}),
    ],
)
def testWhatHeadersSayOfSegments(tmp_path, layers, segments, counts):
    layers = [np.asarray(layer, np.uint8) for layer in layers]
    found = read(save(shapes.segmentation(layers, segments), tmp_path / "x.seg.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == counts


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


def testASegmentationWrittenBySlicer(scene, tmp_path):
    import slicer
    from segmentnodes import segmentationOf

    boxes = {"Kidney": ((2, 2, 2), (7, 7, 7)), "Cyst": ((5, 5, 5), (9, 8, 8))}
    images = {name: shapes.box(*ends, (10, 10, 10), (1.0, 2.0, 3.0)) for name, ends in boxes.items()}
    storage = slicer.vtkMRMLSegmentationStorageNode()
    storage.SetFileName(str(tmp_path / "slicer.seg.nrrd"))
    assert storage.WriteData(segmentationOf(scene, **images))
    found = read(tmp_path / "slicer.seg.nrrd")
    assert {name: s.mask.size for name, s in found.items()} == {"Kidney": 6 * 216, "Cyst": 6 * 80}
    for name, ends in boxes.items():
        assert middleOf(found[name]) == pytest.approx(np.mean(ends, axis=0) * (1, 2, 3))


def testWholeNumbersAreLabelsInWhateverTypeTheyAreStored(tmp_path):
    image = SimpleITK.Cast(shapes.segmentation(OVERLAPPING[:1], []), SimpleITK.sitkFloat32)
    image.SetMetaData("Segment0_ID", "a")
    found = read(save(image, tmp_path / "x.seg.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"a": 64, "Label 2": 8}

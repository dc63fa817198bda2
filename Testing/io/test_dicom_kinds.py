"""What kind of DICOM a file is: recognized without preamble and modality, and called what it is if it is not read."""

from __future__ import annotations

import numpy as np
import pytest

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.dicom.kinds import FileKind, kindOf
from SegmentMetricsLib.io.dicom.opening import isDicom

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

import dicomfiles
import pydicom

GRID = Grid((20, 20, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(3.5, 3.5, z), (8.5, 3.5, z), (8.5, 8.5, z), (3.5, 8.5, z)]) for z in (3.0, 6.0, 9.0)]


def structureSet(folder):
    slices = dicomfiles.writeSeries(folder / "ct", GRID)
    return folder / "set.dcm", dicomfiles.writeStructureSet(folder / "set.dcm", {"Box": SQUARE}, slices)


def segmentation(folder):
    pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")
    slices = sorted(dicomfiles.writeSeries(folder / "ct", GRID), key=lambda s: s.InstanceNumber)
    array = np.zeros(GRID.size[::-1], np.uint8)
    array[1:5, 4:9, 4:9] = 1
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, {"Box": array})
    return folder / "seg.dcm", pydicom.dcmread(folder / "seg.dcm")


def count(path):
    (structure,) = readStructures(path)
    return structure.mask.count, structure.mask.grid.size


@pytest.mark.parametrize("isImplicit", [True, False])
@pytest.mark.parametrize("write", [structureSet, segmentation])
def testFilesWithoutThePreamble(tmp_path, write, isImplicit):
    """As planning systems export them, and their images, too; in a folder they count as before."""
    path, _ = write(tmp_path)
    before, whole = count(path), path.read_bytes()
    path.write_bytes(whole[132:])  # with the information about the file
    assert isDicom(path) and count(path) == before
    path.write_bytes(whole)
    for file in (path, *(tmp_path / "ct").iterdir()):
        dicomfiles.withoutPreamble(file, isImplicit)
        assert isDicom(file) and file.read_bytes()[128:132] != b"DICM"
    assert count(path) == before == count(tmp_path)
    content = path.read_bytes()
    for size in (10, 40, 300, len(content) // 2, len(content) - 8):
        (tmp_path / "cut.dcm").write_bytes(content[:size])
        with pytest.raises(InputError, match=r"cut\.dcm: "):
            readStructures(tmp_path / "cut.dcm")


@pytest.mark.parametrize("content", [b"", b"no DICOM", b"\x08\x00" * 300, b"\0" * 600, bytes(range(256)) * 3])
def testWhatIsNoDicom(tmp_path, content):
    path = tmp_path / "odd.dcm"
    path.write_bytes(content)
    assert not isDicom(path)
    with pytest.raises(InputError, match=r"odd\.dcm: "):
        readStructures(path)


@pytest.mark.parametrize(("modality", "storage"), [("", True), ("OT", False), (None, True), (None, False)])
@pytest.mark.parametrize("write", [structureSet, segmentation])
def testWithoutAModality(tmp_path, write, modality, storage):
    """The SOP class says what a file is, and without it the content."""
    path, content = write(tmp_path)
    before, kind = count(path), kindOf(path)
    if modality is None:
        del content.Modality
    else:
        content.Modality = modality
    if not storage:
        del content.SOPClassUID
        content.file_meta.MediaStorageSOPClassUID = "1.2.3.4.5"
    content.save_as(path, enforce_file_format=False)
    assert kindOf(path) is kind
    if write is structureSet or storage:
        assert count(path) == before


def testKindsThatHoldNothingOrAreNotRead(tmp_path):
    path, content = structureSet(tmp_path)
    assert kindOf(path) is FileKind.STRUCTURE_SET
    assert kindOf(tmp_path / "ct" / "slice0") is FileKind.NO_STRUCTURES
    content.SOPClassUID, content.Modality = "1.2.840.10008.5.1.4.1.1.66.5", "SEG"
    content.save_as(path)
    assert kindOf(path) is FileKind.UNREAD
    with pytest.raises(InputError, match="of the kind Surface Segmentation Storage, which is not supported"):
        readStructures(path)
    del content.SOPClassUID, content.Modality, content.StructureSetROISequence
    del content.file_meta.MediaStorageSOPClassUID
    content.save_as(path, enforce_file_format=False)
    assert kindOf(path) is FileKind.UNTOLD
    with pytest.raises(InputError, match="says neither its SOP class nor its modality"):
        readStructures(path)
    # a copy that was interrupted is damaged
    for size in (1, 100, 131):
        (tmp_path / "cut.dcm").write_bytes(path.read_bytes()[:size])
        with pytest.raises(InputError, match="damaged or incomplete"):
            readStructures(tmp_path / "cut.dcm")


# Segmentations that are whole and valid


@pytest.mark.parametrize(
    ("syntax", "name"),
    [
        (pydicom.uid.ExplicitVRBigEndian, "Explicit VR Big Endian"),
        (pydicom.uid.UID("1.2.840.10008.1.2.8.1"), "Deflated Image Frame Compression"),
        (pydicom.uid.RLELossless, "RLE Lossless"),
        (pydicom.uid.MPEG2MPML, "MPEG2 Main Profile / Main Level"),
    ],
)
def testTransferSyntaxesThatAreNotSupported(tmp_path, syntax, name):
    path, content = segmentation(tmp_path)
    isLittle, meta = syntax != pydicom.uid.ExplicitVRBigEndian, content.file_meta
    meta.TransferSyntaxUID, content["PixelData"].VR = syntax, "OB"
    content["PixelData"].is_undefined_length = isLittle
    if isLittle:
        content.PixelData = pydicom.encaps.encapsulate([b"whatever"] * int(content.NumberOfFrames))
    head, body = pydicom.filebase.DicomBytesIO(), pydicom.filebase.DicomBytesIO()
    options = {"implicit_vr": False, "little_endian": isLittle, "enforce_file_format": False}
    pydicom.dcmwrite(body, pydicom.Dataset(content), **options)
    pydicom.filewriter.write_file_meta_info(head, meta)
    path.write_bytes(b"\0" * 128 + b"DICM" + head.getvalue() + body.getvalue())
    with pytest.raises(InputError) as raised:
        readStructures(path)
    assert str(raised.value) == (
        f"{path}: the segmentation is stored as {name}, which is not supported; store it as Explicit VR Little Endian, "
        "without compression."
    )


def testADeflatedDataSetIsRead(tmp_path):
    path, content = segmentation(tmp_path)
    before = count(path)
    content.file_meta.TransferSyntaxUID = pydicom.uid.DeflatedExplicitVRLittleEndian
    content.save_as(path)
    assert count(path) == before


@pytest.mark.parametrize(("kind", "why"), [("radiograph", "does not say where in the patient"), ("slide", "slide")])
def testSegmentationsWithoutPositionsInThePatient(tmp_path, kind, why):
    path, content = segmentation(tmp_path)
    for group in (*content.PerFrameFunctionalGroupsSequence, *content.SharedFunctionalGroupsSequence):
        group.pop("PlanePositionSequence", None)
        group.pop("PlaneOrientationSequence", None)
    del content.FrameOfReferenceUID
    if kind == "slide":
        content.TotalPixelMatrixColumns = content.TotalPixelMatrixRows = 20
    content.save_as(path)
    with pytest.raises(InputError, match=rf"{why}.* not supported\.$") as raised:
        readStructures(path)
    assert "damaged" not in str(raised.value)


# The background


def background(number, label="Background", code=("125040", "DCM", "Background")):
    item, names = dicomfiles.item, ("SegmentedPropertyCategoryCodeSequence", "SegmentedPropertyTypeCodeSequence")
    meaning = dict(zip(("CodeValue", "CodingSchemeDesignator", "CodeMeaning"), code))
    codes = {name: [item(**meaning)] for name in names}
    return item(SegmentNumber=number, SegmentLabel=label, SegmentAlgorithmType="MANUAL", **codes)


LIVER = ("10200004", "SCT", "Liver")


@pytest.mark.parametrize(
    ("padding", "code", "label"),
    [(None, LIVER, "Background"), (0, ("125040", "DCM", "Background"), "Nothing"), (9, LIVER, "Nothing")],
)
def testTheBackgroundOfALabelMapIsNoStructure(tmp_path, padding, code, label):
    pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")
    slices = sorted(dicomfiles.writeSeries(tmp_path / "ct", GRID), key=lambda s: s.InstanceNumber)
    labels = np.zeros(GRID.size[::-1], np.uint8)
    labels[1:5, 4:9, 4:9], labels[1:5, 12:15, 4:9] = 3, 5
    dicomfiles.writeLabelMap(tmp_path / "seg.dcm", slices, labels, {3: "Liver", 5: "Kidney"})
    content = pydicom.dcmread(tmp_path / "seg.dcm")
    others = [item for item in content.SegmentSequence if item.SegmentNumber]
    content.SegmentSequence = [background(0, label, code), *others]
    if padding is None:
        content.pop("PixelPaddingValue", None)
    else:
        content.PixelPaddingValue = padding
        if padding:
            content.SegmentSequence.append(background(padding, "Outside", LIVER))
    content.save_as(tmp_path / "seg.dcm")
    found = readStructures(tmp_path / "seg.dcm")
    assert [(s.name, s.mask.count) for s in found] == [("Liver", 100), ("Kidney", 60)]
    content.SegmentSequence = content.SegmentSequence[:1]
    content.save_as(tmp_path / "seg.dcm")
    with pytest.raises(InputError, match="no segment but the background"):
        readStructures(tmp_path / "seg.dcm")


def testASegmentOfFramesIsTheBackgroundIfItsCodeSaysSo(tmp_path):
    pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")
    slices = sorted(dicomfiles.writeSeries(tmp_path / "ct", GRID), key=lambda s: s.InstanceNumber)
    array = np.zeros(GRID.size[::-1], np.uint8)
    array[1:5, 4:9, 4:9] = 1
    dicomfiles.writeSegmentation(tmp_path / "seg.dcm", slices, {"Outside": 1 - array, "Liver": array})
    content = pydicom.dcmread(tmp_path / "seg.dcm")
    content.SegmentSequence[0].SegmentedPropertyTypeCodeSequence = background(1).SegmentedPropertyTypeCodeSequence
    content.save_as(tmp_path / "seg.dcm")
    (liver,) = readStructures(tmp_path / "seg.dcm")
    assert liver.name == "Liver" and liver.mask.count == 100

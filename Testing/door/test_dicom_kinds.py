"""What kind of DICOM a file is: recognized without preamble and modality, and called what it is if it is not read."""

from __future__ import annotations

import dicomfiles
import numpy as np
import pydicom
import pytest
from dicomfiles import edited
from imagefiles import refusal
from sayings import says

from SegmentMetricsLib import Grid, readStructures

GRID = Grid((20, 20, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(3.5, 3.5, z), (8.5, 3.5, z), (8.5, 8.5, z), (3.5, 8.5, z)]) for z in (3.0, 6.0, 9.0)]
ARRAY = np.zeros(GRID.size[::-1], np.uint8)
ARRAY[1:5, 4:9, 4:9] = 1


def structureSet(folder):
    dicomfiles.readContours(folder, {"Box": SQUARE}, GRID)
    return folder / "set.dcm"


def segmentation(folder, **arrays):
    slices = dicomfiles.writeSeries(folder / "ct", GRID)
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, arrays or {"Box": ARRAY})
    return folder / "seg.dcm"


def count(path):
    (structure,) = readStructures(path)
    return structure.mask.count, structure.mask.grid.size


@pytest.mark.parametrize("isImplicit", [True, False])
@pytest.mark.parametrize("write", [structureSet, segmentation])
def testFilesWithoutThePreamble(tmp_path, write, isImplicit):
    """As planning systems export them, and their images, too; in a folder they count as before."""
    path = write(tmp_path)
    before, whole = count(path), path.read_bytes()
    path.write_bytes(whole[132:])  # with the information about the file
    assert count(path) == before
    path.write_bytes(whole)
    for file in (path, *(tmp_path / "ct").iterdir()):
        content = pydicom.Dataset(pydicom.dcmread(file))
        pydicom.dcmwrite(file, content, implicit_vr=isImplicit, little_endian=True, enforce_file_format=False)
        assert file.read_bytes()[128:132] != b"DICM"
    assert count(path) == before == count(tmp_path)
    content = path.read_bytes()
    for size in (10, 40, 300, len(content) // 2, len(content) - 8):
        (tmp_path / "cut.dcm").write_bytes(content[:size])
        refusal(tmp_path / "cut.dcm")


@pytest.mark.parametrize("content", [b"no DICOM", b"\x08\x00" * 300, b"\0" * 600, bytes(range(256)) * 3])
def testWhatIsNoDicom(tmp_path, content):
    path = tmp_path / "odd.dcm"
    path.write_bytes(content)
    says(refusal(path))


@pytest.mark.parametrize(("modality", "storage"), [("", True), ("OT", False), (None, True), (None, False)])
@pytest.mark.parametrize("write", [structureSet, segmentation])
def testWithoutAModality(tmp_path, write, modality, storage):
    """The SOP class says what a file is, and without it the content."""
    path = write(tmp_path)
    before = count(path)
    with edited(path) as content:
        if modality is None:
            del content.Modality
        else:
            content.Modality = modality
        if not storage:
            del content.SOPClassUID
            content.file_meta.MediaStorageSOPClassUID = "1.2.3.4.5"
    if write is structureSet or storage:
        assert count(path) == before
    else:  # known for a segmentation, which cannot be read so
        says(refusal(path))


def testKindsThatHoldNothingOrAreNotRead(tmp_path):
    path = structureSet(tmp_path)
    says(refusal(tmp_path / "ct" / "slice0"), "CT", "RTSTRUCT", "SEG")
    with edited(path) as content:
        content.SOPClassUID, content.Modality = "1.2.840.10008.5.1.4.1.1.66.5", "SEG"
    says(refusal(path), "Surface Segmentation Storage")
    with edited(path) as content:
        del content.SOPClassUID, content.Modality, content.StructureSetROISequence
        del content.file_meta.MediaStorageSOPClassUID
    says(refusal(path))
    # a copy that was interrupted is damaged
    for size in (1, 100, 131):
        (tmp_path / "cut.dcm").write_bytes(path.read_bytes()[:size])
        says(refusal(tmp_path / "cut.dcm"))


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
    path = segmentation(tmp_path)
    content = pydicom.dcmread(path)
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
    says(refusal(path), name)


def testADeflatedDataSetIsRead(tmp_path):
    path = segmentation(tmp_path)
    before = count(path)
    with edited(path) as content:
        content.file_meta.TransferSyntaxUID = pydicom.uid.DeflatedExplicitVRLittleEndian
    assert count(path) == before


@pytest.mark.parametrize("kind", ["radiograph", "slide"])
def testSegmentationsWithoutPositionsInThePatient(tmp_path, kind):
    path = segmentation(tmp_path)
    with edited(path) as content:
        for group in (*content.PerFrameFunctionalGroupsSequence, *content.SharedFunctionalGroupsSequence):
            group.pop("PlanePositionSequence", None)
            group.pop("PlaneOrientationSequence", None)
        del content.FrameOfReferenceUID
        if kind == "slide":
            content.TotalPixelMatrixColumns = content.TotalPixelMatrixRows = 20
    says(refusal(path))


# The background


BACKGROUND, LIVER = ("125040", "DCM", "Background"), ("10200004", "SCT", "Liver")


def background(number, label="Background", code=BACKGROUND):
    item, names = dicomfiles.item, ("SegmentedPropertyCategoryCodeSequence", "SegmentedPropertyTypeCodeSequence")
    meaning = dict(zip(("CodeValue", "CodingSchemeDesignator", "CodeMeaning"), code))
    codes = {name: [item(**meaning)] for name in names}
    return item(SegmentNumber=number, SegmentLabel=label, SegmentAlgorithmType="MANUAL", **codes)


@pytest.mark.parametrize(
    ("padding", "code", "label"), [(None, LIVER, "Background"), (0, BACKGROUND, "Nothing"), (9, LIVER, "Nothing")]
)
def testTheBackgroundOfALabelMapIsNoStructure(tmp_path, padding, code, label):
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    labels = 3 * ARRAY
    labels[1:5, 12:15, 4:9] = 5
    path = tmp_path / "seg.dcm"
    dicomfiles.writeLabelMap(path, slices, labels, {3: "Liver", 5: "Kidney"})
    with edited(path) as content:
        others = [item for item in content.SegmentSequence if item.SegmentNumber]
        content.SegmentSequence = [background(0, label, code), *others]
        if padding is None:
            content.pop("PixelPaddingValue", None)
        else:
            content.PixelPaddingValue = padding
        if padding:
            content.SegmentSequence.append(background(padding, "Outside", LIVER))
    assert [(s.name, s.mask.count) for s in readStructures(path)] == [("Liver", 100), ("Kidney", 60)]
    with edited(path) as content:
        content.SegmentSequence = content.SegmentSequence[:1]
    says(refusal(path))


def testASegmentOfFramesIsTheBackgroundIfItsCodeSaysSo(tmp_path):
    path = segmentation(tmp_path, Outside=1 - ARRAY, Liver=ARRAY)
    with edited(path) as content:
        content.SegmentSequence[0].SegmentedPropertyTypeCodeSequence = background(1).SegmentedPropertyTypeCodeSequence
    (liver,) = readStructures(path)
    assert liver.name == "Liver" and liver.mask.count == 100

"""Measurements as DICOM structured reports: what is in them, what other readers find there, and what is refused."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run  # the fixture
from pydicom import dcmread
from sayings import refused, says

import SegmentMetricsLib
from SegmentMetricsLib import Grid, Mask, Settings, Structure, compare, compareCase, compareObservers

highdicom = pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")

EVERY = Settings(families=("boundary", "overlap", "signed", "agreement", "voxel", "slices", "similarity"))
A, B = (shapes.ball(5, center, origin=(-12,) * 3, size=(24,) * 3) for center in ((0, 0, 0), (1.4, 0.3, 0.2)))
DICE = Settings(metrics="DSC")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with a CT, a structure set with an observer's contours, and a SEG with another's."""
    folder = tmp_path_factory.mktemp("dicom")
    slices = dicomfiles.writeSeries(folder / "ct", Grid.fromImage(A))
    x, y, z = A.TransformContinuousIndexToPhysicalPoint([0.5 * (size - 1) for size in A.GetSize()])
    turns, loops = np.linspace(0, 2 * np.pi, 40, endpoint=False), []
    for one in slices:
        height = float(one.ImagePositionPatient[2])
        if abs(height - z) < 4.8:
            radius = math.sqrt(25 - (height - z) ** 2)
            across = x + radius * np.cos(turns), y + radius * np.sin(turns), np.full(40, height)
            loops.append(np.column_stack(across))
    dicomfiles.writeStructureSet(folder / "rs.dcm", {"Cord": [], "Liver": loops}, slices)
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, {"Liver": SimpleITK.GetArrayFromImage(B)})
    return folder


@pytest.fixture(scope="module")
def everything(files):
    """The case with all families, and its report."""
    image = SimpleITK.GetImageFromArray(np.indices(SimpleITK.GetArrayViewFromImage(A).shape, np.float32)[0])
    image.CopyInformation(A)
    settings = Settings(families="all", critical=("Cord",), percentiles=(95, 99.9), tolerances=(1, 2))
    case = compareCase(files / "rs.dcm", files / "seg.dcm", settings, dose=image)
    (report,) = SegmentMetricsLib.writeReport(case, files / "everything.dcm")
    return case, report


def isValid(path: Path) -> bool:
    """Return whether dicom3tools find no error in a file; True where they are not installed."""
    if shutil.which("dciodvfy") is None:
        return True
    done = subprocess.run(["dciodvfy", str(path)], capture_output=True, text=True, check=False)
    assert "Error" not in done.stderr + done.stdout, done.stderr
    return True


def groupsOf(path: Path) -> list:
    content = highdicom.sr.srread(path).content
    return [*content.get_volumetric_roi_measurement_groups(), *content.get_image_measurement_groups()]


def segmentOf(group) -> int:
    return int(group.referenced_segment[0].ReferencedSOPSequence[0].ReferencedSegmentNumber)


def requireSame(found, measurements) -> None:
    """Assert that the numbers of a report are those of a comparison, to the last digit."""
    assert list(found.measurements) == list(measurements)
    names = ("title", "unit", "status", "reason", "lower", "upper", "referenceToTest", "testToReference")
    for key, one in measurements.items():
        other = found.measurements[key]
        np.testing.assert_array_equal(other.value, one.value, key)
        for name in names:
            assert getattr(other, name) == getattr(one, name) or one.status != "ok", (key, name)


def testStructureSetAgainstSegmentation(files, everything):
    case, path = everything
    (found,) = SegmentMetricsLib.readReport(path)
    requireSame(found, case[0].measurements)
    assert found.name == "Liver" and list(map(str, found.findings)) == list(map(str, case[0].findings))
    assert found.settings == case[0].settings and found.grid == case[0].grid and found.summary == case[0].summary
    group, together = groupsOf(path)
    assert [one.name.value for one in together.get_measurements()] == list(case.multiLabel)
    units = {one.name.value: one.unit.value for one in group.get_measurements()}
    assert units["HD95"] == "mm" and units["DSC"] == "1" and units["RNU0"] == "mm3"
    # the segment that was compared, the region of the structure set, and the image of both
    report = highdicom.sr.srread(path)
    segments, drawn = dcmread(files / "seg.dcm"), dcmread(files / "rs.dcm")
    assert group.referenced_segment.referenced_sop_instance_uid == segments.SOPInstanceUID
    assert segmentOf(group) == 1
    assert (group.finding_type.meaning, report.PatientID) == ("Liver", "A")
    assert report.StudyInstanceUID in {drawn.StudyInstanceUID, segments.StudyInstanceUID}
    text = str(report)
    assert drawn.SOPInstanceUID in text and segments.ReferencedSeriesSequence[0].SeriesInstanceUID in text
    assert report.SeriesInstanceUID not in {drawn.SeriesInstanceUID, segments.SeriesInstanceUID}


def testOthersFindTheSameNumbers(everything):
    """In the order of the case, by highdicom: value, unit and meaning."""
    case, report = everything
    assert isValid(report)
    for group, measurements in zip(groupsOf(report), (case[0].measurements, case.multiLabel), strict=True):
        numbers = [one for one in measurements.values() if one.status == "ok"]
        read = group.get_measurements()
        items = [*read, *group.get_qualitative_evaluations()]
        codes = {(item.name.scheme_designator, item.name.value) for item in items}
        assert len(codes) == len(items) >= len(measurements), "every measurement has a code of its own"
        assert [one.value for one in read] == [one.value for one in numbers]
        for one, found in zip(numbers, read):
            isOfVolume = one.key in ("VolumeTest", "VoxelVolumeTest")
            assert isOfVolume or (found.name.meaning, found.name.scheme_designator) == (one.title, "99SEGMENTMETRICS")
            assert found.unit.value.strip("{}") == (one.unit or "1")


@pytest.mark.skipif(shutil.which("tid1500reader") is None, reason="tid1500reader, of dcmqi, is not on the path")
def testDcmqiFindsTheSameNumbers(everything, tmp_path):
    _, report = everything
    read = ["tid1500reader", "--inputDICOM", report, "--outputMetadata", tmp_path / "sr.json"]
    subprocess.run(read, check=True, capture_output=True)
    groups = json.loads((tmp_path / "sr.json").read_text())["Measurements"]
    for found, group in zip(groups, groupsOf(report), strict=True):
        numbers = {one.name.value: one for one in group.get_measurements()}
        items = {one["quantity"]["CodeValue"]: one for one in found["measurementItems"]}
        assert items.keys() == numbers.keys()
        for code, one in items.items():
            number = numbers[code]
            assert float(one["value"]) == pytest.approx(number.value, rel=1e-12, abs=1e-12), code
            assert one["quantity"]["CodeMeaning"] == number.name.meaning
            assert one["units"]["CodeValue"] == number.unit.value


def testLabelMapsGetASegmentation(files, tmp_path):
    one = compare(A, B, EVERY)
    report, segmentation = SegmentMetricsLib.writeReport(one, tmp_path / "sr.dcm", sources=[files / "ct"])
    assert isValid(report) and isValid(segmentation)
    requireSame(SegmentMetricsLib.readReport(report)[0], one.measurements)
    again = compareCase(
        segmentation, segmentation, Settings(metrics=("DSC", "HD")), choices={"reference": "test"}, names=["reference"]
    )
    assert again[0]["DSC"].value == one["DSC"].value
    assert again[0]["HD"].value == pytest.approx(one["HD"].value, abs=1e-4)
    (group,) = groupsOf(report)
    assert segmentOf(group) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sr.dcm", "sr_segmentation.dcm"]
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    given = {"given": {"PatientID": "P7"}, "pdf": tmp_path / "page.pdf"}
    named, pdf = SegmentMetricsLib.writeReport(one, tmp_path / "named.dcm", hasCopies=False, **given)
    assert isValid(named) and highdicom.sr.srread(named).PatientID == "P7"
    assert isValid(pdf) and dcmread(pdf).EncapsulatedDocument.startswith(b"%PDF-1.4")
    requireSame(SegmentMetricsLib.readReport(named)[0], one.measurements)
    (nobody,) = SegmentMetricsLib.writeReport(one, tmp_path / "nobody.dcm", hasCopies=False)
    texts = [{one.value for one in dcmread(path).iterall() if one.keyword == "TextValue"} for path in (nobody, named)]
    (why,) = texts[0] - texts[1]
    assert isValid(nobody) and says(why)


def testImagesMayLackWhatMayBeEmpty(tmp_path):
    """Such as a patient's name, which others took out of the files with its element."""
    dicomfiles.writeSeries(tmp_path / "ct", Grid.fromImage(A))
    for path in (tmp_path / "ct").iterdir():
        image = dcmread(path)
        for name in ("PatientName", "StudyID", "ReferringPhysicianName"):
            image.pop(name, None)
        image.save_as(path)
    written = SegmentMetricsLib.writeReport(compare(A, B, DICE), tmp_path / "sr.dcm", sources=[tmp_path / "ct"])
    assert all(map(isValid, written)) and dcmread(written[0]).PatientName == ""


def testNumbersThatDoNotExist(tmp_path):
    one = compare(A, A * 0, EVERY)
    report, _ = SegmentMetricsLib.writeReport(one, tmp_path / "sr.dcm")
    assert isValid(report)
    found = SegmentMetricsLib.readReport(report)[0]
    requireSame(found, one.measurements)
    assert found.measurements["HD95"].value == math.inf
    (group,) = groupsOf(report)
    said = {one.name.value: one.value.meaning for one in group.get_qualitative_evaluations()}
    assert said["HD95"] == "Positive Infinity" and "HD95" not in {one.name.value for one in group.get_measurements()}


def testMeshesAreEncapsulated(tmp_path):
    pair = compare(A, B, DICE)
    named = {"Mesh A": pair.reference.surface, "Mesh B": pair.test.surface}.items()
    meshes = [Structure(name, givenSurface=one, surfaceKind="imported") for name, one in named]
    files = SegmentMetricsLib.writeReport(compare(*meshes, DICE), tmp_path / "sr.dcm")
    assert [path.name for path in files] == ["sr.dcm", "sr_mesh.dcm", "sr_mesh2.dcm"] and all(map(isValid, files))
    content = dcmread(tmp_path / "sr_mesh.dcm")
    (tmp_path / "again.stl").write_bytes(content.EncapsulatedDocument[: content.EncapsulatedDocumentLength])
    again = compare(tmp_path / "again.stl", meshes[0], Settings(metrics="HD"))
    assert content.DocumentTitle == "Mesh A" and again["HD"].value < 1e-4


def testVoxelsAtOtherAnglesAreWrittenAsMeshes(tmp_path):
    """A SEG of highdicom has no place for them."""
    tilted = Grid((24, 24, 24), np.array([[1, 0, 0, -12], [0, 1, 0.3, -12], [0, 0, 1, -12], [0, 0, 0, 1.0]]))
    both = [Structure("Liver", Mask.fromArray(SimpleITK.GetArrayFromImage(one) > 0, tilted)) for one in (A, B)]
    files = SegmentMetricsLib.writeReport(compare(*both, DICE), tmp_path / "sr.dcm")
    assert [path.name for path in files] == ["sr.dcm", "sr_mesh.dcm", "sr_mesh2.dcm"] and all(map(isValid, files))
    study = compareObservers([*both, both[0]], DICE)
    with refused("Liver"):
        SegmentMetricsLib.writeReport(study, None, consensus=tmp_path / "consensus.dcm")


def testNamesInAnyScript(tmp_path):
    name = "Œsophage ≤ 食道"
    pair = compare(A, B, DICE)
    both = (pair.reference.rename(name), pair.test.rename(name))
    report, segmentation = SegmentMetricsLib.writeReport(compare(*both, DICE), tmp_path / "sr.dcm")
    assert isValid(report) and isValid(segmentation)
    assert SegmentMetricsLib.readReport(report)[0].name == name
    names = [one.name for one in SegmentMetricsLib.readStructures(segmentation)]
    assert names == [f"{name} (reference)", f"{name} (test)"]


ODD_NAMES = ["Left\\Lung", "Lung\tleft\0", "", " ", "L" * 99]
ODD_CODES = [("Lung", "SCT", 80 * "m"), ("Lung", 20 * "S", "Lung")]


@pytest.mark.parametrize(("name", "scheme", "kind"), [*((name, "SCT", "Lung") for name in ODD_NAMES), *ODD_CODES])
def testNamesThatDicomDoesNotAllow(name, scheme, kind, tmp_path):
    """Nor does it allow codes of Slicer's terminology whose meaning is too long or whose scheme is."""
    pair = compare(A, B, DICE)
    code = f"Any~SCT^123037004^Anatomical Structure~{scheme}^39607008^{kind}~^^"
    test = Structure(name, pair.test.mask, terminology=code)
    one = compare(pair.reference.rename(name), test, DICE)
    files = SegmentMetricsLib.writeReport(one, tmp_path / "sr.dcm", sources=[], given={"PatientID": "P7"})
    assert all(map(isValid, files))
    assert SegmentMetricsLib.readReport(files[0])[0].measurements["DSC"].value == pair["DSC"].value


def testAnatomyIsCoded(tmp_path):
    """That of Slicer's terminology, in the SEG and in the report, which takes it from the SEG as well."""
    region = "Anatomic codes - DICOM master list~SCT^818981001^Abdomen~^^"
    code = f"DICOM master list~SCT^123037004^Anatomical Structure~SCT^64033007^Kidney~SCT^7771000^Left~{region}"
    one = compare(A, B, DICE)
    test = Structure("Kidney", one.test.mask, terminology=code)
    one = compare(one.reference, test, DICE)
    report, segmentation = SegmentMetricsLib.writeReport(one, tmp_path / "sr.dcm")
    (segment,) = (one for one in dcmread(segmentation).SegmentSequence if one.SegmentLabel == "Kidney")
    (kind,), (place,) = segment.SegmentedPropertyTypeCodeSequence, segment.AnatomicRegionSequence
    assert (kind.CodeValue, place.CodeValue) == ("64033007", "818981001")
    assert kind.SegmentedPropertyTypeModifierCodeSequence[0].CodeMeaning == "Left"
    case = compareCase(segmentation, segmentation, DICE, names=["Kidney"])
    (again,) = SegmentMetricsLib.writeReport(case, tmp_path / "again.dcm")
    for path in (report, again, segmentation):
        assert isValid(path)
    for path in (report, again):
        (group,) = groupsOf(path)
        assert (group.finding_type.meaning, group.finding_category.meaning) == ("Kidney", "Anatomical Structure")
        sites = [(site.value.meaning, site.laterality and site.laterality.meaning) for site in group.finding_sites]
        assert sites == [("Kidney", "Left"), ("Abdomen", None)]


def testContoursInAPlane(tmp_path):
    """The code for a volume does not stand for an area."""
    one = compare(A[:, :, 12], B[:, :, 12], EVERY)
    report, segmentation = SegmentMetricsLib.writeReport(one, tmp_path / "sr.dcm")
    assert isValid(report) and isValid(segmentation)
    requireSame(SegmentMetricsLib.readReport(report)[0], one.measurements)
    codes = {one.name.value: one.unit.value for one in groupsOf(report)[0].get_measurements()}
    assert codes["VolumeTest"] == "mm2" and "RNU0" not in codes


def testObservers(files, tmp_path):
    study = compareObservers({"Anna": A, "Ben": B, "Chris": A}, DICE)
    assert all(map(isValid, SegmentMetricsLib.writeReport(study, tmp_path / "of images.dcm")))
    found = SegmentMetricsLib.readReport(tmp_path / "of images.dcm")
    assert [one.summary[:5] for one in found] == ["DSC 0", "DSC 0", "DSC 1", "DSC 1", "DSC 0", "DSC 0"]
    study = compareObservers({"Anna": files / "rs.dcm", "Ben": files / "seg.dcm"}, DICE)
    (report,) = SegmentMetricsLib.writeReport(study, tmp_path / "sr.dcm")
    assert isValid(report)
    names = {one.reference.name for one in SegmentMetricsLib.readReport(report)}
    assert names == {"Liver (Anna)", "Liver (Ben)"}
    said = dcmread(report).to_json()
    assert dcmread(files / "rs.dcm").SOPInstanceUID in said and dcmread(files / "seg.dcm").SOPInstanceUID in said


def testVerdictsOfAProtocol(files, tmp_path):
    """Those on a structure that was not compared are in the report as well."""
    rules = "structure,measurement,relation,pass,warn\nLiver,DSC,>=,0.99,0.9\nLung,DSC,>=,0.9,0.8\n"
    (tmp_path / "limits.csv").write_text(rules)
    case = compareCase(files / "rs.dcm", files / "seg.dcm", DICE, protocol=tmp_path / "limits.csv")
    (report,) = SegmentMetricsLib.writeReport(case, tmp_path / "sr.dcm")
    assert isValid(report)
    (group,) = groupsOf(report)
    said = {one.name.value: one.value.meaning for one in group.get_qualitative_evaluations()}
    assert said["DSC"] == "Fail" and "Lung: DSC" in dcmread(report).to_json()


def testRefused(files, tmp_path):
    case = compareCase(files / "rs.dcm", files / "seg.dcm", DICE)
    one = compare(A, B, DICE)
    (tmp_path / "there.dcm").write_bytes(b"")
    dicomfiles.writeSeries(tmp_path / "other", Grid.fromImage(A), patient="B")
    dicomfiles.writeSeries(tmp_path / "more", Grid.fromImage(A))
    dicomfiles.writeSeries(tmp_path / "nowhere", Grid.fromImage(A), frame="")
    wrong = Structure("Liver", one.test.mask, file=str(files / "seg.dcm"), number=9, frameOfReference="1.2.3")
    (tmp_path / "text").write_text("text")
    (tmp_path / "torn.dcm").write_bytes((files / "rs.dcm").read_bytes()[:-20])
    (tmp_path / "taken_segmentation.dcm").write_bytes(b"")
    target = tmp_path / "sr.dcm"
    dataset = dcmread(files / "rs.dcm")
    dataset.PatientID = ""
    for name in ("Doe", "Roe"):
        dataset.PatientName = name
        dataset.save_as(tmp_path / f"{name.lower()}.dcm")
    dataset.StudyInstanceUID = ""
    dataset.save_as(tmp_path / "rs.dcm")
    dataset = dcmread(files / "rs.dcm")
    del dataset.ReferencedFrameOfReferenceSequence
    for region in dataset.StructureSetROISequence:
        region.ReferencedFrameOfReferenceUID = ""
    dataset.save_as(tmp_path / "frameless.dcm")
    frameless = compareCase(tmp_path / "frameless.dcm", files / "seg.dcm", DICE)
    dicomfiles.writeSeries(tmp_path / "elsewhere", Grid.fromImage(A), frame="1.2.4")
    nowhere = compareCase(tmp_path / "rs.dcm", files / "seg.dcm", DICE)
    for result, path, options, names in (
        (case, tmp_path / "there.dcm", {}, ["there.dcm"]),
        (one, tmp_path / "taken.dcm", {}, ["taken_segmentation.dcm"]),
        (case, target, {"sources": [tmp_path / "other"]}, ["A, B"]),
        (case, target, {"sources": [tmp_path / "none"]}, ["none"]),
        (case, target, {"given": {"PatientID": "C"}}, ["PatientID", "'A'", "'C'"]),
        (case, target, {"given": {"Colour": "C"}}, ["Colour"]),
        (one, target, {"given": {"StudyInstanceUID": "one"}}, ["'one'"]),
        (one, target, {"given": {"StudyInstanceUID": "1." * 40 + "1"}}, ["StudyInstanceUID"]),
        (one, target, {"given": {"PatientID": "A\\B"}}, ["PatientID"]),
        (one, target, {"given": {"PatientName": "A\nB"}}, ["PatientName"]),
        (one, target, {"given": {"StudyDate": "yesterday"}}, ["'yesterday'"]),
        (nowhere, target, {}, ["rs.dcm"]),
        (one, target, {"sources": [tmp_path / "doe.dcm", tmp_path / "roe.dcm"]}, ["Doe, Roe"]),
        (one, target, {"sources": [tmp_path / "text"]}, ["text"]),
        (one, target, {"sources": [tmp_path / "torn.dcm"]}, ["torn.dcm"]),
        (one, target, {"sources": [files / "ct", tmp_path / "more"]}, []),
        (one, target, {"sources": [tmp_path / "nowhere"]}, []),
        (frameless, target, {}, []),
        (case, target, {"sources": [tmp_path / "elsewhere"]}, []),
        (compare(wrong, wrong, DICE), target, {}, ["seg.dcm", "9"]),
        (one, target, {"pdf": tmp_path / "there.dcm"}, ["there.dcm"]),
        ([one], target, {}, ["list"]),
    ):
        with refused(*names):
            SegmentMetricsLib.writeReport(result, path, **options)
    with pytest.raises(ValueError) as told:
        SegmentMetricsLib.writeReport(one, tmp_path / "new" / "deep" / f"{'n' * 240}.dcm")
    says(str(told.value).rpartition(":")[0], "n" * 240)  # without the words of the operating system
    assert sorted(path.name for path in tmp_path.iterdir() if "taken" in path.name) == ["taken_segmentation.dcm"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "sr", "new"))]
    with refused("rs.dcm"):
        SegmentMetricsLib.readReport(files / "rs.dcm")


def testCommands(files, run, tmp_path):
    SimpleITK.WriteImage(A, "a.nrrd")
    SimpleITK.WriteImage(B, "b.nrrd")
    status, said, _ = run("compare", files / "rs.dcm", files / "seg.dcm", "--metrics", "DSC", "--sr", "out/sr.dcm")
    assert status == 0 and isValid(Path("out/sr.dcm")) and said.endswith(" out/sr.dcm\n")
    assert [path.name for path in Path("out").iterdir()] == ["sr.dcm"]
    status, _, problem = run("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC", "--sr", "out/sr.dcm")
    assert status == 2 and says(problem, "out/sr.dcm")
    assert run("compare", "a.nrrd", "b.nrrd", "--patient-id", "P7")[0] == 2
    three = ("a.nrrd", "b.nrrd", "a.nrrd", "--metrics", "DSC", "--names", "A,B,C", "--sr", "c.dcm", "--consensus-seg")
    status, _, problem = run("observers", *three, "c_segmentation.dcm")
    assert status == 2 and says(problem, "c_segmentation.dcm") and not list(Path().glob("*.dcm"))
    two = (files / "rs.dcm", files / "seg.dcm", "--metrics", "DSC", "--sr", "c.dcm", "--consensus-seg", "new/d.dcm")
    status, _, problem = run("observers", *two)
    assert status == 2 and says(problem) and not list(Path().rglob("[cd].dcm"))
    given = ("--sr", "sr.dcm", "--sr-source", files / "ct", "--consensus-seg", "consensus.dcm")
    assert run("observers", "a.nrrd", "b.nrrd", "a.nrrd", "--metrics", "DSC", "--names", "A,B,C", *given)[0] == 0
    assert {path.name for path in Path().glob("*.dcm")} == {"sr.dcm", "sr_segmentation.dcm", "consensus.dcm"}
    assert all(map(isValid, Path().glob("*.dcm"))) and dcmread("consensus.dcm").PatientID == "A"
    (again,) = compareCase("consensus.dcm", "a.nrrd", DICE)
    assert again["DSC"].value == 1


def testBatch(files, run, tmp_path):
    for case, image in (("p1", B), ("p1_2", A)):
        for side, one in (("ours", A), ("theirs", image)):
            Path(side).mkdir(exist_ok=True)
            SimpleITK.WriteImage(one, f"{side}/{case}.nrrd")
    asked = ("--reference-dir", "ours", "--test-dir", "theirs", "-o", "out", "--metrics", "DSC,HD95", "--workers", 1)
    assert run("batch", *asked, "--sr")[0] == 0
    written = SegmentMetricsLib.readBatch("out").toFrame()
    read = SegmentMetricsLib.readBatch("out/dicom").toFrame()
    assert isValid(Path("out/dicom/p1_2/report.dcm")) and len(read) == 2
    np.testing.assert_array_equal(read[["DSC", "HD95"]].values, written[["DSC", "HD95"]].values)
    # the image of a list of cases says whose report it is
    lines = f"p1,ours/p1.nrrd,theirs/p1.nrrd,{files / 'ct'}\np2,ours/p1.nrrd,ours/p1.nrrd,\n"
    Path("cases.csv").write_text(f"case,reference,test,image\n{lines}")
    assert run("batch", "cases.csv", "-o", "listed", "--metrics", "DSC", "--workers", 1, "--sr")[0] == 0
    assert [dcmread(f"listed/dicom/{case}/report.dcm").PatientID for case in ("p1", "p2")] == ["A", ""]


def testBatchOfSeveralMethods(run, tmp_path):
    """The reports tell methods apart, as the records do; a structure that the test calls otherwise is the same."""
    for name, image in (("a", A), ("b", B * 2)):
        SimpleITK.WriteImage(image, f"{name}.nrrd")
    lines = ["case,method,reference,test"]
    lines += [f"{case},{method},a.nrrd,{method}.nrrd" for case in ("p1", "p2") for method in "ab"]
    Path("cases.csv").write_text("\n".join(lines))
    asked = ("--metrics", "DSC", "--workers", 1, "--sr", "--sr-by-name")
    assert run("batch", "cases.csv", "-o", "out", *asked)[0] == 0
    written, read = (SegmentMetricsLib.readBatch(folder).toFrame()["DSC"] for folder in ("out", "out/dicom"))
    assert read.sort_index().to_dict() == written.sort_index().to_dict() and len(read) == 4

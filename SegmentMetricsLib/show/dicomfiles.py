"""DICOM that is written, where highdicom is installed: structured reports, SEG, and encapsulated STL and PDF.

A pair of structures is a measurement group of TID 1411 where DICOM knows the test structure (the segment of a SEG, the
region of an RTSTRUCT, a mesh), else of TID 1501. A number that is not finite is the code of what it is (CID 42), with
the reason as text: numbers without a value, which DICOM also has, highdicom 0.28 can neither write nor read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import textwrap
from collections import namedtuple
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import highdicom
import numpy as np
from highdicom import sr
from highdicom.coding_schemes import CodingSchemeIdentificationItem
from highdicom.sr.utils import collect_evidence
from pydicom import Dataset, uid
from pydicom.sr.codedict import codes

from ..base.errors import InputError
from ..base.plain import finite
from ..base.texts import commaSeparated, oneLine
from ..base.version import __version__
from ..case.comparison import Comparison
from ..case.protocol.judgment import Judgment, Verdict
from ..geometry.grids import Grid
from ..io.dicom.images import imagesNamedIn
from ..io.dicom.opening import fieldOf, isDicom, readable, readNamed, requireAllowed, textOf
from ..metrics.measurement import DIRECTED, Measurement, statusOf
from ..metrics.metric import AREA
from ..metrics.registry import findMetric
from ..model.structure import Structure
from ..settings.settings import DECLARED, Settings

MANUFACTURER, UTF8 = "SegmentMetrics", "ISO_IR 192"
HEADER = (
    *("PatientID", "PatientName", "PatientBirthDate", "PatientSex"),
    *("StudyInstanceUID", "StudyID", "StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName"),
)
REPORT_SERIES, SEG_SERIES, MESH_SERIES, PDF_SERIES = 700, 701, 702, 703
# Structures are drawn on these: structure sets, doses and reports are no images.
IMAGES = ("CT", "MR", "PT", "NM", "US", "RTIMAGE", "XA")
SCHEME = "99SEGMENTMETRICS"
# Our own concepts but those of measurements; what is called as in Comparison and Measurement is read back by that name.
WORDS = {
    "reference": "Reference structure",
    "test": "Test structure",
    "referenceToTest": "From the reference to the test",
    "testToReference": "From the test to the reference",
    "lower": "Lower bound of the true value",
    "upper": "Upper bound of the true value",
    "unit": "Unit of the value that does not exist",
    "key": "Key of the measurement",
    "reason": "Reason",
    "findings": "What a reader of the numbers should know",
    "surface": "Surface that was measured",
    "grid": "Grid on which overlap was counted",
    "extent": "Common extent to which both were cut",
    "convention": "Convention of the numbers",
    "method": "Method of the distances",
    "summary": "Outcome in one sentence",
    "rule": "Limit of the protocol and its verdict",
    "warn": "Warning",
}
TEXTS, JSON = ("surface", "convention", "method", "summary"), ("grid", "extent")
NOT_FINITE = {"inf": codes.DCM.PositiveInfinity, "-inf": codes.DCM.NegativeInfinity, "nan": codes.DCM.NotANumber}
UCUM = ("mm", "mm2", "mm3", "cm2", "cm3", "Gy", "bit", "%")  # other units are annotations in braces
LONGEST_CODE, LONGEST_NAME = 16, 64
# Largest product of the directions of two axes that highdicom takes for axes at right angles.
RIGHT_ANGLES = 1e-4


# Where a structure is in DICOM: in which dataset, under which number of a segment or region (None for a mesh), datasets
# that identify the images that it was drawn on, and its anatomyOf().
Referent = namedtuple("Referent", "dataset number images anatomy")


class Sources:
    """The DICOM files that results are from, and whose patient and study they have.

    header: the elements of HEADER. files: the datasets of structures without pixels, by path. images: those of the
    image that the structures were drawn on, if they are there. frame: of reference, a new one if no file has one.
    """

    def __init__(
        self, structures: Collection[Structure], paths: Iterable[str | os.PathLike], given: Mapping[str, str] | None
    ):
        """Read them. paths: of others, or folders. given: elements of HEADER that none has, and InstitutionName."""
        given = given or {}
        if unknown := [name for name in given if name not in (*HEADER, "InstitutionName")]:
            raise InputError(f"{commaSeparated(unknown)} cannot be given: use {commaSeparated(HEADER)}.")
        requireAllowed(given)
        own = {one.file: Path(one.file) for one in structures if one.file}
        listed = [path for path in own.values() if path.is_file() and isDicom(path)]
        for path in map(Path, paths):
            found = [one for one in (path, *sorted(path.rglob("*"))) if one.is_file() and isDicom(one)]
            if not found:
                raise InputError(f"{path}: there is no DICOM file.")
            listed += found
        datasets = {path: readNamed(path, stop_before_pixels=True) for path in listed}
        self.files = {file: datasets[path] for file, path in own.items() if path in datasets}
        with readable():
            self.images = [one for one in datasets.values() if textOf(one, "Modality") in IMAGES]
            for image in self.images:  # some lack what may be empty, but has to be there
                for name in {*HEADER} - {*image.dir()}:
                    setattr(image, name, "")
            if len({textOf(one, "SeriesInstanceUID") for one in self.images}) > 1:
                raise InputError("the DICOM images are of several series; give the one that was drawn on.")
            told = sorted(datasets.values(), key=lambda one: not textOf(one, "PatientID").strip())
            names = [{textOf(one, name).strip() for one in told} - {""} for name in ("PatientID", "PatientName")]
            patients = sorted(names[0] or names[1])
            if len(patients) > 1:
                raise InputError(f"the DICOM files belong to several patients: {commaSeparated(patients)}.")
            self.header = Dataset()
            for name in (*HEADER, *given):
                said = textOf(told[0], name) if told and name in HEADER else ""
                if said and given.get(name, said) != said:
                    raise InputError(f"{name} is {said!r} in the DICOM files, not {given[name]!r}.")
                setattr(self.header, name, said or given.get(name, ""))
            frames = [textOf(one, "FrameOfReferenceUID") for one in self.images[:1]]
            frames += [one.frameOfReference for one in structures if one.file in self.files]
            if not all(frames) or (self.images and frames[0] not in (frames[1:] or frames)):
                raise InputError("the DICOM files have no frame of reference in common, to place structures in.")
        self.header.SpecificCharacterSet = UTF8
        self.header.StudyInstanceUID = self.header.StudyInstanceUID or uid.generate_uid()
        # other files say in words how they were placed
        frames += [one.frameOfReference for one in structures]
        self.frame = next((one for one in frames if re.fullmatch(uid.RE_VALID_UID, one)), None) or uid.generate_uid()

    def placeOf(self, structure: Structure) -> Referent | None:
        """Return where a structure is in a SEG or RTSTRUCT, None if its file is another. InputError if nowhere."""
        dataset = self.files.get(structure.file)
        if dataset is None:
            return None
        with readable():
            if not (textOf(dataset, "SOPInstanceUID") and textOf(dataset, "StudyInstanceUID")):
                raise InputError(f"{structure.file} lacks the UIDs by which a report could refer to it.")
            isSegment, told = "SegmentSequence" in dataset, f"number {structure.number}"
            number, name = ("SegmentNumber", "SegmentLabel") if isSegment else ("ROINumber", "ROIName")
            found = list(dataset.get("SegmentSequence" if isSegment else "StructureSetROISequence", []))
            if structure.number is not None:
                found = [one for one in found if one[number].value == structure.number]
            else:  # regions without a name are called by their number
                told = repr(structure.name)
                found = [one for one in found if structure.name == (textOf(one, name) or f"ROI {one[number].value}")]
            if len(found) != 1:
                many = "several structures" if found else "no structure"
                raise InputError(f"{structure.file} has {many} {told} that a report could refer to.")
            which = int(found[0][number].value)
            observed = dataset.get("RTROIObservationsSequence", [])
            observed = [one for one in observed if one.get("ReferencedROINumber") == which]
            images = []
            for image in imagesNamedIn(dataset):
                for instance, storage in image.slices:
                    images.append(one := Dataset())
                    one.StudyInstanceUID, one.SeriesInstanceUID = image.study, image.series
                    one.SOPClassUID, one.SOPInstanceUID = storage, instance
            return Referent(dataset, which, images, anatomyOf(structure, found[0], *observed))

    def instance(self, storage: str, modality: str, series: tuple[str, int], number: int = 1):
        """Return a new instance of a kind, with patient, study and what made it. series: its UID and its number."""
        study = self.header.StudyInstanceUID
        result = highdicom.SOPClass(study, *series, uid.generate_uid(), storage, number, modality)
        result.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
        result.Manufacturer = result.ManufacturerModelName = MANUFACTURER
        result.SoftwareVersions = result.DeviceSerialNumber = __version__
        result.update(self.header)
        return result


def anatomyOf(structure: Structure, *items) -> list[sr.CodedConcept | None]:
    """Return a structure's category, type and side, and its region and that one's side; None for what is not known.

    items: those about the structure in its DICOM file; without any code there, Slicer's terminology is taken.
    """

    def code(name: str, *items) -> sr.CodedConcept | None:
        found = [item[name][0] for item in items if item is not None and item.get(name)]
        isWhole = found and all(word in found[0] for word in ("CodeMeaning", "CodingSchemeDesignator"))
        return sr.CodedConcept.from_dataset(found[0]) if isWhole else None

    kind = code("SegmentedPropertyTypeCodeSequence", *items) or code("RTROIIdentificationCodeSequence", *items)
    if kind is None:
        triplets = [part.split("^") for part in structure.terminology.split("~")[1:]]
        isCode = [len(t) == 3 and all(t) and len(t[0]) <= LONGEST_CODE for t in triplets]
        known = [sr.CodedConcept(t[1], t[0], fieldOf(t[2])) if ok else None for ok, t in zip(isCode, triplets)]
        category, kind, side, _, region, regionSide = [*known, *[None] * 6][:6]
    else:
        category = code("SegmentedPropertyCategoryCodeSequence", *items)
        side = code("SegmentedPropertyTypeModifierCodeSequence", kind)
        region = code("AnatomicRegionSequence", *items)
        regionSide = code("AnatomicRegionModifierSequence", region)
    return [category, kind, side, region, regionSide]


def copiesOf(named: Mapping[int, tuple[str, Structure]], sources: Sources, target: Path) -> tuple[dict, dict]:
    """Return structures as SEG (voxels of one grid) and encapsulated STL files by path, and their places by their keys.

    Empty structures and contours in a plane have none, and voxels that fit no SEG are written as their surface. named:
    with their names. target: beside which the files will be.
    """
    files: dict[tuple, dict[int, tuple[str, Structure]]] = {}
    for key, (name, one) in named.items():
        if one.mask is not None and not one.isEmpty and fitsSegmentation(one.mask.grid):
            grid = one.mask.grid
            files.setdefault(("segmentation", grid.size, grid.matrix.tobytes()), {})[key] = name, one
        elif not one.isEmpty and one.surface.dimension == 3:
            files["mesh", key] = {key: (name, one)}
    datasets: dict[Path, Any] = {}
    places: dict[int, Referent] = {}
    ofSegments, ofMeshes = (_segmentationOf, uid.generate_uid(), count(1)), (_meshOf, uid.generate_uid(), count(1))
    for (kind, *_), alike in files.items():
        make, series, numbers = ofSegments if kind == "segmentation" else ofMeshes
        number = next(numbers)
        dataset = make(list(alike.values()), sources, series, number)
        datasets[target.with_name(f"{target.stem}_{kind}{number if number > 1 else ''}{target.suffix}")] = dataset
        for segment, (key, (_, one)) in enumerate(alike.items(), start=1):
            places[key] = Referent(dataset, segment if kind == "segmentation" else None, sources.images, anatomyOf(one))
    return datasets, places


def fitsSegmentation(grid: Grid) -> bool:
    """Return whether voxels can be a SEG: only if their axes are at right angles, unlike those of a tilted gantry."""
    return bool(np.abs(grid.direction.T @ grid.direction - np.eye(3)).max() <= RIGHT_ANGLES)


def _segmentationOf(named: Sequence[tuple[str, Structure]], sources: Sources, series: str, number: int):
    """Return structures on one grid, with their names, as a binary SEG, whose segments have the numbers 1, 2, ..."""
    masks = [one.ownMask for _, one in named]
    grid = masks[0].grid
    low = np.min([mask.low for mask in masks], axis=0)
    high = np.max([mask.high for mask in masks], axis=0)
    voxels = np.stack([mask.block(low, high) >= 0.5 for mask in masks], axis=-1).astype(np.uint8)
    affine = grid.matrix[:, [2, 1, 0, 3]]  # the axes of arrays are k, j, i
    affine[:3, 3] = grid.toWorld([low])[0]
    descriptions, anything = [], codes.SCT.AnatomicalStructure
    for segmentNumber, (name, one) in enumerate(named, start=1):
        category, kind, side, region, regionSide = anatomyOf(one)
        titles = segmentNumber, fieldOf(name), category or anything, kind or anything, "MANUAL"
        segment = highdicom.seg.SegmentDescription(*titles, anatomic_regions=[region] if region else None)
        if side:
            segment.SegmentedPropertyTypeCodeSequence[0].SegmentedPropertyTypeModifierCodeSequence = [side]
        if region and regionSide:
            segment.AnatomicRegionSequence[0].AnatomicRegionModifierSequence = [regionSide]
        descriptions.append(segment)
    # highdicom takes the patient and the study from an image; here one that exists nowhere may stand in for it
    instead = sources.instance(uid.CTImageStorage, "CT", (uid.generate_uid(), 1))
    instead.FrameOfReferenceUID, instead.PositionReferenceIndicator = sources.frame, ""
    instead.Rows, instead.Columns = voxels.shape[1:3]
    instead.ImagePositionPatient, instead.ImageOrientationPatient = [0, 0, 0], [1, 0, 0, 0, 1, 0]
    instead.PixelSpacing, instead.SliceThickness = [1, 1], 1
    channels: Any = {"SegmentNumber": range(1, len(named) + 1)}
    volume = highdicom.Volume(voxels, affine, "PATIENT", frame_of_reference_uid=sources.frame, channels=channels)
    identity = series, SEG_SERIES, uid.generate_uid(), number, MANUFACTURER, MANUFACTURER, __version__, __version__
    segmentation = highdicom.seg.Segmentation(sources.images or [instead], volume, "BINARY", descriptions, *identity)
    segmentation.ContentLabel, segmentation.SeriesDescription = "STRUCTURES", "Structures that were compared"
    segmentation.SpecificCharacterSet = UTF8
    if not sources.images:
        del segmentation.ReferencedSeriesSequence
        for group in (*segmentation.SharedFunctionalGroupsSequence, *segmentation.PerFrameFunctionalGroupsSequence):
            group.pop("DerivationImageSequence", None)
    return segmentation


def _meshOf(named: Sequence[tuple[str, Structure]], sources: Sources, series: str, number: int):
    """Return the surface of a structure, with its name, as an encapsulated STL file, points in LPS mm."""
    ((name, structure),) = named
    surface, kind = structure.surface, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]
    facets = np.zeros(len(surface.cells), np.dtype(kind))
    facets["normal"], facets["corners"] = surface.normalsOf(np.arange(surface.count)), surface.points[surface.cells]
    result = sources.instance(uid.EncapsulatedSTLStorage, "M3D", (series, MESH_SERIES), number)
    result.FrameOfReferenceUID, result.PositionReferenceIndicator = sources.frame, ""
    result.MeasurementUnitsCodeSequence = [sr.CodedConcept("mm", "UCUM", "millimeter")]
    content = b"LPS".ljust(80) + np.array(len(facets), "<u4").tobytes() + facets.tobytes()
    return _encapsulate(result, content, "model/stl", name)


def encapsulatedPdf(path: Path, sources: Sources):
    """Return a PDF as an encapsulated document. Raises InputError for anything else."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not content.startswith(b"%PDF-"):
        raise InputError(f"{path}: this is not a PDF.")
    result = sources.instance(uid.EncapsulatedPDFStorage, "DOC", (uid.generate_uid(), PDF_SERIES))
    result.ConversionType = "WSD"
    return _encapsulate(result, content, "application/pdf", path.stem)


def _encapsulate(result, content: bytes, kind: str, title: str):
    result.AcquisitionDateTime, result.BurnedInAnnotation, result.RecognizableVisualFeatures = "", "NO", "NO"
    result.DocumentTitle, result.ConceptNameCodeSequence = fieldOf(title), []
    result.MIMETypeOfEncapsulatedDocument, result.EncapsulatedDocumentLength = kind, len(content)
    result.EncapsulatedDocument = content + b"\0" * (len(content) % 2)
    return result


def writeDatasets(datasets: Mapping[Path, Any]) -> list[Path]:
    """Write datasets, all or none, and return their paths. Raises InputError if a file exists or cannot be written."""
    if existing := [path for path in datasets if os.path.lexists(path)]:
        raise InputError(f"{existing[0]} exists. Choose another name, or remove it first.")
    unfinished = {path: path.with_name(f".{path.name}.unfinished") for path in datasets}
    left = [*unfinished.values(), *datasets]
    folders = [one for path in datasets for one in path.parents if not os.path.lexists(one)]
    try:
        for path, dataset in datasets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            dataset.save_as(unfinished[path], enforce_file_format=True)
        for path in reversed(list(datasets)):  # the first refers to the others
            unfinished[path].replace(path)
        left = folders = []
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        for one in (*left, *folders):
            with suppress(OSError):
                one.rmdir() if one in folders else one.unlink()
    return list(datasets)


def conceptOf(key: str, title: str = "", unit: str = "") -> sr.CodedConcept:
    """Return the name of a measurement: that of its metric, or its key in our own scheme.

    Concepts of others are of volumes, not of areas. Long keys end in a digest: highdicom 0.28 cannot read such codes.
    """
    asked = findMetric(key)
    if asked is not None and asked.metric.concept is not None and unit != AREA:
        return sr.CodedConcept(*asked.metric.concept)
    code = key if len(key) <= LONGEST_CODE else f"{key[:9]}_{hashlib.sha256(key.encode()).hexdigest()[:6]}"
    return sr.CodedConcept(code, SCHEME, textwrap.shorten(title or key, LONGEST_NAME, placeholder="..."))


def ucumUnit(unit: str) -> sr.CodedConcept:
    """Return a unit of measurements in UCUM."""
    return sr.CodedConcept(unit if unit in UCUM else f"{{{unit}}}" if unit else "1", "UCUM", unit or "no units")


def _ours(word: str) -> sr.CodedConcept:
    return sr.CodedConcept(word.replace(" ", ""), SCHEME, WORDS.get(word, word.capitalize()))


def _texts(texts: Iterable[tuple[str, str]], relation: str) -> list[sr.TextContentItem]:
    return [sr.TextContentItem(_ours(word), oneLine(text), relation) for word, text in texts if text]


def _number(name: sr.CodedConcept, value: float, unit: str, relation: str) -> sr.NumContentItem | sr.CodeContentItem:
    if math.isfinite(value):
        return sr.NumContentItem(name, float(value), ucumUnit(unit), relationship_type=relation)
    return sr.CodeContentItem(name, NOT_FINITE[str(float(value))], relation)


def _itemOf(measurement: Measurement) -> sr.NumContentItem | sr.CodeContentItem:
    name, below = conceptOf(measurement.key, measurement.title, measurement.unit), "HAS PROPERTIES"
    item = _number(name, measurement.value, measurement.unit, "CONTAINS")
    key = measurement.key if name.value != measurement.key else ""
    unit = "" if math.isfinite(measurement.value) else measurement.unit
    texts = [("key", key), ("unit", unit), ("reason", measurement.reason)]
    parts = [(part, value) for part in DIRECTED if (value := getattr(measurement, part)) is not None]
    items = [*(_number(_ours(part), value, measurement.unit, below) for part, value in parts), *_texts(texts, below)]
    if items:
        item.ContentSequence = sr.ContentSequence(items)
    return item


def _groupOf(record: Comparison, places: Sequence[Referent | None], verdicts: Sequence[Verdict]):
    about = places[-1] if places else None
    category, kind, side, region, regionSide = about.anatomy if about else [None] * 5
    sites = [(place, which) for place, which in ((side and kind, side), (region, regionSide)) if place]
    told = (record.settings or Settings()).toDictionary()
    parameters = [f"{name}={json.dumps(value)}" for name, value in told.items()]
    evaluations = []
    for one in verdicts:
        said = (getattr(one.measurement, name, "") for name in ("title", "unit"))
        evaluations.append(sr.QualitativeEvaluation(conceptOf(one.rule.measurement, *said), _ours(one.verdict)))
    group = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(uid=uid.generate_uid(), identifier=oneLine(record.name).strip() or "All labels together"),
        finding_type=kind or codes.SCT.AnatomicalStructure,
        finding_category=category,
        finding_sites=[sr.FindingSite(place, laterality=which) for place, which in sites] or None,
        algorithm_id=sr.AlgorithmIdentification(MANUFACTURER, __version__, parameters),
        qualitative_evaluations=evaluations,
    )
    content = group[0].ContentSequence
    content.extend(map(_itemOf, record.measurements.values()))
    for place, concept in [(place, code) for place, code in zip(places, (_ours("reference"), None)) if place]:
        item: sr.ContentItem
        file = place.dataset.SOPClassUID, place.dataset.SOPInstanceUID
        if "SegmentSequence" in place.dataset:
            item = sr.ImageContentItem(concept or codes.DCM.ReferencedSegment, *file, None, place.number, "CONTAINS")
        else:
            item = sr.CompositeContentItem(concept or codes.DCM.RegionInSpace, *file, "CONTAINS")
            if place.number is not None:
                name = codes.DCM.ReferencedRegionOfInterestIdentifier
                number = sr.TextContentItem(name, str(place.number), "HAS CONCEPT MOD")
                item.ContentSequence = sr.ContentSequence([number])
        content.append(item)
    if about:
        group[0].ContentTemplateSequence[0].TemplateIdentifier = "1411"
        if about.images:
            series = str(about.images[0].SeriesInstanceUID)
            content.append(sr.UIDRefContentItem(codes.DCM.SourceSeriesForSegmentation, series, "CONTAINS"))
    texts = [(side, getattr(record, side).name.strip() or "?") for side in ("reference", "test") if places]
    texts += [(word, getattr(record, word)) for word in TEXTS]
    texts += [(word, json.dumps(value)) for word in JSON if (value := getattr(record, word))]
    texts += [("findings", str(text)) for text in record.findings]
    content.extend(_texts(texts, "CONTAINS"))
    return group


def documentOf(pairs: Sequence[tuple], remarks: Iterable[str], judgment: Judgment | None, sources: Sources):
    """Return the report on pairs: records, places of reference and test (none of all labels), and verdicts."""
    device = sr.DeviceObserverIdentifyingAttributes(uid=uid.generate_uid(), name=MANUFACTURER)
    context = sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device))
    (content,) = sr.MeasurementReport(context, codes.SCT.ImagingProcedure, [_groupOf(*pair) for pair in pairs])
    texts = [("findings", remark) for remark in remarks]
    for one in judgment.verdicts if judgment else ():
        said = f"{one.rule.measurement} {one.limitsText}: {one.verdict}. {one.reason}"
        texts.append(("rule", f"{one.structure}: {said}"))
    content.ContentSequence.extend(_texts(texts, "CONTAINS"))
    scheme = CodingSchemeIdentificationItem(SCHEME, "Measurements of SegmentMetrics", __version__)
    document = sources.instance(uid.Comprehensive3DSRStorage, "SR", (uid.generate_uid(), REPORT_SERIES))
    document.SeriesDescription, document.CodingSchemeIdentificationSequence = "Comparison of structures", [scheme]
    document.CompletionFlag, document.VerificationFlag, document.PreliminaryFlag = "COMPLETE", "UNVERIFIED", "FINAL"
    document.PerformedProcedureCodeSequence, document.ReferencedPerformedProcedureStepSequence = [], []
    document.update(content)
    used = [dataset for _, places, _ in pairs for one in places if one for dataset in (one.dataset, *one.images)]
    evidence = collect_evidence(used, content, document.StudyInstanceUID)
    for name, found in zip(("CurrentRequestedProcedure", "PertinentOther"), evidence):
        if found:
            setattr(document, f"{name}EvidenceSequence", found)
    return document


def recordsOf(content: Sequence) -> list[Comparison]:
    """Return the pairs of a report from the content of its root, by pydicom: highdicom would take twice as long."""
    code = codes.DCM.ImagingMeasurements.value
    measured = [one for one in content if one.ConceptNameCodeSequence[0].CodeValue == code]
    found = [_recordOf(group.ContentSequence) for one in measured for group in one.ContentSequence]
    return [record for record in found if record is not None]


def _recordOf(content: Sequence) -> Comparison | None:
    told: dict[str, list[str]] = {}
    measurements: dict[str, dict] = {}
    for item in content:
        name, value = _read(item)
        if isinstance(value, str):
            told.setdefault(name, []).append(value)
        elif value is not None:
            below = map(_read, item.get("ContentSequence", []))
            plain = {word: finite(one) if isinstance(one, float) else one for word, one in below}
            if item.ValueType == "NUM":
                unit = item.MeasuredValueSequence[0].MeasurementUnitsCodeSequence[0].CodeValue
                plain["unit"] = "" if unit == "1" else unit.strip("{}")
            key, sign = str(plain.pop("key", name)), math.copysign(1, value)
            measurements[key] = {"unit": "", **plain, "value": finite(value), "status": statusOf(value), "sign": sign}
    if "reference" not in told:  # all labels together
        return None
    known: dict[str, Any] = {word: told.get(word, [""])[0] for word in TEXTS}
    known |= {word: json.loads(told[word][0]) if word in told else None for word in JSON}
    known |= {word: {"name": told[word][0], "file": ""} for word in ("reference", "test")}
    known |= {"measurements": measurements, "findings": told.get("findings", []), "worstPlaces": []}
    parameters = (text.partition("=") for text in told.get(codes.DCM.AlgorithmParameters.value, []))
    settings = {name: json.loads(text) for name, _, text in parameters}
    # settings of another version are not known
    return Comparison.fromDictionary(known, Settings(**settings) if settings.keys() <= DECLARED.keys() else None)


def _read(item) -> tuple[str, Any]:
    """Return the code of a content item's name, and its text, number, or that of a code for one that is not finite."""
    name = item.ConceptNameCodeSequence[0].CodeValue
    if item.ValueType == "TEXT":
        return name, str(item.TextValue)
    if item.ValueType == "NUM":
        return name, float(item.MeasuredValueSequence[0].FloatingPointValue)
    code = item.ConceptCodeSequence[0].get("CodeValue", "") if item.ValueType == "CODE" else ""
    return name, next((float(word) for word, one in NOT_FINITE.items() if one.value == code), None)

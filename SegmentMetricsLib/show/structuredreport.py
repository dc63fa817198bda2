"""Structured reports: the measurements of a case as DICOM (Comprehensive 3D SR, TID 1500), written and read.

A pair of structures is a measurement group: of TID 1411 where DICOM knows the test structure (the segment of a SEG, the
region of an RTSTRUCT, a mesh), else of TID 1501. The reference is referred to in the same way, by a concept of our own
scheme, in which the code of a measurement is its key. A number that is not finite is the code of what it is (CID 42),
with the reason as text: DICOM also has numbers without a value, which highdicom 0.28 can neither write nor read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from ..base.errors import InputError, requireKind
from ..base.version import __version__
from ..case.caseresult import CaseResult
from ..case.comparison import Comparison
from ..case.observers.study import ObserverStudy
from ..case.records import Record
from ..io.dicom import opening, writing
from ..metrics.measurement import Measurement
from ..model.naming import pairTitle
from ..model.structure import Structure
from ..settings.settings import Settings

SCHEME = "99SEGMENTMETRICS"
# Our own concepts but those of measurements, and their meanings.
WORDS = {
    "Reference": "Reference structure",
    "Test": "Test structure",
    "ReferenceToTest": "From the reference to the test",
    "TestToReference": "From the test to the reference",
    "LowerBound": "Lower bound of the true value",
    "UpperBound": "Upper bound of the true value",
    "Unit": "Unit of the value that does not exist",
    "Key": "Key of the measurement",
    "Reason": "Reason",
    "Finding": "What a reader of the numbers should know",
    "Rule": "Limit of the protocol and its verdict",
    "Surface": "Surface that was measured",
    "Grid": "Grid on which overlap was counted",
    "Convention": "Convention of the numbers",
    "Method": "Method of the distances",
    "Summary": "Outcome in one sentence",
    "Pass": "Pass",
    "Warn": "Warning",
    "Fail": "Fail",
    "NotEvaluable": "Not evaluable",
}
# Measurements for which DICOM has a code that means the same, of the structure that the group refers to.
STANDARD = {
    "VolumeTest": ("RNU0", "IBSI", "Volume of Mesh"),
    "VoxelVolumeTest": ("YEKZ", "IBSI", "Volume from Voxel Summation"),
}
# The directions and bounds of a measurement: our concept, and its name in files and in Measurement.
PARTS = {
    "ReferenceToTest": "referenceToTest",
    "TestToReference": "testToReference",
    "LowerBound": "lower",
    "UpperBound": "upper",
}
# Codes of what is not finite.
NOT_FINITE = {
    math.inf: ("114002", "DCM", "Positive Infinity"),
    -math.inf: ("114001", "DCM", "Negative Infinity"),
    math.nan: ("114000", "DCM", "Not a number"),
}
# UCUM knows these as they are; others are annotations in braces.
UCUM = {"": "1", "1/mm": "/mm", **{unit: unit for unit in ("mm", "mm2", "mm3", "cm2", "cm3", "Gy", "%")}}
LONGEST_CODE, LONGEST_MEANING = 16, 64


class Group(NamedTuple):
    """A pair of structures to be reported.

    reference, test: under the names of the report. read: the two under the names that their files have. texts: the
    context, by words of WORDS. verdicts: (key, title, verdict, sentence) of the rules of a protocol.
    """

    title: str
    reference: Structure
    test: Structure
    read: tuple[Structure, Structure]
    measurements: Mapping[str, Measurement]
    settings: Settings
    texts: Mapping[str, str] = {}
    findings: Sequence[str] = ()
    verdicts: Sequence[tuple[str, str, str, str]] = ()


def writeReport(
    result: Comparison | CaseResult | ObserverStudy,
    path: str | os.PathLike,
    *,
    sources: Iterable[str | os.PathLike] = (),
    given: Mapping[str, str] | None = None,
    hasCopies: bool = True,
    pdf: str | os.PathLike | None = None,
) -> list[Path]:
    """Write the measurements of a comparison, a case or a study of observers as a DICOM structured report.

    Parameters
    ----------
    result : Comparison | CaseResult | ObserverStudy
        Of a study, the pairs of all observers and tests.
    path : str | os.PathLike
        Of the report, a file that does not exist yet.
    sources : Iterable[str | os.PathLike], optional
        DICOM files of the image that the structures were drawn on, or folders with them.
    given : Mapping[str, str], optional
        Elements of the patient and the study that no source has, by their DICOM keywords, such as PatientID.
    hasCopies : bool, optional
        Whether structures that are not from DICOM files are written beside the report, voxels as a SEG and meshes as
        encapsulated STL files; otherwise the report refers to them by name only.
    pdf : str | os.PathLike | None, optional
        A PDF, such as a printed report page, to be written beside the report as an encapsulated document.

    Returns
    -------
    list[Path]
        The files that were written, the report first.

    Raises
    ------
    InputError
        If a source does not exist, is damaged or of another patient, a structure is not in its DICOM file, a file to be
        written exists, there is nothing to report, or highdicom is not installed.
    """
    requireKind(result, (Comparison, CaseResult, ObserverStudy), "The result", "a comparison, a case or a study")
    groups = list(_groupsOf(result))
    if not groups:
        raise InputError("There are no measurements to report.")
    target = Path(path)
    structures = {id(one): one for group in groups for one in (group.reference, group.test)}.values()
    known = writing.Sources.of({one.file for one in structures if one.file}, sources, given or {})
    others = [one for one in structures if one.file not in known.files] if hasCopies else []
    copies = writing.copiesOf(others, known, target)
    remarks = [] if isinstance(result, Comparison) else list(result.remarks)
    document = _documentOf(groups, known, copies.places, remarks)
    datasets = {target: document, **copies.datasets}
    if pdf is not None:
        from pydicom.uid import generate_uid

        datasets[target.with_name(f"{target.stem}_pdf{target.suffix}")] = writing.encapsulatedPdf(
            Path(pdf), known, generate_uid()
        )
    return writing.writeDatasets(datasets)


def _groupsOf(result: Comparison | CaseResult | ObserverStudy) -> Iterator[Group]:
    if isinstance(result, ObserverStudy):
        for one in result:
            named = [
                structure and structure.named(f"{one.name} ({who})")
                for structure, who in zip(one.structures, one.everyone, strict=True)
            ]
            for (row, column), measurements in one.pairs.pairs.items():
                reference, test = named[row], named[column]
                if reference is not None and test is not None:
                    title, told = pairTitle((reference.name, test.name)), {"Convention": one.settings.convention}
                    read = cast("tuple[Structure, Structure]", (one.structures[row], one.structures[column]))
                    yield Group(title, reference, test, read, measurements, one.settings, told)
        return
    if isinstance(result, Comparison):
        judgment, pairs = None, [(result, result.reference, result.test, result.settings)]
    else:
        # of records, the structures are those that were paired
        pairs = [(one, *match, one.settings) for one, match in zip(result, result.pairing.pairs, strict=True)]
        judgment = result.judgment
    for pair, reference, test, settings in pairs:
        title = pairTitle((reference.name, test.name))
        verdicts = [
            (
                one.rule.measurement,
                one.measurement.title if one.measurement else one.rule.measurement,
                one.verdict.title().replace(" ", ""),
                f"{one.rule.measurement} {one.limitsText}: {one.verdict}. {one.reason}",
            )
            for one in (judgment.verdicts if judgment else ())
            if one.structure in (reference.name, test.name, title)
        ]
        plain = pair.toDictionary()
        texts = {
            "Surface": plain["surface"],
            "Grid": json.dumps(plain["grid"]) if plain["grid"] else "",
            "Convention": plain["convention"],
            "Method": plain["method"] or "",
            "Summary": plain["summary"],
        }
        findings = list(map(str, pair.findings))
        yield Group(title, reference, test, (reference, test), pair.measurements, settings, texts, findings, verdicts)


def _ours(word: str):
    """Return a highdicom CodedConcept of our own scheme."""
    from highdicom.sr import CodedConcept

    return CodedConcept(word, SCHEME, WORDS[word])


def conceptOf(key: str, title: str):
    """Return the name of a measurement as a highdicom CodedConcept: a standard code if one means precisely this."""
    from highdicom.sr import CodedConcept

    if len(title) > LONGEST_MEANING:
        title = title[: LONGEST_MEANING - 3].rsplit(" ", 1)[0] + "..."
    return CodedConcept(*STANDARD.get(key, (codeOf(key), SCHEME, title)))


def codeOf(key: str) -> str:
    """Return the code of a measurement in our scheme: its key, a long one cut, with a digest of the whole."""
    if len(key) <= LONGEST_CODE:  # highdicom 0.28 does not read items beside those with longer codes
        return key
    return f"{key[:9]}_{hashlib.sha256(key.encode()).hexdigest()[:6]}"


def _textItem(word: str, text: str, relation: str = "CONTAINS"):
    from highdicom.sr import TextContentItem

    return TextContentItem(_ours(word), text, relation)


def _valueItem(name, value: float, unit: str, relation: str):
    """Return a number as a content item (NUM), one that is not finite as a code."""
    import highdicom.sr as sr

    if math.isfinite(value):
        code = sr.CodedConcept(UCUM.get(unit, f"{{{unit}}}"), "UCUM", unit or "no units")
        return sr.NumContentItem(name, float(value), code, relationship_type=relation)
    return sr.CodeContentItem(name, sr.CodedConcept(*NOT_FINITE[math.nan if math.isnan(value) else value]), relation)


def _measurementItem(one: Measurement):
    """Return a measurement as a content item, with directions, bounds and the reason below it."""
    import highdicom.sr as sr

    item = _valueItem(conceptOf(one.key, one.title), one.value, one.unit, "CONTAINS")
    parts = [(word, getattr(one, name)) for word, name in PARTS.items()]
    below = [_valueItem(_ours(w), value, one.unit, "HAS PROPERTIES") for w, value in parts if value is not None]
    texts = {
        "Key": one.key if codeOf(one.key) != one.key else "",
        "Unit": "" if math.isfinite(one.value) else one.unit,
        "Reason": one.reason,
    }
    below += [_textItem(word, text, "HAS PROPERTIES") for word, text in texts.items() if text]
    if below:
        item.ContentSequence = sr.ContentSequence(below)
    return item


def _documentOf(
    groups: Sequence[Group], known: writing.Sources, copies: Mapping[int, writing.Place], remarks: Sequence[str]
):
    """Return the report as highdicom's Comprehensive3DSR."""
    import highdicom.sr as sr
    from highdicom.coding_schemes import CodingSchemeIdentificationItem
    from pydicom.sr.codedict import codes
    from pydicom.uid import RawDataStorage, generate_uid

    maker = writing.MANUFACTURER
    device = sr.DeviceObserverIdentifyingAttributes(
        uid=generate_uid(), name=maker, manufacturer_name=maker, model_name=maker, serial_number=__version__
    )
    context = sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device))
    evidence: dict[str, Any] = {}
    measured = [_groupItem(group, known, copies, evidence) for group in groups]
    content = sr.MeasurementReport(context, codes.SCT.ImagingProcedure, measured)
    if not known.header.PatientID:
        remarks = [*remarks, "No source says who the patient is."]
    content[0].ContentSequence.extend(_textItem("Finding", remark) for remark in remarks)
    # highdicom takes the patient and the study from the first of those that the report is based on
    first = known.instance(RawDataStorage, generate_uid())
    document = sr.Comprehensive3DSR(
        evidence=[first, *evidence.values()],
        content=content,
        series_instance_uid=generate_uid(),
        series_number=writing.REPORT_SERIES,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer=maker,
        is_complete=True,
        institution_name=known.header.InstitutionName or None,
        manufacturer_model_name=maker,
        software_versions=__version__,
        device_serial_number=__version__,
        series_description="Comparison of structures",
        coding_schemes=[
            CodingSchemeIdentificationItem(
                SCHEME, "Measurements of SegmentMetrics", __version__, responsible_organization=maker
            )
        ],
    )
    for study in document.CurrentRequestedProcedureEvidenceSequence:
        study.ReferencedSeriesSequence = [
            one for one in study.ReferencedSeriesSequence if one.SeriesInstanceUID != first.SeriesInstanceUID
        ]
    based = [one for one in document.CurrentRequestedProcedureEvidenceSequence if one.ReferencedSeriesSequence]
    document.CurrentRequestedProcedureEvidenceSequence = based
    if not based:
        del document.CurrentRequestedProcedureEvidenceSequence
    return document


def _groupItem(group: Group, known: writing.Sources, copies: Mapping[int, writing.Place], evidence: dict[str, Any]):
    """Return a pair as a measurement group of highdicom, and add the datasets that it refers to to the evidence."""
    import highdicom.sr as sr
    from pydicom.sr.codedict import codes
    from pydicom.uid import generate_uid

    settings = {name: value for name, value in group.settings.toDictionary().items() if value is not None}
    sides = {"Test": group.test, "Reference": group.reference}
    read = {"Test": group.read[1], "Reference": group.read[0]}
    places = {word: known.placeOf(read[word]) or copies.get(id(one)) for word, one in sides.items()}
    found = places["Test"]
    kind, category, sites = _anatomyOf(group.test, found)
    result = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(uid=generate_uid(), identifier=group.title),
        finding_type=kind or codes.SCT.AnatomicalStructure,
        finding_category=category,
        finding_sites=sites,
        algorithm_id=sr.AlgorithmIdentification(
            writing.MANUFACTURER, __version__, [f"{name}={json.dumps(value)}" for name, value in settings.items()]
        ),
        qualitative_evaluations=[
            sr.QualitativeEvaluation(conceptOf(key, title), _ours(verdict)) for key, title, verdict, _ in group.verdicts
        ],
    )
    content = result[0].ContentSequence
    content.extend(map(_measurementItem, group.measurements.values()))
    for word, one in sides.items():
        content.append(_textItem(word, one.name))
        if place := places[word]:
            content.append(_referenceTo(place, None if place is found else _ours(word)))
            evidence.update((str(used.SOPInstanceUID), used) for used in (place.dataset, *place.images))
    if found is not None:
        result[0].ContentTemplateSequence[0].TemplateIdentifier = "1411"
        if found.images:
            series = str(found.images[0].SeriesInstanceUID)
            content.append(sr.UIDRefContentItem(codes.DCM.SourceSeriesForSegmentation, series, "CONTAINS"))
    content.extend(_textItem(word, text) for word, text in group.texts.items() if text)
    content.extend(_textItem("Finding", text) for text in group.findings)
    content.extend(_textItem("Rule", text) for *_, text in group.verdicts)
    return result


def _referenceTo(place: writing.Place, concept):
    """Return the content item that refers to a structure. concept: its name, None for that of DICOM."""
    import highdicom.sr as sr

    target = str(place.dataset.SOPClassUID), str(place.dataset.SOPInstanceUID)
    if place.isSegment:
        name = concept or sr.CodedConcept("121191", "DCM", "Referenced Segment")
        return sr.ImageContentItem(name, *target, None, place.number, "CONTAINS")
    item = sr.CompositeContentItem(concept or sr.CodedConcept("130488", "DCM", "Region in Space"), *target, "CONTAINS")
    if place.number is not None:
        name = sr.CodedConcept("130489", "DCM", "Referenced Region of Interest Identifier")
        item.ContentSequence = sr.ContentSequence([sr.TextContentItem(name, str(place.number), "HAS CONCEPT MOD")])
    return item


def _anatomyOf(structure: Structure, place: writing.Place | None) -> tuple:
    """Return what a structure is as highdicom's type, category and sites; None for what is not known."""
    import highdicom.sr as sr

    def coded(items) -> Any:
        item = items[0] if items else None
        return item and sr.CodedConcept(str(item.CodeValue), str(item.CodingSchemeDesignator), str(item.CodeMeaning))

    described = place.description if place else None
    if described is not None and "SegmentedPropertyTypeCodeSequence" in described:
        kinds, regions = described.SegmentedPropertyTypeCodeSequence, described.get("AnatomicRegionSequence", [])
        kind, category = coded(kinds), coded(described.SegmentedPropertyCategoryCodeSequence)
        side = coded(kinds[0].get("SegmentedPropertyTypeModifierCodeSequence", []))
        region = coded(regions)
        regionSide = coded(regions[0].get("AnatomicRegionModifierSequence", [])) if regions else None
    else:
        triplets = [part.split("^") for part in structure.terminology.split("~")[1:]]
        known = [sr.CodedConcept(t[1], t[0], t[2]) if len(t) == 3 and all(t) else None for t in triplets]
        category, kind, side, _, region, regionSide = (*known, *[None] * 6)[:6]
    if region is None and side is not None:
        region, regionSide = kind, side
    sites = [sr.FindingSite(region, laterality=regionSide)] if region is not None else None
    return (kind, category, sites) if kind is not None else (None, None, None)


def writeConsensus(
    study: ObserverStudy,
    path: str | os.PathLike,
    *,
    sources: Iterable[str | os.PathLike] = (),
    given: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the consensus of observers as DICOM segmentations, one for each grid, and return their paths.

    Parameters and errors are those of writeReport().
    """
    consensus = [one.consensus for one in study if one.consensus is not None and not one.consensus.isEmpty]
    if not consensus:
        raise InputError("There is no consensus to write.")
    files = {one.file for organ in study for one in organ.structures if one is not None and one.file}
    target = Path(path)
    copies = writing.copiesOf(consensus, writing.Sources.of(files, sources, given or {}), target).datasets
    first, *others = copies
    return writing.writeDatasets({target: copies[first], **{one: copies[one] for one in others}})


def readReport(path: str | os.PathLike) -> list[Record]:
    """Return the pairs of a structured report that writeReport() has written, numbers to the last digit.

    Parameters
    ----------
    path : str | os.PathLike
        Of the report.

    Returns
    -------
    list[Record]
        With keys, units, directions, bounds, reasons and findings, without places and lists of lesions.

    Raises
    ------
    InputError
        If the file is damaged, or any other.
    """
    file = Path(path)
    if not file.is_file() or not opening.isDicom(file):
        raise InputError(f"{path}: there is no such DICOM file.")
    dataset = opening.read(file)
    with opening.readable():
        schemes = dataset.get("CodingSchemeIdentificationSequence", [])
        if SCHEME not in [opening.textOf(one, "CodingSchemeDesignator") for one in schemes]:
            raise InputError(f"{path}: this is not a report of SegmentMetrics.")
        return [
            _recordOf(group)
            for container in dataset.ContentSequence
            if _codeOf(container) == ("DCM", "126010")
            for group in container.ContentSequence
            if _codeOf(group) == ("DCM", "125007")
        ]


def _codeOf(item) -> tuple[str, str]:
    """Return the scheme and the code of the concept of a content item."""
    concept = item.ConceptNameCodeSequence[0]
    return str(concept.CodingSchemeDesignator), str(concept.get("CodeValue", ""))


def _recordOf(group) -> Record:
    """Return the pair of a measurement group."""
    keys = {(scheme, code): key for key, (code, scheme, _) in STANDARD.items()}
    texts: dict[str, list[str]] = {}
    measurements = {}
    for item in group.ContentSequence:
        code = _codeOf(item)
        if _valueOf(item) is not None:
            plain = _plainNumber(item)
            measurements[plain.pop("key", keys.get(code, code[1]))] = plain
        elif item.ValueType == "TEXT":
            texts.setdefault(code[1], []).append(str(item.TextValue))
    one = {word: said[0] for word, said in texts.items()}
    return Record.fromDictionary(
        {
            "reference": {"name": one["Reference"], "file": ""},
            "test": {"name": one["Test"], "file": ""},
            "grid": json.loads(one["Grid"]) if "Grid" in one else None,
            "surface": one.get("Surface", ""),
            "convention": one["Convention"],
            "method": one.get("Method", ""),
            "measurements": measurements,
            "findings": texts.get("Finding", []),
            "worstPlaces": [],
            "summary": one.get("Summary", ""),
        }
    )


def _plainNumber(item) -> dict:
    """Return a measurement as Measurement.toDictionary() does."""
    below = {_codeOf(one)[1]: one for one in item.get("ContentSequence", [])}
    numbers = {"value": item, **{name: below[word] for word, name in PARTS.items() if word in below}}
    values = {name: cast(float, _valueOf(one)) for name, one in numbers.items()}
    value = values["value"]
    plain: dict[str, Any] = {name: one if math.isfinite(one) else None for name, one in values.items()}
    plain["status"] = "ok" if math.isfinite(value) else "undefined" if math.isnan(value) else "infinite"
    if item.ValueType == "NUM":
        code = str(item.MeasuredValueSequence[0].MeasurementUnitsCodeSequence[0].CodeValue)
        plain["unit"] = next((unit for unit, ucum in UCUM.items() if ucum == code), code.strip("{}"))
    else:
        plain["unit"] = str(below["Unit"].TextValue) if "Unit" in below else ""
    if value == -math.inf:
        plain["sign"] = -1
    plain |= {word.lower(): str(below[word].TextValue) for word in ("Key", "Reason") if word in below}
    return plain


def _valueOf(item) -> float | None:
    """Return the value of a content item for a number, or for the code of one that is not finite; else None."""
    if item.ValueType == "NUM":
        return float(item.MeasuredValueSequence[0].FloatingPointValue)
    if item.ValueType != "CODE":
        return None
    code = item.ConceptCodeSequence[0]
    told = str(code.get("CodeValue", "")), str(code.CodingSchemeDesignator)
    return next((value for value, known in NOT_FINITE.items() if known[:2] == told), None)

"""Structured reports: the measurements of a case as DICOM (Comprehensive 3D SR, TID 1500), written and read.

A pair of structures is a measurement group. Where DICOM knows the test structure it is one of TID 1411 (the segment of
a SEG, the region of an RTSTRUCT, the mesh of a file that is written with the report), else one of TID 1501. The
reference is referred to in the same way, by a concept of our own. Numbers that do not exist have no value but a
qualifier (CID 42), and the reason as text.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..base.errors import InputError, requireKind
from ..base.version import __version__
from ..case.caseresult import CaseResult
from ..case.comparison import Comparison
from ..case.observers.study import ObserverStudy
from ..case.records import Record
from ..comparison.measurements import Measurement
from ..io.dicom import opening, writing
from ..model.naming import pairTitle
from ..model.structures import Structure
from ..settings.settings import Settings

# Our own scheme: the code of a measurement is its key, that of anything else one of these.
SCHEME = "99SEGMENTMETRICS"
WORDS = {
    "ReferenceStructure": "Reference structure",
    "TestStructure": "Test structure",
    "ReferenceToTest": "From the reference to the test",
    "TestToReference": "From the test to the reference",
    "LowerBound": "Lower bound of the true value",
    "UpperBound": "Upper bound of the true value",
    "Unit": "Unit of the value that does not exist",
    "Reason": "Reason",
    "Finding": "What a reader of the numbers should know",
    "Surface": "Surface that was measured",
    "Grid": "Grid on which overlap was counted",
    "Convention": "Convention of the numbers",
    "Method": "Method of the distances",
    "Summary": "Outcome in one sentence",
    "Rule": "Limit of the protocol",
}
# Measurements for which DICOM has a code that means the same, of the structure that the group refers to.
STANDARD = {
    "VolumeTest": ("RNU0", "IBSI", "Volume of Mesh"),
    "VoxelVolumeTest": ("YEKZ", "IBSI", "Volume from Voxel Summation"),
}
# Codes of verdicts.
VERDICTS = {"pass": "Pass", "warn": "Warning", "fail": "Fail", "not evaluable": "Not evaluable"}
LONGEST_MEANING = 64
# Units as UCUM writes them; those not listed here are written as they are, counted things in braces.
UCUM = {
    "": "1",
    "mm": "mm",
    "mm2": "mm2",
    "mm3": "mm3",
    "cm2": "cm2",
    "cm3": "cm3",
    "Gy": "Gy",
    "%": "%",
    "1/mm": "/mm",
}
# Qualifiers of numbers that do not exist (CID 42): by whether an infinite one is positive.
NOT_A_NUMBER = ("114000", "DCM", "Not a number")
INFINITE = {True: ("114002", "DCM", "Positive Infinity"), False: ("114001", "DCM", "Negative Infinity")}


class Group(NamedTuple):
    """A pair of structures to be reported.

    texts: its context, by words of WORDS. verdicts: those of a protocol, as (limit, verdict, reason).
    """

    title: str
    reference: Structure
    test: Structure
    measurements: Mapping[str, Measurement]
    settings: Settings
    texts: Mapping[str, str] = {}
    findings: Sequence[str] = ()
    verdicts: Sequence[tuple[str, str, str]] = ()


def writeReport(
    result: Comparison | CaseResult | ObserverStudy,
    path: str | os.PathLike,
    *,
    sources: Iterable[str | os.PathLike] = (),
    given: Mapping[str, str] | None = None,
    hasCopies: bool = True,
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
        Elements of the patient and the study by their DICOM keywords, such as PatientID, which no source has.
    hasCopies : bool, optional
        Whether structures that are not from DICOM files are written beside the report, voxels as a SEG and meshes as
        encapsulated STL files; otherwise the report refers to them by name only.

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
    groups = list(_groupsOf(result))
    if not groups:
        raise InputError("there are no measurements to report.")
    target = Path(path)
    structures = {id(one): one for group in groups for one in (group.reference, group.test)}
    known = writing.Sources.of({one.file for one in structures.values() if one.file}, sources, given or {})
    isOther = {key: one for key, one in structures.items() if one.file not in known.files}
    copies = writing.copiesOf(isOther, known, target) if hasCopies else writing.Copies({}, {})
    remarks = result.remarks if not isinstance(result, Comparison) else []
    document = _documentOf(groups, known, copies, remarks)
    datasets = {target: document, **copies.datasets}
    for one in datasets:
        if one.exists():
            raise InputError(f"{one} exists. Choose another name, or remove it first.")
    # the report last: whoever finds it finds what it refers to
    return [writing.writeDataset(dataset, one) for one, dataset in reversed(datasets.items())][::-1]


def _groupsOf(result: Comparison | CaseResult | ObserverStudy) -> Iterator[Group]:
    """Yield the pairs of a result. Raises InputError for anything else, and for results without structures."""
    if isinstance(result, ObserverStudy):
        for one in result:
            for (row, column), measurements in one.pairs.pairs.items():
                reference, test = one.structures[row], one.structures[column]
                names = (f"{one.name} ({one.everyone[row]})", f"{one.name} ({one.everyone[column]})")
                yield Group(
                    pairTitle(names), reference.named(names[0]), test.named(names[1]), measurements, one.settings
                )
        return
    comparisons = [result] if isinstance(result, Comparison) else list(result)
    judgment = None if isinstance(result, Comparison) else result.judgment
    for one in comparisons:
        requireKind(one, Comparison, "Each result", "a Comparison, which has its structures")
        names = (one.reference.name, one.test.name)
        verdicts = [
            (f"{v.rule.measurement} {v.limitsText}", v.verdict, v.reason)
            for v in (judgment.verdicts if judgment else ())
            if v.structure in (*names, pairTitle(names))
        ]
        plain = one.toDictionary()
        texts = {
            "Surface": plain["surface"],
            "Grid": json.dumps(plain["grid"]) if plain["grid"] else "",
            "Convention": plain["convention"],
            "Method": plain["method"] or "",
            "Summary": plain["summary"],
        }
        findings = [str(finding) for finding in one.findings]
        yield Group(
            pairTitle(names), one.reference, one.test, one.measurements, one.settings, texts, findings, verdicts
        )


def _ours(word: str):
    """Return a highdicom CodedConcept of our own scheme."""
    from highdicom.sr import CodedConcept

    return CodedConcept(word, SCHEME, WORDS[word])


def conceptOf(measurement: Measurement):
    """Return the name of a measurement as a highdicom CodedConcept: a standard code if one means the same."""
    from highdicom.sr import CodedConcept

    standard = STANDARD.get(measurement.key)
    title = measurement.title
    if len(title) > LONGEST_MEANING:
        title = title[: LONGEST_MEANING - 3].rsplit(" ", 1)[0] + "..."
    return CodedConcept(*standard) if standard else CodedConcept(measurement.key, SCHEME, title)


def unitOf(unit: str):
    """Return a unit as a highdicom CodedConcept of UCUM."""
    from highdicom.sr import CodedConcept

    code = UCUM.get(unit, f"{{{unit}}}")
    return CodedConcept(code, "UCUM", unit or "no units")


def _itemOf(measurement: Measurement):
    """Return a measurement as a content item of highdicom, with directions, bounds and the reason below it."""
    import highdicom.sr as sr

    item = _valueItem(conceptOf(measurement), measurement.value, measurement.unit, "CONTAINS")
    below = {
        "ReferenceToTest": measurement.referenceToTest,
        "TestToReference": measurement.testToReference,
        "LowerBound": measurement.lower,
        "UpperBound": measurement.upper,
    }
    known = [(word, value) for word, value in below.items() if value is not None]
    content = [_valueItem(_ours(word), value, measurement.unit, "HAS PROPERTIES") for word, value in known]
    texts = {"Unit": "" if measurement.status == "ok" else measurement.unit, "Reason": measurement.reason}
    content += [_textItem(word, text, "HAS PROPERTIES") for word, text in texts.items() if text]
    if content:
        item.ContentSequence = sr.ContentSequence(content)
    return item


def _valueItem(name, value: float, unit: str, relation: str):
    """Return a number as a content item (NUM); one that is not finite as the code of what it is.

    DICOM also has numbers without a value, which highdicom 0.28 can neither write nor read.
    """
    import highdicom.sr as sr

    if math.isfinite(value):
        return sr.NumContentItem(name, float(value), unitOf(unit), relationship_type=relation)
    return sr.CodeContentItem(name, sr.CodedConcept(*qualifierOf(value)), relation)


def qualifierOf(value: float) -> tuple[str, str, str]:
    """Return the code of DICOM for a value that is not finite."""
    return NOT_A_NUMBER if math.isnan(value) else INFINITE[value > 0]


def _textItem(word: str, text: str, relation: str = "CONTAINS"):
    import highdicom.sr as sr

    return sr.TextContentItem(_ours(word), text, relation)


def _documentOf(groups: Sequence[Group], known: writing.Sources, copies: writing.Copies, remarks: Sequence[str]):
    """Return the report as highdicom's Comprehensive3DSR."""
    import highdicom.sr as sr
    from highdicom.coding_schemes import CodingSchemeIdentificationItem
    from pydicom.sr.codedict import codes
    from pydicom.uid import generate_uid

    device = sr.DeviceObserverIdentifyingAttributes(
        uid=generate_uid(), name=writing.MANUFACTURER, model_name=writing.MANUFACTURER, serial_number=__version__
    )
    context = sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device))
    evidence = {}
    measured = [_measuredGroup(group, known, copies, evidence) for group in groups]
    content = sr.MeasurementReport(context, codes.SCT.ImagingProcedure, measured)
    if not known.hasPatient:
        remarks = [*remarks, "No source says who the patient is."]
    content[0].ContentSequence.extend(_textItem("Finding", remark) for remark in remarks)
    # of the header alone if nothing is referred to: highdicom takes patient and study from the evidence
    first = writing.withHeader(known.header)
    document = sr.Comprehensive3DSR(
        evidence=[first, *evidence.values()],
        content=content,
        series_instance_uid=generate_uid(),
        series_number=writing.REPORT_SERIES,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer=writing.MANUFACTURER,
        is_complete=True,
        manufacturer_model_name=writing.MANUFACTURER,
        software_versions=__version__,
        device_serial_number=__version__,
        series_description="Comparison of structures",
        coding_schemes=[
            CodingSchemeIdentificationItem(
                SCHEME,
                name="Measurements of SegmentMetrics",
                version=__version__,
                responsible_organization="SegmentMetrics",
            )
        ],
    )
    writing.leaveOut(document, first)
    return document


def _measuredGroup(group: Group, known: writing.Sources, copies: writing.Copies, evidence: dict):
    """Return a pair as a measurement group of highdicom, and add the datasets that it refers to to the evidence."""
    import highdicom.sr as sr
    from pydicom.sr.codedict import codes
    from pydicom.uid import generate_uid

    settings = {name: value for name, value in group.settings.toDictionary().items() if value is not None}
    parameters = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()]
    evaluations = [
        sr.QualitativeEvaluation(
            _ruleConcept(rule), sr.CodedConcept(verdict.title().replace(" ", ""), SCHEME, VERDICTS[verdict])
        )
        for rule, verdict, _ in group.verdicts
    ]
    sides = {"TestStructure": group.test, "ReferenceStructure": group.reference}
    places = {word: known.placeOf(one) or copies.placeOf(one) for word, one in sides.items()}
    found = places["TestStructure"]
    kind, category, sites = _anatomyOf(group.test, found)
    result = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(uid=generate_uid(), identifier=group.title),
        finding_type=kind or codes.SCT.AnatomicalStructure,
        finding_category=category,
        finding_sites=sites,
        algorithm_id=sr.AlgorithmIdentification(writing.MANUFACTURER, __version__, parameters),
        qualitative_evaluations=evaluations,
    )
    content = result[0].ContentSequence
    content.extend(map(_itemOf, group.measurements.values()))
    for word, one in sides.items():
        content.append(_textItem(word, one.name))
        if place := places[word]:
            isTest = word == "TestStructure"
            content.append(_referenceTo(place, None if isTest else _ours(word)))
            evidence.update((str(used.SOPInstanceUID), used) for used in (place.dataset, *place.images))
    if found is not None:
        result[0].ContentTemplateSequence[0].TemplateIdentifier = "1411"
        if found.images:
            series = str(found.images[0].SeriesInstanceUID)
            content.append(sr.UIDRefContentItem(codes.DCM.SourceSeriesForSegmentation, series, "CONTAINS"))
    content.extend(_textItem(word, text) for word, text in group.texts.items() if text)
    content.extend(_textItem("Finding", text) for text in group.findings)
    content.extend(_textItem("Rule", f"{rule}: {verdict}. {reason}") for rule, verdict, reason in group.verdicts)
    return result


def _ruleConcept(rule: str):
    """Return a rule of a protocol, such as "HD95 at most 3 mm", as a highdicom CodedConcept."""
    from highdicom.sr import CodedConcept

    return CodedConcept("Rule", SCHEME, rule[:LONGEST_MEANING])


def _referenceTo(place: writing.Place, concept):
    """Return the content item that refers to a structure. concept: its name, None for that of DICOM."""
    import highdicom.sr as sr

    storage, instance = str(place.dataset.SOPClassUID), str(place.dataset.SOPInstanceUID)
    if place.isSegment:
        name = concept or sr.CodedConcept("121191", "DCM", "Referenced Segment")
        return sr.ImageContentItem(
            name, storage, instance, referenced_segment_numbers=place.number, relationship_type="CONTAINS"
        )
    name = concept or sr.CodedConcept("130488", "DCM", "Region in Space")
    item = sr.CompositeContentItem(name, storage, instance, "CONTAINS")
    if place.number is not None:
        identifier = sr.CodedConcept("130489", "DCM", "Referenced Region of Interest Identifier")
        item.ContentSequence = sr.ContentSequence(
            [sr.TextContentItem(identifier, str(place.number), "HAS CONCEPT MOD")]
        )
    return item


def _anatomyOf(structure: Structure, place: writing.Place | None):
    """Return what a structure is: its type, its category and its sites, as highdicom's; None for what is not known."""
    import highdicom.sr as sr

    def coded(item) -> sr.CodedConcept:
        return sr.CodedConcept(str(item.CodeValue), str(item.CodingSchemeDesignator), str(item.CodeMeaning))

    described = place.description if place else None
    if described is not None and "SegmentedPropertyTypeCodeSequence" in described:
        kind = described.SegmentedPropertyTypeCodeSequence[0]
        category = coded(described.SegmentedPropertyCategoryCodeSequence[0])
        modifiers = kind.get("SegmentedPropertyTypeModifierCodeSequence", [])
        regions = [
            (one, one.get("AnatomicRegionModifierSequence", [])) for one in described.get("AnatomicRegionSequence", [])
        ]
        sites = [(coded(one), [coded(side) for side in sides[:1]]) for one, sides in regions]
        return coded(kind), category, _sites(coded(kind), [coded(one) for one in modifiers[:1]], sites)
    triplets = [part.split("^") for part in structure.terminology.split("~")]
    codes = [sr.CodedConcept(t[1], t[0], t[2]) if len(t) == 3 and all(t) else None for t in triplets]
    if len(codes) < 4 or codes[2] is None:
        return None, None, None
    sites = [(codes[5], codes[6:7])] if len(codes) == 7 and codes[5] else []
    return codes[2], codes[1], _sites(codes[2], [one for one in codes[3:4] if one], sites)


def _sites(kind, modifiers: Sequence, regions: Sequence) -> Sequence | None:
    """Return highdicom's sites of a structure: its regions, else itself if it has a side; None without any."""
    import highdicom.sr as sr

    found = list(regions) or ([(kind, modifiers)] if modifiers else [])
    return [sr.FindingSite(region, laterality=next(iter(filter(None, sides)), None)) for region, sides in found] or None


def readReport(path: str | os.PathLike) -> list[Record]:
    """Return the pairs of a structured report that writeReport() has written, with keys, units, bounds and findings.

    Numbers are those that were written, to the last digit. Raises InputError for any other file.
    """
    if not opening.isDicom(Path(path)):
        raise InputError(f"{path}: this is not a DICOM file.")
    dataset = opening.read(Path(path))
    with opening.readable():
        schemes = [
            opening.textOf(one, "CodingSchemeDesignator")
            for one in dataset.get("CodingSchemeIdentificationSequence", [])
        ]
        if SCHEME not in schemes:
            raise InputError(f"{path}: this is not a report of SegmentMetrics.")
        records = []
        for container in _containers(dataset, "126010"):
            for group in _containers(container, "125007"):
                records.append(_recordOf(group))
    return records


def _containers(item, code: str) -> list:
    """Return the containers within a content item whose concept has a code of DICOM."""
    return [
        one for one in item.get("ContentSequence", []) if one.ValueType == "CONTAINER" and _codeOf(one) == ("DCM", code)
    ]


def _codeOf(item) -> tuple[str, str]:
    """Return the scheme and the code of the concept of a content item."""
    concept = item.ConceptNameCodeSequence[0]
    return str(concept.CodingSchemeDesignator), str(concept.get("CodeValue", "") or concept.get("LongCodeValue", ""))


def _recordOf(group) -> Record:
    """Return the pair of a measurement group."""
    keys = {(scheme, code): key for key, (code, scheme, _) in STANDARD.items()}
    texts: dict[str, list[str]] = {}
    measurements = {}
    for item in group.ContentSequence:
        scheme, code = _codeOf(item)
        if item.ValueType == "NUM" or _qualifiedValue(item) is not None:
            measurements[keys.get((scheme, code), code)] = _plainNumber(item)
        elif item.ValueType == "TEXT" and scheme == SCHEME:
            texts.setdefault(code, []).append(str(item.TextValue))
    one = {word: said[0] for word, said in texts.items()}
    return Record.fromDictionary(
        {
            "reference": {"name": one["ReferenceStructure"], "file": ""},
            "test": {"name": one["TestStructure"], "file": ""},
            "grid": json.loads(one["Grid"]) if "Grid" in one else None,
            "surface": one.get("Surface", ""),
            "convention": one.get("Convention", "SegmentMetrics"),
            "method": one.get("Method", ""),
            "measurements": measurements,
            "findings": texts.get("Finding", []),
            "worstPlaces": [],
            "summary": one.get("Summary", ""),
        }
    )


def _plainNumber(item) -> dict:
    """Return a number as Measurement.toDictionary() does."""
    below = {_codeOf(one)[1]: one for one in item.get("ContentSequence", [])}
    texts = {word: str(one.TextValue) for word, one in below.items() if one.ValueType == "TEXT"}
    value = _valueOf(item)
    plain = {"value": value if math.isfinite(value) else None, "unit": texts.get("Unit", "")}
    plain["status"] = "ok" if math.isfinite(value) else "undefined" if math.isnan(value) else "infinite"
    if item.ValueType == "NUM":
        code = str(item.MeasuredValueSequence[0].MeasurementUnitsCodeSequence[0].CodeValue)
        plain["unit"] = {ucum: unit for unit, ucum in UCUM.items()}.get(code, code.strip("{}"))
    if value == -math.inf:
        plain["sign"] = -1
    if "Reason" in texts:
        plain["reason"] = texts["Reason"]
    words = {"ReferenceToTest": "referenceToTest", "TestToReference": "testToReference"}
    for word, name in (words | {"LowerBound": "lower", "UpperBound": "upper"}).items():
        if word in below:
            found = _valueOf(below[word])
            plain[name] = found if math.isfinite(found) else None
    return plain


def _valueOf(item) -> float:
    """Return the value of a content item for a number, or for the code of one that is not finite."""
    qualified = _qualifiedValue(item)
    return float(item.MeasuredValueSequence[0].FloatingPointValue) if qualified is None else qualified


def _qualifiedValue(item) -> float | None:
    """Return the value that is not finite which a content item stands for, None if it stands for none."""
    if item.ValueType != "CODE":
        return None
    code = item.ConceptCodeSequence[0]
    told = str(code.get("CodeValue", "")), str(code.CodingSchemeDesignator)
    return next((value for value in (math.nan, math.inf, -math.inf) if qualifierOf(value)[:2] == told), None)

"""Structured reports: the measurements of a case as DICOM (Comprehensive 3D SR, TID 1500), written and read.

A pair of structures is a measurement group: of TID 1411 where DICOM knows the test structure (the segment of a SEG, the
region of an RTSTRUCT, a mesh), else of TID 1501. The reference is referred to in the same way, by a concept of our own
scheme. A number that is not finite is the code of what it is (CID 42), with the reason as text: DICOM also has numbers
without a value, which highdicom 0.28 can neither write nor read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..base.errors import InputError, requireKind
from ..base.plain import finite
from ..base.version import __version__
from ..case.caseresult import CaseResult
from ..case.comparison import Comparison
from ..case.observers.study import ObserverStudy
from ..case.protocol.judgment import Verdict
from ..io.dicom import opening, writing
from ..metrics.measurement import Measurement, statusOf
from ..metrics.metric import AREA
from ..metrics.registry import MULTI_LABEL, REGISTRY, findMetric
from ..model.structure import Structure
from ..settings.settings import DECLARED, Settings

SCHEME = "99SEGMENTMETRICS"
# Our own concepts but those of measurements. What is called as in Comparison and Measurement is read back by that name.
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
    "pass": "Pass",
    "warn": "Warning",
    "fail": "Fail",
    "not evaluable": "Not evaluable",
}
PARTS, JSON = ("referenceToTest", "testToReference", "lower", "upper"), ("grid", "extent")
# Codes of what is not finite.
NOT_FINITE = {
    "inf": ("114002", "DCM", "Positive Infinity"),
    "-inf": ("114001", "DCM", "Negative Infinity"),
    "nan": ("114000", "DCM", "Not a number"),
}
# Units that UCUM knows; others are annotations in braces.
UCUM = ("mm", "mm2", "mm3", "cm2", "cm3", "Gy", "bit", "%")
LONGEST_CODE, LONGEST_MEANING = 16, 64


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
        DICOM files that say whose report it is, or folders with them. Images among them are that on which the
        structures were drawn.
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
    pairs = list(_pairsOf(result))
    if not pairs:
        raise InputError("There are no measurements to report.")
    named = {}
    for record, both, _ in pairs:
        for side, told, one in zip(("reference", "test"), record.sides, both, strict=False):
            isShared = record.sides[0]["name"] == record.sides[1]["name"]
            named[id(one)] = f"{told['name']} ({side})" if isShared else told["name"], one
    known = writing.Sources.of([one for _, one in named.values()], sources, given)
    places = {key: place for key, (_, one) in named.items() if (place := known.placeOf(one))}
    others = {key: one for key, one in named.items() if key not in places and hasCopies}
    copies, copied = writing.copiesOf(others, known, Path(path))
    places |= copied
    groups = [_groupOf(record, [places.get(id(one)) for one in both], verdicts) for record, both, verdicts in pairs]
    remarks = [] if isinstance(result, Comparison) else list(result.remarks)
    if not known.header.PatientID:
        remarks.append("No source says who the patient is.")
    datasets = {Path(path): _documentOf(groups, remarks, known, places.values()), **copies}
    if pdf is not None:
        target = Path(path)
        datasets[target.with_name(f"{target.stem}_pdf{target.suffix}")] = writing.encapsulatedPdf(Path(pdf), known)
    return writing.writeDatasets(datasets)


def _pairsOf(
    result: Comparison | CaseResult | ObserverStudy,
) -> Iterator[tuple[Comparison, Sequence[Structure], list[Verdict]]]:
    """Yield the record of each pair, its two structures, and the verdicts on it; last all labels, which has neither."""
    if isinstance(result, ObserverStudy):
        for organ in result:
            for numbers, measurements in organ.pairs.pairs.items():
                drawn = [one for number in numbers if (one := organ.structures[number]) is not None]
                if len(drawn) == 2:
                    names = [f"{organ.name} ({organ.everyone[number]})" for number in numbers]
                    yield _recordWith(names, measurements, organ.settings), drawn, []
    elif isinstance(result, Comparison):
        yield result.record(), (result.reference, result.test), []
    else:
        # of records, the structures are those that were paired
        for number, kept in enumerate(result):
            record = kept.record()
            both = (kept.reference, kept.test) if kept.hasGeometry else tuple(result.pairing.pairs[number])
            titles = (record.reference.name, record.test.name, record.name)
            verdicts = result.judgment.verdicts if result.judgment else ()
            yield record, both, [one for one in verdicts if one.structure in titles]
        if together := result.multiLabel:
            yield _recordWith(("", ""), together, result[0].settings), (), []


def _recordWith(names: Sequence[str], measurements: Mapping[str, Measurement], settings: Settings) -> Comparison:
    plain: dict = {side: {"name": name, "file": ""} for side, name in zip(("reference", "test"), names, strict=True)}
    plain |= dict.fromkeys(("grid", "surface", "method", "summary"), "")
    plain |= {"convention": settings.convention, "measurements": {}, "findings": ()}
    return replace(Comparison.fromDictionary(plain, settings), measurements=measurements)


def conceptOf(key: str, title: str = "", unit: str = ""):
    """Return the name of a measurement as a highdicom CodedConcept: that of its metric, or its key in our own scheme.

    Concepts of others are those of volumes, and not of areas. A long key is cut, with a digest of the whole: highdicom
    0.28 does not read items beside those with longer codes.
    """
    from highdicom.sr import CodedConcept

    asked = findMetric(key)
    if asked is not None and asked.metric.concept is not None and unit != AREA:
        return CodedConcept(*asked.metric.concept)
    code = key if len(key) <= LONGEST_CODE else f"{key[:9]}_{hashlib.sha256(key.encode()).hexdigest()[:6]}"
    return CodedConcept(code, SCHEME, textwrap.shorten(title or key, LONGEST_MEANING, placeholder="..."))


def unitOf(unit: str):
    """Return a unit of measurements as a highdicom CodedConcept, in UCUM."""
    from highdicom.sr import CodedConcept

    code = unit if unit in UCUM else f"{{{unit}}}" if unit else "1"
    return CodedConcept(code, "UCUM", unit or "no units")


def _ours(word: str):
    from highdicom.sr import CodedConcept

    return CodedConcept(word.replace(" ", ""), SCHEME, WORDS[word])


def _texts(texts: Iterable[tuple[str, str]], relation: str) -> list:
    """Return texts as content items, each with what it is called in WORDS; none for empty ones."""
    from highdicom.sr import TextContentItem

    return [TextContentItem(_ours(word), text, relation) for word, text in texts if text]


def _number(name, value: float, unit: str, relation: str):
    """Return a number as a content item (NUM), one that is not finite as a code."""
    import highdicom.sr as sr

    if math.isfinite(value):
        return sr.NumContentItem(name, float(value), unitOf(unit), relationship_type=relation)
    return sr.CodeContentItem(name, sr.CodedConcept(*NOT_FINITE[str(float(value))]), relation)


def _itemOf(one: Measurement):
    """Return a measurement as a content item, with directions, bounds and the reason below it."""
    from highdicom.sr import ContentSequence

    concept = conceptOf(one.key, one.title, one.unit)
    item = _number(concept, one.value, one.unit, "CONTAINS")
    below = [
        _number(_ours(part), value, one.unit, "HAS PROPERTIES")
        for part in PARTS
        if (value := getattr(one, part)) is not None
    ]
    isOwn = concept.scheme_designator == SCHEME and concept.value != one.key
    missing = "" if math.isfinite(one.value) else one.unit
    texts = [("key", one.key if isOwn else ""), ("unit", missing), ("reason", one.reason)]
    below += _texts(texts, "HAS PROPERTIES")
    if below:
        item.ContentSequence = ContentSequence(below)
    return item


def _groupOf(record: Comparison, places: Sequence[writing.Referent | None], verdicts: Sequence[Verdict]):
    """Return a pair as a measurement group of highdicom. places: of the reference and the test, none of all labels."""
    import highdicom.sr as sr
    from pydicom.sr.codedict import codes
    from pydicom.uid import generate_uid

    about = places[-1] if places else None
    category, kind, side, region, regionSide = about.anatomy if about else [None] * 5
    sites = [(place, which) for place, which in ((side and kind, side), (region, regionSide)) if place]
    told = (record.settings or Settings()).toDictionary()
    group = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(uid=generate_uid(), identifier=record.name or "All labels together"),
        finding_type=kind or codes.SCT.AnatomicalStructure,
        finding_category=category,
        finding_sites=[sr.FindingSite(place, laterality=which) for place, which in sites] or None,
        algorithm_id=sr.AlgorithmIdentification(
            writing.MANUFACTURER, __version__, [f"{name}={json.dumps(value)}" for name, value in told.items()]
        ),
        qualitative_evaluations=[
            sr.QualitativeEvaluation(
                conceptOf(one.rule.measurement, *(getattr(one.measurement, name, "") for name in ("title", "unit"))),
                _ours(one.verdict),
            )
            for one in verdicts
        ],
    )
    content = group[0].ContentSequence
    content.extend(map(_itemOf, record.measurements.values()))
    for place, concept in zip(places, (_ours("reference"), None), strict=False):
        if place is None:
            continue
        target = place.dataset.SOPClassUID, place.dataset.SOPInstanceUID
        if "SegmentSequence" in place.dataset:
            concept = concept or sr.CodedConcept("121191", "DCM", "Referenced Segment")
            content.append(sr.ImageContentItem(concept, *target, None, place.number, "CONTAINS"))
            continue
        concept = concept or sr.CodedConcept("130488", "DCM", "Region in Space")
        content.append(item := sr.CompositeContentItem(concept, *target, "CONTAINS"))
        if place.number is not None:
            name = sr.CodedConcept("130489", "DCM", "Referenced Region of Interest Identifier")
            number = sr.TextContentItem(name, str(place.number), "HAS CONCEPT MOD")
            item.ContentSequence = sr.ContentSequence([number])
    if about:
        group[0].ContentTemplateSequence[0].TemplateIdentifier = "1411"
        if about.images:
            series = str(about.images[0].SeriesInstanceUID)
            content.append(sr.UIDRefContentItem(codes.DCM.SourceSeriesForSegmentation, series, "CONTAINS"))
    texts = [("reference", record.reference.name), ("test", record.test.name)]
    texts += [(word, getattr(record, word)) for word in ("surface", "convention", "method", "summary")]
    texts += [(word, json.dumps(value)) for word in JSON if (value := getattr(record, word))]
    texts += [("findings", str(text)) for text in record.findings]
    texts += [("rule", f"{one.rule.measurement} {one.limitsText}: {one.verdict}. {one.reason}") for one in verdicts]
    content.extend(_texts(texts, "CONTAINS"))
    return group


def _documentOf(groups: Sequence, remarks: Sequence[str], known: writing.Sources, places: Iterable[writing.Referent]):
    """Return the report as a pydicom Dataset."""
    import highdicom.sr as sr
    from highdicom.coding_schemes import CodingSchemeIdentificationItem
    from highdicom.sr.utils import collect_evidence
    from pydicom.sr.codedict import codes
    from pydicom.uid import Comprehensive3DSRStorage, generate_uid

    maker = writing.MANUFACTURER
    device = sr.DeviceObserverIdentifyingAttributes(
        uid=generate_uid(), name=maker, manufacturer_name=maker, model_name=maker, serial_number=__version__
    )
    context = sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device))
    (content,) = sr.MeasurementReport(context, codes.SCT.ImagingProcedure, groups)
    content.ContentSequence.extend(_texts([("findings", remark) for remark in remarks], "CONTAINS"))
    scheme = CodingSchemeIdentificationItem(
        SCHEME, "Measurements of SegmentMetrics", __version__, responsible_organization=maker
    )
    document = known.instance(
        Comprehensive3DSRStorage,
        generate_uid(),
        Modality="SR",
        SeriesNumber=writing.REPORT_SERIES,
        SeriesDescription="Comparison of structures",
        InstanceNumber=1,
        CompletionFlag="COMPLETE",
        VerificationFlag="UNVERIFIED",
        PreliminaryFlag="FINAL",
        PerformedProcedureCodeSequence=[],
        ReferencedPerformedProcedureStepSequence=[],
        CodingSchemeIdentificationSequence=[scheme],
    )
    document.update(content)
    used = [dataset for place in places for dataset in (place.dataset, *place.images)]
    evidence = collect_evidence(used, content, document.StudyInstanceUID)
    for name, found in zip(("CurrentRequestedProcedure", "PertinentOther"), evidence, strict=True):
        if found:
            setattr(document, f"{name}EvidenceSequence", found)
    return document


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
    found = [one.consensus for one in study if one.consensus is not None and not one.consensus.isEmpty]
    if not found:
        raise InputError("There is no consensus to write.")
    observed = [one for organ in study for one in organ.structures if one is not None]
    named, target = dict(enumerate((one.name, one) for one in found)), Path(path)
    first, *others = writing.copiesOf(named, writing.Sources.of(observed, sources, given), target)[0].items()
    return writing.writeDatasets({target: first[1], **dict(others)})


def readReport(path: str | os.PathLike) -> list[Comparison]:
    """Return the pairs of a structured report that writeReport() has written, numbers to the last digit.

    Parameters
    ----------
    path : str | os.PathLike
        Of the report.

    Returns
    -------
    list[Comparison]
        With keys, units, directions, bounds, reasons, findings and settings, without places and lists of lesions.

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
        groups = [
            group
            for container in dataset.ContentSequence
            if _codeOf(container.ConceptNameCodeSequence) == ("126010", "DCM")  # Imaging Measurements
            for group in container.ContentSequence
        ]
        return [record for group in groups if (record := _recordOf(group)) is not None]


def _codeOf(sequence) -> tuple[str, str]:
    """Return the code and the scheme of a coded concept."""
    return str(sequence[0].get("CodeValue", "")), str(sequence[0].CodingSchemeDesignator)


def _recordOf(group) -> Comparison | None:
    """Return the pair of a measurement group, None if it is not of a pair."""
    keys = {one.concept[:2]: one.key for one in (*REGISTRY, *MULTI_LABEL) if one.concept}
    told: dict[str, list[str]] = {}
    measurements, settings = {}, {}
    for item in group.ContentSequence:
        concept = _codeOf(item.ConceptNameCodeSequence)
        if concept == ("111002", "DCM"):  # Algorithm Parameters
            name, _, text = item.TextValue.partition("=")
            settings[name] = json.loads(text)
        elif isinstance(value := _valueOf(item), str):
            told.setdefault(concept[0], []).append(value)
        elif value is not None:
            plain = _plainNumber(item, value)
            measurements[plain.pop("key", keys.get(concept, concept[0]))] = plain
    if "reference" not in told:
        return None
    plain = {word: texts[0] for word, texts in told.items()}
    plain |= {word: json.loads(plain[word]) if word in plain else None for word in JSON}
    plain |= {word: {"name": plain[word], "file": ""} for word in ("reference", "test")}
    plain |= {word: plain.get(word, "") for word in ("surface", "method", "summary")}
    plain |= {"measurements": measurements, "findings": told.get("findings", []), "worstPlaces": []}
    # those of another version are not known
    return Comparison.fromDictionary(plain, Settings(**settings) if settings.keys() <= DECLARED.keys() else None)


def _plainNumber(item, value: float) -> dict:
    """Return a measurement with a value as Measurement.toDictionary() does."""
    plain = {_codeOf(one.ConceptNameCodeSequence)[0]: _valueOf(one) for one in item.get("ContentSequence", [])}
    if item.ValueType == "NUM":
        unit = _codeOf(item.MeasuredValueSequence[0].MeasurementUnitsCodeSequence)[0]
        plain["unit"] = "" if unit == "1" else unit.strip("{}")
    plain = {word: finite(one) if isinstance(one, float) else one for word, one in {**plain, "value": value}.items()}
    return {"unit": "", "status": statusOf(value), "sign": math.copysign(1, value), **plain}


def _valueOf(item) -> float | str | None:
    """Return the text of a content item, its number, or that of the code for one that is not finite; else None."""
    if item.ValueType == "TEXT":
        return str(item.TextValue)
    if item.ValueType == "NUM":
        return float(item.MeasuredValueSequence[0].FloatingPointValue)
    code = _codeOf(item.ConceptCodeSequence) if item.ValueType == "CODE" else ()
    return next((float(name) for name, known in NOT_FINITE.items() if known[:2] == code), None)

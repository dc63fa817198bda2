"""Results of several observers as a table and as files: observers.json, tables, consensus, maps and pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..case.observers.matrix import meansAsTest
from ..case.observers.observed import ObservedStructure
from ..case.observers.study import ObserverStudy
from ..geometry.surfaces import toPolyData
from . import repeated, writing
from .resulttables import heading, overviewKeys
from .tablemodel import Amount, Column, Table

SCHEMA = "segment-metrics-observers/1"
DOCUMENT, OVERVIEW = "observers.json", "observers.csv"
LOCAL_SD = "LocalSD"
# Columns that are left out where there are too few observers for them.
OF_MANY = ("SD", "SD95", "Outlier")
# Most measurements in the table that is printed.
MOST_PRINTED = 3


def writeStructure(found: ObservedStructure, name: str, folder: Path) -> None:
    """Write consensus and map of a structure, if there are any. name: as returned by writing.fileNames().

    The map is the consensus surface in LPS mm with point data LocalSD, and for each observer SignedDistance_NAME,
    positive where the observer lies outside, all in mm.
    """
    if found.consensus is not None and found.consensus.mask is not None and not found.consensus.isEmpty:
        writing.writeMask(found.consensus.mask, folder / writing.fileName("consensus", name), segment=found.name)
    if found.variation is None:
        return
    result = toPolyData(found.variation.surface)
    writing.addArray(result.GetPointData(), LOCAL_SD, found.variation.localSD)
    for one, values in zip(found.leaveOneOut, found.variation.distances, strict=True):
        writing.addArray(result.GetPointData(), f"SignedDistance_{one.name}", values)
    result.GetPointData().SetActiveScalars(LOCAL_SD)
    writing.writePolyData(result, folder / writing.fileName("variation", name))


def write(study: ObserverStudy, names: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None) -> None:
    """Write observers.json and the tables into a folder that has the files of the structures already.

    names: of the files of every structure. extra: more entries of the document.
    """
    content = {"schema": SCHEMA, "software": writing.versions(), **study.toDictionary(), **(extra or {})}
    for structure, name in zip(content["structures"], names, strict=True):
        structure["files"] = writing.filesOf(name, folder)
    writing.writeJson(content, folder / DOCUMENT)
    writing.writeTable(overview(study), folder / OVERVIEW)
    for key in dict.fromkeys(key for found in study for key in found.pairs.keys):
        writing.writeTable(matrixTable(study, key), folder / f"matrix_{key}.csv")


def matrixTable(study: ObserverStudy, key: str) -> Table:
    """Return the matrix of a measurement for all structures: references in rows, tests in columns."""
    everyone = [*study.observers, *study.testNames]
    columns = [Column("Structure", isText=True), Column("Reference", isText=True), *map(Column, everyone)]
    rows = [
        [found.name, name, *map(float, values)]
        for found in study
        if key in found.pairs.keys
        for name, values in zip(everyone, found.pairs.values(key), strict=True)
    ]
    return Table(columns, rows)


def overview(study: ObserverStudy) -> Table:
    """Return one row per structure and observer or test, with its means as the test against all other observers."""
    keys = list(dict.fromkeys(key for found in study for key in found.pairs.keys))
    texts = [Column(name, isText=True) for name in ("Structure", "Name", "Role")]
    ofStructure = ("ConformityIndex", "GeneralizedConformityIndex", "RootMeanSquareSD", "Percentile95SD")
    rows = []
    for found in study:
        for number, name in enumerate(found.everyone):
            if found.structures[number] is None:
                continue
            role = "observer" if number < len(found.observers) else "test"
            means = [meansAsTest(found.pairs.values(key), number, found.members)[0] for key in keys]
            rows.append([found.name, name, role, *found.agreement.values(), *_sds(found), *means])
    return Table([*texts, *map(Column, (*ofStructure, *keys))], rows)


def _sds(found: ObservedStructure) -> tuple[float | None, float | None]:
    variation = found.variation
    return (None, None) if variation is None else (variation.rootMeanSquareSD, variation.percentile95SD)


def table(study: ObserverStudy) -> Table:
    """Return the table that people read: one row per structure."""
    keys = overviewKeys(dict.fromkeys(key for found in study for key in found.pairs.keys))
    printed = [key for key in keys if any(found.pairs.any(key).better for found in study if key in found.pairs.keys)]
    printed = printed[:MOST_PRINTED]

    def meanOf(found: ObservedStructure, key: str) -> Amount | float | None:
        if key not in found.pairs.keys:
            return None
        mean, unit = found.pairs.spread(key, found.members).mean, found.pairs.any(key).unit
        return Amount(mean, unit) if unit and math.isfinite(mean) else mean

    def verdictOn(found: ObservedStructure, name: str) -> str:
        for test in found.tests:
            if test.name == name:
                good, asked = sum(test.isWithin.values()), len(test.isWithin)
                told = "within" if good == asked else f"within in {good} of {asked}"
                return told if asked and not found.isAnyWithin else "no verdict"
        return "missing"

    sds = ([None if sd is None else Amount(sd, "mm") for sd in _sds(found)] for found in study)
    columns: list[tuple[Column, Sequence[Any]]] = [
        (Column("Structure", isText=True), [found.name for found in study]),
        (Column("Observers", isText=True), [f"{len(found.having)} of {len(found.observers)}" for found in study]),
        *zip((Column("SD", "Local SD"), Column("SD95", "95 %")), zip(*sds)),
        *zip((Column("CI"), Column("CIgen", "CI gen.")), zip(*(found.agreement.values() for found in study))),
        *((Column(key, f"{heading(key)}, mean"), [meanOf(found, key) for found in study]) for key in printed),
        (Column("Outlier", isText=True), ["" if one.outlier is None else one.outlier.name for one in study]),
        *((Column(name, isText=True), [verdictOn(found, name) for found in study]) for name in study.testNames),
    ]
    return Table.ofColumns((one, own) for one, own in columns if one.key not in OF_MANY or any(own))


def sentences(study: ObserverStudy) -> list[str]:
    """Return the outcome of each structure, what else is to be said about them, and then about the study."""
    names, lines = [found.name for found in study], [f"{found.name}: {found.sentence}" for found in study]
    for remark, members in repeated.membersOf([found.remarks for found in study]):
        lines.append(f"{repeated.phraseFor(members, names)}: {remark}" if len(names) > 1 else remark)
    return [*lines, *study.remarks]


def earlierResults(folder: Path) -> list[Path]:
    """Return the files that an earlier run wrote into a folder, according to its observers.json."""
    return writing.earlierFiles(
        folder / DOCUMENT,
        SCHEMA,
        lambda content: [
            *(name for structure in content["structures"] for name in structure["files"].values()),
            *(f"matrix_{key}.csv" for structure in content["structures"] for key in structure["matrix"]),
            content.get("report"),
        ],
    )

"""The provenance of a report's numbers: the compared data, the settings and the software."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...base.markup import Markup, fill
from ...base.texts import pluralize, shortest, tellingApart
from ...case.comparison import Comparison
from ...metrics.registry import findMetric
from ...model.structure import Structure
from ...model.structures import REFERENCE_AND_TEST
from ...settings.settings import DECLARED, Settings, isInEffect
from ..explanations import isRelevant
from ..fingerprints import contentHash
from ..tablemodel import Table
from ..writing import versions
from .blocks import NOTHING, fromFile, nameCell, table

# Settings that are listed first.
FIRST = ("convention", "families")


class Origin(NamedTuple):
    """The origin of a structure: its file, or its size and digest if it was not read from one.

    file: "" without one. size: number of voxels, triangles or segments, as text. digest: hash of the contents.
    """

    file: str
    size: str = ""
    digest: str = ""


def originOf(structure: Structure) -> Origin:
    """Return the origin of a structure."""
    if structure.file or structure.isEmpty:
        return Origin(structure.file)
    mask = structure.mask
    if mask is None:
        size = pluralize(len(structure.surface.cells), "triangle" if structure.dimension == 3 else "segment")
    else:
        size = f"{pluralize(mask.count, 'voxel')} of {' x '.join(f'{step:.6g}' for step in mask.grid.spacing)} mm"
    return Origin("", size, contentHash(structure).hexdigest())


def provenance(
    settings: Settings, records: Sequence[Comparison], sources: Sequence[tuple[Origin, Origin]], judgment=None, dose=""
) -> Markup:
    """Return the last part of a report. sources: of the reference and the test of every record. dose: its file."""
    protocol = NOTHING
    if judgment is not None:
        name, version = judgment.protocol.name, judgment.protocol.version
        title = name if name.startswith("Protocol") else f"Protocol {name}"
        protocol = fill("<p>$title, version <code>$version</code></p>", title=title, version=version)
    return fromFile(
        "provenance",
        protocol=protocol,
        files=_files(sources, dose),
        contents=_contents(records, sources),
        settings=_texts(["Setting", "Value"], usedSettings(settings, records)),
        software=_texts(["Name", "Version"], list(versions().items())),
        everything=json.dumps(settings.toDictionary(), indent=1, allow_nan=False, ensure_ascii=False),
    )


def _texts(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    return table(Table.ofRows(heads, rows, left=len(heads)))


def _files(sources: Sequence[tuple[Origin, Origin]], dose: str) -> Markup:
    sidesOf: dict[str, dict[str, None]] = {}
    for side, of in zip(REFERENCE_AND_TEST, zip(*sources)):
        for file in dict.fromkeys(source.file for source in of if source.file):
            sidesOf.setdefault(file, {})[side] = None
    if Path(dose).is_file():
        sidesOf.setdefault(dose, {})["dose"] = None
    if not sidesOf:
        return NOTHING
    titles = tellingApart(sidesOf)
    rows = [
        [nameCell(titles[file]), ", ".join(sides), fill("<code>$sum</code>", sum=checksum(Path(file)))]
        for file, sides in sidesOf.items()
    ]
    return fill("<h3>Input files</h3>$files", files=_texts(["File", "Of the", "SHA-256"], rows))


def _contents(records: Sequence[Comparison], sources: Sequence[tuple[Origin, Origin]]) -> Markup:
    """Return a table of the compared structures, nothing if all were read from files (unlike segments of a scene)."""
    if not any(source.digest for pair in sources for source in pair):
        return NOTHING

    def cell(source: Origin) -> str:
        if source.digest:
            return fill("$size<br><code>$digest</code>", size=source.size, digest=source.digest)
        return nameCell(Path(source.file).name) if source.file else "empty"

    rows = [[nameCell(record.name), *map(cell, pair)] for record, pair in zip(records, sources, strict=True)]
    return fill(
        '<h3>Compared structures</h3>$structures<p class="soft">The digests (BLAKE2b) are the same for the same voxels '
        "or triangles at the same place.</p>",
        structures=_texts(["Structure", "Reference", "Test"], rows),
    )


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or "not a file" if it does not exist (anymore) or is a folder."""
    if not path.is_file():
        return "not a file"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def usedSettings(settings: Settings, records: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Return labels and values of the settings that affected a number or differ from the defaults.

    Rare ones, which the panel does not offer, are listed only if they differ. records: of the report; measurements
    required by a protocol may have parameters of their own, which are included.
    """
    usual = Settings()
    families = {measurement.family for record in records for measurement in record.measurements.values()}
    asked = [findMetric(key) for key in dict.fromkeys(key for record in records for key in record.measurements)]
    rows = []
    for name in sorted(DECLARED, key=lambda name: (*FIRST, name).index(name)):
        declaration, value = DECLARED[name], getattr(settings, name)
        if declaration.parameter is not None:  # first the values in the settings, then others that were measured
            parameter = declaration.parameter.name
            measured = sorted({float(one.words[parameter]) for one in asked if one and parameter in one.words})
            value = tuple(dict.fromkeys((*value, *measured)))
        isUsual = value == getattr(usual, name)
        isMain = declaration.isAlwaysTold or (declaration.panel is not None and isRelevant(name, families))
        if isInEffect(name, settings) and (isMain or not isUsual):
            rows.append((declaration.label, _text(value, declaration.unit)))
    return [(label, text) for label, text in rows if text]


def _text(value, unit: str) -> str:
    """Return a value as readable text; "" for an automatic (None) or empty value."""
    if isinstance(value, tuple):
        return ", ".join(
            f"{part[0]} ({shortest(part[1])})" if isinstance(part, tuple) else _text(part, unit) for part in value
        )
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{shortest(value)} {unit}".rstrip() if isinstance(value, (int, float)) else str(value)

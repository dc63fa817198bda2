"""The provenance of a report's numbers: the compared data, the settings and the software."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...base.markup import Markup, filled
from ...base.texts import counted, tellingApart
from ...case.comparison import Comparison
from ...model.structure import Structure
from ...model.structures import REFERENCE_AND_TEST
from ...settings.settings import Settings
from ..fingerprints import contentHash
from ..tablemodel import Table
from ..writing import versions
from .blocks import NOTHING, fromFile, nameCell, table
from .usedsettings import usedSettings


class FileSource(NamedTuple):
    """The origin of a structure: its file, or its size and digest if it was not read from one.

    file: "" without one. size: number of voxels, triangles or segments, as text. digest: hash of the contents.
    """

    file: str
    size: str = ""
    digest: str = ""


def sourceOf(structure: Structure) -> FileSource:
    """Return the origin of a structure."""
    if structure.file or structure.isEmpty:
        return FileSource(structure.file)
    mask = structure.mask
    if mask is None:
        size = counted(len(structure.surface.cells), "triangle" if structure.dimension == 3 else "segment")
    else:
        size = f"{counted(mask.count, 'voxel')} of {' x '.join(f'{step:.6g}' for step in mask.grid.spacing)} mm"
    return FileSource("", size, contentHash(structure).hexdigest())


def provenance(
    settings: Settings,
    records: Sequence[Comparison],
    sources: Sequence[tuple[FileSource, FileSource]],
    judgment=None,
    dose="",
) -> Markup:
    """Return the last part of a report. sources: of the reference and the test of every record. dose: its file."""
    protocol = NOTHING
    if judgment is not None:
        name, version = judgment.protocol.name, judgment.protocol.version
        title = name if name.startswith("Protocol") else f"Protocol {name}"
        protocol = filled("<p>$title, version <code>$version</code></p>", title=title, version=version)
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
    """Return a table of texts."""
    return table(Table.headed(heads, rows, left=len(heads)))


def _files(sources: Sequence[tuple[FileSource, FileSource]], dose: str) -> Markup:
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
        [nameCell(titles[file]), ", ".join(sides), filled("<code>$sum</code>", sum=checksum(Path(file)))]
        for file, sides in sidesOf.items()
    ]
    return filled("<h3>Input files</h3>$files", files=_texts(["File", "Of the", "SHA-256"], rows))


def _contents(records: Sequence[Comparison], sources: Sequence[tuple[FileSource, FileSource]]) -> Markup:
    """Return a table of the compared structures, nothing if all were read from files (unlike segments of a scene)."""
    if not any(source.digest for pair in sources for source in pair):
        return NOTHING

    def cell(source: FileSource) -> str:
        if source.digest:
            return filled("$size<br><code>$digest</code>", size=source.size, digest=source.digest)
        return nameCell(Path(source.file).name) if source.file else "empty"

    rows = [[nameCell(record.name), *map(cell, pair)] for record, pair in zip(records, sources, strict=True)]
    return filled(
        '<h3>Compared structures</h3>$structures<p class="soft">The digests (BLAKE2b) are the same for the same voxels '
        "or triangles at the same place.</p>",
        structures=_texts(["Structure", "Reference", "Test"], rows),
    )


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or "not a file" if it does not exist (anymore) or is a folder."""
    if not path.is_file():
        return "not a file"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

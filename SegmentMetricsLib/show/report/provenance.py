"""The provenance of a report's numbers: the compared data, the settings and the software."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from ...base.texts import counted, tellingApart
from ...case.records import Record
from ...comparison.fingerprints import contentHash
from ...model.structures import REFERENCE_AND_TEST, Structure
from ...settings.settings import Settings
from ..writing import versions
from .elements import nameCell, table
from .usedsettings import usedSettings


class Source(NamedTuple):
    """The origin of a structure: its file, or its size and digest if it was not read from one.

    file: "" without one. size: number of voxels, triangles or segments, as text. digest: hash of the contents.
    """

    file: str
    size: str = ""
    digest: str = ""


def sourceOf(structure: Structure) -> Source:
    """Return the origin of a structure."""
    if structure.file or structure.isEmpty:
        return Source(structure.file)
    mask = structure.mask
    if mask is None:
        size = counted(len(structure.surface.cells), "triangle" if structure.dimension == 3 else "segment")
    else:
        size = f"{counted(mask.count, 'voxel')} of {' x '.join(f'{step:.6g}' for step in mask.grid.spacing)} mm"
    return Source("", size, contentHash(structure).hexdigest())


def provenance(
    settings: Settings, records: Sequence[Record], sources: Sequence[tuple[Source, Source]], judgment=None
) -> str:
    """Return the last part of a report as HTML. sources: of the reference and the test of every record."""
    software = [[escape(name), escape(version)] for name, version in versions().items()]
    protocol = ""
    if judgment is not None:
        name = judgment.protocol.name
        title = name if name.startswith("Protocol") else f"Protocol {name}"
        protocol = f"<p>{escape(title)}, version <code>{judgment.protocol.version}</code></p>"
    everything = json.dumps(settings.toDictionary(), indent=1, allow_nan=False, ensure_ascii=False)
    used = [list(map(escape, row)) for row in usedSettings(settings, records)]
    return (
        f"<h2>How this was measured</h2>{protocol}{_files(sources)}{_contents(records, sources)}"
        f"<div class=beside><div><h3>Settings</h3>{table(['Setting', 'Value'], used)}</div>"
        f"<div><h3>Software</h3>{table(['Name', 'Version'], software)}</div></div>"
        '<details class="noprint"><summary>All settings (to reproduce this comparison)</summary>'
        f"<pre>{escape(everything)}</pre></details>"
    )


def _files(sources: Sequence[tuple[Source, Source]]) -> str:
    sidesOf: dict[str, dict[str, None]] = {}
    for side, of in zip(REFERENCE_AND_TEST, zip(*sources)):
        for file in dict.fromkeys(source.file for source in of if source.file):
            sidesOf.setdefault(file, {})[side] = None
    titles = tellingApart(sidesOf)
    rows = [
        [nameCell(titles[file]), ", ".join(sides), f"<code>{checksum(Path(file))}</code>"]
        for file, sides in sidesOf.items()
    ]
    return f"<h3>Input files</h3>{table(['File', 'Of the', 'SHA-256'], rows)}" if rows else ""


def _contents(records: Sequence[Record], sources: Sequence[tuple[Source, Source]]) -> str:
    """Return a table of the compared structures, or "" if all were read from files (unlike segments of a scene)."""
    if not any(source.digest for pair in sources for source in pair):
        return ""

    def cell(source: Source) -> str:
        if source.digest:
            return f"{escape(source.size)}<br><code>{source.digest}</code>"
        return nameCell(Path(source.file).name) if source.file else "empty"

    rows = [[nameCell(record.name), *map(cell, pair)] for record, pair in zip(records, sources, strict=True)]
    note = '<p class="soft">The digests (BLAKE2b) are the same for the same voxels or triangles at the same place.</p>'
    return f"<h3>Compared structures</h3>{table(['Structure', 'Reference', 'Test'], rows)}{note}"


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or "not a file" if it does not exist (anymore) or is a folder."""
    if not path.is_file():
        return "not a file"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

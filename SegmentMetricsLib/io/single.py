"""One structure of a file or folder, for functions that compare two structures."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from ..base.errors import InputError
from ..base.texts import commaSeparated
from ..geometry.masks import Mask
from ..model.ignored import setAside
from ..model.inputs import listLabels
from ..model.structure import Structure
from ..model.structures import inAnySpelling, isNumbered, requireKnown
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from .formats.table import IMAGE_SUFFIXES
from .reading import nameFile, readStructures, stemOf, suffixOf


def readOne(
    path: str | os.PathLike, name: str | int | None, label: int | None, settings: Settings, isNameMeant: bool = True
) -> Structure:
    """Return the only structure of a file or folder, or the one with a name, in any spelling, or else with a label.

    A label that a label map does not have is an empty structure, as in an image in memory. settings: how memberships
    are read, and what is ignored. isNameMeant: whether a structure that is alone in its file has to have the name, too.
    Raises InputError, naming the file, when it cannot be read, or when several structures could be meant.
    """
    read = partial(readStructures, path, threshold=settings.threshold, maximum=settings.membershipMaximum)
    structures = read(name=name if isNameMeant else None)
    if len(structures) > 1 and not isNameMeant:
        structures = read(name=name)
    if settings.ignore is not None:
        structures, _ = setAside(structures, settings.ignore)
    # an image of memberships, or one without any label, has none
    hasLabels = len(structures) > 1 or (structures[0].memberships is None and not structures[0].isUnlabeled)
    if name is None and label is not None and hasLabels:
        structures = _withLabel(Path(path), label, structures)
    if len(structures) > 1:
        found = [structure.name for structure in structures]
        isLabelMap = all(isNumbered(structure.name) for structure in structures)
        way = "label=..." if isLabelMap else "name=..." if len(set(found)) > 1 else "rename all but one"
        raise InputError(f"{path}: there are {len(found)} structures ({commaSeparated(found)}): say which one ({way}).")
    return structures[0]


def _withLabel(path: Path, label: int, structures: StructureSet) -> StructureSet:
    """Return the structures of a file that have a label, or an empty one if a label map does not have it."""
    meant = inAnySpelling([label], {}, structures)
    found = [structure for structure in structures if structure.name in meant]
    isLabelMap = suffixOf(path) in IMAGE_SUFFIXES and not any(one.segmentID for one in structures)
    if found or not isLabelMap:
        with nameFile(path):
            requireKnown(meant, structures)
        return structures.having(found)
    others = tuple(structure.number or structure.name for structure in structures)
    note = f"Label {label} does not occur in {path.name}, which has {listLabels(others)}."
    first = structures[0]
    nothing = Structure(
        stemOf(path),
        Mask.empty(first.ownMask.grid),
        file=str(path),
        frameOfReference=first.frameOfReference,
        otherLabels=others,
        notes=(*first.notes, note),
    )
    return structures.having([nothing])

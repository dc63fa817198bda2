"""From what a comparison is given, such as an image, an array or the path of a file, to structures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError, requireKind
from ..base.texts import commaSeparated
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..model import inputs
from ..model.ignored import setAside
from ..model.inputs import ToImage, imageFromArray
from ..model.instances import joinLesions
from ..model.structure import Structure
from ..model.structures import nameNumber
from ..model.structureset import StructureSet
from ..settings.settings import Settings

# What compare() takes as a reference or a test.
Comparable = Structure | SimpleITK.Image | np.ndarray | vtkPolyData | str | os.PathLike


def asCriticals(
    given: Mapping[str, Comparable], settings: Settings, toImage: ToImage = imageFromArray
) -> dict[str, Structure]:
    """Return critical structures by name.

    Raises InputError for anything but a mapping, and for input that is not a structure or has several labels.
    """
    requireKind(given, Mapping, "The critical structures", "a mapping of names to structures")
    for name in given:
        requireKind(name, str, "The name of a critical structure", "a text")
    which = {name: f"critical structure {name}" for name in given}
    found = {name: asStructure(one, which[name], None, settings, False, name, toImage) for name, one in given.items()}
    # images and surfaces are named by what messages call them
    return {name: replace(one, name=name) if one.name == which[name] else one for name, one in found.items()}


def asStructure(
    given: object,
    which: str,
    label: int | None,
    settings: Settings,
    canChoose: bool = True,
    name: str | int | None = None,
    toImage: ToImage = imageFromArray,
) -> Structure:
    """Return an argument of compare() as a structure. which: its name in messages.

    canChoose: whether the caller could have given a label or a name of its own. name: of the structure in a file; if
    not canChoose, only in one that holds several. toImage: makes images of arrays. A displayed surface is dropped if
    the settings ask for the unsmoothed one. Raises InputError for input that is not a structure.
    """
    if settings.instanceMaps and canChoose and isinstance(given, (str, os.PathLike, np.ndarray, SimpleITK.Image)):
        return _instances(given, which, settings, toImage)
    if isinstance(given, Structure):
        if settings.surface == "unsmoothed":
            given = given.withoutSmoothing()
        return given if settings.threshold is None else given.cutAt(settings.threshold)
    try:
        if isinstance(given, (str, os.PathLike)):
            from ..io.single import readOne

            return readOne(given, name, label, settings, canChoose)
        if isinstance(given, np.ndarray):
            given = toImage(given)
        if isinstance(given, SimpleITK.Image):
            ignored = None if settings.ignore is None else _numberOf(settings.ignore)
            scale = (settings.threshold, settings.membershipMaximum)
            return inputs.structureFromImage(given, which, label, *scale, canChoose, ignored)
        if isinstance(given, vtkPolyData):
            return inputs.structureFromPolyData(given, which)
    except InputError as error:
        raise InputError(f"The {which} cannot be compared. {error}") from error
    kinds = "a SimpleITK image, a numpy array, a vtkPolyData, a Structure or the path of a file"
    raise InputError(f"The {which} must be {kinds}, not {type(given).__name__}{_hint(given)}.")


def _instances(given: Any, which: str, settings: Settings, toImage: ToImage) -> Structure:
    """Return an image or a file in which every label is a lesion as one structure; arguments as for asStructure()."""
    try:
        if isinstance(given, (str, os.PathLike)):
            from ..io.reading import readStructures

            lesions: Sequence[Structure] = readStructures(given)
        else:
            image = toImage(given) if isinstance(given, np.ndarray) else given
            masks = inputs.labelMasks(image, inputs.HALF)
            found = masks or {1: Mask.empty(Grid.fromImage(image))}
            lesions = [Structure(nameNumber(label), mask) for label, mask in found.items()]
        if settings.ignore is not None:
            lesions, _ = setAside(StructureSet.of(lesions), settings.ignore)
        structures = joinLesions(lesions, dict(settings.instanceClasses))
    except InputError as error:
        raise InputError(f"The {which} cannot be compared. {error}") from error
    if len(structures) != 1:
        names = commaSeparated(one.name for one in structures) or "no structure"
        raise InputError(f"The {which} has {names}: compare one of them, or compare all with compareCase().")
    return structures[0]


def marksIn(given: object, settings: Settings, toImage: ToImage) -> Sequence[Structure]:
    """Return the structure of the label that the settings ignore in a reference given as compare() takes it.

    None or one. Raises InputError for what has no other labels.
    """
    if isinstance(given, (str, os.PathLike)):
        return setAside(readAs(given, settings), cast(str, settings.ignore))[1]
    if isinstance(given, np.ndarray):
        given = toImage(given)
    if not isinstance(given, SimpleITK.Image):
        raise InputError(
            "An ignored label is one of the reference: give the reference as an image, an array or a file, or give all "
            "structures to compareCase()."
        )
    number = _numberOf(cast(str, settings.ignore))
    if inputs.membershipsOf(given, settings.membershipMaximum) is not None:
        return []
    mask, _ = inputs.labelMask(given, number, inputs.HALF)
    return [] if mask.isEmpty else [Structure(nameNumber(number), mask)]


def readAs(path: str | os.PathLike, settings: Settings) -> StructureSet:
    """Return the structures of a file or folder, with memberships as the settings ask for."""
    from ..io.reading import readStructures

    return readStructures(path, threshold=settings.threshold, maximum=settings.membershipMaximum)


def _numberOf(ignored: str) -> int:
    if not ignored.isdecimal():
        raise InputError(f"The labels of an image have no names: give the number of the one that is {ignored}.")
    return inputs.positiveLabel(int(ignored))


def _hint(given: object) -> str:
    if isinstance(given, Sequence) and given and all(isinstance(one, Structure) for one in given):
        return ": choose one of them, as in structures[0]"
    if hasattr(given, "GetID") and hasattr(given, "IsA"):
        return ": compare nodes of Slicer with SegmentMetricsLib.mrml"
    return ""

"""What the structures of files with a single, nameless label are called: like the file, or like the label.

A file such as Brainstem.nrrd stands for a structure, and its name is that of the structure. A file such as case1.nrrd
stands for a case: in a cohort its structure must have the same name in every case, which is that of the label.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..model import naming
from ..model.structure import Structure
from ..model.structures import isNumbered
from ..model.structureset import StructureSet
from .reading import stemOf

# Digits of a number that counts cases, not structures such as vertebrae.
CASE_DIGITS = 3
CASES = (
    "The files of both folders look like one file per case, not like one per structure: to compare many cases, list "
    "them for segment-metrics batch."
)
# Words in names of files that say who drew something, or what kind of file it is, but not what it shows.
ROLES = {
    *("reference", "ref", "test", "truth", "ground", "gold", "manual", "auto", "automatic", "expert", "observer"),
    *("rater", "reader", "seg", "segm", "segmentation", "mask", "label", "labels", "labelmap", "mesh", "surface"),
    *("model", "pred", "preds", "prediction", "predicted", "result", "output", "image", "img", "case", "patient"),
    *("subject", "sub", "scan", "study"),
}

# Words in names of organs and targets, as in AAPM Task Group 263 (doi:10.1016/j.ijrobp.2017.12.013).
ORGANS = {
    *("brain", "brainstem", "cerebellum", "ventricle", "hippocampus", "pituitary", "nerve", "nrv", "chiasm"),
    *("opticchiasm", "optic", "opticnerve", "eye", "globe", "lens", "retina", "cornea", "lacrimal", "cochlea", "ear"),
    *("lips", "tongue", "cavity", "parotid", "submand", "submandibular", "gland", "thyroid", "mandible", "joint"),
    *("larynx", "pharynx", "glottis", "cricoid", "trachea", "esophagus", "oesophagus", "carotid", "artery", "vein"),
    *("aorta", "heart", "pericardium", "lung", "bronchus", "breast", "brachial", "sternum", "rib", "bone", "body"),
    *("skin", "liver", "gallbladder", "spleen", "pancreas", "stomach", "duodenum", "bowel", "colon", "kidney"),
    *("adrenal", "cord", "spinal", "spinalcord", "canal", "vertebrae", "sacrum", "femur", "femoral", "pelvis"),
    *("bladder", "urethra", "prostate", "seminal", "penile", "testis", "ovary", "uterus", "vagina", "rectum", "anus"),
    *("ctv", "gtv", "itv", "ptv"),
}


def isOrgan(name: str) -> bool:
    """Return whether a name, such as that of a file, is one of an organ or a target without a number."""
    words = {word for given in naming.parse(name).words for word in (given, given.removesuffix("s"))}
    return bool(ORGANS & words) and not re.search(r"\d", name)


def settleNames(sets: Sequence[StructureSet], *, name: str | None = None) -> list[StructureSet]:
    """Return the structures of the reference and of the test with the names that they have in this case.

    A file with a single nameless structure is called by its file if the other side knows that name, or is a file that
    is called alike; otherwise by its label. name: of two such files in a list of cases, as returned by namesOfFiles();
    None to judge by these two alone.
    """
    found = list(sets)
    areAlone = [*map(isAlone, sets)]
    if all(areAlone):
        (reference,), (test,) = sets
        both = (reference.name, test.name)
        if name is None and not commonName(*both) and all(map(_saysWhat, both)):
            return found
        if name is None:
            # of Brainstem and prediction, only one says what it shows
            telling = [one for one in both if set(_words(one)) - ROLES]
            name = commonName(*both) or (telling[0] if len(telling) == 1 and _saysWhat(telling[0]) else "")
        return [own.having([_rename(own[0], name)]) for own in sets]
    for number, (own, other) in enumerate(zip(sets, reversed(sets), strict=True)):
        if areAlone[number]:
            known = {key for structure in other for key in _keys(structure.name)}
            # a file beside names most likely stands for a structure, too, unless it is one of a list of cases
            isBesideNames = name is None and bool(own[0].label) and not any(isNumbered(s.name) for s in other)
            isKnown = isBesideNames or bool(_keys(own[0].name) & known)
            found[number] = own.having([_rename(own[0], own[0].name if isKnown else "")])
    return found


def _keys(name: str) -> set[tuple]:
    parsed = naming.parse(name)
    return {parsed.spelled, parsed.meaning}


def adviceOnCases(sets: Sequence[StructureSet]) -> str:
    """Return the advice to use the command for many cases, "" unless the files of both folders look like cases.

    They do if several files of a folder hold the same labels, or are called alike but for a number, as case_001 and
    case_002.
    """

    def areCases(structures: StructureSet) -> bool:
        names: dict[str, list[str]] = {}
        for structure in structures:
            names.setdefault(structure.file, []).append(structure.name)
        stems = [stemOf(Path(file)) for file in names]
        several = [(stem, own) for stem, own in zip(stems, names.values()) if len(own) > 1]
        labels = [{name.removeprefix(stem).strip() for name in own} for stem, own in several]
        if any(first & second for first, second in itertools.combinations(labels, 2)):
            return True
        numbers = [re.findall(r"\d+", stem) for stem in stems]
        areNumbered = all(any(len(number) >= CASE_DIGITS for number in own) for own in numbers)
        return len(stems) > 1 and areNumbered and len({re.sub(r"\d+", "#", stem.casefold()) for stem in stems}) == 1

    return CASES if all(Path(one.path).is_dir() and areCases(one) for one in sets) else ""


def isAlone(structures: StructureSet) -> bool:
    """Return whether a set is one file whose only structure has no name but that of the file."""
    if len(structures) != 1 or not structures.path or structures[0].file != structures.path:
        return False
    (only,) = structures
    return bool(only.label) or only.isUnlabeled or only.givenSurface is not None


def _rename(structure: Structure, name: str) -> Structure:
    """Return a structure under a name, or for "" under that of its label, which meshes and empty images do not have."""
    if name or structure.label:
        return structure.rename(name or structure.label)
    return replace(structure, isOfCase=True)


def commonName(first: str, second: str) -> str:
    """Return the name that two file names have in common, the shorter one of both; "" if they are not called alike."""
    if not (first and second):
        return ""
    words = [_words(name) for name in (first, second)]
    if not all(set(own) - ROLES for own in words):
        return ""
    some, others = sorted(words, key=len)
    # also BrainStem and brain_stem, or Parotid_L and left parotid
    areAlike = set(some) <= set(others) or naming.parse(first).meaning == naming.parse(second).meaning
    if not areAlike or not any(word.isalpha() for word in some):
        return ""
    return first if words[0] == some else second


def _saysWhat(name: str) -> bool:
    """Return whether the name of a file is that of a structure as far as one can tell: a word without numbers."""
    words = _words(name)
    return not any(word.isdigit() for word in words) and any(len(word) > 2 for word in words if word not in ROLES)


def namesOfFiles(lines: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return for each line of a list of cases the name of the structure that its two files stand for.

    It is "" where they stand for the case, or are not called alike. lines: the case, and the names without suffix of
    the files of the reference and the test. A name stands for a structure if several cases have it, or if it has no
    number. Of a name with a number that only one case has, as p1_Brainstem, what is left without the number does, if
    other files with that number show something else. In case_1 and siteA_2 it does not.
    """
    lines = list(lines)
    names = [commonName(reference, test) for _, reference, test in lines]
    keys = [naming.parse(name).spelled for name in names]
    cases: dict[Hashable, set[str]] = {}
    shown: dict[str, set[Hashable]] = {}
    for (case, _, _), name, key in zip(lines, names, keys, strict=True):
        number, rest = _numberAndRest(name)
        cases.setdefault(key, set()).add(case)
        shown.setdefault(number, set()).add(naming.parse(rest).spelled if rest else "")

    def standsFor(name: str, key: Hashable) -> str:
        number, rest = _numberAndRest(name)
        if not number or len(cases[key]) > 1:
            return name
        return rest if len(shown[number]) > 1 else ""

    found = map(standsFor, names, keys)
    # one spelling for all
    first: dict[Hashable, str] = {}
    return [first.setdefault(naming.parse(name).spelled, name) if name else "" for name in found]


def _numberAndRest(name: str) -> tuple[str, str]:
    """Return the parts of a name with numbers, and its other parts without those that do not say what it shows."""
    parts = [part for part in re.split(r"[\W_]+", name) if part]
    numbers = [part for part in parts if re.search(r"\d", part)]
    return "_".join(numbers), "_".join(p for p in parts if p not in numbers and p.casefold() not in ROLES)


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case, and its numbers without leading zeros."""
    found = re.findall(r"\d+|[^\W\d_]+", name)
    return [word.lstrip("0") or "0" if word.isdigit() else word.casefold() for word in found]

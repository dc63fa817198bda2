"""The names that settings accept: families of measurements, tools, presets; and the checks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError, requireKind
from ..base.texts import didYouMean, inAnyCase
from .checks import Check
from .vocabulary import meaningOf

if TYPE_CHECKING:
    from ..geometry.grids import Grid

# Families in the order in which results list them, each a folder of the same name in families/; and what it tells.
PURPOSES = {
    "boundary": "How far the contours lie apart.",
    "signed": "In which direction the contours differ: test outside or inside the reference.",
    "overlap": "How much volume the segments share, and how large they are.",
    "agreement": "How often the two agree voxel by voxel, also corrected for chance; most depend on the image size.",
    "voxel": "How far apart the voxels of the segments lie, over whole segments rather than their contours.",
    "hazard": "How dangerous the differences are: those near the chosen critical structures count more.",
    "similarity": "How well the test follows the reference's contours slice by slice; inside and outside have levels.",
    "topology": "Whether vessels are in one piece: gaps, spurs, and the numbers of parts, tunnels and cavities.",
    "instances": "Which lesions are found, missed, invented, split or merged, and how well each is drawn.",
    "dose": "What dose each of the two receives; the plan was made for one of them.",
    "slices": "How the segments differ in every slice of the reference, as a table and a chart.",
    "effort": "What it takes to correct the test: the length of contour to draw, and how far the center is off.",
}
FAMILIES = tuple(PURPOSES)
# What people call some of them.
CALLED = {"lesions": "instances", "vessels": "topology"}
TITLES = {family: name.capitalize() for name, family in CALLED.items()}
# Not among "all": whoever gives what such a family needs asks for it.
ONLY_BY_NAME = ("dose",)
DEFAULT_FAMILIES = ("boundary", "signed", "overlap")
ALL = "all"
FAMILY_CHOICE = ", ".join((*FAMILIES, ALL))
GRIDS = ("reference", "union")
# The preset, and thus the convention, of this library itself.
OWN_CONVENTION = "SegmentMetrics"
# Presets of the family instances: the rules of BraTS 2023, with variants for its tasks, and those of panoptica.
BRATS, PANOPTICA = "BraTS 2023", "panoptica"
BRATS_2023 = {"lesionConnectivity": 26, "lesionPenalty": 374.0}
# Those of the two commands of the package that scores BraTS since 2026: for all tasks but one, and for metastases.
BRATS_EVALUATION = "BraTS_evaluation"
SEG, METS = f"{BRATS_EVALUATION} seg", f"{BRATS_EVALUATION} mets"
# Named ways to measure whose numbers never change; agreement with the tool of the same name is tested.
PRESETS: dict[str, dict[str, Any]] = {
    OWN_CONVENTION: {},
    # for the tasks GLI, SSA and PED; the others differ in the dilation and the smallest lesion
    BRATS: {**BRATS_2023, "lesionDilation": 3, "lesionMinimum": 50.0},
    f"{BRATS} MEN": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 50.0},
    f"{BRATS} MET": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 2.0},
    SEG: {"lesionConnectivity": 26, "lesionPenalty": 373.0},
    METS: {"lesionConnectivity": 26, "lesionPenalty": 373.0, "lesionMinimum": 20.0},
    PANOPTICA: {},
}
# The versions of MeshMetrics that the option --preset knows, too: conventions like those of the other tools.
MESHMETRICS = ("MeshMetrics-0.1", "MeshMetrics-1.4.1")
# Tools whose numbers can be reported, each a file in conventions/tools.
TOOLS = (
    "Anima",
    "DeepMind",
    "EvaluateSegmentation",
    "grand-challenge-metrics",
    "MedPy",
    "MeshMetrics-0.1",
    "MeshMetrics-1.4.1",
    "MeshMetrics-surfacenets",
    "MetricsReloaded",
    "MISeval",
    "MONAI",
    "panoptica-distances",
    "Plastimatch",
    "platipy",
    "pymia",
    "seg-metrics",
    "SimpleITK",
    "torchmetrics",
)


def inOrder(families: Iterable[str]) -> tuple[str, ...]:
    """Return families in the order in which results list them, each once; "all" is every one but ONLY_BY_NAME."""
    families = set(families)
    isAll = ALL in families
    return tuple(one for one in FAMILIES if one in families or (isAll and one not in ONLY_BY_NAME))


def familyTitle(family: str) -> str:
    """Return the name of a family for readers: "Lesions" for instances, "Boundary" for boundary."""
    return TITLES.get(family, family.capitalize())


def isFamily(name: str) -> bool:
    """Return whether a name stands for whole families."""
    return name in (*FAMILIES, ALL)


def familyMeant(name: str) -> str:
    """Return the proper name of a family, given in any case or as people call it; another name is returned as it is."""
    known = inAnyCase(name.strip(), (*FAMILIES, ALL, *CALLED))
    return CALLED.get(known, known)


def knownConvention(given: Any) -> str:
    """Return the proper spelling of a preset or convention given in any case. Raises InputError for unknown names."""
    choices = dict.fromkeys((*PRESETS, *TOOLS))
    name = inAnyCase(str(given), choices)
    if name not in choices:
        hint = didYouMean(name, choices)
        raise InputError(f"There is no convention {given!r}; choose from {', '.join(choices)}.{hint}")
    return name


def _chosenFamilies(families: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(families, str):
        families = families.split(",")
    requireKind(families, Iterable, "The metric families", "names")
    families = tuple(familyMeant(one) if isinstance(one, str) else one for one in families)
    if not families:
        raise InputError(f"No metric family is chosen; choose from {FAMILY_CHOICE}.")
    for family in families:
        if not isFamily(family):
            hint = didYouMean(str(family), FAMILIES)
            raise InputError(f"There is no metric family {family!r}; choose from {FAMILY_CHOICE}.{hint}")
    return inOrder(families)


def _chosenMetrics(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names of measurements and of families, each in its proper spelling and once."""
    names = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)
    found = (one for name in names for one in (_namesIn(name) if isinstance(name, str) else [name]))
    return tuple(dict.fromkeys(map(_metricOf, found)))


def _namesIn(text: str) -> list[str]:
    """Return the names in a text with commas between them; some have one, as Hausdorff distance, 95th percentile."""
    first, *others = text.split(",")
    found = [first]
    for part in others:
        found[-1:] = [f"{found[-1]},{part}"] if _isMeasurement(f"{found[-1]},{part}") else [found[-1], part]
    return [name for name in found if name.strip()] or [text]


def _isMeasurement(name: str) -> bool:
    try:
        return bool(meaningOf(name))
    except InputError:
        return False


def _metricOf(name: Any) -> str:
    """Return the proper spelling of a measurement or a family. Raises InputError for an unknown one."""
    if not isinstance(name, str):
        raise InputError(f"Measurements and families are given by name, not as {name!r}.")
    family = familyMeant(name)
    return family if isFamily(family) else meaningOf(name).key


def _chosenGrid(given: Any) -> str | Grid:
    """Return the evaluated grid: a choice by name, or the grid of the given Grid, mapping or image."""
    if isinstance(given, str):
        if (known := inAnyCase(given, GRIDS)) not in GRIDS:
            raise InputError(
                f"The evaluated grid must be one of {', '.join(GRIDS)}, or an image whose grid it is, not {given!r}."
            )
        return known
    from ..geometry.grids import Grid

    if isinstance(given, Grid):
        return given
    if isinstance(given, Mapping):
        return Grid.fromDictionary(given)
    if hasattr(given, "GetDirection") and hasattr(given, "GetSpacing"):
        return Grid.fromImage(given)
    raise InputError(
        f"The evaluated grid must be one of {', '.join(GRIDS)}, a Grid or an image, not {type(given).__name__}."
    )


chosenFamilies = Check(_chosenFamilies)
chosenMetrics = Check(_chosenMetrics, option={"action": "append"})
chosenGrid = Check(_chosenGrid, plain=lambda grid: grid if isinstance(grid, str) else grid.toDictionary())
chosenConvention = Check(knownConvention)

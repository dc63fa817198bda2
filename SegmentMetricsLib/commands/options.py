"""Options that several commands share, and their conversion to settings, paths and so on."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..base.errors import InputError, requireText
from ..base.texts import inAnyCase
from ..case.protocol import exampleNames
from ..settings.settings import (
    ACCURACIES,
    COMBINATIONS,
    DECIDED_BY_TOOLS,
    DEFAULT_FAMILIES,
    EXTENTS,
    FAMILIES,
    GRIDS,
    KERNELS,
    MSI_UNITS,
    OWN_CONVENTION,
    PRESETS,
    SURFACES,
    VOXEL_UNITS,
    Settings,
)

# Below the help of every command.
DEFAULTS = "Defaults are given in parentheses."

# The verdicts that can determine the exit status, worst first, in the spelling of the option; and that status.
FAIL_ON = ("fail", "not-evaluable", "warn")
VERDICT_REACHED = 3

# Most bytes of a file name on common file systems.
LONGEST_NAME = 255


def pathFrom(text: str) -> Path:
    """Return the path in an argument. Raises ArgumentTypeError if it is empty, as from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def presetFrom(text: str) -> str:
    """Return the preset in an argument, which may be in any case."""
    return inAnyCase(text, PRESETS)


class Option(NamedTuple):
    """An option that becomes a setting.

    setting: its name in Settings, "" for an option that stands for many. details: further arguments for argparse.
    """

    flag: str
    setting: str
    details: dict


def _option(flag: str, setting: str, help: str, **details) -> Option:
    return Option(flag, setting, {"help": help, **details})


HAZARD = "hazard family"
MANY = {"action": "append", "type": float}
# By the heading of their group in the help.
SETTINGS = {
    "what is measured": (
        _option("--metrics", "metrics",
                f"families of measurements: {', '.join(FAMILIES)}, or all; or single measurements by their keys, such "
                f"as DSC,HD95 ({','.join(DEFAULT_FAMILIES)})",
                metavar="FAMILY|KEY,...", action="append"),
        _option("--tolerance", "tolerances", "tolerance of NSD, BIoU and the others that have one (2; may be repeated)",
                metavar="MM", **MANY),
        _option("--percentile", "percentiles", "percentile of the Hausdorff distance, up to 100 (95; may be repeated)",
                metavar="P", **MANY),
        _option("--beta", "betas", "beta of the F-measure (1; may be repeated)", metavar="B", **MANY),
        _option("--quantile", "quantiles", "quantile of the voxels' Hausdorff distance, up to 1 (1; may be repeated)",
                metavar="Q", **MANY),
        _option("--voxel-unit", "voxelUnit", "unit of the voxel family (mm)", choices=VOXEL_UNITS),
        _option("--label-weight", "labelWeights", "weight of a structure for DICEml and JACml (1; may be repeated)",
                metavar="NAME=WEIGHT", action="append"),
        _option("--grid", "grid",
                "where true negatives are counted: in the reference's image, in the box around both structures, or in "
                "the image of a file (reference)", metavar="|".join((*GRIDS, "FILE"))),
        _option("--settings", "",
                "measure with the settings in this metrics.json of an earlier comparison, except for the options given "
                "here", metavar="FILE", type=pathFrom),
        _option("--convention", "convention", "report boundary and overlap as this tool does (see conventions)",
                metavar="TOOL"),
        _option("--preset", "", "measure as this version of MeshMetrics does",
                type=presetFrom, choices=[name for name in PRESETS if name != OWN_CONVENTION]),
    ),
    "surfaces and distances": (
        _option("--surface", "surface",
                "surface to measure: around the voxels, or the smooth one that Slicer shows (unsmoothed)",
                choices=SURFACES),
        _option("--extent", "extent", "the whole structures, or only the slices that both cover (whole)",
                choices=EXTENTS),
        _option("--accuracy", "accuracy",
                "refine where the result needs it, or cut all surface elements alike (converged)", choices=ACCURACIES),
        _option("--subdivisions", "subdivisions", "if sampled: how often elements are cut (1, in 2D 5)",
                metavar="N", type=int),
        _option("--oversampling", "oversampling", "sub-voxels per axis for BIoU (automatic)", metavar="N", type=int),
        _option("--mesh-spacing", "meshSpacing", "voxel size for the overlap of two meshes (1)",
                metavar="MM", type=float),
    ),
    "membership images, with values between 0 and 1": (
        _option("--threshold", "threshold", "lowest value at which a voxel counts, and then fully (all count in part)",
                metavar="T", type=float),
        _option("--membership-maximum", "membershipMaximum", "value of full membership if values go beyond 1",
                metavar="N", type=int),
        _option("--cuts", "cuts", "how many thresholds the voxel family is averaged over (1, at 0.5)",
                metavar="K", type=int),
    ),
    HAZARD: (
        _option("--critical", "critical",
                "structure of the reference near which errors are dangerous (weight 1; may be repeated)",
                metavar="NAME[=WEIGHT]", action="append"),
        _option("--kernel", "hazardKernel", "how hazard falls with the distance (polynomial)", choices=KERNELS),
        _option("--hazard-reach", "hazardReach", "distance at which polynomial hazard ends (10)",
                metavar="MM", type=float),
        _option("--hazard-power", "hazardPower", "power of the distance with which polynomial hazard falls (2)",
                metavar="P", type=float),
        _option("--hazard-decay", "hazardDecay", "distance over which exponential hazard falls to 1/e (8)",
                metavar="MM", type=float),
        _option("--hazard-combination", "hazardCombination",
                "hazard near several critical structures: the largest, or the sum, up to 1 (max)",
                choices=COMBINATIONS),
        _option("--hazard-balance", "hazardBalance",
                "weight of missed against added voxels in SIS and STAR, from 0 to 1 (0.7)", metavar="W", type=float),
        _option("--hazard-tail", "hazardTail", "share of the most hazardous errors that STAR looks at (0.05)",
                metavar="SHARE", type=float),
    ),
    "similarity family": (
        _option("--il", "il", "inside level of the similarity index (1)", metavar="LEVEL", type=float),
        _option("--ol", "ol", "outside level of the similarity index (1)", metavar="LEVEL", type=float),
        _option("--as-published", "asPublished",
                "similarity index by its authors' formula, on chains of boundary pixels; not by their program",
                action="store_true", default=None),
        _option("--msi-unit", "msiUnit",
                "unit of the similarity index's distances; published values need pixels (mm)", choices=MSI_UNITS),
        _option("--split-contours", "splitContours",
                "cut touching contours of a slice apart, so that each has its counterpart",
                action="store_true", default=None),
    ),
}  # fmt: skip


# Settings that affect only some families, each with one that relevance.py knows and that affects the same ones.
LIKE = {
    **{n: n for n in ("tolerances", "percentiles", "betas", "quantiles", "grid", "convention", "oversampling")},
    **dict.fromkeys(("accuracy", "subdivisions"), "subdivisions"),
    **dict.fromkeys(("voxelUnit", "cuts"), "voxelUnit"),
    **dict.fromkeys(("hazardKernel", "hazardReach", "hazardPower", "hazardDecay"), "hazardKernel"),
    **dict.fromkeys(("hazardCombination", "hazardBalance", "hazardTail"), "hazardKernel"),
    **dict.fromkeys(("il", "ol", "asPublished", "msiUnit", "splitContours"), "il"),
}


def addHazard(parser: argparse.ArgumentParser) -> None:
    """Add the options of the hazard family, except for the critical structures."""
    group = parser.add_argument_group("hazard")
    for option in SETTINGS[HAZARD]:
        if option.setting != "critical":
            group.add_argument(option.flag, dest=option.setting, **option.details)


def hazardFrom(options: argparse.Namespace) -> dict:
    """Return the settings of the hazard family that the options give, by name."""
    given = {option.setting: getattr(options, option.setting) for option in SETTINGS[HAZARD]}
    given = {name: value for name, value in given.items() if value is not None}
    return {**given, "critical": namedWeights(options.critical or ())}


def addSettings(parser: argparse.ArgumentParser) -> None:
    """Add the options that become Settings; those not given keep the value of the preset, the file or the defaults."""
    for heading, options in SETTINGS.items():
        group = parser.add_argument_group(heading)
        for option in options:
            group.add_argument(option.flag, dest=option.setting or None, **option.details)


def addOutput(
    parser: argparse.ArgumentParser,
    text: str = "folder for the results",
    default: Path | None = None,
    isRequired: bool = True,
) -> None:
    """Add the option for the folder of the results. text: its help. isRequired: ignored if there is a default."""
    isRequired = isRequired and default is None
    parser.add_argument("-o", "--output", metavar="DIR", type=pathFrom, required=isRequired, default=default, help=text)


def addStructure(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses structures."""
    parser.add_argument(
        "--structure",
        metavar="NAME",
        action="append",
        help="compare only this structure, and what --pair names; for a label, its number is enough (may be repeated)",
    )


def addPairs(parser: argparse.ArgumentParser) -> None:
    """Add the option that pairs structures regardless of their names."""
    parser.add_argument(
        "--pair",
        metavar="REFERENCE=TEST",
        action="append",
        help="compare these two structures whatever they are called (may be repeated; REFERENCE= pairs it with none)",
    )


def addLabelNames(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the labels of label maps."""
    parser.add_argument(
        "--label-names",
        metavar="FILE",
        type=pathFrom,
        help="names for labels that only have numbers: dataset.json of nnU-Net, other JSON, table (.csv, .tsv) "
        "of numbers and names, or color table (.ctbl)",
    )


def choicesFrom(options: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return the pairs in the options: a reference and a test, None without one, in every way to read them.

    Names may contain equals signs, so that only the structures tell at which one to split. Raises InputError for
    invalid pairs.
    """
    choices: list[tuple[str, str | None]] = []
    plain: set[str] = set()
    for option in options:
        parts = option.split("=")
        splits = (("=".join(parts[:place]), "=".join(parts[place:])) for place in range(1, len(parts)))
        ways = [(reference, test or None) for reference, test in splits if reference]
        if not ways:
            raise InputError(f"A pair is given as REFERENCE=TEST, not {option!r}.")
        if len(ways) == 1:
            if ways[0][0] in plain:
                raise InputError(f"{ways[0][0]!r} is in more than one of the given pairs.")
            plain.add(ways[0][0])
        choices += ways
    return choices


def addProtocol(parser: argparse.ArgumentParser) -> None:
    """Add the options for the protocol to judge by, and for the resulting exit status."""
    examples = ", ".join(exampleNames())
    parser.add_argument(
        "--protocol", metavar="FILE", help=f"table of limits to judge by, or one of the examples {examples}"
    )
    parser.add_argument(
        "--fail-on",
        metavar="VERDICT",
        choices=FAIL_ON,
        help=f"end with the status {VERDICT_REACHED} if the protocol's verdict is this one or a worse one: "
        f"{', '.join(FAIL_ON)}, from the worst down (verdicts do not decide the status)",
    )


def addReport(parser: argparse.ArgumentParser) -> None:
    """Add the options for a report."""
    parser.add_argument("--report", action="store_true", help="write a report as one HTML page")
    parser.add_argument(
        "--report-conventions", action="store_true", help="the same, with what other tools would have reported"
    )
    # a batch has no such option
    parser.set_defaults(report_patient="")


def isReportWanted(options: argparse.Namespace) -> bool:
    """Return whether the options request a report. Raises InputError if reports cannot be written here."""
    if not (options.report or options.report_conventions or options.report_patient):
        return False
    from ..show.report import requirePlotly

    requirePlotly()
    return True


def settingsFrom(options: argparse.Namespace) -> Settings:
    """Return the settings chosen by the options. Raises InputError for values out of range."""
    saved = {} if options.settings is None else savedSettings(options.settings)
    names = [option.setting for group in SETTINGS.values() for option in group if option.setting]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    given.pop("convention", None)  # below, as it goes with a preset
    given.pop("metrics", None)
    given |= chosenMetrics(options, saved)
    if options.grid is not None:
        given["grid"] = chosenGrid(options.grid)
    for name in ("critical", "labelWeights"):
        if name in given:
            given[name] = namedWeights(given[name])
    if options.preset and options.convention:
        raise InputError("A preset is a convention: leave --preset or --convention out.")
    before = saved.pop("convention", OWN_CONVENTION)
    convention = options.preset or chosenConvention(options) or before
    replaced = {"accuracy", "subdivisions"} if given.keys() & {"accuracy", "subdivisions"} else set()
    if convention != before:
        replaced |= {name for which in (before, convention) for name in PRESETS.get(which, DECIDED_BY_TOOLS)}
    kept = {name: value for name, value in saved.items() if name not in replaced}
    return Settings.preset(convention, **{**kept, **given})


def tellWithoutEffect(
    options: argparse.Namespace, settings: Settings, protocols: Iterable, others: Collection[str] = ()
) -> None:
    """Print the given options that affect none of the chosen numbers to standard error, in one line.

    protocols: which choose numbers, too; None for none. others: further settings that have no effect if given.
    """
    from ..case.relevance import isUsed
    from ..families.registry import findDefinition  # slow imports
    from ..families.selection import selected

    rules = (rule for one in protocols if one is not None for rule in one.rules)
    measured = [definition for definition, _ in selected(settings)]
    measured += [findDefinition(rule.measurement).definition for rule in rules]
    useless = {name for name, setting in LIKE.items() if not isUsed(setting, measured)}.union(others)
    if settings.threshold is not None:
        useless.add("cuts")
    given = (option for group in SETTINGS.values() for option in group if option.setting in useless)
    if flags := [option.flag for option in given if getattr(options, option.setting) is not None]:
        print(f"segment-metrics: without effect on the numbers that are measured: {', '.join(flags)}", file=sys.stderr)


def savedSettings(path: Path) -> dict:
    """Return the settings in a metrics.json. Raises InputError when the file contains none."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; settings are in the metrics.json of a comparison.")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        settings = Settings(**content["settings"])
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: the settings cannot be read ({error.strerror}).") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: this file holds no settings that SegmentMetrics saved.") from error
    return settings.toDictionary()


def chosenMetrics(options: argparse.Namespace, saved: Mapping) -> dict[str, tuple[str, ...]]:
    """Return the metric families and single measurements as settings, {} for the defaults.

    They are those given, else those of saved settings; critical structures add "hazard". Raises InputError when
    critical structures are given, but no measurement of their family is among the explicitly chosen ones.
    """
    chosen = {name: tuple(saved[name]) for name in ("families", "metrics") if name in saved}
    if options.metrics is not None:
        names = namesFrom(options.metrics)
        # an empty list of families has a message of its own
        chosen = {"families": None, "metrics": names} if names else {"families": ()}
    if not options.critical:
        return chosen
    families = Settings(**chosen).families
    if "hazard" in families:
        return chosen
    if options.metrics is not None and families != DEFAULT_FAMILIES:
        raise InputError("Critical structures are for the hazard family: add hazard to --metrics, or leave them out.")
    return {**chosen, "families": (*families, "hazard")}


def namesFrom(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names in lists with commas."""
    return tuple(name.strip() for name in ",".join(given).split(",") if name.strip())


def chosenConvention(options: argparse.Namespace) -> str | None:
    """Return the convention that the options name, None without one. The caller checks that it exists."""
    if options.convention is None:
        return None
    from ..conventions import known

    return inAnyCase(options.convention, (*PRESETS, *known()))


def chosenGrid(given: str):
    """Return the evaluated grid: a choice by name, or the grid of an image file."""
    if given in GRIDS:
        return given
    from ..io import reading as files

    return files.readGrid(given)


def namedWeights(given: Sequence[str]) -> dict[str, float]:
    """Return the weights of structures given as NAME or NAME=WEIGHT; names may contain equals signs."""
    weights = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            weights[name or text] = float(number) if name else 1.0
        except ValueError:
            weights[text] = 1.0
    return weights


def protocolFrom(options: argparse.Namespace):
    """Return the protocol that the options name, None without one. Raises InputError for an invalid one."""
    if options.protocol is None:
        return None
    from ..case.protocol.protocol import readProtocol

    return readProtocol(options.protocol)


def requireWritable(folder: Path) -> Path:
    """Return the folder, or the nearest existing one above it. Raises InputError when it is not writable."""
    requireText(folder)
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in folder.parts):
        raise InputError(f"{folder}: this name is too long for a folder.")
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"{existing}: this is not a folder, so results cannot be written into it.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: results cannot be written into this folder.")
    return existing

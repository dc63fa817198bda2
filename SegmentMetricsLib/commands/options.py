"""Options that several commands share, and their conversion to settings, paths and so on."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..base.errors import InputError, requireText
from ..base.texts import inAnyCase
from ..case.protocol import exampleNames
from ..settings.declarations import HAZARD, HEADINGS, MEASURED, Option
from ..settings.names import DEFAULT_FAMILIES, GRIDS, MESHMETRICS, OWN_CONVENTION, PRESETS, TOOLS
from ..settings.settings import DECIDED_BY_TOOLS, DECLARED, Settings, isInEffect

if TYPE_CHECKING:
    from ..metrics.registry import Found

# Below the help of every command.
DEFAULTS = "Defaults are given in parentheses."

# The settings that have options, by the heading of their group in the help; what is asked for most is the first.
OPTIONS = {
    heading: sorted(
        (name for name, one in DECLARED.items() if one.option and one.option.heading == heading),
        key=lambda name: name != "metrics",
    )
    for heading in HEADINGS
}

# The verdicts that can determine the exit status, worst first, in the spelling of the option; and that status.
FAIL_ON = ("fail", "not-evaluable", "warn")
VERDICT_REACHED = 3

# Most bytes of a file name on common file systems.
LONGEST_NAME = 255
# Suffixes of files that somebody may take the folder of the results for.
FILES = frozenset((".csv", ".tsv", ".txt", ".json", ".jsonl", ".html", ".pdf", ".xlsx", ".xls", ".parquet", ".png"))


def pathFrom(text: str) -> Path:
    """Return the path in an argument. Raises ArgumentTypeError if it is empty, as from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def addSetting(group: argparse._ArgumentGroup, name: str) -> None:
    """Add the option of a setting to a group of options; without the option, the value is None."""
    declaration = DECLARED[name]
    option, details = cast(Option, declaration.option), dict(declaration.check.option)
    if option.metavar is not None:
        details["metavar"] = option.metavar
    group.add_argument(option.flag, dest=name, help=declaration.help(getattr(Settings, name)), **details)


def addHazard(parser: argparse.ArgumentParser) -> None:
    """Add the options of the hazard family, except for the critical structures."""
    group = parser.add_argument_group("hazard")
    for name in OPTIONS[HAZARD]:
        if name != "critical":
            addSetting(group, name)


def hazardFrom(options: argparse.Namespace) -> dict:
    """Return the settings of the hazard family that the options give, by name."""
    return _given(options, OPTIONS[HAZARD])


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of settings that the options give, by name."""
    given = ((name, getattr(options, name)) for name in names)
    return {name: DECLARED[name].check.read(value) for name, value in given if value is not None}


def addSettings(parser: argparse.ArgumentParser) -> None:
    """Add the options that become Settings; those not given keep the value of the preset, the file or the defaults."""
    for heading, names in OPTIONS.items():
        group = parser.add_argument_group(heading)
        for name in names:
            addSetting(group, name)
        if heading == MEASURED:
            group.add_argument(
                "--settings",
                metavar="FILE",
                type=pathFrom,
                help="measure with the settings in this metrics.json of an earlier comparison, except for the options "
                "given here",
            )
            group.add_argument(
                "--preset",
                choices=[*MESHMETRICS, *(name for name in PRESETS if name != OWN_CONVENTION)],
                help="measure as this version of MeshMetrics does; or lesions as panoptica does, or by the rules of "
                "BraTS 2023: without a task for GLI, SSA and PED, BraTS 2023 MEN and BraTS 2023 MET for these",
            )


def addOutput(
    parser: argparse.ArgumentParser, text: str = "folder for the results", default: Path | None = None
) -> None:
    """Add the option for the folder of the results. text: its help."""
    parser.add_argument("-o", "--output", metavar="DIR", type=pathFrom, default=default, help=text)


def requireOutput(options: argparse.Namespace) -> Path:
    """Return the folder of the results. Raises InputError if none is given: ask when all else is known to be right."""
    if options.output is None:
        raise InputError("The results are files and need a folder: give --output DIR.")
    return options.output


def addStructure(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses structures."""
    parser.add_argument(
        "--structure",
        metavar="NAME",
        action="append",
        help="compare only this structure and those of --pair; the number of a label is enough (may be repeated)",
    )


def addPairs(parser: argparse.ArgumentParser) -> None:
    """Add the option that pairs structures regardless of their names."""
    parser.add_argument(
        "--pair",
        metavar="REFERENCE=TEST",
        action="append",
        help="compare these two structures although their names differ (may be repeated; NAME= leaves NAME unpaired)",
    )


def addLabelNames(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the labels of label maps."""
    parser.add_argument(
        "--label-names",
        metavar="FILE",
        type=pathFrom,
        help="names for labels that only have numbers: dataset.json of nnU-Net, whose regions are unions of labels, "
        "other JSON, table (.csv, .tsv) of numbers and names, or color table (.ctbl); or TotalSegmentator, "
        "TotalSegmentator-v1, TotalSegmentator-MR, BraTS, BraTS-2024, whose names are known",
    )


def addDose(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the option for the dose of a plan. more: what its help says besides."""
    parser.add_argument(
        "--dose",
        metavar="FILE",
        type=pathFrom,
        help=f"dose of a plan: RTDOSE, or an image in Gy; the family dose is measured, too{more}",
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
        help=f"exit with status {VERDICT_REACHED} if the protocol's verdict is this one or worse; from the worst: "
        f"{', '.join(FAIL_ON)} (verdicts do not affect the status)",
    )


def addReport(parser: argparse.ArgumentParser) -> None:
    """Add the options for a report."""
    parser.add_argument("--report", action="store_true", help="write a report as one HTML page")
    parser.add_argument(
        "--report-conventions", action="store_true", help="the same, with what other tools would have reported"
    )
    # a batch has no such option
    parser.set_defaults(report_patient="")


def addGridUncertainty(parser: argparse.ArgumentParser) -> None:
    """Add the option to compute what the grid itself contributes to measurements."""
    parser.add_argument(
        "--grid-uncertainty",
        action="store_true",
        help="also compute how much each number depends on where the voxel grid lies: its standard deviation when the "
        "grid is shifted by fractions of a voxel, and its 95 %% range (takes several dozen times as long)",
    )


def isReportWanted(options: argparse.Namespace) -> bool:
    """Return whether the options request a report."""
    return bool(options.report or options.report_conventions or options.report_patient)


def settingsFrom(options: argparse.Namespace) -> Settings:
    """Return the settings chosen by the options. Raises InputError for values out of range."""
    saved = {} if options.settings is None else savedSettings(options.settings)
    given = _given(options, [name for names in OPTIONS.values() for name in names])
    given.pop("convention", None)  # below, as it goes with a preset
    given.pop("metrics", None)
    given |= chosenMetrics(options, saved)
    if options.grid is not None:
        given["grid"] = chosenGrid(options.grid)
    if options.instanceClasses is not None:
        from ..io.labelnames import readClasses

        given["instanceClasses"] = readClasses(options.instanceClasses)
    if options.preset and options.convention:
        raise InputError("A preset is a convention: leave --preset or --convention out.")
    before = saved.pop("convention", OWN_CONVENTION)
    convention = options.preset or chosenConvention(options) or before
    replaced: set[str] = set()
    if convention != before:
        replaced = {name for which in (before, convention) for name in PRESETS.get(which, DECIDED_BY_TOOLS)}
    kept = {name: value for name, value in saved.items() if name not in replaced}
    return Settings.preset(convention, **{**kept, **given})


def tellWithoutEffect(
    options: argparse.Namespace, settings: Settings, protocols: Iterable, others: Collection[str] = ()
) -> None:
    """Print the given options that affect none of the chosen numbers to standard error, in one line.

    protocols: which choose numbers, too; None for none. others: further settings that have no effect if given.
    """
    from ..case.relevance import isUsed
    from ..metrics.registry import findDefinition  # slow imports
    from ..metrics.selection import selected

    rules = (rule for one in protocols if one is not None for rule in one.rules)
    measured = [definition for definition, _ in selected(settings)]
    measured += [cast("Found", findDefinition(rule.measurement)).definition for rule in rules]
    useless = {name for name in DECLARED if not (isUsed(name, measured) and isInEffect(name, settings))}.union(others)
    given = (name for names in OPTIONS.values() for name in names if getattr(options, name) is not None)
    if flags := [_flagAndNeed(name, settings) for name in given if name in useless]:
        print(f"segment-metrics: no effect on the measured numbers: {', '.join(flags)}", file=sys.stderr)


def _flagAndNeed(name: str, settings: Settings) -> str:
    """Return the option of a setting, with the option that it needs and lacks, or that leaves it no effect."""
    flag = cast(Option, DECLARED[name].option).flag
    if isInEffect(name, settings):
        return flag
    decisive, value = cast(tuple[str, Any], DECLARED[name].onlyIf)
    option = cast(Option, DECLARED[decisive].option).flag
    if value is None:
        return f"{flag} (with {option})"
    return f"{flag} (without {option}{'' if value is True else f' {value}'})"


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


def chosenMetrics(options: argparse.Namespace, saved: Mapping) -> dict[str, Any]:
    """Return the metric families and single measurements as settings, {} for the defaults.

    They are those given, else those of saved settings; critical structures, and hazard by dose, add "hazard". Raises
    InputError when critical structures are given, but no measurement of their family is among the explicitly chosen
    ones.
    """
    chosen: dict[str, Any] = {name: tuple(saved[name]) for name in ("families", "metrics") if name in saved}
    if options.metrics is not None:
        # an empty list of families has a message of its own
        chosen = {"families": None, "metrics": options.metrics} if namesFrom(options.metrics) else {"families": ()}
    if not (options.critical or options.hazardKernel == "dose"):
        return chosen
    families = Settings(**chosen).families
    if "hazard" in families or (not options.critical and options.metrics is not None):
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
    return inAnyCase(options.convention, (*PRESETS, *TOOLS))


def chosenGrid(given: str):
    """Return the evaluated grid: a choice by name, or the grid of an image file."""
    if (known := inAnyCase(given, GRIDS)) in GRIDS:
        return known
    from ..io import reading as files

    return files.readGrid(given)


def protocolFrom(options: argparse.Namespace):
    """Return the protocol that the options name, None without one. Raises InputError for an invalid one."""
    if options.protocol is None:
        return None
    from ..case.protocol.protocol import readProtocol

    return readProtocol(options.protocol)


def requireWritable(folder: Path) -> Path:
    """Return the folder, or the nearest existing one above it.

    Raises InputError when it is not writable, and when its name is that of a file.
    """
    requireText(folder)
    if folder.suffix.lower() in FILES and not folder.exists():
        raise InputError(
            f"{folder}: is that a file? Results are several files and are written into a folder: give --output DIR, "
            f"such as {folder.with_suffix('')}."
        )
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

"""Options that several commands share, and their conversion to settings, paths and so on."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..base.errors import InputError, requireText
from ..base.texts import didYouMean, inAnyCase
from ..batch.summaryoptions import RESAMPLES, SEED
from ..case.protocol import exampleNames
from ..conventions.convention import OWN_CONVENTION
from ..conventions.presets import PRESETS
from ..settings.declarations import HEADINGS, Option
from ..settings.names import DEFAULT_FAMILIES, GRIDS, MESHMETRICS, TOOLS
from ..settings.settings import DECIDED_BY_TOOLS, DECLARED, Settings, isInEffect
from .parsing import Parser, number, wholeNumber

if TYPE_CHECKING:
    from ..case.casework import Case
    from ..metrics.metric import Asked

# The settings that have options, by the heading of their group in the help; what is asked for most is the first.
OPTIONS = {
    heading: sorted(
        (name for name, one in DECLARED.items() if one.option and one.option.heading == heading),
        key=lambda name: name != "metrics",
    )
    for heading in HEADINGS
}

# Those that people use have options that --help lists.
USUAL = ("metrics", "tolerances", "percentiles", "surface", "critical", "convention")

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


# Options that several commands share: their help, and what else argparse needs.
CONTOURS = "label map, segmentation, mesh or folder"
SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "reference": (CONTOURS, {"metavar": "REFERENCE", "type": pathFrom}),
    "test": (CONTOURS, {"metavar": "TEST", "type": pathFrom}),
    "--structure": ("only this structure or label number (may be repeated)", {"metavar": "NAME", "action": "append"}),
    "--pair": (
        "compare these two; NAME= compares with none (may be repeated)",
        {"metavar": "REFERENCE=TEST", "action": "append", "default": []},
    ),
    "--label-names": (
        "names of labels: JSON, as of nnU-Net, table or color table; or TotalSegmentator(-v1, -MR), BraTS(-2024)",
        {"metavar": "FILE", "type": pathFrom},
    ),
    "--dose": (
        "dose of a plan: RTDOSE, or an image in Gy; several RTDOSE of its parts are summed (may be repeated)",
        {"metavar": "FILE[=WEIGHT]", "action": "append", "default": []},
    ),
    "--report": ("write a report as one HTML page", {"action": "store_true"}),
    "--report-conventions": ("write a report with what other tools would have reported", {"action": "store_true"}),
    "--fail-on": (
        f"exit with status {VERDICT_REACHED} if the verdict is this one or worse: {', '.join(FAIL_ON)}",
        {"metavar": "VERDICT", "choices": FAIL_ON},
    ),
    "--workers": ("number of processes (one per processor if that is faster)", {"metavar": "N", "type": int}),
    "--grid-uncertainty": (
        "also compute how much each number depends on where the voxel grid lies: its standard deviation when "
        "the grid is shifted by fractions of a voxel, and its 95 %% range (takes several dozen times as long)",
        {"action": "store_true"},
    ),
    "--resamples": ("bootstrap samples (%(default)s)", {"metavar": "N", "type": int, "default": RESAMPLES}),
    "--seed": ("random seed of the bootstrap (%(default)s)", {"metavar": "N", "type": int, "default": SEED}),
}


def addShared(add: Callable, *names: str) -> None:
    """Add some of the options that several commands share by a function like add_argument()."""
    for name in names:
        text, details = SHARED[name]
        add(name, help=text, **details)


def addSettings(parser: Parser) -> None:
    """Add the options that become Settings; those not given keep the value of the preset, the file or the defaults."""
    group = parser.add_argument_group("what is measured")
    for name in USUAL:
        _addSetting(group.add_argument, name)
    saved = "the settings in the metrics.json of a comparison"
    group.add_argument("--settings", metavar="FILE", type=pathFrom, help=saved)
    presets = [*MESHMETRICS, *(name for name in PRESETS if name != OWN_CONVENTION)]
    which = "all settings of a tool or challenge: MeshMetrics-0.1, -1.4.1, panoptica, BraTS 2023 (MEN, MET)"
    group.add_argument("--preset", metavar="NAME", choices=presets, help=which)
    addSet(parser, group, OPTIONS)


def _addSetting(add: Callable, name: str) -> None:
    """Add the option of a setting by a function like add_argument(); without the option, the value is None."""
    declaration = DECLARED[name]
    option, details = cast(Option, declaration.option), dict(declaration.check.option)
    if option.metavar is not None:
        details["metavar"] = option.metavar
    add(option.flag, dest=name, help=declaration.help(getattr(Settings, name)), **details)


def addSome(parser: Parser, *names: str) -> None:
    """Add the options of some settings to a command that takes no others."""
    for name in names:
        _addSetting(parser.add_argument, name)
    parser.set_defaults(set=None)


def addSet(parser: Parser, group: argparse._ActionsContainer, settings: Mapping[str, Sequence[str]]) -> None:
    """Add --set, and --help-settings, which explains it and what --help does not list. settings: names, by heading."""
    names = [name for members in settings.values() for name in members]
    parser.set_defaults(**dict.fromkeys(names), settable=names)
    for name in names:
        if name not in USUAL and cast(Option, DECLARED[name].option).flag:
            _addSetting(parser.addFurther, name)
    group.add_argument("--set", metavar="NAME=VALUE", action="append", help="any other setting (may be repeated)")
    group.add_argument(
        "--help-settings",
        action=_SettingsHelp,
        settings=settings,
        help="list all settings and further options, and exit",
    )


class _SettingsHelp(argparse.Action):
    """Prints what --help does not: the settings for --set, and the options of a parser that are used less often."""

    def __init__(self, option_strings, dest, settings: Mapping[str, Sequence[str]], help: str):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)
        self.settings = settings

    def __call__(self, parser, namespace, values, option_string=None):
        formatter = parser._get_formatter()
        formatter.add_text(
            "Settings are given as --set NAME=VALUE, in any spelling of the name. Those that may be repeated take "
            "several numbers with commas, too."
        )

        def add(heading: str, actions: Iterable[argparse.Action]) -> None:
            formatter.start_section(heading)
            formatter.add_arguments(actions)
            formatter.end_section()

        further = [one for one in parser.further if one.dest not in namespace.settable]
        add("further options", further)
        for heading, names in self.settings.items():
            add(heading, map(self._explain, names))
        print(formatter.format_help(), end="")
        parser.exit()

    def _explain(self, name: str) -> argparse.Action:
        one, option = DECLARED[name], cast(Option, DECLARED[name].option)
        choices = one.check.option.get("choices")
        kind = "yes|no" if "action" in one.check.option and not option.metavar and not choices else "VALUE"
        value = option.metavar or ("|".join(map(str, choices)) if choices else kind)
        same = f"; also {option.flag}" if option.flag else ""
        text = one.help(getattr(Settings, name)) + same
        return argparse.Action([], name, metavar=f"{name}={value}", help=text)


def givenSettings(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of settings that the options, or --set NAME=VALUE, give, by name. Raises InputError."""
    given, options.set = options.set or (), None
    for text in given:
        written, joint, value = text.partition("=")
        name = inAnyCase(written.strip(), options.settable)
        if name not in options.settable:
            hint = didYouMean(written, options.settable)
            raise InputError(f"There is no setting {written!r}; --help-settings lists all.{hint}")
        if not joint or not value.strip():
            raise InputError(f"A setting is given as NAME=VALUE, not as {text!r}.")
        known, kind = getattr(options, name), DECLARED[name].check.option
        if kind.get("action") == "append":
            setattr(options, name, [*(known or ()), value])
            continue
        if known is not None:
            raise InputError(f"The setting {name} is given twice.")
        try:
            setattr(options, name, _read(kind, value.strip()))
        except argparse.ArgumentTypeError as error:
            raise InputError(f"The setting {name}: {error}.") from None
    values = ((name, getattr(options, name)) for name in names)
    return {name: DECLARED[name].check.read(value) for name, value in values if value is not None}


def _read(kind: Mapping[str, Any], text: str) -> Any:
    """Return a value that was given as text. kind: how argparse reads an option for it. Raises ArgumentTypeError."""
    if kind.get("action") == "store_true":
        words = {"yes": True, "true": True, "no": False, "false": False}
        if text.lower() not in words:
            raise argparse.ArgumentTypeError(f"it is yes or no, not {text!r}")
        return words[text.lower()]
    if kind.get("type") is int:
        return wholeNumber(text)
    return number(text) if kind.get("type") is float else text


def addOutput(
    parser: argparse._ActionsContainer, text: str = "folder for the results", default: Path | None = None
) -> None:
    """Add the option for the folder of the results. text: its help."""
    parser.add_argument("-o", "--output", metavar="DIR", type=pathFrom, default=default, help=text)


def requireOutput(options: argparse.Namespace) -> Path:
    """Return the folder of the results. Raises InputError if none is given: ask when all else is known to be right."""
    if options.output is None:
        raise InputError("The results are files and need a folder: give --output DIR.")
    return options.output


def requireFolder(options: argparse.Namespace, asked: str) -> None:
    """Raise InputError if an option asks for files, but there is no folder for them. asked: it, "" for none."""
    if asked and options.output is None:
        raise InputError(f"{asked} writes files and needs a folder for them: give --output DIR.")


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


def addProtocol(parser: argparse._ActionsContainer) -> None:
    """Add the options for the protocol to judge by, and for the resulting exit status."""
    examples = " or ".join(exampleNames())
    parser.add_argument("--protocol", metavar="FILE", help=f"limits to judge by: a table, or {examples}")
    addShared(parser.add_argument, "--fail-on")


def addReport(parser: Parser, group: argparse._ActionsContainer) -> None:
    """Add the options for a report. group: for the one that --help lists."""
    addShared(group.add_argument, "--report")
    addShared(parser.addFurther, "--report-conventions")
    # a batch has no such option
    parser.set_defaults(report_patient="")


def reportAsked(options: argparse.Namespace) -> str:
    """Return the option that asks for a report, "" if none does."""
    names = (name for name in ("report", "report_conventions", "report_patient") if getattr(options, name))
    return next((f"--{name.replace('_', '-')}" for name in names), "")


def openFrom(options: argparse.Namespace, settings: Settings, **more: Any) -> Case:
    """Return the case of the reference and the test that the options name. more: as for openCase()."""
    from ..case.casework import openCase
    from ..io.labelnames import labelNamesFrom

    return openCase(
        options.reference,
        options.test,
        settings,
        names=options.structure,
        choices=choicesFrom(options.pair),
        labelNames=labelNamesFrom(options.label_names),
        needsPair=True,
        **more,
    )


def settingsFrom(options: argparse.Namespace) -> Settings:
    """Return the settings chosen by the options. Raises InputError for values out of range."""
    saved = {} if options.settings is None else savedSettings(options.settings)
    given = givenSettings(options, [name for names in OPTIONS.values() for name in names])
    given.pop("convention", None)  # below, as it goes with a preset
    given.pop("metrics", None)
    given |= chosenMetrics(options, saved)
    if options.grid is not None:
        given["grid"] = inAnyCase(options.grid, GRIDS)
        if given["grid"] not in GRIDS:  # the grid of an image file
            from ..io import reading as files

            given["grid"] = files.readGrid(options.grid)
    if options.instanceClasses is not None:
        from ..io.labelnames import readClasses

        given["instanceClasses"] = readClasses(options.instanceClasses)
    if options.preset and options.convention:
        raise InputError("A preset is a convention: leave --preset or --convention out.")
    before = saved.pop("convention", OWN_CONVENTION)
    convention = options.preset or inAnyCase(options.convention or before, (*PRESETS, *TOOLS))
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
    from ..metrics.registry import findMetric, select  # slow imports
    from ..show.explanations import isUsed

    rules = (rule for one in protocols if one is not None for rule in one.rules)
    measured = [one.metric for one in select(settings)]
    measured += [cast("Asked", findMetric(rule.measurement)).metric for rule in rules]
    useless = {name for name in DECLARED if not (isUsed(name, measured) and isInEffect(name, settings))}.union(others)
    told = []
    for name in (name for names in OPTIONS.values() for name in names):
        if getattr(options, name) is None or name not in useless:
            continue
        flag, reason = DECLARED[name].optionFor(name).removesuffix("=VALUE"), ""
        if not isInEffect(name, settings):
            # the option that it needs and lacks, or that leaves it no effect
            decisive, value = cast(tuple[str, Any], DECLARED[name].onlyIf)
            option = DECLARED[decisive].optionFor(decisive, "" if value in (None, True) else str(value))
            reason = f" ({'with' if value is None else 'without'} {option})"
        told.append(flag + reason)
    if told:
        print(f"segment-metrics: no effect on the measured numbers: {', '.join(told)}", file=sys.stderr)


def savedSettings(path: Path) -> dict:
    """Return the settings in a metrics.json. Raises InputError when the file contains none."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; settings are in the metrics.json of a comparison.")
    from ..io.sheets import textOf

    text = textOf(path, "to hold settings")
    try:
        settings = Settings(**json.loads(text)["settings"])
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

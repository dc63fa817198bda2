"""The command demo: the samples that come with the project."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from .options import addOutput, addReport, addSettings, settingsFrom
from .parsing import Parser

# The samples, with what of them is measured unless the options say so, "" for the usual.
FAMILIES = {"head-and-neck": "", "lesions": "boundary,overlap,instances", "vessel": "boundary,overlap,topology"}


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = (
        "Write the contours of two made-up observers into a folder, with their CT if there is one, and compare them."
    )
    parser.usage = "%(prog)s [SAMPLE] [-o DIR] [OPTION ...]"
    sample, choices = f"contours to compare: {', '.join(FAMILIES)} (%(default)s)", tuple(FAMILIES)
    parser.add_argument("sample", metavar="SAMPLE", nargs="?", choices=choices, default=choices[0], help=sample)
    addOutput(parser, "folder (%(default)s)", Path("segment-metrics-demo"))
    addReport(parser, parser)
    addSettings(parser)
    # what only compare can do
    parser.set_defaults(workers=None, numbers_only=False, json=False, fail_on=None)


def run(options: argparse.Namespace) -> int:
    """Compare the two observers of the sample and return the exit status."""
    if options.metrics is None and FAMILIES[options.sample]:
        options.metrics = [FAMILIES[options.sample]]
    settings = settingsFrom(options)
    from ..case.casework import openCase
    from ..io.reading import readAll
    from ..io.samples import FOLDER, HEAD_AND_NECK, IMAGE, SAMPLES
    from .comparing import compareAndWrite

    paths = [FOLDER / name for name in SAMPLES[options.sample]]
    image = FOLDER / IMAGE if options.sample == HEAD_AND_NECK else None
    # the results refer to the copies beside them, not to the files of the package
    options.reference, options.test = (options.output / path.name for path in paths)
    reference, test = (
        own.having(replace(structure, file=str(copy)) for structure in own)
        for own, copy in zip(readAll(paths), (options.reference, options.test), strict=True)
    )
    case = openCase(reference, test, settings, image=image)
    return compareAndWrite(case, options, extraFiles=[*paths, *([image] if image else [])])

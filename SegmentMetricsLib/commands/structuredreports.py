"""The options for results as DICOM, and writing what they ask for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..base.errors import InputError
from .options import pathFrom, requireWritable
from .parsing import Parser

# The options for what no source says, by the element of DICOM.
IDENTITY = {"PatientID": "patient_id", "PatientName": "patient_name", "StudyInstanceUID": "study_uid"}


def addStructuredReport(parser: Parser, group: argparse._ActionsContainer, isForEach: bool = False) -> None:
    """Add the options for structured reports.

    group: for the one that --help lists. isForEach: whether there is one for each case, in the results' folder.
    """
    if isForEach:
        group.add_argument("--sr", action="store_true", help="write a DICOM structured report of every case")
    else:
        group.add_argument("--sr", metavar="FILE.dcm", type=pathFrom, help="write a DICOM structured report")
        parser.addFurther(
            "--sr-image",
            metavar="PATH",
            action="append",
            default=[],
            type=pathFrom,
            help="DICOM image that the structures were drawn on: a file, or a folder with a series (may be repeated)",
        )
        parser.addFurther("--sr-pdf", metavar="FILE", type=pathFrom, help="PDF to store as DICOM beside the report")
        for element, name in IDENTITY.items():
            flag = f"--{name.replace('_', '-')}"
            parser.addFurther(flag, metavar="TEXT", default="", help=f"{element} where no source has it")
    parser.addFurther(
        "--sr-by-name",
        action="store_true",
        help="refer to structures that are not from DICOM by name, instead of writing them as SEG or encapsulated STL",
    )


def requireReportable(options: argparse.Namespace) -> None:
    """Raise InputError if a structured report cannot be written where it should, before anything is measured."""
    if options.sr is None:
        needed = [*options.sr_image, options.sr_pdf, *(getattr(options, name) for name in IDENTITY.values())]
        if any(needed) or options.sr_by_name:
            raise InputError("The options for a structured report need --sr FILE.dcm.")
        return
    requireNew(options.sr)


def requireNew(path: Path) -> None:
    """Raise InputError if a file exists, or its folder cannot be written."""
    if path.exists():
        raise InputError(f"{path} exists. Choose another name, or remove it first.")
    requireWritable(path.absolute().parent)


def aboutReport(options: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of writeReport() that the options give."""
    given = {element: getattr(options, name) for element, name in IDENTITY.items()}
    return {
        "sources": options.sr_image,
        "given": {element: text for element, text in given.items() if text},
        "hasCopies": not options.sr_by_name,
        "pdf": options.sr_pdf,
    }

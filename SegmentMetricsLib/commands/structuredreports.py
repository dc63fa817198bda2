"""The options for results as DICOM, and writing what they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.errors import InputError
from .options import pathFrom, requireWritable
from .parsing import Parser

# The options for what no source says, by the element of DICOM.
IDENTITY = {"PatientID": "patient_id", "PatientName": "patient_name", "StudyInstanceUID": "study_uid"}


def addStructuredReport(parser: Parser, group: argparse._ActionsContainer, isForEach: bool = False) -> None:
    """Add the options for structured reports, that for one to a group. isForEach: whether each case has its own."""
    named = "refer to structures that are not from DICOM by name, instead of writing them as SEG or encapsulated STL"
    parser.addFurther("--sr-by-name", action="store_true", help=named)
    if isForEach:
        group.add_argument("--sr", action="store_true", help="write a DICOM structured report of every case")
        return
    group.add_argument("--sr", metavar="FILE.dcm", type=pathFrom, help="write a DICOM structured report")
    source = "DICOM of the patient and the study, with the image that was drawn on: file or folder (may be repeated)"
    parser.addFurther("--sr-source", metavar="PATH", action="append", default=[], type=pathFrom, help=source)
    parser.addFurther("--sr-pdf", metavar="FILE", type=pathFrom, help="PDF to store as DICOM beside the report")
    for element, name in IDENTITY.items():
        flag = f"--{name.replace('_', '-')}"
        parser.addFurther(flag, metavar="TEXT", default="", help=f"{element} where no source has it")


def dicomWriters(options: argparse.Namespace) -> list[Callable[[Any], list]]:
    """Return the functions that write a result as DICOM as the options ask.

    Raises InputError for what they refuse whatever the result is, so that nothing is measured in vain.
    """
    given = {element: text for element, name in IDENTITY.items() if (text := getattr(options, name))}
    consensus = vars(options).get("consensus_seg")
    if not options.sr:
        if options.sr_pdf or options.sr_by_name or (not consensus and (given or options.sr_source)):
            raise InputError("The options for a structured report need --sr FILE.dcm.")
        if not consensus:
            return []
    from ..io.dicom.opening import WRITING, requireInstalled
    from ..show.structuredreport import writeReport

    requireInstalled("highdicom", WRITING)
    from ..show.dicomfiles import Sources, encapsulatedPdf

    for path in filter(None, (options.sr, consensus)):
        if path.exists():
            raise InputError(f"{path} exists. Choose another name, or remove it first.")
        requireWritable(path.absolute().parent)
    about = {"sources": options.sr_source, "given": given, "hasCopies": not options.sr_by_name, "pdf": options.sr_pdf}
    known = Sources([], options.sr_source, given)
    if options.sr_pdf is not None:
        encapsulatedPdf(options.sr_pdf, known)
    return [partial(writeReport, path=options.sr, consensus=consensus, **about)]

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
    """Add the options for structured reports.

    group: for the one that --help lists. isForEach: whether there is one for each case, in the results' folder.
    """
    path: dict[str, Any] = {} if isForEach else {"metavar": "FILE.dcm", "type": pathFrom}
    what = "a DICOM structured report of every case" if isForEach else "a DICOM structured report"
    group.add_argument("--sr", help=f"write {what}", **(path or {"action": "store_true"}))
    named = "refer to structures that are not from DICOM by name, instead of writing them as SEG or encapsulated STL"
    parser.addFurther("--sr-by-name", action="store_true", help=named)
    if isForEach:
        return
    source = "DICOM of the patient and the study, with the image that was drawn on: file or folder (may be repeated)"
    parser.addFurther("--sr-source", metavar="PATH", action="append", default=[], type=pathFrom, help=source)
    parser.addFurther("--sr-pdf", metavar="FILE", type=pathFrom, help="PDF to store as DICOM beside the report")
    for element, name in IDENTITY.items():
        flag = f"--{name.replace('_', '-')}"
        parser.addFurther(flag, metavar="TEXT", default="", help=f"{element} where no source has it")


def dicomWriters(options: argparse.Namespace) -> list[Callable[[Any], object]]:
    """Return the functions that write a result as DICOM as the options ask.

    Raises InputError for what they refuse whatever the result is, so that nothing is measured in vain.
    """
    asked = [
        (options.sr, "writeReport", {"hasCopies": not options.sr_by_name, "pdf": options.sr_pdf}),
        (getattr(options, "consensus_seg", None), "writeConsensus", {}),
    ]
    asked = [one for one in asked if one[0] is not None]
    given = {element: text for element, name in IDENTITY.items() if (text := getattr(options, name))}
    if not asked:
        if given or options.sr_source or options.sr_pdf or options.sr_by_name:
            raise InputError("The options for a structured report need --sr FILE.dcm.")
        return []
    from ..io.dicom.writing import Sources, encapsulatedPdf
    from ..show import structuredreport

    for path, *_ in asked:
        if path.exists():
            raise InputError(f"{path} exists. Choose another name, or remove it first.")
        requireWritable(path.absolute().parent)
    known = Sources.of([], options.sr_source, given)
    if options.sr_pdf is not None:
        encapsulatedPdf(options.sr_pdf, known)
    about = {"sources": options.sr_source, "given": given}
    return [partial(getattr(structuredreport, write), path=path, **about, **more) for path, write, more in asked]

"""What scripts call, and what makes comparisons and their like show themselves.

Pictures and tables are made of comparisons, and so import them. As imports point down, they cannot be methods where the
classes are defined; they become methods here.
"""

from __future__ import annotations

import os
from pathlib import Path

from .case.caseresult import CaseResult
from .case.casework import compareCase
from .case.comparison import Comparison, compare
from .case.gridspread import withGridUncertainty
from .case.multilabel import MultiLabel, compareLabels
from .case.stress import stressTest
from .show.resulttables import labelsTable, overviewHtml, pairHtml
from .show.tablemodel import notebookTable

__all__ = ["CaseResult", "Comparison", "compare", "compareCase", "compareLabels", "stressTest"]


def picture(
    self: Comparison, path: str | os.PathLike, *, size: tuple[int, int] = (1200, 700), kind: str = "signed"
) -> Path:
    """Draw both surfaces colored by their distance, side by side, write them as PNG and return the path.

    The measured surfaces are drawn. size: width and height in pixels, at least 640 x 400. kind: of the map, as for
    mrml.showDistanceMap. Raises InputError if there are no distances, and OSError if the file cannot be written.
    """
    from .show.pictures.overlay import drawOverlay  # imports what draws

    return drawOverlay(self, path, size=size, kind=kind)


def labelsHtml(labels: MultiLabel) -> str:
    """Return the overlap of all labels as HTML for notebooks."""
    return notebookTable(labelsTable(labels.measurements, remark="remark"))


def caseHtml(case: CaseResult[Comparison]) -> str:
    """Return the main measurements of a case, one structure per row, and its remarks as HTML for notebooks."""
    return overviewHtml(((one.name, one.measurements) for one in case), case.remarks)


Comparison.picture, Comparison.withGridUncertainty, Comparison._repr_html_ = picture, withGridUncertainty, pairHtml
MultiLabel._repr_html_, CaseResult._repr_html_ = labelsHtml, caseHtml
# Pickles name this module, so that whoever opens one has these methods.
Comparison.__module__ = MultiLabel.__module__ = CaseResult.__module__ = __name__

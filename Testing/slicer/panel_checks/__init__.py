"""What a user does in the panel and what must then be seen; the same in a running Slicer and on the stand-in.

Every check takes the Session and begins where the one before has ended.
"""

from __future__ import annotations

from . import (
    choosing,
    dosing,
    drawing,
    fitting,
    lesions,
    looking,
    measuring,
    observing,
    scenes,
    structures,
    tools,
    views,
)
from .session import Session

__all__ = ["CHECKS", "Session"]

CHECKS = (
    measuring.checkOpening,
    views.checkBefore,
    measuring.checkApply,
    views.checkViews,
    views.checkFocus,
    fitting.checkFirstScreen,
    fitting.checkLittle,
    fitting.checkPages,
    fitting.checkCovered,
    fitting.checkNarrow,
    measuring.checkSorting,
    measuring.checkCopyAndExport,
    looking.checkMap,
    looking.checkMapOptions,
    looking.checkPlot,
    fitting.checkBesideViews,
    looking.checkPlaces,
    drawing.checkDrawing,
    drawing.checkPractice,
    measuring.checkStaleness,
    choosing.checkFamilies,
    choosing.checkExtent,
    choosing.checkConvention,
    choosing.checkHazard,
    looking.checkSlices,
    looking.checkPlotViews,
    measuring.checkBadInput,
    structures.checkAllStructures,
    structures.checkWorstFirst,
    structures.checkPairs,
    structures.checkProtocol,
    observing.checkObservers,
    observing.checkObservedStructures,
    lesions.checkLesions,
    dosing.checkDose,
    tools.checkTools,
    tools.checkReport,
    tools.checkDicom,
    scenes.checkSaving,
    scenes.checkReload,
    views.checkFocusElsewhere,
    views.checkOutlinesElsewhere,
    scenes.checkRemovedSegmentation,
)

"""What a user does in the panel and what must then be seen; the same in a running Slicer and on the stand-in.

Every check takes the Session and begins where the one before has ended.
"""

from __future__ import annotations

from .choosing import (
    checkConvention,
    checkExtent,
    checkFamilies,
    checkHazard,
)
from .dosing import checkDose
from .drawing import checkDrawing
from .fitting import (
    checkBesideViews,
    checkCovered,
    checkFirstScreen,
    checkLittle,
    checkNarrow,
    checkPages,
)
from .lesions import checkLesions
from .looking import (
    checkMap,
    checkMapOptions,
    checkPlaces,
    checkPlot,
    checkPlotViews,
    checkSlices,
)
from .measuring import (
    checkApply,
    checkBadInput,
    checkCopyAndExport,
    checkFollow,
    checkOpening,
    checkRerun,
    checkSorting,
    checkStaleness,
)
from .observing import checkObservedStructures, checkObservers
from .scenes import (
    checkReload,
    checkRemovedSegmentation,
    checkSaving,
)
from .session import Session
from .structures import (
    checkAllStructures,
    checkPairs,
    checkProtocol,
)
from .tools import (
    checkDicom,
    checkReport,
    checkTools,
)
from .views import (
    checkBefore,
    checkFocus,
    checkFocusElsewhere,
    checkViews,
)

__all__ = ["CHECKS", "Session"]

CHECKS = (
    checkOpening,
    checkBefore,
    checkApply,
    checkViews,
    checkFocus,
    checkFirstScreen,
    checkLittle,
    checkPages,
    checkCovered,
    checkNarrow,
    checkSorting,
    checkCopyAndExport,
    checkMap,
    checkMapOptions,
    checkPlot,
    checkBesideViews,
    checkPlaces,
    checkDrawing,
    checkStaleness,
    checkRerun,
    checkFollow,
    checkFamilies,
    checkExtent,
    checkConvention,
    checkHazard,
    checkSlices,
    checkPlotViews,
    checkBadInput,
    checkAllStructures,
    checkPairs,
    checkProtocol,
    checkObservers,
    checkObservedStructures,
    checkLesions,
    checkDose,
    checkTools,
    checkReport,
    checkDicom,
    checkSaving,
    checkReload,
    checkFocusElsewhere,
    checkRemovedSegmentation,
)

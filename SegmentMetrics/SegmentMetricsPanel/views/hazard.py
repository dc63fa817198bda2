"""The hazard around critical structures, laid over the image in the slice views."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import showHazard
from SegmentMetricsLib.mrml.hazard import showOver

from .view import View


class HazardView(View):
    """Shows the hazard of the shown pair if requested."""

    def wanted(self) -> tuple:
        return *self.pair, self.model.parameters.showHazard

    def draw(self) -> None:
        outcome, number, isWanted = self.wanted()
        isMeasured = self.model.record() is not None and "hazard" in outcome.settings.families
        self.ui.showHazardCheckBox.visible = isMeasured
        node = None
        if isMeasured and isWanted:
            lost, measured = _("The hazard is not in the scene. Press Apply again to show it."), outcome.comparisons
            hasImage, make = lambda node: node.GetImageData() is not None, lambda pairs: showHazard(pairs[number])
            node = self.resultOf(outcome, outcome.pair(number), "hazard", hasImage, measured, make, lost)
        showOver(node, slicer.mrmlScene)

"""The hazard around critical structures, laid over the image in the slice views."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import folders, showHazard
from SegmentMetricsLib.mrml.hazard import showOver

from ..work import waiting
from .view import View


class HazardView(View):
    """Shows the hazard of the shown pair if requested."""

    def wanted(self) -> tuple:
        return *self.pair, self.model.parameters.showHazard

    def draw(self) -> None:
        self.problem = ""
        outcome, number, isWanted = self.wanted()
        isMeasured = outcome is not None and bool(outcome.records) and "hazard" in outcome.settings.families
        self.ui.showHazardCheckBox.visible = isMeasured
        node = self._volume(outcome, number) if isMeasured and isWanted else None
        showOver(node, slicer.mrmlScene)

    def _volume(self, outcome, number: int):
        """Return the volume node, created if it is missing or outdated; None if there is none."""
        node = folders.findResult(outcome.pair(number), "hazard", slicer.mrmlScene)
        if outcome.shows(node) and node.GetImageData() is not None:  # its file may be missing from a loaded scene
            return node
        if outcome.comparisons is None:
            self.problem = _("The hazard is not in the scene. Press Apply again to show it.")
            return None
        try:
            with waiting():
                return outcome.mark(showHazard(outcome.comparisons[number], volumeNode=node))
        except InputError as error:
            self.problem = str(error)
            return None

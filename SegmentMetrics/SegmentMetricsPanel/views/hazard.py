"""The hazard around critical structures, laid over the image in the slice views."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import folders, overlays, showHazard

from ..work import waiting


class HazardView:
    """Shows the hazard of the shown pair if requested. problem: the reason why it cannot be shown, or ""."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.problem = ""
        self.shown = None

    def show(self) -> None:
        """Show the hazard, or none; does nothing if nothing has changed."""
        outcome, number, isWanted = self.model.outcome, self.model.number(), self.model.parameters.showHazard
        wanted = (outcome, number, isWanted)
        if wanted == self.shown:
            return
        self.shown, self.problem = wanted, ""
        isMeasured = outcome is not None and bool(outcome.records) and "hazard" in outcome.settings.families
        self.ui.showHazardCheckBox.visible = isMeasured
        node = self._volume(outcome, number) if isMeasured and isWanted else None
        overlays.showOver(node, slicer.mrmlScene)

    def release(self) -> None:
        """Release the outcome."""
        self.shown, self.problem = None, ""

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

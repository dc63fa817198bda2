"""The table of values that other tools would have reported for the shown pair, which can be copied and exported."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import folders, recallConventions
from SegmentMetricsLib.show import conventions as output

from ..contents import conventions
from .tables import SortableTable
from .view import ChoiceList, ExplainedButton, View, say

ROLE = "conventions"


class ConventionsView(View):
    """The page about other tools."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.searched = None  # the outcome and the number of the pair that the answer is about
        ui.numberEdit.connect("returnPressed()", self.onNumber)
        self.table = SortableTable(ui.conventionsTable)
        self.record = None  # a ConventionsRecord
        self.unread = ""  # why stored values cannot be shown
        self.key = None  # the selected metric: "" for all of them, None before the first choice
        ui.conventionsLegendLabel.text = conventions.legend()
        self.button = ExplainedButton(ui.conventionsButton)
        ui.conventionsButton.connect("clicked(bool)", self.onCompute)
        self.choice = ChoiceList(ui.conventionsKeyComboBox, self.onKey)

    def state(self) -> tuple:
        """Return the node that stores values for the shown pair, its state, the outcome, and the number of the pair."""
        outcome, number = self.pair
        node = None if self.model.record() is None else outcome.result(outcome.pair(number), ROLE)
        return node, node and node.GetMTime(), outcome, number

    def draw(self) -> None:
        """Show the stored values for the shown pair, or nothing if there are none."""
        (node, *_state), ui, pair = self.state(), self.ui, self.model.record()
        self.record, self.unread = None, ""
        if node is not None:
            try:
                self.record = output.ConventionsRecord(*pair.sides, recallConventions(node))
            except InputError as error:  # from another version; the values can be computed again
                self.unread = str(error)
        for name in ("KeyLabel", "KeyComboBox", "Table", "LegendLabel", "ExportButton"):
            getattr(ui, f"conventions{name}").visible = self.record is not None
        ui.conventionsButton.visible = self.record is None
        keys = list(self.record.referenceValues()) if self.record else []
        if keys and self.key not in ("", *keys):  # else it stays
            self.key = next((key for key in keys if key.startswith("HD") and key[2:3].isdigit()), keys[0])
        self.choice.show(conventions.choices(keys), self.key)
        self.table.show(conventions.values(self.record, self.key))
        # not the answer about another pair
        say(ui.answerLabel, ui.answerLabel.text if self.searched == self.pair else "")

    def enable(self) -> None:
        stale, problem = self.model.stale(), self.model.whyNotTools()
        isStale, text = bool(stale) and self.record is not None, _("Out of date: {reason}").format(reason=stale)
        say(self.ui.conventionsStaleLabel, text if isStale else "")
        self.button.enable(problem)
        self.ui.numberEdit.enabled = not problem
        text = problem or self.unread or _("What would other tools report for these contours?")
        if self.record is not None:
            about = _("What other tools would report for {name}. Hover over a row to read why.")
            text = about.format(name=self.record.name)
        self.ui.conventionsLabel.text = text

    @staticmethod
    def forget(outcome) -> None:
        """Remove tables of earlier runs of an outcome's pairs from the scene: nothing would show that they are old."""
        scene = slicer.mrmlScene
        found = [folders.findResult(outcome.pair(number), ROLE, scene) for number in range(len(outcome.records))]
        folders.removeNodes([node for node in found if node is not None and not outcome.shows(node)], scene)

    def onCompute(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The results of other tools could not be calculated.")):
            self.panel.compareTools()

    def onNumber(self) -> None:
        with slicer.util.tryWithErrorDisplay(_("The search for the number failed.")):
            text = str(self.ui.numberEdit.text).strip()
            found = self.panel.attempts.which(text) if text else None
            self.searched = self.pair
            say(self.ui.answerLabel, conventions.answer(text, found) if found else "")

    def onKey(self, key: str) -> None:
        self.key = key
        self.table.show(conventions.values(self.record, key))

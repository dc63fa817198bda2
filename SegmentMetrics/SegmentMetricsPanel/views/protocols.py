"""Choosing a protocol and showing its verdicts."""

from pathlib import Path

import slicer
import vtk
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.protocol.protocol import readProtocol
from SegmentMetricsLib.mrml import tableFromProtocol
from SegmentMetricsLib.show import explanations
from SegmentMetricsLib.show.verdicts import writeVerdicts

from ..contents import results, verdicts
from ..markup import explain
from ..saving import askForFile
from .buttons import SaveButton
from .tables import SortableTable, heightOf
from .view import ChoiceList, View


class ProtocolsView(View):
    """The list of protocols: tables in the scene, examples that come with the library, and files.

    onEdited: called with an object and an event when the table of the chosen protocol changes.
    """

    def __init__(self, ui, model, onEdited):
        super().__init__(ui, model)
        self.onEdited = onEdited
        self.observed = None
        self.choice = ChoiceList(ui.protocolComboBox, self.take)
        for widget in (ui.protocolLabel, ui.protocolComboBox):
            explain(widget, explanations.PROTOCOL)

    def draw(self) -> None:
        """List the available protocols and show the chosen one."""
        chosen = self.model.parameters.protocol
        self.choice.show(self.model.protocolChoices(), chosen)
        if chosen is not self.observed:
            self.release()
            self.observed = chosen
            if chosen is not None:
                self.addObserver(chosen, vtk.vtkCommand.ModifiedEvent, self.onEdited)

    def release(self) -> None:
        super().release()
        self.observed = None

    def take(self, chosen) -> None:
        if self.model.parameters is None:
            return
        if isinstance(chosen, str):
            chosen = self._read(chosen or self._askForFile())
        self.model.parameters.protocol = chosen
        self.show()

    def _askForFile(self) -> str:
        kinds = _("Table (*.csv)") + ";;" + _("All files (*)")
        return str(askForFile(self.ui.protocolComboBox, _("Protocol"), kinds) or "")

    def _read(self, path: str):
        """Return a new table node with the protocol of a file or example; the current one for "" or on failure."""
        before = self.model.parameters.protocol
        if not path:
            return before
        try:
            return tableFromProtocol(readProtocol(Path(path)))
        except (InputError, OSError) as error:
            slicer.util.errorDisplay(str(error), _("The protocol cannot be used."))
            return before


class VerdictsView(View):
    """The summary and the table of a protocol's verdicts.

    onWritten: called with the path of a file that was written.
    """

    isDrawnEmpty = True

    def __init__(self, ui, model, onWritten):
        super().__init__(ui, model)
        self.onWritten = onWritten
        self.table = SortableTable(ui.protocolTable)
        suggest, title = lambda: results.suggestedFile("verdicts", model.outcome), _("Save verdicts")
        problem = _("The verdicts could not be written.")
        self.button = SaveButton(ui.verdictsButton, title, _("Table (*.csv)"), suggest, self.export, problem)

    def wanted(self) -> tuple:
        return self.pair

    def draw(self) -> None:
        """Show the verdicts on the outcome and on the shown pair, or nothing if it was not judged."""
        shown = self.model.outcome, self.model.number()
        text, rules = verdicts.verdict(*shown), verdicts.rules(*shown)
        self.ui.judgmentLabel.text = text
        self.ui.judgmentLabel.visible = self.ui.verdictsButton.visible = bool(text)
        self.table.show(rules)
        self.ui.protocolTable.visible = bool(rules.rows)
        self.ui.protocolTable.setMaximumHeight(heightOf(self.ui.protocolTable, len(rules.rows)))

    def enable(self) -> None:
        self.button.enable(self.model.whyNotReport())

    def export(self, path: Path) -> None:
        """Write all verdicts in the format of the command line: one row per rule."""
        writeVerdicts(self.model.outcome.judgment, path)
        self.onWritten(path)

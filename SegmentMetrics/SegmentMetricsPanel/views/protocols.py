"""Choosing a protocol and a dose."""

from pathlib import Path

import slicer
import vtk
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.protocol.protocol import readProtocol
from SegmentMetricsLib.mrml import tableFromProtocol
from SegmentMetricsLib.show import explanations

from ..markup import explain
from ..saving import askForFile
from .view import ChoiceList, View


class ProtocolsView(View):
    """The lists of protocols, in the scene, as examples and in files, and of volumes that may be the dose."""

    def __init__(self, panel):
        super().__init__(panel)
        ui, self.observed = self.ui, None
        self.choice = ChoiceList(ui.protocolComboBox, self.take)
        self.dose = ChoiceList(ui.doseComboBox, self.model.chooseDose)
        for widget in (ui.protocolLabel, ui.protocolComboBox):
            explain(widget, explanations.PROTOCOL)
        for widget in (ui.doseLabel, ui.doseComboBox):
            explain(widget, explanations.DOSE)

    def draw(self) -> None:
        chosen = self.model.parameters.protocol
        self.choice.show(self.model.protocolChoices(), chosen)
        self.dose.show(self.model.doseChoices(), self.model.parameters.dose)
        if chosen is not self.observed:
            self.release()
            self.observed = chosen
            if chosen is not None:
                self.addObserver(chosen, vtk.vtkCommand.ModifiedEvent, self.panel.onNews)

    def release(self) -> None:
        super().release()
        self.observed = None

    def take(self, chosen) -> None:
        if self.model.parameters is None:
            return
        if isinstance(chosen, str):
            kinds = _("Table (*.csv)") + ";;" + _("All files (*)")
            path = chosen or askForFile(self.ui.protocolComboBox, _("Protocol"), kinds)
            chosen = self._read(path) if path else self.model.parameters.protocol
        self.model.parameters.protocol = chosen
        self.show()

    def _read(self, path):
        """Return a new table node with the protocol of a file or example; the current one on failure."""
        try:
            return tableFromProtocol(readProtocol(Path(path)))
        except (InputError, OSError) as error:
            slicer.util.errorDisplay(str(error), _("The protocol cannot be used."))
            return self.model.parameters.protocol

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
        ui = self.ui
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
        self.removeObservers()
        if chosen is not None:
            self.addObserver(chosen, vtk.vtkCommand.ModifiedEvent, self.panel.onNews)

    def take(self, chosen) -> None:
        """Choose a table node or None, or make one of an example or a file, for which "" asks."""
        p = self.model.parameters
        if isinstance(chosen, str):
            kinds = _("Table (*.csv)") + ";;" + _("All files (*)")
            path, chosen = chosen or askForFile(self.ui.protocolComboBox, _("Protocol"), kinds), p.protocol
            try:
                chosen = tableFromProtocol(readProtocol(Path(path))) if path else chosen
            except (InputError, OSError) as error:
                slicer.util.errorDisplay(str(error), _("The protocol cannot be used."))
        p.protocol = chosen
        self.show()

"""The panel: what happens between choosing two segments and looking at where they differ."""

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib import explanations
from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import charts, folders, maps, outcomes
from SegmentMetricsLib.progress import Cancelled

from .freshness import SegmentWatcher
from .maps import MapControls
from .parameters import Mode, Plot, settingsOf
from .places import Places
from .plots import PlotPanel, releaseAllCharts
from .results import Results
from .selection import Inputs
from .work import LongWork


class Panel(VTKObservationMixin):
    """Connects the parts of the panel with each other and with the parameter node.

    ui: the widgets of SegmentMetrics.ui. logic: a SegmentMetricsLogic.
    """

    def __init__(self, ui, logic):
        super().__init__()
        self.ui, self.logic = ui, logic
        self.parameters = None
        self.guiTag = None
        self.outcome = None
        self.change = ""  # what happened to the compared segments since
        self.isBusy = False
        self.shown = None
        self.inputs = Inputs(ui)
        self.results = Results(ui, self.choosePair)
        self.plot = PlotPanel(ui.plotFrame.layout())
        self.map = MapControls(ui)
        self.places = Places(ui)
        self.watcher = SegmentWatcher(self.onSuspect)
        # writing to the parameter node may set off many events: what is shown follows once, right after
        self.refreshTimer = qt.QTimer()
        self.refreshTimer.setSingleShot(True)
        self.refreshTimer.setInterval(0)
        self.refreshTimer.connect("timeout()", self.refresh)
        ui.applyButton.connect("clicked(bool)", self.onApply)
        explain(ui)

    def setParameters(self, parameters) -> None:
        """Work with a parameter node, or with none while there is no scene to work with."""
        self.pause()
        self.parameters = parameters
        if parameters is None:
            self.watcher.stop()
            self.setOutcome(None)
            self.inputs.setParameters(None)
            self.results.show(None, 0)
            return
        self.inputs.setParameters(parameters)
        self.guiTag = parameters.connectGui(self.ui)
        self.addObserver(parameters, vtk.vtkCommand.ModifiedEvent, self.onParametersChanged)
        scene = slicer.mrmlScene
        if not self.hasObserver(scene, scene.NodeAboutToBeRemovedEvent, self.onNodeAboutToBeRemoved):
            self.addObserver(scene, scene.NodeAboutToBeRemovedEvent, self.onNodeAboutToBeRemoved)
        self.refresh()

    def pause(self) -> None:
        """Leave the scene alone until the panel is opened again; only changes of the segments are still noticed."""
        if self.guiTag is not None:
            self.parameters.disconnectGui(self.guiTag)
            self.guiTag = None
            self.removeObserver(self.parameters, vtk.vtkCommand.ModifiedEvent, self.onParametersChanged)
        self.refreshTimer.stop()

    def releaseScene(self) -> None:
        """Let go of the scene before it is closed."""
        self.setParameters(None)
        releaseAllCharts()

    def close(self) -> None:
        """Let go of everything, before the panel is deleted."""
        self.setParameters(None)
        self.removeObservers()

    # What changed?

    def onParametersChanged(self, _caller=None, _event=None) -> None:
        self.refreshTimer.start()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAboutToBeRemoved(self, _caller, _event, node) -> None:
        """Bring back the segments that a map covers when the user deletes it."""
        if not slicer.mrmlScene.IsBatchProcessing() and maps.isMap(node):
            isShown = node.GetDisplayNode() is not None and node.GetDisplayNode().GetVisibility()
            maps.uncover(node)
            if isShown and self.guiTag is not None:
                self.parameters.showMap = False

    def onSuspect(self, suspects) -> None:
        """Find out whether the compared segments really changed. suspects: IDs of those that may have, None for all."""
        if self.outcome is not None:
            self.change = self.outcome.change(suspects)
            self.refreshTimer.start()

    def staleness(self) -> str:
        """Return why the shown results are out of date, "" when they are not."""
        if self.outcome is None:
            return ""
        if self.change:
            return self.change
        p = self.parameters
        nodes = [self.outcome.node("reference"), self.outcome.node("test")]
        isOther = [p.reference, p.test] != nodes or self.outcome.isOfAll != (p.mode == Mode.allStructures)
        if not self.outcome.isOfAll and [(p.referenceSegment, p.testSegment)] != list(self.outcome.segments):
            isOther = True
        if isOther:
            return _("Something else is chosen now.")
        try:
            isSame = settingsOf(p) == self.outcome.settings
        except InputError:
            isSame = False
        return "" if isSame else _("The settings are different now.")

    def whyNot(self) -> str:
        """Return why Apply is disabled, "" when it is not."""
        if self.isBusy:
            return _("Measuring ...")
        problem = self.inputs.whyNot()
        if not problem:
            try:
                settingsOf(self.parameters)
            except InputError as error:
                problem = str(error)
        return problem

    # What is shown

    def refresh(self) -> None:
        """Show what the parameters say."""
        if self.guiTag is None or slicer.mrmlScene.IsBatchProcessing():
            return
        if self.parameters.result is not (self.outcome.table if self.outcome else None):
            # a scene was loaded, or the table was deleted
            self.setOutcome(outcomes.recall(self.parameters.result))
            self.change = self.outcome.change() if self.outcome else ""
        self.inputs.show()
        problem = self.whyNot()
        self.ui.applyButton.enabled = not problem
        self.ui.applyButton.toolTip = problem or _("Measure how the two differ.")
        stale = self.staleness()
        self.ui.staleLabel.text = _("Out of date: {reason} Apply to measure again.").format(reason=stale)
        self.ui.staleLabel.visible = bool(stale)
        self.watcher.watch(self._watched())
        self._present()
        if stale and self.parameters.autoUpdate and not problem:
            self.apply()

    def _watched(self) -> list:
        nodes = [self.parameters.reference, self.parameters.test]
        return nodes + ([self.outcome.node(side) for side in ("reference", "test")] if self.outcome else [])

    def _present(self) -> None:
        """Show the outcome: numbers, plot, map and places of the pair that is chosen."""
        p = self.parameters
        number = self.pairNumber()
        shown = (self.outcome, number, p.showMarkers)
        if shown != self.shown:  # tables keep what is selected in them unless there is something new
            self.shown = shown
            self.results.show(self.outcome, number)
            self.places.show(p, self.outcome, number)
        self.map.show(p, self.outcome, number)
        self.plot.show(self._chart(number), p)
        if self.map.problem:
            self.message(self.map.problem)

    def _chart(self, number: int):
        """Return the chart to show: of the pair, or of all where that is chosen; None when there is none."""
        outcome = self.outcome
        if outcome is None or not outcome.records:
            return None
        isOfAll = outcome.isOfAll and self.parameters.plot == Plot.cumulative
        pair = None if isOfAll else outcome.pair(number)
        chart = folders.findResult(pair, self.parameters.plot.name, slicer.mrmlScene)
        if outcome.shows(chart):
            return chart
        if outcome.comparisons is None or all(c.distances is None for c in outcome.comparisons):
            return None
        chosen = outcome.comparisons if isOfAll else outcome.comparisons[number]
        if not isOfAll and chosen.distances is None:
            return None
        show = charts.showCumulative if self.parameters.plot == Plot.cumulative else charts.showHistogram
        return outcome.mark(show(chosen))

    def pairNumber(self) -> int:
        """Return the number of the pair that is shown in detail."""
        last = len(self.outcome.records) - 1 if self.outcome else 0
        return max(0, min(self.parameters.shownPair, last))

    def choosePair(self, number: int) -> None:
        """Show one pair of many in detail."""
        self.parameters.shownPair = number

    def setOutcome(self, outcome) -> None:
        """Take over the results to show; None for none."""
        self.outcome = outcome
        self.change = ""
        self.shown = None

    def message(self, text: str) -> None:
        """Say something below the Apply button, nothing when it is empty."""
        self.ui.messageLabel.text = text
        self.ui.messageLabel.visible = bool(text)

    # Measuring

    def onApply(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply()

    def apply(self) -> bool:
        """Measure what is chosen and show the outcome. Returns whether that was possible; the panel says why not."""
        if self.whyNot():
            return False
        self.isBusy = True
        self.ui.applyButton.enabled = False
        try:
            with LongWork(_("Segment Metrics")) as work:
                outcome = self.logic.measure(self.parameters, work)
        except Cancelled as cancelled:
            self.message(str(cancelled))
            return False
        except InputError as error:
            self.message(str(error))
            return False
        finally:
            self.isBusy = False
            self.refreshTimer.start()
        self.setOutcome(outcome)
        with slicer.util.NodeModify(self.parameters.parameterNode):
            self.parameters.result = outcome.table
            self.parameters.shownPair = self.pairNumber()
        self.message("")
        self.refresh()
        return True


def explain(ui) -> None:
    """Give the settings their tool tips, from the registry."""
    for setting, names in {
        "tolerance": ("toleranceLabel", "toleranceSpinBox"),
        "percentile": ("percentileLabel", "percentileSpinBox"),
        "surface": ("surfaceLabel", "surfaceComboBox"),
        "subdivisions": ("subdivisionsLabel", "subdivisionsSpinBox"),
        "oversampling": ("oversamplingLabel", "oversamplingSpinBox"),
    }.items():
        for name in names:
            getattr(ui, name).toolTip = explanations.ofSetting(setting)
    for family in ("boundary", "signed", "overlap"):
        getattr(ui, f"{family}CheckBox").toolTip = explanations.ofFamily(family)

"""The panel: what happens between choosing two segments and looking at where they differ."""

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import folders, outcomes
from SegmentMetricsLib.mrml.leftovers import Leftovers

from .attempts import Attempts
from .choices import Choices
from .conventions import Conventions
from .freshness import SegmentWatcher, outOfDate, whyStale
from .hazard import HazardOverlay
from .maps import MapControls
from .markup import explain, explainAll
from .pairs import PairEditor
from .parameters import GuiConnection, settingsOf
from .places import Places
from .plots import PlotPanel, releaseAllCharts
from .protocols import ProtocolChooser, Verdicts, orderOf, versionOf
from .reports import Reports
from .results import Results
from .selection import Inputs
from .slices import Slices
from .work import waiting


class Panel(VTKObservationMixin):
    """Connects the parts of the panel with each other and with the parameter node.

    It is active, and follows the scene, between resume() and pause(); it is busy while one of its Attempts goes on.

    ui: the widgets of SegmentMetrics.ui. logic: a SegmentMetricsLogic. onLost: called when there shall be a parameter
    node again, because somebody deleted it.
    """

    def __init__(self, ui, logic, onLost):
        super().__init__()
        self.ui, self.logic, self.onLost = ui, logic, onLost
        explainAll(ui)  # before the parts keep or change them
        self.parameters = None
        self.connection = None  # None while the panel does not follow the parameter node
        self.outcome = None
        self.kept = None  # the outcome that was shown before nodes came from a file
        self.change = ""  # what happened to the compared segments since
        self.notice = ""  # what there is to say about the last attempt
        self.isBusy = False
        self.isNews = False  # whether anything has happened since the last attempt
        self.attempts = Attempts(self, logic)
        self.leftovers = Leftovers()
        self.shown = None
        self.inputs = Inputs(ui)
        self.pairs = PairEditor(ui, self.attempts.propose)
        self.choices = Choices(ui)
        self.protocols = ProtocolChooser(ui, self.onNews)
        self.results = Results(ui, self.choosePair)
        self.verdicts = Verdicts(ui)
        self.plot = PlotPanel(ui.plotFrame.layout())
        self.map = MapControls(ui, self.onMapShown, self.onMapRange)
        self.hazard = HazardOverlay(ui)
        self.places = Places(ui)
        self.slices = Slices(ui)
        self.conventions = Conventions(ui, self.attempts.compareTools)
        self.reports = Reports(ui, self.attempts.report)
        self.watcher = SegmentWatcher(self.onSuspect)
        # writing to the parameter node may set off many events: what is shown follows once, right after
        self.refreshTimer = qt.QTimer()
        self.refreshTimer.setSingleShot(True)
        self.refreshTimer.setInterval(0)
        self.refreshTimer.connect("timeout()", self.refresh)
        ui.applyButton.connect("clicked(bool)", self.attempts.onApply)

    # Following the scene, or not

    @property
    def isActive(self) -> bool:
        """Whether the panel follows its parameter node."""
        return self.connection is not None

    def setParameters(self, parameters) -> None:
        """Work with a parameter node, or with none while there is no scene to work with; resume() follows it."""
        self.pause()
        self.removeObservers()
        self.parameters = parameters
        self.inputs.setParameters(parameters)
        self.protocols.release()
        if parameters is None:
            self.choices.parameters = None
            self.watcher.stop()
            self.setOutcome(None)
            self.pairs.show(None)
            self.results.show(None, 0)
            self.verdicts.show(None, 0)
            self.slices.clear()
            self.map.release()
            self.hazard.release()
            self.conventions.clear()
            self.reports.show(self.inputs.whyNot())
            self.results.invite(False)
            self.ui.applyButton.enabled = False
            explain(self.ui.applyButton, self.inputs.whyNot())
            return
        # the node, not its wrapper: the wrapper would live as long as the observer
        self.addObserver(parameters.parameterNode, vtk.vtkCommand.ModifiedEvent, self.onNews)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.NodeAddedEvent, self.onNodeAdded)
        self.addObserver(scene, scene.NodeAboutToBeRemovedEvent, self.onNodeAboutToBeRemoved)

    def resume(self) -> None:
        """Follow the parameter node and the scene."""
        if not self.isActive:
            self.connection = GuiConnection(self.parameters, self.ui)
            self.watcher.setActive(not self.isBusy)
            self.inputs.setActive(True)
            self.refresh()

    def pause(self) -> None:
        """Leave the scene alone until resume(); changes of the segments are only remembered.

        What a script measures meanwhile is shown, but not followed. Who hides or shows a map by other means still gets
        the segments back that it covers.
        """
        if self.isActive:
            self.connection.end()
            self.connection = None
        self.inputs.setActive(False)
        self.watcher.setActive(False)
        self.refreshTimer.stop()

    def releaseScene(self) -> None:
        """Let go of the scene before it is closed, or gets nodes from a file, which takes no results away."""
        kept = None if slicer.mrmlScene.IsClosing() else self.outcome or self.kept
        self.close()
        self.kept = kept
        if slicer.mrmlScene.IsClosing():
            releaseAllCharts()

    def close(self) -> None:
        """Let go of everything, before the panel is deleted."""
        self.setParameters(None)
        self.kept = None
        self.leftovers.forget()
        for plot in (self.plot, self.slices.plot):
            plot.show(None)

    # What changed?

    def onNews(self, _caller=None, _event=None) -> None:
        """Show what is new, in a moment."""
        self.isNews = True
        if self.isActive:
            self._enableApply()  # at once, for scripts that do not wait
            self.refreshTimer.start()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAdded(self, _caller, _event, node) -> None:
        if not self.isActive:
            return
        if node.IsA("vtkMRMLSegmentationNode"):  # its segments come in a moment
            qt.QTimer.singleShot(0, self.inputs.chooseLikely)
        elif node.IsA("vtkMRMLTableNode"):  # its columns, too: it may be a protocol
            self.refreshTimer.start()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAboutToBeRemoved(self, _caller, _event, node) -> None:
        if slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsImporting():
            return
        if node is self.parameters.parameterNode:
            self.onParametersRemoved()
            return
        self.inputs.onRemoved(node)
        if node.GetAttribute(folders.ROLE_ATTRIBUTE):
            self.leftovers.note(node)
        if self.map.onRemoved(node) and self.isActive:
            self.parameters.showMap = False
        elif self.outcome is not None and node is self.outcome.table:
            self.setOutcome(None)  # all else that was made of it stays: it is the user's
        self.onNews()

    def onMapShown(self, isShown: bool) -> None:
        """Follow somebody who showed or hid the distance map by other means than the panel."""
        self.parameters.showMap = isShown

    def onMapRange(self, range: float) -> None:
        """Take over the range in mm that the user chose for the colors of the distance map."""
        if self.isActive:
            self.parameters.range = range

    def onParametersRemoved(self) -> None:
        """Work with new parameters when somebody deletes those that are shown."""
        wasActive = self.isActive
        self.setParameters(None)
        if wasActive:
            qt.QTimer.singleShot(0, self.onLost)

    def onSuspect(self, suspects) -> None:
        """Find out whether the compared segments really changed. suspects: IDs of those that may have, None for all."""
        if self.outcome is not None:
            # what is known to have changed has to be looked at again, too: it may be undone
            with waiting():
                self.change = self.outcome.change(None if self.change else suspects)
            self.onNews()
        elif self.isActive:
            self.refreshTimer.start()  # segments may have other names

    def staleness(self) -> str:
        """Return why the shown results are out of date, "" when they are not."""
        if self.outcome is None or self.parameters is None:
            return ""
        return self.change or whyStale(self.outcome, self.parameters)

    def whyNot(self) -> str:
        """Return why Apply is disabled, "" when it is not."""
        if self.isBusy:
            return _("Measuring ...")
        return self.inputs.whyNot() or self.whyNotSettings()

    def whyNotSettings(self) -> str:
        """Return what is wrong with the settings, "" when nothing is."""
        try:
            settingsOf(self.parameters)
            versionOf(self.parameters)
        except InputError as error:
            return str(error)
        return ""

    def whyNotReport(self) -> str:
        """Return why no report can be written, and nothing else kept of the results, "" when that can be done.

        What leaves the panel loses the remark that it is out of date.
        """
        if self.outcome is None or not self.outcome.records:
            return _("Press Apply first.")
        return (outOfDate() if self.staleness() else "") or self.whyNot()

    # What is shown

    def refresh(self) -> None:
        """Show what the parameters say, and measure again what is out of date where that is wanted."""
        if not self.isActive or self.isBusy or slicer.mrmlScene.IsBatchProcessing():
            return
        if self.isNews:
            self.notice = ""
        stale = self._show()
        isWanted = self.isNews and self.parameters.autoUpdate
        if stale and isWanted and not self.whyNot() and self._isSamePair():
            self.attempts.repeat()

    def _show(self) -> str:
        """Show what the parameters say, once; return why the results are out of date, "" when they are not."""
        self.leftovers.remove(slicer.mrmlScene)
        if self.parameters.result is not (self.outcome.table if self.outcome else None):
            self._recall()
        self.kept = None
        self.inputs.show()
        self.pairs.show(self.parameters)
        self.choices.show(self.parameters)
        self.protocols.show(self.parameters)
        problem = self._enableApply()
        stale = self.staleness()
        advice = "" if problem else _("Apply to measure again.")
        self.ui.staleLabel.text = _("Out of date: {reason}").format(reason=f"{stale} {advice}".strip())
        self.ui.staleLabel.visible = bool(stale)
        self.watcher.watch(self._watched())
        self._present(stale)
        return stale

    def _enableApply(self) -> str:
        """Enable Apply, or disable it and say why in its tool tip; return why."""
        problem = self.whyNot()
        self.ui.applyButton.enabled = not problem
        explain(self.ui.applyButton, problem or _("Measure how the two differ."))
        return problem

    def _recall(self) -> None:
        """Take over the results of a scene that was loaded, or let go of those whose table was deleted."""
        kept = self.kept
        try:
            outcome = outcomes.recall(self.parameters.result)
            isKept = None not in (kept, outcome) and (kept.table, kept.run) == (outcome.table, outcome.run)
            self.setOutcome(kept if isKept else outcome)
        except InputError as error:
            self.setOutcome(None)
            self.parameters.result = None
            self.notice = str(error)
            self.isNews = False
        with waiting():
            self.change = self.outcome.change() if self.outcome else ""

    def _isSamePair(self) -> bool:
        """Whether the shown results are of what is chosen: only that is measured again without being asked to."""
        p, outcome = self.parameters, self.outcome
        isSame = [p.reference, p.test] == [outcome.node("reference"), outcome.node("test")]
        return isSame and (outcome.isOfAll or (p.referenceSegment, p.testSegment) == tuple(outcome.segments[0]))

    def _watched(self) -> list:
        nodes = [self.parameters.reference, self.parameters.test]
        return nodes + ([self.outcome.node(side) for side in ("reference", "test")] if self.outcome else [])

    def _present(self, stale: str) -> None:
        """Show the outcome: numbers, plot, map and places of the pair that is chosen. stale: why it is out of date."""
        p = self.parameters
        number = self.pairNumber()
        shown = (self.outcome, number, p.showMarkers)
        if shown != self.shown:  # tables keep what is selected in them unless there is something new
            self.shown = shown
            self.results.show(self.outcome, number)
            self.verdicts.show(self.outcome, number)
            self.places.show(p, self.outcome, number)
        self.map.show(p, self.outcome, number)
        self.hazard.show(p, self.outcome, number)
        self.plot.showPair(p, self.outcome, number)
        self.slices.show(p, self.outcome, number)
        self.conventions.show(self.outcome, number, stale)
        problem = self.whyNotReport()
        self.reports.show(problem, self.outcome)
        self.results.enable(problem)
        self.verdicts.enable(problem)
        if self.outcome is None:
            self.results.invite(not self.whyNot())
        problems = (self.map.problem, self.hazard.problem, self.plot.problem)
        message = next(filter(None, (self.notice, self.whyNotSettings(), *problems)), "")
        self.ui.messageLabel.text = message
        self.ui.messageLabel.visible = bool(message)

    def pairNumber(self) -> int:
        """Return the number of the pair that is shown in detail."""
        last = len(self.outcome.records) - 1 if self.outcome else 0
        return max(0, min(self.parameters.shownPair, last))

    def choosePair(self, number: int) -> None:
        """Show one pair of many in detail."""
        if self.parameters:
            self.parameters.shownPair = number

    def setOutcome(self, outcome) -> None:
        """Take over the results to show; None for none."""
        self.outcome = outcome
        self.change = ""
        self.shown = None

    # Measuring

    def apply(self) -> bool:
        """Measure what is chosen and show the outcome. Returns whether that was possible; the panel says why not."""
        return self.attempts.apply()

    def compareTools(self) -> bool:
        """Compute what other tools would report for the pair that is shown. Returns whether that was possible."""
        return self.attempts.compareTools()

    def report(self, path) -> bool:
        """Write a report about what is chosen to a path. Returns whether that was possible; the panel says why not."""
        return self.attempts.report(path)

    def begin(self) -> None:
        """Leave all that is shown as it is, while an attempt goes on."""
        self.isBusy = True
        self.watcher.setActive(False)  # what changes meanwhile is looked at in the new outcome, not in the one before
        self._enableApply()

    def end(self) -> None:
        """Go on after an attempt, however it ended."""
        self.isBusy = False
        self.watcher.setActive(self.isActive)
        self.isNews = False  # the same attempt again would end in the same way
        self._enableApply()

    def take(self, outcome, isRepeated: bool) -> None:
        """Take over what was measured. isRepeated: whether nobody asked for it."""
        self.setOutcome(outcome)
        self.conventions.forget(outcome)
        with slicer.util.NodeModify(self.parameters.parameterNode):
            self.parameters.result = outcome.table
            isWorstFirst = outcome.isOfAll and outcome.judgment is not None and not isRepeated
            order = orderOf(outcome) if isWorstFirst else []
            self.parameters.shownPair = order[0] if order else self.pairNumber()

    def showOutcome(self) -> None:
        """Show what came out of an attempt, also of that of a script while another module is shown."""
        self.isNews = False
        if self.isActive:
            self.refresh()
        elif self.parameters is not None:
            self._show()

"""The panel: from choosing two segments to seeing where they differ."""

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import folders, outcomes
from SegmentMetricsLib.mrml.leftovers import Leftovers

from .attempts import Attempts
from .choices import Choices
from .conventions import Conventions
from .enumerations import MapSide
from .freshness import SegmentWatcher, outOfDate, whyStale
from .hazard import HazardOverlay
from .maps import MapControls
from .markup import explain, explainAll
from .pairs import PairEditor
from .parameters import GuiConnection, settingsOf, versionOf
from .places import Places
from .plots import PlotPanel, releaseAllCharts
from .protocols import ProtocolChooser, Verdicts, orderOf
from .reports import Reports
from .results import Results
from .selection import Inputs
from .slices import Slices
from .work import waiting


class Panel(VTKObservationMixin):
    """Connects the parts of the panel with each other and with the parameter node.

    The panel is active, and follows the scene, between resume() and pause(). It is busy while an attempt is running.

    ui: the widgets of SegmentMetrics.ui. logic: a SegmentMetricsLogic. onLost: called when the parameter node was
    deleted and a new one is needed.
    """

    def __init__(self, ui, logic, onLost):
        super().__init__()
        self.ui, self.logic, self.onLost = ui, logic, onLost
        explainAll(ui)  # before the parts below store or change tool tips
        self.parameters = None
        self.connection = None  # None while the panel does not follow the parameter node
        self.outcome = None
        self.kept = None  # the outcome that was shown before nodes were imported
        self.change = ""  # description of a change to the compared segments since they were measured
        self.notice = ""  # message about the last attempt
        self.isBusy = False
        self.isNews = False  # whether anything has changed since the last attempt
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
        self.places = Places(ui, self.colorSide)
        self.slices = Slices(ui)
        self.conventions = Conventions(ui, self.attempts.compareTools)
        self.reports = Reports(ui, self.attempts.report)
        self.watcher = SegmentWatcher(self.onSuspect)
        # writing to the parameter node may trigger many events: refresh once, right after them
        self.refreshTimer = qt.QTimer()
        self.refreshTimer.setSingleShot(True)
        self.refreshTimer.setInterval(0)
        self.refreshTimer.connect("timeout()", self.refresh)
        ui.applyButton.connect("clicked(bool)", self.attempts.onApply)

    # Following the scene

    @property
    def isActive(self) -> bool:
        """Whether the panel follows its parameter node."""
        return self.connection is not None

    def setParameters(self, parameters) -> None:
        """Use a parameter node, or None while no scene is available; resume() starts following it."""
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
        # observe the node, not its wrapper: the observer would keep the wrapper alive
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
        """Stop following the scene until resume(); changes to the segments are only recorded.

        Results of scripts are still shown, but not followed. Showing or hiding a map by other means still hides or
        restores the segments that it covers.
        """
        if self.isActive:
            self.connection.end()
            self.connection = None
        self.inputs.setActive(False)
        self.watcher.setActive(False)
        self.refreshTimer.stop()

    def releaseScene(self) -> None:
        """Release the scene before it is closed or nodes are imported; results are kept during an import."""
        kept = None if slicer.mrmlScene.IsClosing() else self.outcome or self.kept
        self.close()
        self.kept = kept
        if slicer.mrmlScene.IsClosing():
            releaseAllCharts()

    def close(self) -> None:
        """Release everything before the panel is deleted."""
        self.setParameters(None)
        self.kept = None
        self.leftovers.forget()
        for plot in (self.plot, self.slices.plot):
            plot.show(None)

    # Reacting to changes

    def onNews(self, _caller=None, _event=None) -> None:
        """Schedule a refresh."""
        self.isNews = True
        if self.isActive:
            self._enableApply()  # immediately, for scripts that do not wait for events
            self.refreshTimer.start()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAdded(self, _caller, _event, node) -> None:
        if not self.isActive:
            return
        if node.IsA("vtkMRMLSegmentationNode"):  # its segments are added after this event
            qt.QTimer.singleShot(0, self.inputs.chooseLikely)
        elif node.IsA("vtkMRMLTableNode"):  # so are its columns, which may make it a protocol
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
            self.setOutcome(None)  # the other result nodes stay: they belong to the user
        self.onNews()

    def onMapShown(self, isShown: bool) -> None:
        """Update the parameters after the distance map was shown or hidden outside the panel."""
        self.parameters.showMap = isShown

    def onMapRange(self, range: float) -> None:
        """Store the color range (mm) that the user chose for the distance map."""
        if self.isActive:
            self.parameters.range = range

    def onParametersRemoved(self) -> None:
        """Switch to a new parameter node when the current one is deleted."""
        wasActive = self.isActive
        self.setParameters(None)
        if wasActive:
            qt.QTimer.singleShot(0, self.onLost)

    def onSuspect(self, suspects) -> None:
        """Check whether the compared segments really changed.

        suspects: IDs of the segments that may have changed, None for all.
        """
        if self.outcome is not None:
            # check segments known to have changed again: the change may have been undone
            with waiting():
                self.change = self.outcome.change(None if self.change else suspects)
            self.onNews()
        elif self.isActive:
            self.refreshTimer.start()  # segments may have been renamed

    def staleness(self) -> str:
        """Return the reason why the shown results are out of date, or "" if they are not."""
        if self.outcome is None or self.parameters is None:
            return ""
        return self.change or whyStale(self.outcome, self.parameters)

    def whyNot(self) -> str:
        """Return the reason why Apply is disabled, or "" if it is enabled."""
        if self.isBusy:
            return _("Measuring ...")
        return self.inputs.whyNot() or self.whyNotSettings()

    def whyNotSettings(self) -> str:
        """Return the problem with the settings or the protocol, or "" if there is none."""
        try:
            settingsOf(self.parameters)
            versionOf(self.parameters)
        except InputError as error:
            return str(error)
        return ""

    def whyNotReport(self) -> str:
        """Return the reason why results cannot be reported, copied or exported, or "" if they can.

        Results that are out of date are not exported, because the warning about it would be lost.
        """
        if self.outcome is None or not self.outcome.records:
            return _("Press Apply first.")
        return (outOfDate() if self.staleness() else "") or self.whyNot()

    # Showing results

    def refresh(self) -> None:
        """Update the panel from the parameters, and repeat outdated measurements if automatic updates are on."""
        if not self.isActive or self.isBusy or slicer.mrmlScene.IsBatchProcessing():
            return
        if self.isNews:
            self.notice = ""
        stale = self._show()
        isWanted = self.isNews and self.parameters.autoUpdate
        if stale and isWanted and not self.whyNot() and self._isSamePair():
            self.attempts.repeat()

    def _show(self) -> str:
        """Update all parts of the panel; return the reason why results are out of date, or "" if they are not."""
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
        """Enable Apply, or disable it and give the reason in its tool tip; return the reason, or ""."""
        problem = self.whyNot()
        self.ui.applyButton.enabled = not problem
        explain(self.ui.applyButton, problem or _("Measure how the two differ."))
        return problem

    def _recall(self) -> None:
        """Load the results stored in the scene, or drop those whose table was deleted."""
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
        """Return whether the results belong to the chosen segments; only then may an automatic update repeat them."""
        p, outcome = self.parameters, self.outcome
        isSame = [p.reference, p.test] == [outcome.node("reference"), outcome.node("test")]
        return isSame and (outcome.isOfAll or (p.referenceSegment, p.testSegment) == tuple(outcome.segments[0]))

    def _watched(self) -> list:
        nodes = [self.parameters.reference, self.parameters.test]
        return nodes + ([self.outcome.node(side) for side in REFERENCE_AND_TEST] if self.outcome else [])

    def _present(self, stale: str) -> None:
        """Show the outcome: numbers, plot, map and places of the chosen pair.

        stale: the reason why it is out of date, or "".
        """
        p = self.parameters
        number = self.pairNumber()
        shown = (self.outcome, number, p.showMarkers)
        if shown != self.shown:  # unless results are new, tables keep their selection
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
        message = next(filter(None, (self.notice, self.inputs.mistake(), self.whyNotSettings(), *problems)), "")
        self.ui.messageLabel.text = message
        self.ui.messageLabel.visible = bool(message)

    def pairNumber(self) -> int:
        """Return the index of the pair that is shown in detail."""
        last = len(self.outcome.records) - 1 if self.outcome else 0
        return max(0, min(self.parameters.shownPair, last))

    def colorSide(self, side: str) -> None:
        """Color the surface of a side, unless it is colored already."""
        if self.parameters and side not in self.parameters.mapSide.sides:
            self.parameters.mapSide = MapSide[side]

    def choosePair(self, number: int) -> None:
        """Show the pair with this index in detail."""
        if self.parameters:
            self.parameters.shownPair = number

    def setOutcome(self, outcome) -> None:
        """Set the results to show, or None."""
        self.outcome = outcome
        self.change = ""
        self.shown = None

    # Measuring

    def apply(self) -> bool:
        """Run the chosen comparison and show its outcome. Returns True on success, else the panel shows the reason."""
        return self.attempts.apply()

    def compareTools(self) -> bool:
        """Compute the values that other tools would report for the shown pair. Returns True on success."""
        return self.attempts.compareTools()

    def report(self, path) -> bool:
        """Write a report on the results to a path. Returns True on success, else the panel shows the reason."""
        return self.attempts.report(path)

    def begin(self) -> None:
        """Freeze the panel while an attempt is running."""
        self.isBusy = True
        self.watcher.setActive(False)  # changes made meanwhile are checked against the new outcome, not the old one
        self._enableApply()

    def end(self) -> None:
        """Resume after an attempt, whether or not it succeeded."""
        self.isBusy = False
        self.watcher.setActive(self.isActive)
        self.isNews = False  # repeating the same attempt would have the same result
        self._enableApply()

    def take(self, outcome, isRepeated: bool) -> None:
        """Set a new outcome. isRepeated: whether it comes from an automatic update."""
        self.setOutcome(outcome)
        self.conventions.forget(outcome)
        with slicer.util.NodeModify(self.parameters.parameterNode):
            self.parameters.result = outcome.table
            isWorstFirst = outcome.isOfAll and outcome.judgment is not None and not isRepeated
            order = orderOf(outcome) if isWorstFirst else []
            self.parameters.shownPair = order[0] if order else self.pairNumber()

    def showOutcome(self) -> None:
        """Show the result of an attempt, including one by a script while another module is open."""
        self.isNews = False
        if self.isActive:
            self.refresh()
        elif self.parameters is not None:
            self._show()

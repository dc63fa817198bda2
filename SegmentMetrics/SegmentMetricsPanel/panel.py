"""The panel: from choosing two segments to seeing where they differ."""

from contextlib import nullcontext

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.mrml import folders, outcomes

from .attempts import Attempts
from .contents.following import advance, beginEdit
from .following import DELAY, Follower, allPlaces
from .markup import explainAll
from .model.panelmodel import OF_PAIRS, PanelModel
from .parameters import GuiConnection, parametersOf
from .scene import SlicerScene
from .views.conventions import ConventionsView
from .views.corners import CornersView
from .views.files import FilesView
from .views.focus import FocusView
from .views.heights import HeightsView
from .views.inputs import InputsView
from .views.layouts import LayoutView
from .views.maps import HazardView, MapView
from .views.observers import ObserverChoiceView, ObserversView
from .views.pages import PagesView
from .views.pairs import PairsView
from .views.places import LesionsView, PlacesView
from .views.plots import DistancePlotView, DoseView, SlicesView, releaseAllCharts
from .views.practice import PracticeView
from .views.protocols import ProtocolsView
from .views.results import ResultsView
from .views.settings import SettingsView
from .views.variation import VariationView
from .views.view import ExplainedButton, say
from .watching import DELAY as USUAL_DELAY
from .watching import SegmentWatcher
from .work import LongWork, offer, waiting

# The views by name, in the order in which they are shown: focus needs the maps, and the layout the plot.
VIEWS = {
    "inputs": InputsView,
    "observerChoice": ObserverChoiceView,
    "pairs": PairsView,
    "settings": SettingsView,
    "protocols": ProtocolsView,
    "results": ResultsView,
    "places": PlacesView,
    "lesions": LesionsView,
    "pages": PagesView,
    "observers": ObserversView,
    "map": MapView,
    "variation": VariationView,
    "focus": FocusView,
    "hazard": HazardView,
    "plot": DistancePlotView,
    "layout": LayoutView,
    "slices": SlicesView,
    "doses": DoseView,
    "conventions": ConventionsView,
    "practice": PracticeView,
    "corners": CornersView,
    "files": FilesView,
}


class Panel(VTKObservationMixin):
    """Connects the model with its views, the parameter node and the scene, and runs attempts.

    It is active, and follows the scene, between resume() and pause(). onLost: called when a new parameter node is
    needed.
    """

    def __init__(self, ui, logic, onLost):
        super().__init__()
        self.ui, self.logic, self.onLost = ui, logic, onLost
        explainAll(ui)  # before the views below store or change tool tips
        self.connection = None  # None while the panel does not follow the parameter node
        self.ahead = None  # the drawing that was computed last
        self.leftovers = folders.Leftovers()
        self.model = model = PanelModel(SlicerScene())
        self.attempts = attempts = Attempts(self)
        # for scripts
        self.apply, self.compareTools, self.report = attempts.apply, attempts.compareTools, attempts.report
        self.staleness = model.staleness
        self.follower = Follower(model, self.onFollowed, self.say)
        for name, kind in VIEWS.items():
            setattr(self, name, kind(self))
        self.views = [getattr(self, name) for name in VIEWS]
        self.heights = HeightsView(self)
        self.measureButton = ExplainedButton(ui.applyButton)
        ui.applyButton.connect("clicked(bool)", self.onApply)
        ui.notesButton.connect("clicked(bool)", lambda _checked=False: self.heights.show())
        self.watcher = SegmentWatcher(self.onSuspect, self.onEvent)
        # writing to the parameter node may trigger many events: refresh once, right after them
        self.refreshTimer = qt.QTimer()
        self.refreshTimer.setSingleShot(True)
        self.refreshTimer.setInterval(0)
        self.refreshTimer.connect("timeout()", self.refresh)
        model.onPairChosen = lambda: self.refreshTimer.start()

    # For scripts

    @property
    def parameters(self):
        """The parameter node, or None while no scene is available."""
        return self.model.parameters

    @property
    def outcome(self):
        return self.model.outcome

    # Following the scene

    @property
    def isActive(self) -> bool:
        return self.connection is not None

    def useNode(self, node) -> None:
        """Use a parameter node of the scene, or None while no scene is available; resume() starts following it."""
        parameters = parametersOf(node) if node is not None else None
        self.pause()
        self.removeObservers()
        self.model.setParameters(parameters)
        if parameters is None:
            self.watcher.stop()
            self.follower.stop()
            self.ahead = None
            for view in self.views:
                view.release()
                view.enable()
            self.enableApply()
            return
        self.practice.resume()
        self.watch()
        # observe the node, not its wrapper: the observer would keep the wrapper alive
        self.addObserver(parameters.parameterNode, vtk.vtkCommand.ModifiedEvent, self.onNews)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.NodeAddedEvent, self.onNodeAdded)
        self.addObserver(scene, scene.NodeAboutToBeRemovedEvent, self.onNodeAboutToBeRemoved)

    def resume(self) -> None:
        """Follow the parameter node and the scene."""
        if not self.isActive:
            self.connection = GuiConnection(self.parameters, self.ui)
            self.watch()
            self.inputs.setActive(True)
            self.focus.setActive(True)
            self.refresh()

    def pause(self) -> None:
        """Stop following the scene until resume(), but for edits that are followed, maps, and results of scripts."""
        if self.isActive:
            self.connection.end()
            self.connection = None
        self.inputs.setActive(False)
        self.focus.setActive(False)
        self.watch()
        self.refreshTimer.stop()

    def releaseScene(self) -> None:
        """Release the scene before it is closed or nodes are imported; results are kept during an import."""
        model, isClosing = self.model, bool(slicer.mrmlScene.IsClosing())
        kept = {name: one or model.kept.get(name) for name, one in model.outcomes.items()}
        model.scene.closedURL = slicer.mrmlScene.GetURL() if isClosing else None
        self.useNode(None)
        self.leftovers.forget()
        model.kept = {} if isClosing else kept
        if isClosing:
            model.framed = None
            releaseAllCharts()

    def close(self) -> None:
        """Release everything before the panel is deleted."""
        self.useNode(None)
        for view in (self.places, self.layout):
            view.close()

    # Reacting to changes

    def onApply(self, _checked=False) -> None:
        if "topology" in self.model.parameters.families:
            offer("scikit-image>=0.22", "skimage")
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply()

    def onObservedPair(self, row: int, column: int) -> None:
        pair = self.model.observers.segmentsOf(row, column)
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            if pair is not None:
                self.apply(pair=pair)

    def onNews(self, _caller=None, _event=None) -> None:
        """Schedule a refresh."""
        self.model.isNews = True
        if self.isActive:
            self.enableApply()  # immediately, for scripts that do not wait for events
            self.refreshTimer.start()
        elif self.parameters is not None:
            self.watch()  # a script may have switched following on or off
            isFollowing = self.model.isFollowing()
            if self.focus.isOutlined and not (isFollowing and self.model.editedSegment()):
                self.focus.showElsewhere()
            if not (isFollowing and self.model.isFollowable()):
                self.corners.show()  # no number of what is gone

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAdded(self, _caller, _event, node) -> None:
        kinds = ("vtkMRMLSegmentationNode", "vtkMRMLTableNode", "vtkMRMLScalarVolumeNode")
        if self.isActive and any(map(node.IsA, kinds)):
            # segments are added after this event, as are columns that make a table a protocol; a volume may be a dose
            qt.QTimer.singleShot(0, self.model.inputs.chooseLikely)
            self.refreshTimer.start()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def onNodeAboutToBeRemoved(self, _caller, _event, node) -> None:
        if slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsImporting():
            return
        if node is self.parameters.parameterNode:
            wasActive = self.isActive
            self.useNode(None)
            if wasActive:
                qt.QTimer.singleShot(0, self.onLost)
            return
        self.inputs.onRemoved(node)
        if node.GetAttribute(folders.ROLE_ATTRIBUTE):
            self.leftovers.note(node)
        if self.variation.onRemoved(node) and self.isActive:
            self.parameters.showVariation = False
        if self.map.onRemoved(node) and self.isActive:
            self.parameters.showMap = False
        for name, outcome in self.model.outcomes.items():
            if outcome is not None and node is outcome.table:
                self.model.setOutcome(None, name)  # the other result nodes stay: they belong to the user
        self.onNews()

    def onEvent(self) -> None:
        """Let nothing leave the panel until it is known whether the compared segments really changed."""
        if any(self.model.outcomes.values()) and not self.model.isBusy:
            self.model.isUnchecked = True
            with self.model.steady():  # while somebody draws, this comes with every stroke
                for view in self.views:
                    view.enable()

    def say(self, notice: str) -> None:
        self.model.notice = notice
        self._showMessage()

    def onSuspect(self, suspects) -> None:
        isFollowing = self.model.isFollowing()
        if any(self.model.outcomes.values()):
            with nullcontext() if isFollowing else waiting():  # the cursor must not flicker while somebody draws
                self.model.suspect(suspects)
            self.onNews()
        elif self.isActive:
            self.refreshTimer.start()  # segments may have been renamed
        if isFollowing:
            self.follower.request()

    # Following edits

    def onFollowed(self, request, found) -> None:
        """Show what the follower has found, or only record it while the reference is hidden."""
        model = self.model
        if model.isPracticing():
            self.practice.note(found["comparison"])
            return
        outcome = outcomes.keep(request, found["result"])
        self.conventions.forget(outcome)
        model.take(outcome, isRepeated=True)
        edit = model.edit()
        if edit is not None:
            self.parameters.edit = advance(edit, found["places"]).toText()
        model.notice = ""
        self.map.prepared, self.ahead = found["maps"], self._drawing()
        try:
            if self.isActive:
                self.showOutcome()
            else:
                self._showInViews()
        finally:
            self.map.prepared = {}

    def watch(self) -> None:
        """Let the watcher report changes while the panel is open or follows edits, then sooner."""
        isFollowing = self.model.isFollowing()
        self.watcher.timer.setInterval(DELAY if isFollowing else USUAL_DELAY)
        self.watcher.setActive((self.isActive or isFollowing) and not self.model.isBusy)

    def _beginEdit(self) -> None:
        """Begin to follow the shown pair, or forget the one before."""
        model, outcome = self.model, self.outcome
        if not model.isFollowing():
            self.follower.stop()
            if self.parameters.edit:
                self.parameters.edit = ""
        elif model.isFollowable() and model.edit() is None:
            record, known = model.record(), outcome.comparisons
            places = record.worstPlaces if known is None else allPlaces(known[model.number()])
            self.parameters.edit = beginEdit(model.pairKey(), record.measurements, places).toText()

    def _showInViews(self) -> None:
        """Update only what can be seen while another module is open; resume() does the rest."""
        self.model.isNews = False
        self.map.show()
        if self.model.areLesionsShown():
            self.lesions.show()
        self.focus.showEdited()
        self.places.showInViews()
        if self.layout.isShown:
            self.plot.show()
            self.layout.show()
        self.corners.show()

    # Showing

    def refresh(self) -> None:
        """Update the panel from the parameters, and repeat outdated measurements if automatic updates are on."""
        if not self.isActive or self.model.isBusy or slicer.mrmlScene.IsBatchProcessing():
            return
        if self.model.isNews:
            self.model.notice = ""
        with self.model.steady():
            self.show()
            self.refreshTimer.stop()  # what the panel itself has chosen meanwhile is shown
            isFirst = self.outcome is None and not self.follower.known
            if self.model.isFollowing() and (isFirst or self.model.changes[OF_PAIRS]):
                self.follower.request(isEdit=False)
        if self.model.isUpdateDue():
            with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
                self.apply(isRepeated=True)

    def show(self) -> None:
        model = self.model
        self.leftovers.remove(slicer.mrmlScene)
        if model.isPracticing() and (self.outcome is not None or self.parameters.result is not None):
            model.forgetResults()
        if model.due():
            with waiting():
                model.recall()
        model.kept = {}
        parameters = self.parameters
        self._drawAhead()
        if self.parameters is not parameters:  # the scene was closed meanwhile
            return
        self.enableApply()
        say(self.ui.staleLabel, model.staleText())
        watched = [node for one in model.outcomes.values() if one is not None for node in one.nodes]
        watched += [one.node for one in model.observers.candidates()] if model.observers.isChosen else []
        self.watcher.watch([parameters.reference, parameters.test, self.outcome and self.outcome.dose, *watched])
        self.watch()
        self._beginEdit()
        for view in self.views:
            view.show()
        self.map.prepared = {}
        for view in self.views:
            view.enable()
        self._showMessage()

    def _drawing(self) -> tuple:
        """Return what tells one drawing of the shown pair from another."""
        p = self.parameters
        return self.outcome, self.model.number(), p.showMap, p.mapSide, p.mapKind, p.mapSurface

    def _drawAhead(self) -> None:
        """Compute in a thread what the views will show of a pair, which takes seconds for a brain."""
        drawing, parameters = self._drawing(), self.parameters
        if drawing == self.ahead or self.outcome is None or self.outcome.comparisons is None or self.model.isBusy:
            return
        self.ahead = drawing
        if not self.outcome.records:
            return
        comparison, sides = self.outcome.comparisons[self.model.number()], self.map.missing()
        surface, kind = parameters.mapSurface.name, parameters.mapKind.name
        self.model.isBusy = True
        self.refreshTimer.stop()
        try:
            with LongWork(_("Segment Metrics"), lambda: self.parameters is parameters, keepsPart=False) as work:
                self.map.prepared = work.run(lambda: outcomes.drawAhead(comparison, sides, surface, kind))
        except (Cancelled, InputError):
            pass  # the views do without, and say why
        finally:
            self.model.isBusy = False
            if self.refreshTimer.isActive():  # somebody chose something else meanwhile
                self.model.forget()

    def _showMessage(self) -> None:
        say(self.ui.messageLabel, self.model.message(*[view.problem for view in self.views]))
        self.heights.show()

    def enableApply(self) -> None:
        self.measureButton.enable(self.model.whyNot())

    def showOutcome(self) -> None:
        self.model.isNews = False
        if self.isActive:
            self.refresh()
        elif self.parameters is not None:
            self.show()

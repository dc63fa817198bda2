"""Bringing the difference into sight: views that go there, with nothing but the compared two in them."""

from functools import reduce

import numpy as np
import qt
import slicer
import vtk

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.palettes import rgb
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import focus, maps, navigation
from SegmentMetricsLib.mrml.conversion import drawnSurface, pointsOf, withNormals
from SegmentMetricsLib.mrml.inputs import SegmentReader

from ..contents import observers
from ..contents.following import radiusOf
from ..work import waiting
from .view import View

# What stands in for a pair beside which all else is hidden.
OBSERVERS = "observers"


class FocusView(View):
    """Shows only the shown pair while the panel is open, isActive, and lets all views go to a new pair."""

    def __init__(self, panel):
        super().__init__(panel)
        self.isActive = False
        manager = slicer.app.layoutManager()
        if manager is not None:
            manager.connect("layoutChanged(int)", lambda _layout: qt.QTimer.singleShot(0, self.onLayout))
        self.isOutlined = False  # whether what is edited is shown as an outline while another module is open
        self.hiddenFor = None  # the pair beside which everything was hidden
        self.box = None  # around what is shown, its lowest and highest corner
        self.structures = None, {}  # those of a run and pair, by side; without the empty ones
        self.views = None  # where all views looked before they went to the first pair, and after they went to the last
        self.isBack = False  # whether they look again where they did before the first pair

    def setActive(self, isActive: bool) -> None:
        """Start or stop hiding what does not belong to the pair."""
        self.isActive = isActive
        if isActive:
            self.end()  # what was shown for drawing
        else:
            self.showElsewhere()

    def showElsewhere(self) -> None:
        """Put back what was hidden while another module is open, or show only what is edited if edits are followed."""
        scene, model, lines = slicer.mrmlScene, self.model, {}
        isChanging = scene.IsClosing() or scene.IsImporting()
        edited = model.editedSegment() if model.isFollowing() and not isChanging else None
        if edited is not None:  # else the editor would open on the first segmentation, such as a hidden reference
            focus.chooseInEditor(*edited, scene)
            qt.QTimer.singleShot(0, self.chooseEdited)
        self.isOutlined = edited is not None and model.parameters.focus
        isColored = model.areLesionsShown() or "reference" in _coloredSides()
        if self.isOutlined and model.hasPair() and not (model.isPracticing() or isColored):
            structures = self._structures(*self.pair)
            lines = {side: self._surfaceOf(one) for side, one in structures.items() if side == "reference"}
        self.end()
        if self.isOutlined:
            node, segment = edited
            self._hideOthers()
            focus.showOutlines({node.GetDisplayNode(): {segment: None}}, scene)
            focus.showLines(lines, scene, in2D=lines)

    def chooseEdited(self) -> None:
        """Choose again what is edited: an editor that was opened for the first time has taken the first segment."""
        edited = self.model.editedSegment() if self.model.isFollowing() and not self.isActive else None
        if edited is not None:
            focus.chooseInEditor(*edited, slicer.mrmlScene)

    def showEdited(self) -> None:
        """Show no line of the reference any more once a map colors it, as after the first stroke of an empty test."""
        if self.isOutlined and "reference" in _coloredSides():
            focus.removeLines(slicer.mrmlScene)

    def state(self) -> tuple:
        """Return what is to be drawn; an empty tuple where nothing is to be hidden."""
        p, observers = self.model.parameters, self.model.observers
        if p.focus and observers.isShown and self.model.outcome is None and observers.structure():
            return observers.outcome.run, observers.structure()["name"]
        if not (p.focus and self.model.hasPair()):
            return ()
        return *self.pair, _coloredSides(), self.model.areLesionsShown(), p.sliceContour, p.mapSurface

    def show(self) -> None:
        """Show the pair as chosen; to be called after its maps are shown."""
        if not self.isActive:
            return
        if self.model.hasPair() and (self.model.takeFraming() or (self.model.parameters.focus and self.isBack)):
            self._frame(*self.pair)
        super().show()

    def draw(self) -> None:
        wanted = self.state()
        if len(wanted) == 2:
            # only the chosen structure, as an outline of each observer in a color of its own
            outlines: dict = {}
            for number, (node, segment) in enumerate(self.model.observers.shownSegments()):
                if node is not None and segment:
                    color = rgb(observers.colorOfObserver(number))
                    outlines.setdefault(node.GetDisplayNode(), {})[segment] = color
            self.end()
            self._hideOthers()
            focus.showOutlines(outlines, slicer.mrmlScene)
            study = self.model.observers.outcome.study
            found = study[wanted[1]].structures if study is not None else ()
            self._showExtent([one for one in found if one is not None and not one.isEmpty])
            self.hiddenFor = OBSERVERS
            return
        if wanted:
            if self.hiddenFor == OBSERVERS:
                self.end()
            outcome, number, colored, areLesionsShown, isContour, _surface = wanted
            sides = REFERENCE_AND_TEST if areLesionsShown else colored if isContour else ()
            self._show(outcome, number, sides, isMapShown=bool(colored) or areLesionsShown)
            return
        isSwitchedOff = self.hiddenFor is not None and not self.model.parameters.focus
        self.end()
        if isSwitchedOff:  # all views look where they did before, unless somebody has moved one since
            if self._isUnmoved(navigation.viewState(slicer.mrmlScene)):
                navigation.setViewState(self.views[0], slicer.mrmlScene)
                self.isBack = True
            self.views = None

    def end(self) -> None:
        """Put back what was hidden."""
        self.shown, self.structures, self.hiddenFor, self.box = None, (None, {}), None, None
        self.removeObservers()
        focus.removeLines(slicer.mrmlScene)
        focus.restoreOthers(slicer.mrmlScene)

    def release(self) -> None:
        self.end()
        self.views, self.isBack = None, False

    def _show(self, outcome, number: int, colored, isMapShown: bool) -> None:
        lines = [side for side in REFERENCE_AND_TEST if side not in colored]
        wanted = lines if isMapShown else REFERENCE_AND_TEST
        with waiting():
            structures = self._structures(outcome, number)
            surfaces = {side: self._surfaceOf(structures[side]) for side in wanted if side in structures}
        if self.hiddenFor != self.model.pairKey():  # what the user shows beside a pair stays
            self._hideOthers()
            self.hiddenFor = self.model.pairKey()
        focus.showLines(surfaces, slicer.mrmlScene, in2D=lines, in3D=not isMapShown)
        self._showExtent(structures.values())
        focus.showPoint(None if self.model.areLesionsShown() else _worstPlace(outcome, number)[0], slicer.mrmlScene)

    def _showExtent(self, structures) -> None:
        """Let slice views without an image know where structures are."""
        self.box = boxAround(structures) if structures else None
        if self.box is not None:
            focus.showExtent(*self.box, slicer.mrmlScene)

    def _hideOthers(self) -> None:
        for display in focus.hideOthers(slicer.mrmlScene):
            if not self.hasObserver(display, vtk.vtkCommand.ModifiedEvent, self.onDisplay):
                self.addObserver(display, vtk.vtkCommand.ModifiedEvent, self.onDisplay)

    def onDisplay(self, display, _event) -> None:
        """What the user shows and hides again stays hidden."""
        focus.forgetIfShown(display)

    def _surfaceOf(self, structure):
        """Return the surface of a structure that is drawn, RAS."""
        return withNormals(drawnSurface(structure, "", structure.surface, self.model.parameters.mapSurface.name)[0])

    def _structures(self, outcome, number: int) -> dict:
        """Return the Structures of a pair by side, read again if they came with a scene; without the empty ones."""
        key = outcome.run, number
        if self.structures[0] != key:
            found = {}
            for side, identifier in zip(REFERENCE_AND_TEST, outcome.segments[number]):
                if outcome.comparisons is not None:
                    structure = getattr(outcome.comparisons[number], side)
                else:
                    reader, surface = SegmentReader(outcome.node(side)), outcome.settings.surface
                    try:
                        structure = reader.structure(identifier, surface, by="ID")
                    except InputError:  # it was removed; the panel says so
                        continue
                if not structure.isEmpty:
                    found[side] = structure
            self.structures = key, found
        return self.structures[1]

    def _frame(self, outcome, number: int) -> None:
        """Let all views go to the largest difference of a pair and show the whole pair around it."""
        with waiting():
            structures = self._structures(outcome, number).values()
            drawn = [pointsOf(self._surfaceOf(structure)) for structure in structures]
        if not structures:
            return
        low, high = boxAround(structures)
        place, normal, radius = _worstPlace(outcome, number)
        self.isBack = False
        before, points = navigation.viewState(slicer.mrmlScene), np.concatenate(drawn)
        # at the tip of a patch a slice may show nothing: through its middle it shows a contour
        patch = points[np.linalg.norm(points - place, axis=1) <= radius] if place is not None else []
        middle = patch.mean(axis=0) if len(patch) else place
        navigation.frame((low, high), middle, normal=normal, drawn=points, scene=slicer.mrmlScene)
        if self._isUnmoved(before):
            before = self.views[0]
        self.views = before, navigation.viewState(slicer.mrmlScene)

    def onLayout(self) -> None:
        """Let the views of a new layout go to the place, too, unless somebody has moved one since."""
        if not (self.isActive and self.shown):
            return
        if self.box is not None:
            focus.showExtent(*self.box, slicer.mrmlScene)
        if len(self.shown) > 2 and self.views is not None:
            first, last = self.views
            now = navigation.viewState(slicer.mrmlScene)
            known = now.keys() & last.keys()
            if not navigation.isSameView({k: now[k] for k in known}, {k: last[k] for k in known}):
                return
            self.views = first, now
            if known != now.keys():  # else all of them are there already, with the zoom that the user chose
                self._frame(*self.pair)
                self.views = {**now, **first}, self.views[1]

    def _isUnmoved(self, now: dict) -> bool:
        """Return whether nobody has looked elsewhere since all views went to a pair. now: where they look."""
        return self.views is not None and navigation.isSameView(self.views[1], now)


def _coloredSides() -> tuple[str, ...]:
    """Return the sides of the maps that are shown."""
    return tuple(maps.mapInformation(m)["side"] for m in maps.allMaps(slicer.mrmlScene) if maps.isShown(m))


def boxAround(structures) -> tuple:
    """Return the lowest and the highest corner of a box around structures, LPS mm."""
    boxes = [structure.box for structure in structures]
    return tuple(reduce(better, corners) for better, corners in zip((np.minimum, np.maximum), zip(*boxes)))


def _worstPlace(outcome, number: int) -> tuple:
    """Return the largest difference: place, normal, None without any, and radius of a disk as large as its patch."""
    places = outcome.records[number].worstPlaces
    if places:
        return places[0].position, places[0].normal, radiusOf(places[0])
    distances = outcome.comparisons[number].distances if outcome.comparisons is not None else None
    if distances is None:
        return None, None, 0.0
    directed = max((distances.referenceToTest, distances.testToReference), key=lambda each: each.largest)
    return (directed.largestPlace if directed.largest > 0 else None), None, 0.0

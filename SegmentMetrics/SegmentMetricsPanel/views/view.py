"""What all views have in common, and lists to choose from."""

from collections.abc import Mapping
from contextlib import contextmanager, nullcontext

import qt
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.base.errors import InputError

from ..markup import explain
from ..work import waiting


class View(VTKObservationMixin):
    """A part of the Panel. `problem` is the reason why what is wanted cannot be shown, or ""."""

    problem = ""
    shown = None  # what state() returned when it was drawn; None: it must be drawn again
    isDrawnEmpty = False  # whether draw() works without a scene, too, and then shows nothing

    def __init__(self, panel):
        super().__init__()
        self.panel, self.ui, self.model = panel, panel.ui, panel.model

    @property
    def pair(self) -> tuple:
        """The outcome and the number of its pair that is shown in detail."""
        return self.model.outcome, self.model.number()

    def state(self) -> tuple | None:
        """Return what tells one state of the view from another; None to draw it each time."""
        return None

    def show(self) -> None:
        """Draw the view if what is wanted has changed."""
        wanted = self.state()
        if wanted is None or wanted != self.shown:
            self.shown, self.problem = None, ""  # in case of an error
            self.draw()
            self.shown = wanted

    def draw(self) -> None:
        """Show what the model says."""

    def enable(self) -> None:
        """Enable what takes results out of the panel, or disable it and show the reason in a tool tip."""

    def release(self) -> None:
        """Let go of the scene, and show nothing of it."""
        self.shown, self.problem = None, ""
        self.removeObservers()
        if self.isDrawnEmpty:
            self.draw()

    def resultOf(self, outcome, owner, role: str, isThere, measured, make, lost: str, isQuick: bool = False):
        """Return the node of an outcome with a role, made if it is missing; None if it cannot be, which `problem` says.

        isThere: called with a node, returns whether it has its content, whose file may be missing from a loaded scene.
        measured: what make() is called with, None after the scene was loaded. lost: said then.
        """
        node = outcome.result(owner, role)
        if node is not None and isThere(node):
            return node
        if measured is None:
            self.problem = lost
            return None
        try:
            with nullcontext() if isQuick else waiting():
                return outcome.mark(make(measured))
        except InputError as error:
            self.problem = str(error)
            return None


class ExplainedButton:
    """A button whose tool tip, that of the .ui file, describes it or says why it is disabled."""

    def __init__(self, button):
        self.button, self.tip = button, button.accessibleDescription

    def enable(self, problem: str) -> None:
        self.button.enabled = not problem
        explain(self.button, problem or self.tip)


def say(label, text: str) -> None:
    """Show a text, and its label only if there is one."""
    label.text, label.visible = text, bool(text)


@contextmanager
def silent(widget):
    """Keep a widget from telling about changes: they are not the user's."""
    wasBlocked = widget.blockSignals(True)
    try:
        yield
    finally:
        widget.blockSignals(wasBlocked)


class ChoiceList:
    """A combo box whose entries may change. onChosen: called with the key of the entry that the user chose."""

    def __init__(self, box: qt.QComboBox, onChosen):
        self.box, self.onChosen, self.keys = box, onChosen, []
        box.connect("currentIndexChanged(int)", self.onIndex)

    def show(self, choices: Mapping, chosen) -> None:
        """List the texts by key, and show the chosen one; none for a key that is not listed."""
        self.keys, texts, box = list(choices), list(choices.values()), self.box
        with silent(box):
            if texts != [box.itemText(n) for n in range(box.count)]:
                box.clear()
                box.addItems(texts)
                widen(box)
            box.currentIndex = self.keys.index(chosen) if chosen in self.keys else -1

    def onIndex(self, index: int) -> None:
        if 0 <= index < len(self.keys):
            self.onChosen(self.keys[index])


def widen(box) -> None:
    """Make the list that a combo box opens wide enough for its entries, of which some differ at their ends only."""
    view = box.view()
    bar = view.verticalScrollBar().sizeHint.width()
    view.setMinimumWidth(view.sizeHintForColumn(0) + bar)
    view.setTextElideMode(qt.Qt.ElideMiddle)

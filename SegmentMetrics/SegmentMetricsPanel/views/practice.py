"""Practicing: the reference stays hidden until the user reveals it, and the work until then is recorded."""

import time

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import practice

from ..contents.following import mainKeys
from ..model.enumerations import Plot
from .view import ExplainedButton, View


class PracticeView(View):
    """The switch of the practice mode, and what can be done in it."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui, self.follower, self.start = self.ui, panel.follower, 0.0
        self.switch = ExplainedButton(ui.practiceCheckBox)
        ui.practiceCheckBox.connect("clicked(bool)", self.onSwitch)
        ui.revealButton.connect("clicked(bool)", self.onClicked)
        ui.editButton.connect("clicked(bool)", self.onEdit)

    def draw(self) -> None:
        p = self.model.parameters
        state = practice.practiceState(p.reference) if p is not None else ""
        self.ui.followCheckBox.visible = any(self.model.outcomes.values()) or bool(p and p.follow)
        self.ui.editButton.visible = self.model.isFollowing() and self.model.editedSegment() is not None
        self.ui.practiceCheckBox.checked = bool(state)
        self.ui.revealButton.visible = state == practice.HIDDEN
        self.ui.sessionButton.visible = state == practice.REVEALED and p.session is not None
        self.switch.enable("" if state else self._whyNot(p))

    def _whyNot(self, p) -> str:
        if p is None or p.reference is None:
            return _("Choose a reference segmentation.")
        if not self.model.isOnePair():
            return _("Practice with one structure: choose it in place of all structures.")
        if p.reference is p.test:
            return _("Practice with a test in another segmentation: hiding the reference would hide both.")
        return ""

    def onSwitch(self, isOn: bool) -> None:
        """Hide the reference and begin a session, or end it; the selectors may have changed a moment ago."""
        p = self.model.parameters
        if isOn and not self._whyNot(p):
            self.model.forgetResults()
            self.panel.show()  # first, because what was hidden beside the pair comes back
            p.session = None
            self.follower.stop()
            self._begin(())
            practice.setPractice(p.reference, practice.HIDDEN)
        elif not isOn and practice.practiceState(p.reference):
            self.follower.stop()
            practice.setPractice(p.reference, "")
        p.parameterNode.Modified()

    @staticmethod
    def onEdit(_checked=False) -> None:
        """Open Segment Editor; the panel, which is left, chooses in it what is edited."""
        slicer.util.selectModule("SegmentEditor")

    def onClicked(self, _checked=False) -> None:
        """Show the reference, measure the pair, and plot the session."""
        p = self.model.parameters
        self.follower.stop()
        practice.setPractice(p.reference, practice.REVEALED)
        if p.session is not None:
            p.plot = Plot.session
        self.panel.onApply()

    def resume(self) -> None:
        """Go on with the session of a scene that was loaded."""
        p, rows = self.model.parameters, []
        if p.session is not None and self.model.isPracticing():
            try:
                rows = practice.readSession(p.session)
            except InputError:  # somebody has changed the table: a new one is begun
                p.session = None
        self._begin(rows)

    def _begin(self, rows) -> None:
        """Begin a session, or go on after these rows of one, without the time since then."""
        seconds, strokes = rows[-1][:2] if rows else (0, 0)
        self.start, self.follower.strokes = time.monotonic() - seconds, int(strokes)

    def note(self, measurements) -> None:
        """Add what was measured now to the session's table."""
        p, keys = self.model.parameters, mainKeys(measurements)
        firsts = [next((key for key in keys if key.startswith(name)), None) for name in ("DSC", "HD", "NSD")]
        values = [measurements[key].value if key else float("nan") for key in firsts]
        row = [time.monotonic() - self.start, float(self.follower.strokes), *values]
        rows = practice.readSession(p.session) if p.session is not None else []
        p.session = practice.keepSession([*rows, row], p.session)

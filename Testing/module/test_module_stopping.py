"""Long work that is stopped, early or late, leaves nothing behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import scenework
import shapes
import slicer
from sayings import says
from tiers import rarely


class Stopper:
    """Stops long work at its n-th step, counted over everything that looks whether it is still wanted."""

    def __init__(self, monkeypatch):
        from SegmentMetricsPanel import work

        from SegmentMetricsLib.base import progress

        self.count, self.at = 0, 0
        real, report = progress.stoppable, work.LongWork.report
        monkeypatch.setattr(work, "stoppable", lambda isStopped: real(lambda: self.isDue() or isStopped()))

        def reported(longWork, number, count, text):
            if self.isDue():
                raise progress.Cancelled("stopped")
            report(longWork, number, count, text)

        monkeypatch.setattr(work.LongWork, "report", reported)

    def isDue(self) -> bool:
        self.count += 1
        return 0 < self.at <= self.count

    def stop(self, action, at: int):
        self.count, self.at = 0, at
        try:
            return action()
        finally:
            self.at = 0


ENDS = (0, "First"), (2, "Second")
NAMES = ("pair", "observers", "report", *rarely(["all", "tools", "proposals"]))  # some stop much as others do


def prepare(session, name: str):
    """Return one of the actions, for which everything is there."""
    panel, path = session.panel, Path(session.folder.name) / "report.html"
    mode = {"all": 1, "proposals": 1, "observers": 2}.get(name, 0)
    session.set(session.ui.modeComboBox, currentIndex=mode)
    if name == "all":
        session.set(session.parameters, protocol=scenework.protocol())
    if name in ("tools", "report"):
        session.apply()
    others = {"tools": panel.compareTools, "proposals": panel.attempts.propose, "report": lambda: panel.report(path)}
    return others.get(name, panel.apply)


@pytest.mark.parametrize("name", NAMES)
def testStoppedAtEveryStep(session, monkeypatch, name):
    """Wherever it is stopped, the scene and the user's nodes are what they were, and the next time it works."""
    scene = slicer.mrmlScene
    nodes = scenework.observers()
    scenework.choose(session, *nodes)
    action = prepare(session, name)
    session.settle(0.1)
    stopper = Stopper(monkeypatch)
    saved, told = saveState(session), set()
    at, done = 1, False
    while not done:
        done = bool(stopper.stop(action, at))
        if done:
            break
        session.settle(0.01)
        told.add(session.ui.messageLabel.text)
        assert saveState(session) == saved, at
        # later steps are more and more alike; the thorough profile of hypothesis takes each
        at += 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1 + at // 2
    assert at > 2, "there are steps to stop at"
    (stopped,) = map(says, told)
    session.settle(0.1)
    isPart = any(one is not None and one.wasStopped for one in session.panel.model.outcomes.values())
    assert not session.panel.model.isBusy and (session.ui.messageLabel.text == stopped) == isPart
    assert scene.GetNumberOfNodes() >= len(saved["nodes"])


def testFinishedStructuresAreKept(session, monkeypatch):
    """Wherever a comparison of all structures is stopped, what is finished is shown, with what is missing."""
    nodes = [scenework.segmentation(n, **{s: shapes.box((6 + k, 5, 5), (15, 11, 12)) for s in "ABC"}) for k, n in ENDS]
    session.parameters.reference, session.parameters.test = nodes
    action, stopper, counts, told = prepare(session, "all"), Stopper(monkeypatch), [], {}
    assert stopper.stop(action, 0)
    complete = session.panel.outcome
    for at in range(stopper.count // 4, stopper.count, 1 + stopper.count // 8):
        session.parameters.follow = True
        before = session.panel.outcome
        if not stopper.stop(action, at):
            assert session.panel.outcome is before
            continue
        session.settle(0.05)
        outcome, number = session.panel.outcome, len(session.panel.outcome.records)
        if not outcome.comparisons.wasStopped:
            continue
        counts.append(number)
        assert not session.panel.staleness() and not session.parameters.follow
        assert [r.measurements for r in outcome.records] == [r.measurements for r in complete.records[:number]]
        told[number] = session.ui.messageLabel.text, session.ui.findingsLabel.text
        verdicts = [each["verdict"] for each in outcome.judgment["structures"]]
        assert verdicts[number:3] == (3 - number) * ["not evaluable"] and outcome.judgment["verdict"] != "pass"
    assert set(counts) == {1, 2}
    for number, (message, text) in sorted(told.items()):
        says(message)
        says("\n".join(text.split("<br>")[:2]), f"{number} of 3", f"{', '.join('ABC'[number:])}: ")
    before, session.parameters.follow = session.panel.outcome, True
    assert not stopper.stop(lambda: session.panel.apply(isRepeated=True), at // 2)
    assert session.panel.outcome is before, "after an automatic update, what was there before stays"
    assert not session.parameters.follow, "and nothing is measured again without being asked"


@pytest.mark.parametrize("name", NAMES)
def testTheSceneIsClosedMeanwhile(session, monkeypatch, name):
    """The panel works with the next scene, whatever it did when a script closed the one before."""
    import qt
    from SegmentMetricsPanel import work

    scenework.choose(session, *scenework.observers())
    action = prepare(session, name)
    session.settle(0.1)
    monkeypatch.setattr(work, "PATIENCE", 0)
    run = work.LongWork.run

    def runLong(self, function):
        """Run a calculation that takes so long that events are processed meanwhile, however quick the computer is."""
        return run(self, lambda: (time.sleep(10 * work.INTERVAL), function())[1])

    monkeypatch.setattr(work.LongWork, "run", runLong)
    qt.QTimer.singleShot(0, lambda: slicer.mrmlScene.Clear(0))
    before = session.parameters
    assert not action() and session.parameters is not before
    session.settle(0.1)
    panel = session.panel
    assert panel.model.inputs.parameters is panel.parameters is not None and panel.isActive and not panel.model.isBusy
    panel.ui.advancedGroupBox.collapsed = False
    box = panel.settings.boxes["agreement"]
    box.click()
    session.settle(0.1)
    assert "agreement" in session.parameters.families and box.checked
    scenework.choose(session, *scenework.observers())
    session.apply()
    assert "ACC" in panel.outcome.records[0].measurements


def saveState(session) -> dict:
    """What stopped work must leave alone."""
    return {
        "nodes": sorted(node.GetID() for node in slicer.mrmlScene.GetNodes()),
        "outcome": session.panel.outcome,
        "result": session.parameters.result,
        "pairs": list(session.parameters.pairs),
        "files": sorted(path.name for path in Path(session.folder.name).iterdir()),
        "observers": scenework.observedNow(session),
        "segmentations": [node.GetSegmentation().GetMTime() for node in session.nodes if node is not None],
    }


def testQuittingDoesNotWaitForWork(desktop, session, monkeypatch):
    """The application was told to quit by a script, while a comparison is running: that is stopped first."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from SegmentMetricsPanel import work

    from SegmentMetricsLib.base import progress

    monkeypatch.setattr(work, "PATIENCE", 0.0)
    stopped, deadline = [], time.monotonic() + 20

    def endless():
        while time.monotonic() < deadline:
            progress.checkpoint()

    def begin():
        QTimer.singleShot(20, lambda: QApplication.exit(0))
        try:
            with work.LongWork("Work") as longWork:
                assert longWork.run(lambda: "done") == "done"
                longWork.run(endless)
        except progress.Cancelled:
            stopped.append(longWork)

    QTimer.singleShot(0, begin)
    QApplication.exec()
    assert stopped and time.monotonic() < deadline

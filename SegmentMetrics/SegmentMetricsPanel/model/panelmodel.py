"""The panel without its widgets: what is chosen, what is out of date, what is shown, and what is possible and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.protocol import exampleNames
from SegmentMetricsLib.case.protocol.protocol import Protocol
from SegmentMetricsLib.case.request import Request
from SegmentMetricsLib.settings.settings import Settings

from ..contents import observers, results
from ..contents.following import Edit
from ..contents.verdicts import orderOfRows
from ..translation import _
from . import chosensettings
from .editedpairs import choicesOf, proposalsOf
from .enumerations import Mode
from .inputs import Inputs
from .observing import OF_OBSERVERS, Observers

# The parameter with the table of what is shown of pairs.
OF_PAIRS = "result"


class Chosen(NamedTuple):
    """What is chosen. problem: what is wrong with the settings or the protocol, which are then None; else ""."""

    settings: Settings | None = None
    protocol: Protocol | None = None
    problem: str = ""


class PanelModel:
    """All that the panel knows and decides.

    scene: a SlicerScene, or what stands for one; its nodes are only handed through. parameters: a
    SegmentMetricsParameterNode; None while there is no scene. outcomes: the results that are shown, of pairs and of
    several observers, by the parameter with their table. changes: sentences about a change to the segments since then;
    isUnchecked: whether there may be one. notice: about the last attempt. isNews: whether anything has changed since.
    """

    def __init__(self, scene):
        self.scene = scene
        self.outcomes = {OF_PAIRS: None, OF_OBSERVERS: None}
        self.changes = dict.fromkeys(self.outcomes, "")
        self.kept = {}  # the outcomes that were shown before nodes were imported
        self.inputs = Inputs(scene)
        self.observers = Observers(scene, self.outcomes)
        self.parameters = None
        self.isUnchecked = False
        self.notice = ""
        self.isBusy = False
        self.isNews = False
        self.onPairChosen = lambda: None
        self.framed = None  # the pair that the views went to last
        self.isFramingDue = False
        self.isSteady = False
        self.areAllDoses = False  # whether volumes that do not say so are listed as doses
        self.forget()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Look up once what is chosen, and whether results are out of date: within this block, only the panel acts."""
        wasSteady, self.isSteady = self.isSteady, True
        try:
            yield
        finally:
            self.isSteady = wasSteady
            if not wasSteady:
                self.forget()

    def forget(self) -> None:
        """Look up anew what is chosen, and whether results are out of date."""
        self._chosen: Chosen | None = None
        self._stale: str | None = None

    def setParameters(self, parameters) -> None:
        self.parameters = parameters
        self.forget()
        self.observers.parameters = parameters
        self.inputs.setParameters(parameters)
        for name in self.outcomes if parameters is None else ():
            self.setOutcome(None, name)

    # Settings

    def readSettings(self) -> Chosen:
        """Return the chosen settings and protocol, or what is wrong with them, such as in a row of the protocol."""
        found, table = self._chosen, self.parameters.protocol
        if found is None:
            try:
                protocol = self.scene.protocol(table) if table is not None else None
                found = Chosen(chosensettings.settingsOf(self.parameters, self.scene), protocol)
            except InputError as error:
                found = Chosen(problem=str(error))
            self._chosen = found if self.isSteady else None
        return found

    def request(self, isOfPair: bool = False, shown=None) -> Request:
        """Return the Request for what is chosen, or for the pair of observers. Raises InputError if it cannot be used.

        shown: an Outcome that is measured again, with its settings and its dose.
        """
        p = self.parameters
        if shown is not None:
            protocol = self.scene.protocol(p.protocol) if p.protocol is not None else None
            settings, dose = shown.settings, shown.dose
        else:
            settings, protocol, problem = self.readSettings()
            dose = p.dose
            if problem:
                raise InputError(problem)
        if p.mode == Mode.severalObservers and not (isOfPair or shown):
            observers, tests = (self.observers.segmentsInRole(role) for role in ("observer", "test"))
            return Request([*observers, *tests], settings, observers=len(observers), consensus=p.consensus.method)
        if p.mode != Mode.allStructures:
            compared = [(p.reference, p.referenceSegment), (p.test, p.testSegment)]
            return Request(compared, settings, protocol, dose)
        compared, pairs = [(p.reference, ""), (p.test, "")], (choicesOf(p, self.scene), proposalsOf(p, self.scene))
        return Request(compared, settings, protocol, dose, *pairs)

    def protocolChoices(self) -> dict:
        """Return the texts for the choice of a protocol, by None, tables, names of examples, and "" for a file."""
        tables, examples = list(self.scene.protocols()), exampleNames()
        if self.parameters.protocol not in (None, *tables):
            tables.append(self.parameters.protocol)  # keep it in the list even if its headings are wrong
        choices = {None: _("None"), **{table: self.scene.name(table) for table in tables}}
        choices |= {name: _("Example: {name}").format(name=name) for name in examples}
        return {**choices, "": _("From a file...")}

    def doseChoices(self) -> dict:
        """Return the texts for the choice of a dose, by volume; None is for none, and "" for any, such as the CT."""
        volumes = self.scene.doses()
        isSaid = {**volumes, self.parameters.dose: volumes.get(self.parameters.dose, False)}
        isSaid.pop(None, None)
        listed = [one for one in isSaid if isSaid[one] or self.areAllDoses or one is self.parameters.dose]
        texts = {True: "{name}", False: _("{name}, taken to be in Gy")}
        listed.sort(key=lambda volume: not isSaid[volume])
        choices = {None: _("None"), **{one: texts[isSaid[one]].format(name=self.scene.name(one)) for one in listed}}
        return choices if len(listed) == len(isSaid) else {**choices, "": _("Another volume...")}

    def chooseDose(self, volume) -> None:
        """Choose the dose, or None, and with it its family; for "" list volumes that do not say that they are one."""
        if volume == "":
            self.areAllDoses = True
            self.onPairChosen()
            return
        p, others = self.parameters, [family for family in self.parameters.families if family != "dose"]
        with self.scene.oneChange(p):
            p.dose = volume
            p.families = others if volume is None else [*others, "dose"]

    def setCriticals(self, chosen: Sequence[str], offered: Sequence[str]) -> None:
        """Choose some of the offered critical structures; names of other references are kept."""
        others = [name for name in self.parameters.critical if name not in offered]
        self.parameters.critical = [*chosen, *others]

    # Results

    @property
    def outcome(self):
        """The results of one or many pairs, None if there are none."""
        return self.outcomes[OF_PAIRS]

    def setOutcome(self, outcome, name: str = OF_PAIRS) -> None:
        self.outcomes[name], self.changes[name] = outcome, ""
        self.isUnchecked, self._stale = False, None

    def due(self) -> list[str]:
        """Return the parameters whose tables hold other results than those that are shown."""
        shown = {name: one.table if one is not None else None for name, one in self.outcomes.items()}
        return [name for name, table in shown.items() if getattr(self.parameters, name) is not table]

    def recall(self) -> None:
        """Load the results stored in the scene, or drop those whose table was deleted."""
        for name in self.due():
            kept, found = self.kept.get(name), None
            try:
                found = self.scene.recall(getattr(self.parameters, name))
            except InputError as error:
                setattr(self.parameters, name, None)
                self.notice, self.isNews = str(error), False
            isKept = None not in (kept, found) and (kept.table, kept.run) == (found.table, found.run)
            self.setOutcome(kept if isKept else found, name)
        self.suspect(None)
        self.framed = self.pairKey() or self.framed  # a scene brings its views along

    def take(self, outcome, isRepeated: bool) -> None:
        """Show a new outcome. isRepeated: whether it comes from an automatic update, which keeps the shown pair."""
        self.setOutcome(outcome)
        with self.scene.oneChange(self.parameters):
            self.parameters.result = outcome.table
            order = orderOfRows(outcome) if outcome.isOfAll and not isRepeated else []
            self.parameters.shownPair = next((n for n in order if n < len(outcome.records)), self.number())
        self.isFramingDue = not isRepeated and self.pairKey() != self.framed

    def takeObserved(self, outcome) -> None:
        """Show a new outcome of several observers, and no pair of it."""
        p, before = self.parameters, self.observers.outcome
        names = [[one["name"] for one in each.content["structures"]] for each in (before, outcome) if each is not None]
        if names[0] != names[-1] or before is None:
            p.observedStructure = ""  # of other structures, that with the largest disagreement
        with self.scene.oneChange(p):
            p.observersResult, p.result = outcome.table, None
        self.setOutcome(outcome, OF_OBSERVERS)
        self.setOutcome(None)

    def number(self) -> int:
        """Return the index of the pair that is shown in detail."""
        last = len(self.outcome.records) - 1 if self.outcome else 0
        return max(0, min(self.parameters.shownPair, last)) if self.parameters else 0

    def record(self):
        """Return the Comparison of the pair that is shown in detail, or None."""
        return self.outcome.records[self.number()] if self.outcome is not None and self.outcome.records else None

    def areLesionsShown(self) -> bool:
        p, record = self.parameters, self.record()
        return record is not None and bool(record.lesions) and p.showLesions and not p.showMap

    def showPair(self, number: int) -> None:
        """Show the pair with this index in detail, if all structures were compared; do nothing if there is none."""
        if self.parameters and self.outcome and self.outcome.isOfAll and number < len(self.outcome.records):
            self.parameters.shownPair = number
            self.isFramingDue = True
            self.onPairChosen()

    def takeFraming(self) -> bool:
        """Return whether the views are to go to the shown pair: once when it is new, or when the user chose it."""
        isDue, self.isFramingDue = self.isFramingDue, False
        if isDue:
            self.framed = self.pairKey()
        return isDue

    def pairKey(self) -> tuple | None:
        """Return what tells the shown pair from others in the scene: its nodes' IDs and its segments' IDs."""
        if self.record() is None:
            return None
        pair = self.outcome.pair(self.number())
        return tuple((side.nodeID, side.segmentID) for side in (pair.reference, pair.test))

    def remark(self, side: str) -> str:
        """Return a sentence if the surface of a side is not the one that the map colors, or ""."""
        p = self.parameters
        if p is None or not p.showMap or side in p.mapSide.sides:
            return ""
        ofTest = _("This place is on the test; the map colors the reference.")
        return ofTest if side == "test" else _("This place is on the reference; the map colors the test.")

    # Whether results are out of date

    def suspect(self, segments: set[str] | None) -> None:
        """Check whether compared segments really changed. segments: IDs of those that may have, None for all."""
        for name, outcome in self.outcomes.items():
            # check segments known to have changed again: the change may have been undone
            self.changes[name] = outcome.change(None if self.changes[name] else segments) if outcome is not None else ""
        self.isUnchecked, self._stale = False, None

    def stale(self) -> str:
        found = self.staleness() if self._stale is None else self._stale
        self._stale = found if self.isSteady else None
        return found

    def staleness(self) -> str:
        """Find out why the shown results are out of date; "" if they are not."""
        if self.parameters is None:
            return ""
        isObserved = self.observers.isChosen
        if isObserved and self.observers.outcome is None:
            return "" if self.outcome is None else self._whose()
        return (isObserved and self._difference(OF_OBSERVERS)) or self._difference(OF_PAIRS)

    def _difference(self, name: str) -> str:
        """Return the reason why an outcome does not match the segments and the current choices, or "" if it does."""
        p, outcome = self.parameters, self.outcomes[name]
        if outcome is None or self.changes[name]:
            return self.changes[name]
        if None in outcome.nodes:
            return _("A compared segmentation was removed.")
        isOfPairs, chosen = name == OF_PAIRS, self.readSettings()
        if isOfPairs and outcome.isOfAll != (p.mode == Mode.allStructures):
            return self._whose()
        if not self._isSameChoice(outcome):
            return _("The selection has changed.")
        if isOfPairs and outcome.isOfAll and choicesOf(p, self.scene) != outcome.choices:
            return _("The pairs have changed.")
        if isOfPairs and p.dose is not outcome.dose:
            return _("Another dose is chosen.")
        if isOfPairs:
            isSame = (chosen.protocol and chosen.protocol.version) == (outcome.judgment or {}).get("version")
        else:
            isSame = p.consensus.method == outcome.method
        return "" if isSame and chosen.settings == outcome.settings else _("The settings have changed.")

    def _whose(self) -> str:
        """Return a sentence that says of what the shown results of pairs are."""
        name = _("all structures") if self.outcome.isOfAll else self.outcome.records[0].name
        return _("These are the results of {name}.").format(name=name)

    def _isSameChoice(self, outcome) -> bool:
        """Return whether results belong to the chosen segments, or segmentations."""
        p, compared = self.parameters, list(zip(outcome.nodes, outcome.given))
        if outcome is self.observers.outcome:
            count = len(outcome.content["observers"])
            roles = {"observer": compared[:count], "test": compared[count:]}
            return all(set(self.observers.segmentsInRole(role)) == set(some) for role, some in roles.items())
        segments = ("", "") if outcome.isOfAll else (p.referenceSegment, p.testSegment)
        return compared == list(zip((p.reference, p.test), segments))

    def staleText(self) -> str:
        """Return a sentence that the results are out of date, and what to do, or "" if they are not."""
        stale, advice = self.stale(), "" if self.whyNot() else _("Apply to measure again.")
        return _("Out of date: {reason}").format(reason=f"{stale} {advice}".strip()) if stale else ""

    def observedPair(self) -> tuple[int, int] | None:
        """Return the row and column of the shown pair in the observers' matrix, None if none of its pairs is shown."""
        if not self.observers.isShown or self.record() is None:
            return None
        everyone, pair = self.observers.shownSegments(), list(zip(self.outcome.nodes, self.outcome.segments[0]))
        return tuple(map(everyone.index, pair)) if set(map(everyone.count, pair)) == {1} else None

    def isUpdateDue(self) -> bool:
        """Return whether to measure again without being asked: only what is shown, and once after each change."""
        isFollowed = self.isFollowing() and self.isFollowable() and bool(self.changes[OF_PAIRS])
        isWanted = self.isNews and self.parameters.follow and bool(self.stale()) and not isFollowed
        if not isWanted or self.whyNot():
            return False
        outcome = self.observers.outcome if self.observers.isChosen else self.outcome
        return outcome is not None and self._isSameChoice(outcome)

    # Following edits

    def isFollowing(self) -> bool:
        """Return whether edits are measured in the background, also while another module is open."""
        return self.parameters is not None and (self.parameters.follow or self.isPracticing())

    def hasPair(self) -> bool:
        """Return whether results are shown of segmentations that are in the scene."""
        return self.record() is not None and None not in self.outcome.nodes

    def isFollowable(self) -> bool:
        """Return whether the shown results belong to what is chosen, so that edits of it can be measured."""
        outcome = self.outcome
        isThere = self.hasPair() and self.editedSegment() is not None and outcome.isOfAll != self.isOnePair()
        return isThere and self._isSameChoice(outcome) and (not outcome.isOfAll or outcome.comparisons is not None)

    def editedSegment(self) -> tuple | None:
        """Return the segmentation and the segment ID of the test, which is edited; None if there is none."""
        p = self.parameters
        if p is None or None in (p.reference, p.test):
            return None
        segment = p.testSegment
        if not self.isOnePair():
            segment = self.outcome.segments[self.number()][1] if self.record() is not None else ""
        return (p.test, segment) if segment in self.scene.segments(p.test) else None

    def isOnePair(self) -> bool:
        return self.parameters.mode == Mode.onePair

    def edit(self) -> Edit | None:
        """Return the Edit of the pair that is followed, None if no pair is."""
        if not self.isFollowing() or self.record() is None:
            return None
        found = Edit.fromText(self.parameters.edit)
        return found if found is not None and found.pair == self.pairKey() else None

    def forgetResults(self) -> None:
        """Show no results any more; their nodes stay in the scene."""
        self.setOutcome(None)
        with self.scene.oneChange(self.parameters):
            self.parameters.result, self.parameters.edit = None, ""

    def isPracticing(self) -> bool:
        """Return whether the chosen reference is hidden until it is revealed, and with it all that is measured."""
        return self.parameters is not None and self.scene.practiceState(self.parameters.reference) == "hidden"

    # What is possible, and why not

    def whyNot(self) -> str:
        """Return the reason why nothing can be measured, or "" if Apply is enabled."""
        p = self.parameters
        if self.isBusy:
            return _("Measuring ...")
        if p is not None and p.mode == Mode.severalObservers:
            return self.observers.whyNot() or self.readSettings().problem
        if self.isPracticing():
            return _("The reference is hidden for practice. Press Reveal to see how your contour compares.")
        return self.inputs.whyNot() or self.readSettings().problem

    def whyNotReport(self) -> str:
        """Return why nothing is exported, such as that it is out of date, which no file would say; "" if it can be."""
        return _("Press Apply first.") if self.record() is None else self.outOfDate() or self.whyNot()

    def whyNotTools(self) -> str:
        return self._whyNotSurfaces(None if self.record() is None else [self.outcome.comparisons])

    def whyNotObserverFiles(self) -> str:
        return self._whyNotSurfaces(self.observers.outcome and [self.observers.outcome.study])

    def _whyNotSurfaces(self, measured: list | None) -> str:
        """Return why nothing is made of surfaces, "" if it can be. measured: what has them, None without results."""
        lost = _("Press Apply again first: a scene keeps the numbers, but not the surfaces that they were measured on.")
        if measured is None:
            return _("Press Apply first.")
        return self.outOfDate() or (lost if None in measured else "")

    def outOfDate(self) -> str:
        """Return the reason why actions on results that are out of date are disabled, or "" if they are not."""
        if self.stale():
            return _("The results are out of date. Press Apply again.")
        return _("The segments may have changed.") if self.isUnchecked else ""

    # What is said

    def summary(self) -> str:
        """Return the outcome in one sentence of HTML, or the next step before there is one."""
        if self.observers.isChosen:
            text, pair = observers.summary(self.observers.structure()), self.observedPair()
            if pair is not None:
                return f"{text}<br>{observers.pairSummary(self.observers.outcome.names, pair, self.record().summary)}"
            # a pair may be of another mode
            return text if self.record() is None else f"{text}<br>{results.summary(self.outcome, self.number())}"
        if self.outcome is not None:
            return results.summary(self.outcome, self.number())
        if self.isPracticing():
            return _("Draw the test in Segment Editor, then press Reveal.")
        if self.whyNot():
            isSaid = self.inputs.mistake() or (self.parameters is not None and self.readSettings().problem)
            return "" if isSaid else _("Choose a reference and a test segment, then Apply.")
        return _("Press Apply.")

    def message(self, *problems: str) -> str:
        """Return the message to show, "" for none. problems: with what is drawn, "" where there is none."""
        mistake = "" if self.observers.isChosen else self.inputs.mistake()
        texts = (self.notice, mistake, self.parameters and self.readSettings().problem, *problems)
        return next(filter(None, texts), "")

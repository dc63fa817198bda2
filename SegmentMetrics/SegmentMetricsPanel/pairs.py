"""Showing and editing which structures are compared with each other when all structures are compared."""

from collections.abc import Mapping, Sequence

import qt
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.texts import commaSeparated
from SegmentMetricsLib.mrml import pairSegments, proposePairs

from .editedpairs import CHOSEN, OVERLAP, choicesOf, entriesIn, entriesOf
from .enumerations import Mode
from .markup import asTip
from .segments import segmentIDs, segmentNames


class PairEditor:
    """The table that shows the counterpart of every reference structure and lets the user change it.

    propose: called with a function that takes a LongWork; returns the function's result, or None if it was stopped.
    """

    def __init__(self, ui, propose):
        self.ui, self.propose = ui, propose
        self.parameters = None
        self.isShowing = False
        self.boxes = []
        self.shown = ()  # names of the rows, and the choices offered in each
        ui.proposePairsButton.connect("clicked(bool)", self.onPropose)
        ui.resetPairsButton.connect("clicked(bool)", self.onReset)
        header = ui.pairsTable.horizontalHeader()
        ui.pairsTable.setColumnCount(3)
        for column, heading in enumerate((_("Reference"), _("Test"), _("Found by"))):
            ui.pairsTable.setHorizontalHeaderItem(column, qt.QTableWidgetItem(heading))
            header.setSectionResizeMode(column, qt.QHeaderView.Stretch)

    def show(self, parameters) -> None:
        """Show the pairs of a parameter node; nothing for None, or when single segments are compared."""
        self.parameters = parameters
        isShown = parameters is not None and parameters.mode == Mode.allStructures
        isShown = isShown and parameters.reference is not parameters.test
        isShown = isShown and all(map(segmentIDs, (parameters.reference, parameters.test)))
        self.ui.pairsGroupBox.visible = isShown
        if not isShown:
            self._list((), ())
            return
        entries = entriesOf(parameters)
        try:
            pairing = pairSegments(parameters.reference, parameters.test, choices=choicesOf(parameters))
        except InputError as error:  # measuring would raise the same error
            self._list((), ())
            self.ui.pairsGroupBox.title = _("Pairs")
            self.ui.unpairedLabel.text = str(error)
            self.ui.proposePairsButton.enabled = False
            self.ui.resetPairsButton.enabled = bool(entries)
            return
        self._fill(pairing, {reference: how for reference, _test, how in entries})

    def _fill(self, pairing, edited: Mapping[str, str]) -> None:
        """Show a pairing. edited: how each edited pair was found, by reference name."""
        p, counterparts = self.parameters, {match.reference.name: match for match in pairing.pairs}
        self._list(tuple(segmentNames(p.reference)), ("", *segmentNames(p.test)))
        names, possible = self.shown
        self.isShowing = True
        try:
            for row, name in enumerate(names):
                match = counterparts.get(name)
                self.boxes[row].currentIndex = possible.index(match.test.name) if match else 0
                how = edited.get(name) or (match.how if match else "")
                item = self.ui.pairsTable.item(row, 2)
                item.setText(foundBy(how))
                item.setToolTip(asTip(explained(match, how, name in edited)))
        finally:
            self.isShowing = False
        alone = [structure.name for structure in pairing.unmatchedTest]
        only = _("Only in the test: {names}.").format(names=commaSeparated(alone))
        self.ui.unpairedLabel.text = only if alone else ""
        self.ui.unpairedLabel.visible = bool(alone)
        unpaired = [s.name for s in pairing.unmatchedReference]
        title = _("Pairs: {count} of {all}").format(count=len(pairing.pairs), all=len(names))
        self.ui.pairsGroupBox.title = title
        canPropose = bool(alone) and any(name not in edited for name in unpaired)
        self.ui.proposePairsButton.enabled = canPropose
        self.ui.resetPairsButton.enabled = bool(edited)

    def _list(self, names: tuple, possible: tuple) -> None:
        """Create one row per name, each with a list of choices; does nothing if neither has changed."""
        if (names, possible) == self.shown:
            return
        table = self.ui.pairsTable
        self.boxes = []
        table.setRowCount(0)
        table.setRowCount(len(names))
        texts = [_("None"), *possible[1:]]
        for row, name in enumerate(names):
            item = qt.QTableWidgetItem(name)
            item.setToolTip(asTip(name))
            table.setItem(row, 0, item)
            table.setItem(row, 2, qt.QTableWidgetItem(""))
            box = qt.QComboBox()
            box.addItems(texts)
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(qt.QComboBox.AdjustToMinimumContentsLengthWithIcon)
            box.connect("currentIndexChanged(int)", lambda index, row=row: self.take(row, index))
            table.setCellWidget(row, 1, box)
            self.boxes.append(box)
        self.shown = (names, possible)

    # User actions

    def take(self, row: int, index: int) -> None:
        """Store the choice made in a row."""
        if self.parameters is None or self.isShowing or index < 0:
            return
        names, possible = self.shown
        self.choose([(names[row], possible[index], CHOSEN)])

    def choose(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Add entries to the edited pairs; a test structure that was paired before is taken from its former partner."""
        taken = {reference for reference, _test, _how in entries}, {test for _reference, test, _how in entries} - {""}
        kept = [e for e in entriesIn(self.parameters.pairs) if e[0] not in taken[0] and e[1] not in taken[1]]
        self._save([*kept, *entries])

    def onReset(self, _checked=False) -> None:
        """Discard the edited pairs of these two segmentations."""
        if self.parameters is not None:
            mine = entriesOf(self.parameters)
            self._save([entry for entry in entriesIn(self.parameters.pairs) if entry not in mine])

    def onPropose(self, _checked=False) -> None:
        """Pair the remaining structures by their overlap."""
        p = self.parameters
        if p is None:
            return
        choices = choicesOf(p)
        found = self.propose(
            lambda work: proposePairs(p.reference, p.test, choices=choices, surface=p.surface.name, run=work.run)
        )
        if found and self.parameters is p:
            self.choose([(m.reference.name, m.test.name, f"{OVERLAP} {m.confidence:.2f}") for m in found])

    def _save(self, entries: Sequence[tuple[str, str, str]]) -> None:
        self.parameters.pairs = [text for entry in entries for text in entry]


def foundBy(how: str) -> str:
    """Return a label for how a pair was found; unknown entries from other versions are returned unchanged."""
    kind, _space, dice = how.partition(" ")
    words = {
        "name": _("name"),
        "spelling": _("spelling"),
        "words": _("words"),
        "code": _("code"),
        "only": _("only"),
        CHOSEN: _("chosen"),
        OVERLAP: _("overlap {dice}").format(dice=dice),
    }
    return words.get(kind, how)


def explained(match, how: str, isEdited: bool) -> str:
    """Return a tool tip that explains why two structures are a pair."""
    if isEdited and how != CHOSEN:
        return _("A proposal: the two share voxels, with this Dice. Choose another one if it is wrong.")
    if isEdited:
        return _("You have chosen this.")
    if match is None:
        return _("Nothing in the test has this name or code: choose what belongs to it, or let it be proposed.")
    return {
        "name": _("The names are equal."),
        "spelling": _("The names differ in spelling only."),
        "words": _("The names consist of the same words."),
        "code": _("The terminology codes are the same."),
        "only": _("There is one structure on each side."),
    }.get(match.how, "")

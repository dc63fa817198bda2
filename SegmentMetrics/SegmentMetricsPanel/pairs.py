"""Which structures are compared with which, where all of two segmentations are, and editing that."""

from collections.abc import Mapping, Sequence

import qt
from slicer.i18n import tr as _

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import pairSegments, proposePairs
from SegmentMetricsLib.structures import commaSeparated

from .enumerations import Mode
from .markup import asTip
from .segments import segmentIDs, segmentNames

# How a pair was found, as the parameter node keeps it in any language: somebody chose it, or its structures overlap,
# with the Dice similarity coefficient behind the word.
CHOSEN, OVERLAP = "chosen", "overlap"


def entriesOf(parameters) -> list[tuple[str, str, str]]:
    """Return what was edited: names of the reference's structure and of the test's, "" for none, and how it was found.

    Only what the chosen segmentations have: other entries come back with the segmentations that they are about.
    """
    known = [set(segmentNames(parameters.reference)), {"", *segmentNames(parameters.test)}]
    return [entry for entry in _entries(parameters.pairs) if entry[0] in known[0] and entry[1] in known[1]]


def choicesOf(parameters) -> dict[str, str | None]:
    """Return what was edited as pairing.pairStructures takes it."""
    return {reference: test or None for reference, test, _how in entriesOf(parameters)}


def swapped(pairs: Sequence[str]) -> list[str]:
    """Return what was edited for reference and test exchanged; that a structure has no counterpart has no opposite."""
    return [text for reference, test, how in _entries(pairs) if test for text in (test, reference, how)]


def _entries(pairs: Sequence[str]) -> list[tuple[str, str, str]]:
    texts = list(pairs)
    return list(zip(texts[::3], texts[1::3], texts[2::3]))


class PairEditor:
    """The table in which every structure of the reference has its counterpart, which can be chosen.

    propose: called with a function that takes a LongWork; returns what that returns, None when it was stopped.
    """

    def __init__(self, ui, propose):
        self.ui, self.propose = ui, propose
        self.parameters = None
        self.isShowing = False
        self.boxes = []
        self.shown = ()  # names of the rows, and what can be chosen in them
        ui.proposePairsButton.connect("clicked(bool)", self.onPropose)
        ui.resetPairsButton.connect("clicked(bool)", self.onReset)
        header = ui.pairsTable.horizontalHeader()
        ui.pairsTable.setColumnCount(3)
        for column, heading in enumerate((_("Reference"), _("Test"), _("Found by"))):
            ui.pairsTable.setHorizontalHeaderItem(column, qt.QTableWidgetItem(heading))
            header.setSectionResizeMode(column, qt.QHeaderView.Stretch)

    def show(self, parameters) -> None:
        """Show the pairs of a parameter node; nothing for None, or while single segments are compared."""
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
            pairing = pairSegments(parameters.reference, parameters.test, choicesOf(parameters))
        except InputError as error:  # the same will be said when it is measured
            self._list((), ())
            self.ui.pairsGroupBox.title = _("Pairs")
            self.ui.unpairedLabel.text = str(error)
            self.ui.proposePairsButton.enabled = False
            self.ui.resetPairsButton.enabled = bool(entries)
            return
        self._fill(pairing, {reference: how for reference, _test, how in entries})

    def _fill(self, pairing, edited: Mapping[str, str]) -> None:
        """Show a pairing. edited: how what was edited was found, by name of the reference's structure."""
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
        """Have a row for every name, with what can be chosen in it; rows that are there stay."""
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

    # What the user does

    def take(self, row: int, index: int) -> None:
        """Take over what is chosen in a row."""
        if self.parameters is None or self.isShowing or index < 0:
            return
        names, possible = self.shown
        self.choose([(names[row], possible[index], CHOSEN)])

    def choose(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Add entries to what was edited; a structure of the test is taken from whoever had it."""
        taken = {reference for reference, _test, _how in entries}, {test for _reference, test, _how in entries} - {""}
        kept = [e for e in _entries(self.parameters.pairs) if e[0] not in taken[0] and e[1] not in taken[1]]
        self._save([*kept, *entries])

    def onReset(self, _checked=False) -> None:
        """Forget what was edited about these two segmentations."""
        if self.parameters is not None:
            mine = entriesOf(self.parameters)
            self._save([entry for entry in _entries(self.parameters.pairs) if entry not in mine])

    def onPropose(self, _checked=False) -> None:
        """Pair what is left over by where it lies."""
        p = self.parameters
        if p is None:
            return
        choices = choicesOf(p)
        found = self.propose(lambda work: proposePairs(p.reference, p.test, choices, p.surface.name, work.run))
        if found and self.parameters is p:
            self.choose([(m.reference.name, m.test.name, f"{OVERLAP} {m.confidence:.2f}") for m in found])

    def _save(self, entries: Sequence[tuple[str, str, str]]) -> None:
        self.parameters.pairs = [text for entry in entries for text in entry]


def foundBy(how: str) -> str:
    """Return how a pair was found in words; what another version has kept is shown as it is."""
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
    """Return why two structures are a pair, for a tool tip."""
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
    }[match.how]

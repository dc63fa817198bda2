"""Choosing a protocol and showing its verdicts."""

from collections.abc import Mapping
from pathlib import Path

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.texts import commaSeparated
from SegmentMetricsLib.case import explanations
from SegmentMetricsLib.case.protocol import exampleNames
from SegmentMetricsLib.case.protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN, ruleOf
from SegmentMetricsLib.case.protocol.protocol import readProtocol
from SegmentMetricsLib.case.protocol.wording import SIGNS, limitText, unitOf, valueText
from SegmentMetricsLib.comparison.measurements import typeset
from SegmentMetricsLib.mrml import tableFromProtocol
from SegmentMetricsLib.mrml.protocols import allProtocols
from SegmentMetricsLib.show import tables
from SegmentMetricsLib.show.report.ranking import UNJUDGED, severity, worstFirst
from SegmentMetricsLib.show.verdicts import summary, writeVerdicts

from .buttons import ExplainedButton
from .markup import escaped, explain
from .saving import askForFile, askForPath, suggested
from .sorting import SortableTable

# Light colors for dark text; the words say the same.
COLORS = {PASS: "#bfe3d0", WARN: "#fbe6a2", FAIL: "#f2b28c", NOT_EVALUABLE: "#dddddd"}


class ProtocolChooser(VTKObservationMixin):
    """The list of protocols: tables in the scene, examples that come with the library, and files.

    onEdited: called with an object and an event when the table of the chosen protocol changes.
    """

    def __init__(self, ui, onEdited):
        super().__init__()
        self.ui, self.onEdited = ui, onEdited
        self.observed = None
        self.parameters = None
        self.isShowing = False
        self.listed = []  # None for no protocol, then nodes, names of examples, and "" for a file
        for widget in (ui.protocolLabel, ui.protocolComboBox):
            explain(widget, explanations.PROTOCOL)
        ui.protocolComboBox.connect("currentIndexChanged(int)", self.take)

    def show(self, parameters) -> None:
        """List the available protocols and show the chosen one."""
        self.parameters = parameters
        chosen = parameters.protocol
        nodes = allProtocols(slicer.mrmlScene)
        if chosen is not None and chosen not in nodes:
            nodes.append(chosen)  # keep it in the list even if its headings are wrong
        self.listed = [None, *nodes, *exampleNames(), ""]
        texts = [_("None"), *(node.GetName() for node in nodes)]
        texts += [_("Example: {name}").format(name=name) for name in exampleNames()] + [_("From a file...")]
        self.isShowing = True
        try:
            box = self.ui.protocolComboBox
            if texts != [box.itemText(n) for n in range(box.count)]:
                box.clear()
                box.addItems(texts)
            box.currentIndex = self.listed.index(chosen)
        finally:
            self.isShowing = False

        if chosen is not self.observed:
            self.removeObservers()
            self.observed = chosen
            if chosen is not None:
                self.addObserver(chosen, vtk.vtkCommand.ModifiedEvent, self.onEdited)

    def release(self) -> None:
        """Release the scene."""
        self.removeObservers()
        self.parameters = self.observed = None

    def take(self, index: int) -> None:
        if self.parameters is None or self.isShowing or index < 0:
            return
        chosen = self.listed[index]
        if isinstance(chosen, str):
            chosen = self._read(chosen or self._askForFile())
        self.parameters.protocol = chosen
        self.show(self.parameters)

    def _askForFile(self) -> str:
        kinds = _("Table (*.csv)") + ";;" + _("All files (*)")
        return str(askForFile(self.ui.protocolComboBox, _("Protocol"), kinds) or "")

    def _read(self, path: str):
        """Return a new table node with the protocol of a file or example; the current one for "" or on failure."""
        before = self.parameters.protocol
        if not path:
            return before
        try:
            return tableFromProtocol(readProtocol(Path(path)))
        except (InputError, OSError) as error:
            slicer.util.errorDisplay(str(error), _("The protocol cannot be used."))
            return before


class Verdicts:
    """The summary and the table of a protocol's verdicts."""

    def __init__(self, ui):
        self.ui = ui
        self.table = SortableTable(ui.protocolTable)
        self.judgment, self.outcome = None, None
        self.button = ExplainedButton(ui.verdictsButton)
        ui.verdictsButton.connect("clicked(bool)", self.onExport)

    def show(self, outcome, number: int) -> None:
        """Show the verdicts on an outcome and on one of its pairs, or nothing if it was not judged."""
        self.outcome = outcome
        self.judgment = judgment = outcome.judgment if outcome is not None else None
        structure = ofStructure(judgment, outcome.records[number].name) if judgment and outcome.records else None
        for widget in (self.ui.judgmentLabel, self.ui.protocolTable, self.ui.verdictsButton):
            widget.visible = judgment is not None
        self.table.show(*(listed(structure) if structure else ([], [])), stretched=[0])
        self.ui.protocolTable.visible = structure is not None
        if judgment is None:
            return
        lines = [f"{badge(judgment['verdict'])} {sentence(judgment, outcome.isOfAll)}"]
        if outcome.isOfAll and structure:
            lines.append(f"{badge(structure['verdict'])} {escaped(structure['structure'])}")
        elif structure is None:
            lines.append(_("The protocol has no rule for this structure."))
        self.ui.judgmentLabel.text = "<br>".join(lines)

    def enable(self, problem: str) -> None:
        """Enable the button, or disable it and show the problem in its tool tip."""
        self.button.enable(problem)

    def onExport(self, _checked=False) -> None:
        suggestion = suggested("verdicts", self.outcome)
        path = askForPath(self.ui.verdictsButton, _("Save verdicts"), suggestion, _("Table (*.csv)"))
        if path:
            with slicer.util.tryWithErrorDisplay(_("The verdicts could not be written.")):
                self.export(path)

    def export(self, path: Path) -> None:
        """Write all verdicts in the format of the command line: one row per rule."""
        writeVerdicts(self.judgment, path)


def ofStructure(judgment: Mapping, name: str) -> Mapping | None:
    """Return the part of a judgment about a structure, or None if there is none."""
    return next((each for each in judgment["structures"] if each["structure"] == name), None)


def orderOf(outcome) -> list[int]:
    """Return the indices of an outcome's records in the order of a report: worst first if they were judged."""
    numbers = list(range(len(outcome.records)))
    if outcome.judgment is None:
        return numbers
    structures = [ofStructure(outcome.judgment, record.name) for record in outcome.records]
    return worstFirst(outcome.records, [each["verdict"] if each else UNJUDGED for each in structures])


def sentence(judgment: Mapping, isOfAll: bool) -> str:
    """Return a one-line summary of a judgment with the number of verdicts of each kind."""
    what = [s["verdict"] for s in judgment["structures"]]
    if not isOfAll:
        what = [rule["verdict"] for s in judgment["structures"] for rule in s["rules"]]
    return escaped(f"{judgment['name']}: {summary(what)}" if what else judgment["name"])


def notJudged(outcome) -> str:
    """Return the names of structures that have limits in the protocol but were not compared, or ""."""
    compared = {record.name for record in outcome.records}
    others = [s["structure"] for s in outcome.judgment["structures"] if s["structure"] not in compared]
    return commaSeparated(others) if others else ""


def listed(structure: Mapping) -> tuple:
    """Return headings, rows and heading tips of the table of a structure's rules."""
    headings = [_("Metric"), _("Value"), _("Limit (warn)"), _("Verdict")]
    tips = [
        _("What the protocol judges, and the tool whose number it is if the protocol names one."),
        _("What was measured."),
        _("The limit, and the looser one up to which there is only a warning."),
        _("Hover over a row to read why."),
    ]
    rows = []
    for rule in structure["rules"]:
        limits, value, verdict = ruleOf(rule), rule["value"], rule["verdict"]
        unit = rule["unit"] or unitOf(limits, None)
        metric = f"{tables.heading(limits.measurement)}\n{limits.convention}".strip()
        limit, shownUnit = bounds(limits, unit)
        # only the limit has the unit, to leave room for the tool's name
        text = "-" if value is None else valueText(limits, value, unit).removesuffix(shownUnit)
        tip = "\n".join(filter(None, (typeset(rule["reason"]), limits.source)))
        texts = (metric, metric), (text, value), (typeset(f"{limit}{shownUnit}"), limits.limit), (verdict, verdict)
        rows.append([(*cell, tip) for cell in texts[:-1]] + [(*texts[-1], tip, COLORS[verdict])])
    return headings, rows, tips


def bounds(rule, unit: str) -> tuple[str, str]:
    """Return the limit of a rule, the looser one in parentheses, and their unit: "≤ 5.1 (19.2)" and " mm"."""
    limit, *looser = (limitText(rule, n, unit) for n in (rule.limit, rule.warning) if n is not None)
    number, space, shownUnit = limit.partition(" ")
    more = "".join(f" ({text.partition(' ')[0]})" for text in looser)
    return f"{SIGNS[rule.relation]}{number}{more}", f"{space}{shownUnit}"


def verdictCell(judgment: Mapping, name: str) -> tuple:
    """Return the cell with a structure's verdict for the table of many pairs; the reason is its tool tip."""
    structure = ofStructure(judgment, name)
    # sorted by severity, not alphabetically
    if structure is None:
        return UNJUDGED, str(severity(UNJUDGED)), _("The protocol has no rule for this structure.")
    verdict = structure["verdict"]
    return verdict, str(severity(verdict)), typeset(structure["reason"]), COLORS[verdict]


def badge(verdict: str) -> str:
    """Return a colored verdict as HTML for a label."""
    return f'<span style="background-color: {COLORS[verdict]}; color: black;">&nbsp;{verdict.upper()}&nbsp;</span>'

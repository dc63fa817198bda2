"""The values that other tools would have reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from SegmentMetricsLib.conventions import allConventions
from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.conventions.evaluation import OPTIMISTIC, PESSIMISTIC
from SegmentMetricsLib.metrics.measurement import statusOf
from SegmentMetricsLib.show import tables, which

from ..translation import _
from .table import TableContents, sortable

# Orange and blue, which can be told apart with color vision deficiency.
COLORS = {OPTIMISTIC: "#f8cf94", PESSIMISTIC: "#a9d2f0"}
NOT_REPRODUCIBLE = "*"
OTHERS = 3  # candidates that are listed below the first
NONE = "-"  # for metrics that a tool does not report


def choices(keys: Sequence[str]) -> dict[str, str]:
    """Return the texts for the choice of a metric by key: "" for all of them, then each; empty without any."""
    return {"": _("All metrics"), **{key: tables.heading(key) for key in keys}} if keys else {}


def values(record, key: str | None) -> TableContents:
    """Return the table of a metric, or of all for "": our row, then the tools'. record: a ConventionsRecord or None."""
    if record is None:
        return TableContents()
    first = record.referenceValues()
    first = {key: first[key]} if key else first
    headings = [(_("Tool"), _("Hover over a tool for its version."))]
    for name, number in first.items():
        heading = f"{tables.heading(name)} ({unitOf(number)})" if unitOf(number) else tables.heading(name)
        headings.append((heading, _("What the tool would report.") if key else number.title))
    own = {name: _("{title} as it is defined.").format(title=n.title) if key else n.title for name, n in first.items()}
    row = [(OWN_CONVENTION, "", own[key] if key else _("Reference definition."))]
    for name, number in first.items():
        value = replace(number, value=number.reference, status=statusOf(number.reference))
        value = replace(value, unit=unitOf(number), isReproducible=True)
        row.append((inColumn(value, number), sortable(value.value), own[name]))
    rows = [row]
    if key:
        unit = _("± mm") if first[key].better == "lower" else _("± %pt")
        headings.append((unit, _("The tool's value minus that of the definition, in mm or percentage points.")))
        row.append(("", None, own[key]))
    for tool, numbers in record.conventions.items():
        cells = [_cell(tool, numbers.get(name), number) for name, number in first.items()]
        rows.append([(tool, tool.lower(), cells[0][2] if key else allConventions()[tool].label), *cells])
        if key:
            number = numbers.get(key)
            text, value = ("", None) if number is None else (number.differenceText(), sortable(number.difference))
            rows[-1].append((text.partition(" ")[0], value, *cells[0][2:]))
    return TableContents.of(headings, rows, stretched=[0] if key else ())


def legend() -> str:
    """Return a short legend of the table's colors and its mark, as HTML."""
    meanings = (COLORS[OPTIMISTIC], _("over-optimistic")), (COLORS[PESSIMISTIC], _("over-pessimistic"))
    colors = [f'<span style="background-color: {color};">&nbsp;&nbsp;&nbsp;&nbsp;</span> {m}' for color, m in meanings]
    unreliable = _("not given reliably by the tool itself")
    return "<br>".join(["&nbsp; ".join(colors), f"{NOT_REPRODUCIBLE} {unreliable}"])


def answer(number: str, candidates) -> str:
    """Return what gives a number, and the nearest others. candidates: as Comparison.which() returns them."""
    others = [which.phraseCandidate(one) for one in candidates[1 : 1 + OTHERS]]
    return "\n".join([which.answer(number, candidates), *(f"- {text}" for text in others)])


def _cell(tool: str, number, first) -> tuple:
    """Return the cell of a tool's number, None for one that it does not report. first: our own."""
    label = allConventions()[tool].label
    if number is None:
        return NONE, None, _("{tool} does not report it.").format(tool=label)
    tip = explain(number, label)
    return inColumn(number, first), sortable(number.value), tip, COLORS.get(number.leaning, "")


def unitOf(number) -> str:
    """Return the unit of the metric, regardless of the unit that the tool uses."""
    return "mm" if number.better == "lower" else ""


def inColumn(number, first) -> str:
    """Return a value as the table shows it: without its unit if that is the one in the heading."""
    text = number.text().removesuffix(f" {unitOf(first)}") if unitOf(first) else number.text()
    return text if number.isReproducible else f"{text}{NOT_REPRODUCIBLE}"


def explain(number, label: str) -> str:
    """Return a tool tip for a number of a tool."""
    lines = [f"{label}: {number.name}", f"{number.reason[:1].upper()}{number.reason[1:]}."]
    if number.differenceText():
        leaning = number.leaning or _("no difference that matters")
        lines.append(f"{number.differenceText()}: {leaning}.")
    elif number.leaning:
        lines.append(f"{number.leaning.capitalize()}.")
    if number.isInVoxels:
        lines.append(_("Voxels are compared as if they were mm."))
    return "\n".join(lines)

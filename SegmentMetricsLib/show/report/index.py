"""The index page of a batch: the outcome of every case, worst first, with links to their reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from ...base.markup import fill, join
from ...base.texts import pluralize
from ...case.protocol.judgment import FAIL, VERDICTS
from ...metrics.measurement import typeset
from ..tablemodel import Table
from .blocks import CHECK_FIRST, NO_DEVICE, NOTHING, badge, data, fromFile, nameCell, now, page, resource, table

INDEX = "index.html"
FAILED = "failed"
# In descending order of urgency; "" is a case without a verdict.
STATES = (FAILED, *reversed(VERDICTS), "")


class CaseLine(NamedTuple):
    """The line of a case on the index page.

    title: name of the case, with the method in parentheses. state: "failed", or the verdict of the protocol, "" without
    one. compared: number of compared structures, such as "1 of 2" if others could not be compared. why: sentences about
    the worst results. report: file name of its report, "" without one. alarms: a brief note on problems that must be
    checked before trusting any number, "" without any.
    """

    title: str
    state: str
    compared: str
    why: str
    report: str
    alarms: str = ""


def worstFirst(lines: Iterable[CaseLine]) -> list[CaseLine]:
    """Return lines sorted by urgency; the sort is stable.

    Alarms take precedence over verdicts, which cannot be trusted before the alarms are checked.
    """
    return sorted(lines, key=lambda line: (line.state != FAILED, not line.alarms, STATES.index(line.state)))


def indexOf(lines: Sequence[CaseLine], title: str, cohort: Mapping | None = None, remarks: Sequence[str] = ()) -> str:
    """Return the index page. lines: in the order of the cases; the page sorts them.

    cohort: what the overview of all cases shows, as plain values, None for no overview. remarks: sentences above it.
    """
    isJudged = any(line.state not in ("", FAILED) for line in lines)
    heads = ["Case", "Verdict" if isJudged else "State", "Structures compared", "Worst"]
    content = Table.ofRows(heads, list(map(_cells, worstFirst(lines))), left=len(heads))
    found = [(state, sum(line.state == state for line in lines)) for state in STATES]
    states = join((join((f"{number} ", _state(state))) for state, number in found if number), ", ")
    if alarmed := sum(bool(line.alarms) for line in lines):
        check = "$states · <b>$cases to check first</b>"
        states = fill(check, states=states, cases=pluralize(alarmed, "case"))
    overview, date = NOTHING, now()
    if cohort is not None:  # which a script draws from the numbers in it
        overview = fromFile("cohort", style=resource("cohort.css"), data=data(cohort))
    body = fromFile(
        "index",
        title=title,
        count=pluralize(len(lines), "case"),
        date=date,
        states=states,
        noDevice=NO_DEVICE,
        remarks=fill('<p class="notice">$remarks</p>', remarks=" ".join(remarks)) if remarks else NOTHING,
        cohort=overview,
        cases=table(content, isProse=True),
    )
    if cohort is not None:
        body = join((body, fill("<script>$script</script>", script=resource("cohort.js"))), "\n")
    return page(title, body, date=date)


def _cells(line: CaseLine) -> list[str]:
    name = nameCell(line.title)
    linked = fill('<a href="$report">$name</a>', report=quote(line.report), name=name) if line.report else name
    alarms = NOTHING
    if line.alarms:
        alarms = fill("<b>$title: $alarms.</b> ", title=CHECK_FIRST, alarms=line.alarms)
    return [linked, _state(line.state), line.compared, join((alarms, typeset(line.why)))]


def _state(state: str) -> str:
    # a failed case is different from one with the verdict "fail"
    return badge(FAIL, "failed to compare") if state == FAILED else badge(state) or "compared"

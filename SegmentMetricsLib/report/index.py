"""The page about all cases of a batch: what became of each, the worst first, with links to their reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ..errors import counted
from ..measurements import typeset
from ..protocol.judgment import FAIL, VERDICTS
from .elements import CHECK_FIRST, NO_DEVICE, badge, nameCell, page, table

INDEX = "index.html"
FAILED = "failed"
# From what needs a look most to what needs it least; "" is a case without a verdict.
STATES = (FAILED, *reversed(VERDICTS), "")


class CaseLine(NamedTuple):
    """What there is to say about a case in a line.

    title: its name, with the method in brackets. state: "failed", or what the protocol says, "" without one. compared:
    how many structures were compared, "1 of 2" when others could not be. why: the worst of it in sentences. report: the
    file name of its report, "" without one. alarms: what has to be looked at before any number means anything, in a few
    words, "" without any.
    """

    title: str
    state: str
    compared: str
    why: str
    report: str
    alarms: str = ""


def worstFirst(lines: Iterable[CaseLine]) -> list[CaseLine]:
    """Return lines with those first that need a look most; alike ones stay in their order.

    Where there are alarms, verdicts mean nothing yet.
    """
    return sorted(lines, key=lambda line: (line.state != FAILED, not line.alarms, STATES.index(line.state)))


def writeIndex(lines: Sequence[CaseLine], title: str, path: Path) -> None:
    """Write the page about the cases that the lines tell of. title: of the page. Raises OSError."""
    path.write_text(indexOf(lines, title), encoding="utf-8", errors="backslashreplace")


def indexOf(lines: Sequence[CaseLine], title: str) -> str:
    """Return the page. Lines come in the order of the cases."""
    isJudged = any(line.state not in ("", FAILED) for line in lines)
    heads = ["Case", "Verdict" if isJudged else "State", "Structures compared", "Worst"]
    return page(
        title,
        f"<h1>{escape(title)}</h1>\n"
        f'<p class="soft">Contour comparison · {counted(len(lines), "case")} · '
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}</p>\n"
        f"<p>{_counts(lines)}</p>\n"
        f'<p class="notice">{escape(NO_DEVICE)}</p>\n'
        f"{table(heads, list(map(_cells, worstFirst(lines))), isProse=True)}",
    )


def _cells(line: CaseLine) -> list[str]:
    name = nameCell(line.title)
    linked = f'<a href="{escape(quote(line.report), quote=True)}">{name}</a>' if line.report else name
    alarms = f"<b>{CHECK_FIRST}: {escape(line.alarms)}.</b> " if line.alarms else ""
    return [linked, _state(line.state), escape(line.compared), alarms + escape(typeset(line.why))]


def _state(state: str) -> str:
    # a case that failed is not one whose verdict is "fail"
    return badge(FAIL, "failed to compare") if state == FAILED else badge(state) or "compared"


def _counts(lines: Sequence[CaseLine]) -> str:
    """Return how many cases there are of each state, the worst first, and how many have alarms."""
    found = [(state, sum(line.state == state for line in lines)) for state in STATES]
    states = ", ".join(f"{number} {_state(state)}" for state, number in found if number)
    alarmed = sum(bool(line.alarms) for line in lines)
    return f"{states} · <b>{counted(alarmed, 'case')} to check first</b>" if alarmed else states

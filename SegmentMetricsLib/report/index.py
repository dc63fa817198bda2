"""The page about all cases of a batch: what became of each, the worst first, with links to their reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ..errors import counted
from ..measurements import typeset
from ..protocol.judgment import VERDICTS
from .document import LONG_NAME, NO_DEVICE

INDEX = "index.html"
FAILED = "failed"
# From what needs a look most to what needs it least; "" is a case without a verdict.
STATES = (FAILED, *reversed(VERDICTS), "")
# How verdicts are colored; the words say the same.
CLASSES = {"pass": "pass", "warn": "warn", "fail": "fail", "not evaluable": "none", FAILED: "fail"}


class CaseLine(NamedTuple):
    """What there is to say about a case in a line.

    title: its name, with the method in brackets. state: "failed", or what the protocol says, "" without one. compared:
    how many structures were compared, "1 of 2" when others could not be. why: the worst of it in sentences. report: the
    file name of its report, "" without one.
    """

    title: str
    state: str
    compared: str
    why: str
    report: str


def worstFirst(lines: Iterable[CaseLine]) -> list[CaseLine]:
    """Return lines with those first that need a look most; alike ones stay in their order."""
    return sorted(lines, key=lambda line: STATES.index(line.state))


def writeIndex(lines: Sequence[CaseLine], title: str, path: Path) -> None:
    """Write the page about the cases that the lines tell of. title: of the page. Raises OSError."""
    path.write_text(page(lines, title), encoding="utf-8", errors="backslashreplace")


def page(lines: Sequence[CaseLine], title: str) -> str:
    """Return the page. Lines come in the order of the cases."""
    isJudged = any(line.state not in ("", FAILED) for line in lines)
    heads = ["Case", *(["Verdict"] if isJudged else ["State"]), "Structures compared", "Worst"]
    head = "".join(f"<th>{text}</th>" for text in heads)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(line))}</tr>" for line in worstFirst(lines))
    style = (resources.files(__package__) / "report.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: contour comparison</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n"
        f'<p class="soft">Contour comparison · {counted(len(lines), "case")} · '
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}</p>\n"
        f"<p>{_counts(lines)}</p>\n"
        f'<p class="notice">{escape(NO_DEVICE)}</p>\n'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n'
        "</body></html>\n"
    )


def _cells(line: CaseLine) -> list[str]:
    name = escape(line.title)
    name = f'<span class="long">{name}</span>' if len(line.title) > LONG_NAME else name
    linked = f'<a href="{escape(quote(line.report), quote=True)}">{name}</a>' if line.report else name
    return [linked, _badge(line.state), escape(line.compared), escape(typeset(line.why))]


def _badge(state: str) -> str:
    # a case that failed is not one whose verdict is "fail"
    text = "failed to compare" if state == FAILED else state
    return f'<span class="verdict {CLASSES[state]}">{text}</span>' if state else "compared"


def _counts(lines: Sequence[CaseLine]) -> str:
    """Return how many cases there are of each state, the worst first."""
    found = [(state, sum(line.state == state for line in lines)) for state in STATES]
    return ", ".join(f"{number} {_badge(state)}" for state, number in found if number)

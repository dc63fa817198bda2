"""What stands out in a report: what could not be compared, what is to be checked first, and findings as lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ..findings import split
from ..measurements import typeset
from ..records import Record


def sentences(texts: Sequence[str]) -> str:
    """Return sentences as a list, "" without any."""
    items = "".join(f"<li>{escape(typeset(text))}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def failed(failures: Mapping[str, str]) -> str:
    """Return what could not be compared and why, where nobody can overlook it; "" if all could.

    failures: reasons by name.
    """
    return _block("failed", "Not compared", [(escape(name), why) for name, why in failures.items()])


def alarms(records: Sequence[Record], findings: Sequence[str]) -> str:
    """Return the findings because of which the numbers may be of something else than they seem; "" without any.

    records: in the order in which their sections are numbered. findings: of the whole case.
    """
    found = [("", text) for text in split(findings)[0]]
    for number, record in enumerate(records):
        link = f'<a href="#structure{number}">{escape(record.name)}</a>'
        found += [(link, text) for text in split(record.findings)[0]]
    return _block("alarms", "Check this first", found)


def _block(kind: str, title: str, items: Sequence[tuple[str, str]]) -> str:
    """Return a framed list of names, HTML or "", and what is said of them."""
    if not items:
        return ""
    rows = "".join(f"<li>{f'<b>{name}</b>: ' if name else ''}{escape(typeset(text))}</li>" for name, text in items)
    return f'<section class="{kind}"><h2>{title}</h2><ul>{rows}</ul></section>'

"""Notices in a report: structures that could not be compared, alarms, and lists of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ...case.findings import repeated
from ...case.records import Record
from ...comparison.findings import split
from ...comparison.measurements import typeset
from .elements import CHECK_FIRST, linkTo

# Maximum number of names listed before a finding that several structures share.
MOST_NAMES = 12


def sentences(texts: Sequence[str]) -> str:
    """Return sentences as an HTML list, "" without any."""
    items = "".join(f"<li>{escape(typeset(text))}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def failed(failures: Mapping[str, str]) -> str:
    """Return a prominent list of the structures that could not be compared, with the reasons; "" without any.

    failures: reasons by name.
    """
    return _block("failed", "Not compared", [(escape(name), why) for name, why in failures.items()])


def alarms(records: Sequence[Record], findings: Sequence[str]) -> str:
    """Return the alarms: findings that the numbers may not mean what they seem to mean; "" without any.

    records: in the order of their section numbers. findings: of the whole case.
    """
    found = [("", text) for text in split(findings).alarms]
    for text, members in repeated.membersOf([split(record.findings).alarms for record in records]).items():
        found.append((_whom(members, records), text))
    return _block("alarms", CHECK_FIRST, found)


def common(shared: Sequence[repeated.Common], records: Sequence[Record]) -> str:
    """Return the findings that several structures share, which are left out of their sections; "" without any."""
    if not shared:
        return ""
    if all(len(members) == len(records) for _, members in shared):
        return f"<h3>Holds for all structures</h3>{_list([('', text) for text, _ in shared])}"
    items = [(_whom(members, records), text) for text, members in shared]
    return f"<h3>Holds for several structures</h3>{_list(items)}"


def _whom(members: Sequence[int], records: Sequence[Record]) -> str:
    """Return the names of structures, linked to their sections."""
    return repeated.whom(members, [linkTo(n, record.name) for n, record in enumerate(records)], MOST_NAMES)


def _block(kind: str, title: str, items: Sequence[tuple[str, str]]) -> str:
    """Return a framed list. items: names, as HTML or "", and the findings about them."""
    if not items:
        return ""
    return f'<section class="{kind}"><h2>{title}</h2>{_list(items)}</section>'


def _list(items: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<li>{f'<b>{name}</b>: ' if name else ''}{escape(typeset(text))}</li>" for name, text in items)
    return f"<ul>{rows}</ul>"

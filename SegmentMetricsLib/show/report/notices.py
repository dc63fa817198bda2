"""Notices in a report: structures that could not be compared, alarms, and lists of findings."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.markup import Markup, fill, join
from ...case.comparison import Comparison
from ...metrics.findings import Kind, asFinding, splitAlarms
from ...metrics.measurement import typeset
from .. import repeated
from .blocks import CHECK_FIRST, NOTHING, linkTo

# Maximum number of names listed before a finding that several structures share.
MOST_NAMES = 12


def sentences(texts: Sequence[str]) -> Markup:
    """Return sentences as a list, nothing without any."""
    return _list([("", text) for text in texts]) if texts else NOTHING


def alarms(records: Sequence[Comparison], findings: Sequence[str]) -> Markup:
    """Return the alarms: findings that the numbers may not mean what they seem to mean; nothing without any.

    records: in the order of their section numbers. findings: of the whole case.
    """
    shared = repeated.membersOf([splitAlarms(record.findings).alarms for record in records])
    ofPairs = ((_whom(members, records), text) for text, members in shared)
    return block("alarms", CHECK_FIRST, [*(("", text) for text in splitAlarms(findings).alarms), *ofPairs])


def sayCommon(shared: Sequence[repeated.Common], records: Sequence[Comparison]) -> Markup:
    """Return the findings that several structures share, which are left out of their sections; nothing without any."""
    if not shared:
        return NOTHING
    if all(len(members) == len(records) for _, members in shared):
        return fill("<h3>For all structures</h3>$items", items=_list([("", text) for text, _ in shared]))
    items = _list([(_whom(members, records), text) for text, members in shared])
    return fill("<h3>For several structures</h3>$items", items=items)


def isSmall(finding: str) -> bool:
    """Return whether a finding says that a structure is small."""
    return asFinding(finding).kind == Kind.SMALL


def small(found: Sequence[tuple[int, str]], records: Sequence[Comparison]) -> Markup:
    """Return once for all structures that are small what follows from that, with their sizes in a folded list.

    found: the number of each and the finding that says so; nothing without any.
    """
    if not found:
        return NOTHING
    values = [(n, asFinding(one).values) for n, one in found]
    sizes = _list([(linkTo(n, records[n].name), f"{one['extent']} of {one['size']}") for n, one in values])
    return fill(
        '<details class="small"><summary>$count of $all structures are small. $advice</summary><p>Their voxels, and '
        "how many of the image's they span along the axis where that is least:</p>$sizes</details>",
        count=len(found),
        all=len(records),
        advice=Kind.SMALL.sentences[-1],
        sizes=sizes,
    )


def _whom(members: Sequence[int], records: Sequence[Comparison]) -> Markup:
    """Return the names of structures, linked to their sections."""
    # the names are markup, and what is said around them has nothing to escape
    return Markup(repeated.phraseFor(members, [linkTo(n, record.name) for n, record in enumerate(records)], MOST_NAMES))


def block(kind: str, title: str, items: Sequence[tuple[str, str]]) -> Markup:
    """Return a framed list, nothing without any items: names, or "", and what is said about them."""
    if not items:
        return NOTHING
    return fill('<section class="$kind"><h2>$title</h2>$items</section>', kind=kind, title=title, items=_list(items))


def _list(items: Sequence[tuple[str, str]]) -> Markup:
    rows = (
        fill("<li>$name$text</li>", name=fill("<b>$name</b>: ", name=name) if name else "", text=typeset(told))
        for name, told in ((name, asFinding(text).onPaper) for name, text in items)
    )
    return fill("<ul>$rows</ul>", rows=join(rows))

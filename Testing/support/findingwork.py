"""What results say of their data: the findings of a kind, or with a text, for tests."""

from __future__ import annotations

import json

from SegmentMetricsLib.metrics.findings import Kind, asFinding


def found(result, what: Kind | str) -> list[str]:
    """Return the findings of a kind, or that have a text. A file keeps all of them as they are."""
    kept = map(asFinding, json.loads(json.dumps([finding.toDictionary() for finding in result.findings])))
    assert [(one, one.kind, one.values) for one in kept] == [(one, one.kind, one.values) for one in result.findings]
    return [one for one in result.findings if (one.kind is what if isinstance(what, Kind) else what in one)]

"""What results say of their data: the findings that have a text, for tests."""

from __future__ import annotations

import json

from SegmentMetricsLib.metrics.findings import asFinding


def found(result, text: str) -> list[str]:
    """Return the findings that have a text. A file keeps all of them as they are."""
    kept = map(asFinding, json.loads(json.dumps([finding.toDictionary() for finding in result.findings])))
    assert [(one, one.kind, one.values) for one in kept] == [(one, one.kind, one.values) for one in result.findings]
    return [finding for finding in result.findings if text in finding]

"""What results say of their data: the findings that have a text, for tests."""

from __future__ import annotations

from SegmentMetricsLib.case.findings.recognition import asFinding


def found(result, text: str) -> list[str]:
    """Return the findings that have a text. Whatever they are, a file that keeps their sentences alone tells it."""
    known = [asFinding(str(finding)) for finding in result.findings]
    assert [(one.kind, one.reason) for one in known] == [(one.kind, one.reason) for one in result.findings]
    return [finding for finding in result.findings if text in finding]

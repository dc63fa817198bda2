"""The phrasebook is that of today; whoever changes a sentence sees the difference there."""

from __future__ import annotations

import phrasebook


def testThePhrasebookIsUpToDate():
    assert phrasebook.text() == phrasebook.PHRASEBOOK.read_text("utf-8"), "run python Testing/golden/phrasebook.py"


def testNothingIsSaidTwiceWithAnotherEnd():
    """Kinds have sentences of their own."""
    findings = phrasebook.text().split("# Causes")[0].splitlines()[2:-1]
    assert len(findings) == len(set(findings)) > 30 and all(line.rstrip().endswith((".", "}")) for line in findings)

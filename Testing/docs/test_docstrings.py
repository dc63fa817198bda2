"""The public API is documented in numpydoc's form, completely."""

from __future__ import annotations

import pytest
from test_documentation import NAMES
from tiers import throughout

validation = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed (extra test)")

# All rules but: where quotes stand (GL01, GL02), which the formatter decides; and examples, references and
# more than a summary for everything (EX01, SA01, ES01), which the guides have. The first word may be any (SS05).
LEFT_OUT = {"GL01", "GL02", "EX01", "SA01", "ES01", "SS05", "SS06", "RT03", "PR04"}


@throughout("name", NAMES)
def testDocstringsAreComplete(name):
    found = validation.validate(name)["errors"]
    assert not [f"{code}: {text}" for code, text in found if code not in LEFT_OUT]

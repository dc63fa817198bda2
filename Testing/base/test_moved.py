"""Old names of modules lead to what they held, and say where it is now."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from SegmentMetricsLib.base.moved import MOVED

IMPORTS = """
import warnings, sys
import SegmentMetricsLib
assert not [name for name in sys.modules if name.startswith("SegmentMetricsLib.families")]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import SegmentMetricsLib.registry
    from SegmentMetricsLib import errors
    from SegmentMetricsLib.pair import Pair
    from SegmentMetricsLib.protocol.protocol import parseProtocol
    from SegmentMetricsLib.metrics.agreement import Table, randIndex
    SegmentMetricsLib.registry.findDefinition, errors.InputError
from SegmentMetricsLib.comparison.workspace import Workspace
assert Pair is Workspace
print(*(one.message for one in told), sep="\\n")
"""


def testOldImportsWorkAndWarn():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "SegmentMetricsLib.pair has moved: import Workspace from SegmentMetricsLib.comparison.workspace."
    )
    assert [line.split()[0].removeprefix("SegmentMetricsLib.") for line in dict.fromkeys(lines)] == [
        "pair", "protocol.protocol", "metrics.agreement", "metrics.agreement", "registry", "errors",
    ]  # fmt: skip


@pytest.mark.parametrize("old", MOVED)
def testSuccessorsExist(old):
    assert all(importlib.import_module(f"SegmentMetricsLib.{home}") for home in MOVED[old])
    module = importlib.import_module(f"SegmentMetricsLib.{old}")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing

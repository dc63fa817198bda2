"""The documentation is built without a warning, tells of all that is public, and does so completely."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import throughout

import SegmentMetricsLib
from SegmentMetricsLib import mrml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = [
    *(f"SegmentMetricsLib.{name}" for name in SegmentMetricsLib.__all__ if name != "__version__"),
    *(f"SegmentMetricsLib.mrml.{name}" for name in mrml.__all__),
]


@pytest.mark.smoke
def testPagesAreBuiltAndTellOfAllThatIsPublic(tmp_path):
    """The face, Slicer's functions, and what the guides import of packages."""
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra docs)")
    from sphinx.util.inventory import InventoryFile

    line = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", DOCS, tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert len(list(tmp_path.rglob("*.html"))) > 15
    with (tmp_path / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    documented = {name for kind in inventory if kind.startswith("py:") for name in inventory[kind]}
    public = set(NAMES)
    for module, listed in (
        ("conventions", "allConventions find"),
        ("case.protocol.protocol", "Protocol Rule readProtocol parseProtocol"),
        ("case.protocol.judgment", "Judgment Verdict judgeCase"),
        ("batch.cases", "Task CaseList"),
        ("batch.statistics", "Cohort Summary summarize"),
        ("show.report", "Report"),
    ):
        importlib.import_module(f"SegmentMetricsLib.{module}")
        public |= {f"SegmentMetricsLib.{module}.{name}" for name in listed.split()}
    assert public <= documented


# All rules of numpydoc but: where quotes stand (GL01, GL02), which the formatter decides; and examples, references and
# more than a summary for everything (EX01, SA01, ES01), which the guides have. The first word may be any (SS05).
LEFT_OUT = {"GL01", "GL02", "EX01", "SA01", "ES01", "SS05", "SS06", "RT03", "PR04"}


@throughout("name", NAMES)
def testDocstringsAreComplete(name):
    validation = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed (extra test)")
    found = validation.validate(name)["errors"]
    assert not [f"{code}: {text}" for code, text in found if code not in LEFT_OUT]

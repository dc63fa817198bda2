"""The documentation is built without a warning, and tells of all that is public."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import SegmentMetricsLib

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder of the built pages."""
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra docs)")
    folder = tmp_path_factory.mktemp("html")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", DOCS, folder],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return folder


@pytest.fixture(scope="module")
def documented(built) -> set[str]:
    """The names of all objects that the reference documents."""
    from sphinx.util.inventory import InventoryFile

    with (built / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    return {name for kind in inventory if kind.startswith("py:") for name in inventory[kind]}


@pytest.mark.smoke
def testEveryPageIsBuilt(built):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    assert len(pages) > 15
    assert all((built / page).stat().st_size > 5000 for page in pages)


def testAllThatIsPublicIsDocumented(documented):
    """The face, Slicer's functions, and what the guides import of packages."""
    text = (ROOT / "SegmentMetricsLib" / "mrml" / "__init__.py").read_text(encoding="utf-8")
    names = re.findall(r'^    "(\w+)",$', text, re.MULTILINE)
    assert len(names) > 15
    public = {name for name in SegmentMetricsLib.__all__ if not name.startswith("__")} | {f"mrml.{n}" for n in names}
    for module, listed in (
        ("conventions", "known find"),
        ("case.protocol.protocol", "Protocol Rule readProtocol parseProtocol"),
        ("case.protocol.judgment", "Judgment Verdict judgeCase"),
        ("batch.cases", "Task readCases"),
        ("batch.statistics", "Cohort Summary summarize"),
        ("show.report", "Report"),
    ):
        importlib.import_module(f"SegmentMetricsLib.{module}")
        public |= {f"{module}.{name}" for name in listed.split()}
    assert {f"SegmentMetricsLib.{name}" for name in public} <= documented

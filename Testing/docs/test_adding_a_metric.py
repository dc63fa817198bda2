"""The examples of the pages on adding a metric and a family: everything knows what one function declares."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shapes
from batchruns import rowsOf
from imagefiles import save

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "developer"
PROTOCOL = "Structure,Measurement,Relation,Pass\n*,OC,>=,0.9\n*,SizeRatio,>=,0.2\n"
# The files of the folder stand before those of the library, as if they were written there.
PROGRAM = """
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock
import SegmentMetricsLib.metrics
SegmentMetricsLib.metrics.__path__.insert(0, "added")
from SegmentMetricsLib import Settings, __main__, compare
status = __main__.main("compare reference.nrrd test.nrrd --metrics OC,size --protocol protocol.csv -o out".split())
assert status in (0, 1), status

import formulas
print("FORMULAS", *map(formulas.heading, formulas.kinds()), sep="\\n")

import panelfakes
from SegmentMetricsPanel.model import chosensettings
from SegmentMetricsPanel.contents import results
parameters = panelfakes.parameters(families=["overlap", "size"])
settings = chosensettings.settingsOf(parameters, None)
outcome = SimpleNamespace(records=[compare("reference.nrrd", "test.nrrd", settings).record()])
print("PANEL", *("|".join(row) for row in results.numbers(outcome.records[0]).texts()), sep="\\n")

sys.modules.update({name: MagicMock() for name in ("qt", "ctk", "slicer", "slicer.i18n")})
from SegmentMetricsPanel.views.settings import FAMILIES
assert "size" in FAMILIES and settings.families == ("overlap", "size")
"""


def example(page: str) -> str:
    """Return the first block of Python of a page."""
    return re.search(r"```python\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL)[1]


@pytest.fixture
def printed(tmp_path):
    """What the program prints, in a folder with the two files that the pages ask for."""
    added = tmp_path / "added"
    added.mkdir()
    overlap = (ROOT / "SegmentMetricsLib" / "metrics" / "overlap.py").read_text(encoding="utf-8")
    (added / "overlap.py").write_text(f"{overlap}\n\n{example('adding-a-metric.md')}", encoding="utf-8")
    (added / "size.py").write_text(example("adding-a-family.md"), encoding="utf-8")
    save(shapes.box((6, 6, 6), (15, 15, 15)), tmp_path / "reference.nrrd")
    save(shapes.box((6, 6, 6), (15, 15, 11)), tmp_path / "test.nrrd")
    (tmp_path / "protocol.csv").write_text(PROTOCOL, encoding="utf-8")
    folders = (ROOT, ROOT / "SegmentMetrics", *(ROOT / "Testing" / one for one in ("support", "docs")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    line = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def testEverythingKnowsIt(printed, tmp_path):
    table, _, rest = printed.partition("FORMULAS\n")
    headings, _, panel = rest.partition("PANEL\n")
    for key, title in (("OC", "Overlap coefficient"), ("SizeRatio", "Ratio of the sizes")):
        assert title in table and f"{key}: {title}\n" in headings and f"\n{key}|" in panel
    assert re.search(r"OC +Overlap coefficient.* 1\.000", table) and re.search(r"SizeRatio .* 0\.600", table)
    (pair,) = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))["pairs"]
    assert pair["measurements"]["OC"]["value"] == 1
    assert pair["measurements"]["SizeRatio"]["value"] == pytest.approx(0.6)
    (row,) = rowsOf(tmp_path / "out" / "metrics.csv")
    assert float(row["OC"]) == 1 and np.isclose(float(row["SizeRatio"]), 0.6)
    assert "OC 1.000 is at least 0.9. (and 1 more)" in table

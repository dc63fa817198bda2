"""A running Slicer has what the module uses of Qt: in Python, as the stand-in lists it, and in its .ui file."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
API = ROOT.parent / "shared" / "slicer_api.json"
# What Slicer's instances are called in its list.
INSTANCES = {
    "qSlicerApplication": "slicer.app",
    "qSlicerLayoutManager": "slicer.app.layoutManager()",
    "qMRMLThreeDWidget": "layoutManager().threeDWidget(0)",
    "qMRMLThreeDView": "threeDView()",
    "qMRMLSliceWidget": 'sliceWidget("Red")',
}


@pytest.mark.skipif(not API.is_file(), reason="the list of names of a running Slicer is not there")
def testARunningSlicerHasAllThatIsUsed():
    content = json.loads(API.read_text(encoding="utf-8"))
    classes = {**content["qt"], **content["ctk"], **content["slicer"]}
    classes |= {kind: content["instances"][name] for kind, name in INSTANCES.items()}

    def has(kind: str, name: str) -> bool:
        about = classes.get(kind, {"own": ()})
        return name.removesuffix("_") in about["own"] or ("base" in about and has(about["base"], name))

    used = (ROOT / "Testing" / "support" / "desktop" / "names.txt").read_text(encoding="utf-8").split()
    for widget in ElementTree.parse(ROOT / "SegmentMetrics" / "Resources" / "UI" / "SegmentMetrics.ui").iter("widget"):
        # stdset="0" marks properties that the class does not have: SlicerParameterName
        own = [one.get("name") for one in widget.findall("property") if one.get("stdset") != "0"]
        used += [f"{widget.get('class')}.{name}" for name in own]
    assert len(used) > 300 and sorted({name for name in used if not has(*name.split("."))}) == []

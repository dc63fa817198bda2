"""The module uses only names that a running Slicer has, and the stand-in shows no others."""

from __future__ import annotations

import json

import pytest
import slicer_names

API = slicer_names.ROOT.parent / "shared" / "slicer_api.json"
needsApi = pytest.mark.skipif(not API.is_file(), reason="the list of names of a running Slicer is not there")
needsModule = pytest.mark.skipif(not slicer_names.usedNames(), reason="the module is not there")

# not in that list, but tried in a running Slicer
TRIED = {"slicer.i18n.tr", "slicer.i18n.translate", "slicer.app", "slicer.util", "slicer.modules"}
# instances in the list -> what slicer_names.py calls them
INSTANCES = {
    "slicer.app": "slicer.app",
    "slicer.app.layoutManager()": "slicer.app.layoutManager()",
    "layoutManager().threeDWidget(0)": "slicer.app.layoutManager().threeDWidget()",
    "threeDView()": "slicer.app.layoutManager().threeDWidget().threeDView()",
    'sliceWidget("Red")': "slicer.app.layoutManager().sliceWidget()",
    "slicer.util": "slicer.util",
    "slicer.ScriptedLoadableModule": "slicer.ScriptedLoadableModule",
    "slicer.parameterNodeWrapper": "slicer.parameterNodeWrapper",
}


class Api:
    """What Python sees in a running Slicer."""

    def __init__(self) -> None:
        self.content = json.loads(API.read_text(encoding="utf-8"))
        self.instances = {known: self.content["instances"][listed] for listed, known in INSTANCES.items()}

    def members(self, description: dict) -> set[str]:
        members = set(description["own"])
        base = description.get("base")
        while base in self.content["qt"]:  # other bases are VTK classes
            description = self.content["qt"][base]
            members |= set(description["own"])
            base = description.get("base")
        return members

    def description(self, path: str) -> dict | None:
        """The entry of a class or an instance: "qt.QLabel", "slicer.app"."""
        if path in self.instances:
            return self.instances[path]
        if path.startswith("slicer.modules."):
            return self.content["instances"].get(path)
        library, _, name = path.partition(".")
        return self.content.get(library, {}).get(name)

    def has(self, name: str) -> bool:
        owner, _, member = name.rpartition(".")
        if name in TRIED or self.description(name) is not None:
            return True
        description = self.description(owner)
        return description is not None and member.removesuffix("_") in self.members(description)


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


@needsModule
def test_the_list_is_what_the_module_uses():
    listed = slicer_names.LIST.read_text(encoding="utf-8").split()
    used = slicer_names.usedNames()
    advice = "if a running Slicer has them: python Testing/support/slicer_names.py > Testing/support/desktop/names.txt"
    assert [name for name in used if name not in listed] == [], advice
    assert [name for name in listed if name not in used] == [], advice


@needsApi
def test_a_running_slicer_has_all_names_of_the_list(api):
    listed = slicer_names.LIST.read_text(encoding="utf-8").split()
    assert listed
    assert [name for name in listed if not api.has(name)] == []

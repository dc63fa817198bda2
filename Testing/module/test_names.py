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


@needsApi
def test_what_a_running_slicer_does_not_have(api):
    wrong = ("qt.QRadioButton", "qt.QTimer.singleshot", "ctk.ctkSliderWidget.setMinimum", "slicer.util.loadUi")
    assert [name for name in wrong if api.has(name)] == []
    assert api.has("qt.QTimer.singleShot") and api.has("qt.Qt.AlignRight")


@needsApi
def test_the_stand_in_shows_only_what_a_running_slicer_has(api):
    pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")
    from desktop import application, loading, modules, pythonqt, qt5, scenes, views

    for name in qt5.CLASSES.split():
        assert api.has(f"qt.{name}")
        for base in pythonqt.nativeClass(name).__mro__:
            if base.__name__ not in api.content["qt"] or base.__name__ == "Qt":
                continue
            members = api.members(api.content["qt"][base.__name__])
            shown = {m for m in vars(base) if not m.startswith("_") and not m.endswith("_") and m != "staticMetaObject"}
            assert shown - members <= qt5.NOT_IN_QT5.get(base.__name__, set()), base.__name__
    hidden = {"name"} | set(dir(modules.QObject))
    standIns = {slicer_names.classPath(name): kind for name, kind in loading.STANDINS.items()}
    for kind in (
        application.qSlicerMainWindow,
        application.qSlicerModuleSelectorToolBar,
        modules.qSlicerModuleManager,
        modules.qSlicerScriptedLoadableModuleWidget,
        scenes.qSlicerCoreIOManager,
        views.qMRMLPlotWidget,
    ):
        standIns[f"slicer.{kind.__name__}"] = kind
    standIns["slicer.app"] = application.qSlicerApplication
    standIns["slicer.app.layoutManager()"] = views.qSlicerLayoutManager
    standIns["slicer.app.layoutManager().threeDWidget()"] = views.qMRMLThreeDWidget
    standIns["slicer.app.layoutManager().threeDWidget().threeDView()"] = views.qMRMLThreeDView
    standIns["slicer.app.layoutManager().sliceWidget()"] = views.qMRMLSliceWidget
    for path, kind in standIns.items():
        properties = {name for name, value in vars(kind).items() if type(value).__name__ == "Property"}
        missing = (set(kind.exposed) | properties) - api.members(api.description(path)) - hidden
        assert missing == set(), path

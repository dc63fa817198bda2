"""The page on the architecture: its layers, which lint-imports holds apart, and what the tests of doors may import."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import SegmentMetricsLib
from SegmentMetricsLib import mrml

ROOT = Path(__file__).parents[2]
PREPOSITIONS = ("Apart", "As", "At", "By", "For", "From", "If", "In", "Of", "Out", "To", "With")


def testThePageListsTheLayers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    first, *layers = project["contracts"][0]["layers"]
    library = ROOT / "SegmentMetricsLib"
    packages = {path.parent.name for path in library.glob("*/__init__.py")}
    modules = {path.stem for path in library.glob("*.py")} - {"__init__", "__main__"}
    assert first == "__main__" and set(layers) == packages | modules
    page = (ROOT / "docs" / "developer" / "architecture.md").read_text("utf-8")
    table = page[page.index("| layer |") :].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == layers


def testDoorsAreOpenedByPublicNames():
    """What moves within the library breaks none of their tests: they and their helpers do not name it."""
    public = {*SegmentMetricsLib.__all__, "mrml", "samples", "__main__"}
    shared, paths = ROOT / "Testing" / "support", [*(ROOT / "Testing" / "door").glob("*.py")]
    for path in paths:  # which become more on the way
        text = path.read_text("utf-8")
        for name, part in re.findall(r"SegmentMetricsLib\.([a-zA-Z]\w*)(?:\.(\w+))?", text):
            assert name in public and (name != "mrml" or part in ("", *mrml.__all__)), path
        for names in re.findall(r"from SegmentMetricsLib(?:\.mrml)? import (\([^)]*\)|[\w, ]+)", text):
            assert set(re.findall(r"\w+", names)) <= public.union(mrml.__all__), path
        assert "SegmentMetricsPanel" not in text, path
        for name in re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE):
            helpers = [*shared.glob(f"{name}.py"), *shared.glob(f"{name}/*.py")]
            paths += [helper for helper in helpers if helper not in paths]


def testNamesMeanOneThing():
    """No class name twice; and functions are called by verbs."""
    homes: dict[str, set[Path]] = {}
    participles = []
    for path in (*(ROOT / "SegmentMetricsLib").rglob("*.py"), *(ROOT / "SegmentMetrics").rglob("*.py")):
        text = path.read_text("utf-8")
        for name in re.findall(r"^ *class (\w+)[(:]", text, re.MULTILINE):
            homes.setdefault(name, set()).add(path)
        participles += [(path, name) for name in re.findall(r"^def (\w+)", text, re.MULTILINE) if isParticiple(name)]
    assert homes and not {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert not participles


def isParticiple(name: str) -> bool:
    """Return whether a name is a past participle, alone or with a preposition, such as chosenFor."""
    first, *others = re.findall(r"[A-Z]?[a-z0-9]+", name) or [name]
    isFirst = re.fullmatch(r"\w*[^e]ed|chosen|drawn|found|given|kept|made|meant|said|shown|taken|told|written", first)
    return bool(isFirst) and (not others or others[0] in PREPOSITIONS)

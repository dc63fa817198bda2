"""Nothing in the library runs what a file says, and what it depends on is bounded and audited."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from tiers import throughout

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("SegmentMetricsLib", "SegmentMetrics") for path in (ROOT / folder).rglob("*.py"))
# ruff's rules S forbid eval, exec, shells, unsafe YAML and the use of pickle; these say the rest.
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml", "code", "pty"}
FORBIDDEN_CALLS = {"eval", "exec", "__import__", "system", "popen", "execv", "spawnl", "execString", "evalPython"}
FORBIDDEN_ARGUMENTS = {"allow_pickle", "shell"}
RAW_ARRAYS = {"load", "loads", "fromregex", "memmap"}


def problems(source: str) -> list[str]:
    """Return what a Python text does that could run what it reads."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            found += [name for name in modules if name.split(".")[0] in FORBIDDEN_MODULES]
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            isLoop = called == "exec" and isinstance(node.func, ast.Attribute)  # Qt's event loops run so
            found += [called] if called in FORBIDDEN_CALLS and not isLoop else []
            owner = getattr(getattr(node.func, "value", None), "id", "")
            found += [f"{owner}.{called}"] if owner in ("np", "numpy") and called in RAW_ARRAYS else []
            found += [str(word.arg) for word in node.keywords if word.arg in FORBIDDEN_ARGUMENTS]
    return found


@throughout("path", SOURCES)
def testNothingIsRunThatIsRead(path):
    assert problems(path.read_text("utf-8")) == []


def testTheSearchFindsIt():
    for text in (
        *("eval(x)", "exec(x)", "import pickle", "from pickle import loads", "np.load(x)", "f(allow_pickle=True)"),
        *("os.system(x)", "subprocess.run(x, shell=True)", "import yaml", "slicer.app.pythonManager().evalPython(x)"),
    ):
        assert len(problems(text)) == 1, text


def testWhatTheProjectDependsOnIsBoundedAndAudited():
    content = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, lint = content["project"], content["tool"]["ruff"]["lint"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (one for group in groups for one in group):
        assert re.fullmatch(r"[\w.-]+>=[\w.]+,<[\w.]+", requirement), requirement
    assert "S" in lint["select"]
    assert [where for where, rules in lint["per-file-ignores"].items() if "S" in rules] == ["Testing/*"]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert re.search(r'pipx run --spec "pip-audit>=[\d.]+,<\d+" pip-audit', workflow)

"""The extension as Slicer's build system packages it and as its Extensions Index lists it.

CMake configures and installs the extension with the few macros in Testing/support/cmake instead of those of a Slicer
build.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/SegmentMetrics/SlicerSegmentMetrics"
RAW = f"{REPOSITORY.replace('github.com', 'raw.githubusercontent.com')}/main/"
# What the repository holds, beside hidden folders and what programs leave in it.
PARTS = ("Resources", "SegmentMetrics", "SegmentMetricsLib", "Testing", "docs", "findings")
# Packages that come with Slicer or with the extension.
WITH_SLICER = "SegmentMetricsLib SegmentMetricsPanel SimpleITK ctk numpy qt scipy slicer vtk vtkmodules"
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
MODULES = Path("lib", "Slicer", "qt-scripted-modules")

# Run in a process of its own: the module and the library of the installed tree, not those of this repository.
OPEN_INSTALLED = """
import sys
sys.path.insert(0, sys.argv[2])
from desktop import Desktop
with Desktop() as desktop:
    for name in [name for name in sys.modules if name.startswith("SegmentMetricsLib")]:
        del sys.modules[name]  # the stand-in uses the repository's
    sys.path[:] = [path for path in sys.path if path not in ("", sys.argv[3])]
    desktop.loadModule(sys.argv[1] + "/SegmentMetrics.py")
    import slicer
    slicer.util.selectModule("SegmentMetrics")
    import SegmentMetricsLib, SegmentMetricsPanel
    print(SegmentMetricsLib.__file__)
    print(SegmentMetricsPanel.__file__)
    print(slicer.modules.SegmentMetricsWidget.ui.applyButton.text)
    assert not desktop.exceptions and not desktop.messages, desktop.exceptions
"""


def program(*names: str) -> str | None:
    """Return the first of some programs that is there; those of this Python's packages come first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return next((found for found in (shutil.which(name, path=path) for name in names) if found), None)


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the build tree, the tree `install` and description.txt."""
    cmake, generator = program("cmake"), program("ninja", "make")
    if cmake is None or generator is None:
        pytest.skip("CMake, with Ninja or Make, is not installed")
    folder = tmp_path_factory.mktemp("extension")
    # project() would look for compilers, which a build of scripted modules here has no use for
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20...3.28)\n"
        "project(Around NONE)\n"
        "macro(project name)\n  _project(${name} NONE)\nendmacro()\n"
        f'add_subdirectory("{ROOT.as_posix()}" extension)\n'
    )
    build = folder / "build"
    run(
        *(cmake, "-S", folder, "-B", build, "-Werror=dev", "-DBUILD_TESTING=ON"),
        *("-G", "Ninja" if Path(generator).stem == "ninja" else "Unix Makefiles", f"-DCMAKE_MAKE_PROGRAM={generator}"),
        f"-DSlicer_DIR={(ROOT / 'Testing' / 'support' / 'cmake').as_posix()}",
    )
    run(cmake, "--install", build, "--prefix", build / "install")
    return build


def files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in found if path.name != "CMakeLists.txt"}


def testBuildAndInstallTreesHoldEverything(built):
    expected = files(ROOT / "SegmentMetrics") | {
        f"SegmentMetricsLib/{name}" for name in files(ROOT / "SegmentMetricsLib")
    }
    assert files(built / MODULES) == expected
    assert files(built / "install" / MODULES) == expected
    assert expected >= {"SegmentMetricsLib/mrml/maps.py", "Resources/UI/SegmentMetrics.ui"}
    # every file there that ends in .py is loaded as a module
    assert [name for name in expected if name.endswith(".py") and "/" not in name] == ["SegmentMetrics.py"]


def testEveryFileOfTheLibraryIsInstalled():
    """By pip and with the extension, which list what is no Python by its kind."""
    library = ROOT / "SegmentMetricsLib"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["SegmentMetricsLib"]
    listed = {path.relative_to(library).as_posix() for pattern in patterns for path in library.glob(pattern)}
    assert listed == {name for name in files(library) if not name.endswith(".py")}
    assert set(patterns) <= set((library / "CMakeLists.txt").read_text("utf-8").split())


def testTheInstalledModuleOpens(built):
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    pytest.importorskip("PySide6", reason="PySide6 is not installed")
    installed = built / "install" / MODULES
    library, panel, button = run(
        sys.executable, "-c", OPEN_INSTALLED, installed, ROOT / "Testing" / "support", ROOT
    ).splitlines()
    assert Path(library) == installed / "SegmentMetricsLib" / "__init__.py"
    assert Path(panel) == installed / "SegmentMetricsPanel" / "__init__.py"
    assert button == "Apply"


def testDescription(built):
    lines = (built / "description.txt").read_text(encoding="utf-8").splitlines()
    said = dict(line.split("=", 1) for line in lines)
    assert all(said.values()), said
    assert said["EXTENSION_NAME"] == "SegmentMetrics"
    assert said["EXTENSION_HOMEPAGE"] == REPOSITORY
    assert said["EXTENSION_DEPENDS"] == "NA"
    assert ";" not in said["EXTENSION_DESCRIPTION"] and said["EXTENSION_DESCRIPTION"].endswith(".")
    assert said["TESTS"].split(";") == ["SegmentMetrics.py", "run_in_slicer.py"]
    assert Path(said["EXTENSION_LICENSE_FILE"]).samefile(ROOT / "LICENSE")
    assert Path(said["EXTENSION_README_FILE"]).samefile(ROOT / "README.md")
    assert [said[f"EXTENSION_{name}"].split() for name in URLS] == list(map(urlsOf, URLS))


URLS = ("ICONURL", "SCREENSHOTURLS")


def urlsOf(name: str) -> list[str]:
    """Return addresses as the index reads them, from the text."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(rf'set\s*\(EXTENSION_{name}\s*"([^"]+)"\)', text)[1].split()


def sizeOfPicture(url: str) -> tuple[int, int]:
    """Return width and height of the PNG file here that will be at an address."""
    assert url.startswith(RAW)
    content = (ROOT / url.removeprefix(RAW)).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", content[16:24])


def testCatalogEntry():
    """What Slicer's schema for entries of the index, version 1.0.2, asks for."""
    entry = json.loads((ROOT / "SegmentMetrics.json").read_text(encoding="utf-8"))
    assert entry["$schema"].endswith("/slicer-extension-catalog-entry-schema-v1.0.2.json#")
    assert set(entry) <= {
        *("$schema", "category", "scm_url", "scm_revision", "scm_type", "build_dependencies", "dicom_support_rule"),
        *("build_subdirectory", "enabled", "tier"),
    }
    assert entry["category"] == "Quantification"
    assert entry["scm_url"] == f"{REPOSITORY}.git" and entry["scm_revision"] == "main"
    assert entry["tier"] in range(1, 6)


def testWhatTheIndexChecks():
    """Its checks of an entry and its repository that need no network."""
    description = ROOT / "SegmentMetrics.json"
    assert b"\r" not in description.read_bytes() and not description.stem.lower().startswith("slicer")
    assert REPOSITORY.startswith("https://") and REPOSITORY.rpartition("/")[2].startswith("Slicer")
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"project\s*\(\s*(\w+)", text)[1] == description.stem
    (icon,), screenshots = (list(map(sizeOfPicture, urlsOf(name))) for name in URLS)
    assert icon == (128, 128) and min(map(min, screenshots)) > 256
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    sources = [path for path in ROOT.rglob("*") if path.is_file() and path.relative_to(ROOT).parts[0] in PARTS]
    assert sum(path.stat().st_size for path in sources) < 100 * 2**20


def atFileScope(source: str) -> list[str]:
    """Return statements of a module that do more than define something, and packages that Slicer does not have."""
    found, packages = [], {*WITH_SLICER.split(), *sys.stdlib_module_names}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            found += [name for name in names if name.partition(".")[0] not in packages]
        isText = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        said = "" if isText or isinstance(node, DEFINITIONS) else ast.unparse(node)
        if said and not re.match("if (TYPE_CHECKING|__name__)|try:\n    from slicer", said):
            found.append(said.partition("\n")[0])
    return found


def testNothingRunsWhenTheModuleIsImported():
    """What the index asks of every source: nothing but definitions, and no packages that Slicer does not have.

    A file that is read where its package is installed, and only there, imports that at its top.
    """
    ofFiles = {"dicomfiles.py": {"highdicom", "pydicom"}}
    for folder in ("SegmentMetrics", "SegmentMetricsLib"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found = {name.partition(".")[0] for name in atFileScope(path.read_text(encoding="utf-8"))}
            assert found <= ofFiles.get(path.name, set()), path
    assert len(atFileScope("import tqdm\nfor x in y:\n    pass\nf()\nx = 1\nif TYPE_CHECKING:\n    import qt")) == 3

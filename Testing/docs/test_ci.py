"""What continuous integration runs: every step proves that it did something, and the rest of the tests runs nightly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = "```bash\ninstall\n```\n\n```bash\n.venv/bin/python -m pytest -q\n```\n"
PRINTED = {
    "ruff": 'if [[ "$1" == format ]]; then echo "585 files already formatted"; else echo "All checks passed!"; fi',
    "mypy": 'echo "Success: no issues found in 59 source files"',
    "lint-imports": 'echo "Contracts: 2 kept, 0 broken."',
    "python": 'if [[ "$*" == *smoke* ]]; then echo "7 passed in 9 s"; else echo "6789 passed in 99 s"; fi',
}


def run(folder: Path, **printed: str) -> subprocess.CompletedProcess:
    """Run .ci/run in a folder where programs do no more than print what they are told to."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci")
    (folder / "README.md").write_text(README, encoding="utf-8")
    programs = {f".venv/bin/{name}": PRINTED[name] for name in PRINTED}
    programs |= {f".venv/bin/{name.replace('_', '-')}": text for name, text in printed.items()}
    programs["bin/dpkg-query"] = "echo ' installed'"  # nothing is to be installed
    for name, text in programs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    environment = {**os.environ, "PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])}
    return subprocess.run(["bash", folder / ".ci" / "run"], capture_output=True, text=True, env=environment)


FEW = 'if [[ "$*" == *smoke* ]]; then echo "2 passed"; else echo "6789 passed"; fi'
SKIPPED = "SKIPPED [1] Testing/a.py:1: slicer-core is not installed"


@pytest.mark.skipif(sys.platform != "linux", reason="runs on Linux")
@pytest.mark.parametrize(
    ("printed", "status", "said"),
    [
        ({}, 0, ""),
        ({"python": 'echo "12 passed in 1 s"'}, 1, ".ci/run: README printed nothing like"),
        ({"ruff": 'echo "All checks passed!"'}, 1, ".ci/run: format printed nothing like"),
        ({"mypy": "true"}, 1, ".ci/run: types printed nothing like"),
        ({"lint_imports": 'echo "Contracts: 0 kept, 0 broken."'}, 1, ".ci/run: imports printed nothing like"),
        ({"lint_imports": 'echo "Contracts: 2 kept, 0 broken."; exit 3'}, 3, ""),
        ({"python": FEW}, 1, ".ci/run: nightly smoke printed nothing like"),
        ({"python": f'echo "{SKIPPED}"; echo "6789 passed"'}, 1, "packages that the extras should have installed"),
    ],
    ids=str,
)
def testEveryStepProvesThatItDidSomething(tmp_path, printed, status, said):
    done = run(tmp_path, **printed)
    assert done.returncode == status and said in done.stderr, done.stderr
    if status == 0:
        told = done.stdout.split("All of it ran:\n")[1]
        steps = ["README", "lint", "format", "types", "imports", "nightly smoke"]
        assert re.findall(r"^  ([\w ]+), \d+ s$", told, re.M) == steps


def testWhichTestsRunWhen():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "-m=not nightly" in project["tool"]["pytest"]["ini_options"]["addopts"]
    test, nightly = ((ROOT / ".github" / "workflows" / name).read_text("utf-8") for name in ("test.yml", "nightly.yml"))
    assert "run: .ci/run" in test
    assert "pytest -q -m nightly" in nightly and '-m "" --cov' in nightly and "cron:" in nightly
    for workflow in (test, nightly):
        for version in re.findall(r'"(3\.\d+)"', workflow):
            assert f"Programming Language :: Python :: {version}" in project["project"]["classifiers"]

"""Modules that moved: their old names, as documentation named them, still lead to what they held."""

from __future__ import annotations

import importlib
import sys
import warnings
from types import ModuleType

# Where the names of a module are now.
MOVED = {
    "cohort": ("batch",),
    "cohort.cases": ("batch.cases",),
    "cohort.correlations": ("batch.correlations",),
    "cohort.earlier": ("batch.earlier",),
    "cohort.missing": ("case.missing",),
    "cohort.ranks": ("batch.ranks",),
    "cohort.resultfiles": ("batch.resultfiles",),
    "cohort.statistics": ("batch.statistics",),
    "cohort.stresscases": ("batch.stresscases",),
    "cohort.summaryoptions": ("batch.summaryoptions",),
    "cohort.tasks": ("batch.tasks",),
    "definitions": ("comparison.definitions",),
    "errors": ("base.errors",),
    "evaluatedgrid": ("comparison.evaluatedgrid",),
    "metrics.agreement": ("comparison.counts", "families.agreement.formulas"),
    "metrics.hazard": ("families.hazard.formulas",),
    "metrics.overlap": ("comparison.counts", "families.overlap.formulas"),
    "metrics.places": ("analysis.places",),
    "metrics.similarity": ("families.similarity.formulas",),
    "metrics.slices": ("families.slices.formulas",),
    "multilabel": ("case.multilabel",),
    "pair": ("comparison.workspace",),
    "pairing": ("case.pairing",),
    "protocol": ("case.protocol",),
    "protocol.judgment": ("case.protocol.judgment",),
    "protocol.protocol": ("case.protocol.protocol",),
    "records": ("case.records",),
    "registry": ("families.registry",),
    "report": ("show.report",),
    "report.index": ("show.report.index",),
}
# New names of what was renamed as well, by module and old name.
RENAMED = {("pair", "Pair"): "Workspace"}


class Moved(ModuleType):
    """A module under its old name, which imports its successors when a name is asked for."""

    def __getattr__(self, name: str):
        # tools that look through all modules ask for special names, which must not import anything
        if not name.startswith("__"):
            package, _, old = self.__name__.partition(".")
            for home in MOVED.get(old, ()):
                found = importlib.import_module(f"{package}.{home}")
                current = RENAMED.get((old, name), name)
                if hasattr(found, current):
                    message = f"{self.__name__} has moved: import {current} from {found.__name__}."
                    warnings.warn(message, DeprecationWarning, stacklevel=2)
                    return getattr(found, current)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def addMoved(package: str) -> None:
    """Make the old names of modules of a package importable; nothing is imported yet."""
    for old in MOVED:
        # the folders of old names, such as metrics, hold nothing else
        for name in (old.partition(".")[0], old):
            if f"{package}.{name}" not in sys.modules:
                sys.modules[f"{package}.{name}"] = Moved(f"{package}.{name}")

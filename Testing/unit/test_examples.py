"""The examples in the docstrings of formulas give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np

from SegmentMetricsLib import metrics
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics.registry import MULTI_LABEL, REGISTRY

# As docs/guide/python.md imports them.
NAMES = {one.__name__.rpartition(".")[2]: one for one in (BoundaryPair, meshing, Grid, Mask)} | {"np": np}


def testExamples():
    tried = set()
    for found in pkgutil.iter_modules(metrics.__path__):
        module = importlib.import_module(f"{metrics.__name__}.{found.name}")
        for test in doctest.DocTestFinder().find(module, extraglobs=NAMES):
            assert not doctest.DocTestRunner(verbose=False).run(test).failed
            tried |= {test.name.rpartition(".")[2]} if test.examples else set()
    keys = {one.key for one in (*REGISTRY, *MULTI_LABEL) if one.function.__name__ in tried}
    assert keys >= {"DSC", "HD{percentile}", "STAR", "MSI"}

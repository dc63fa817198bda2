"""Dose-volume numbers against dicompyler-core, on the same files: pip install -e .[peers]."""

from __future__ import annotations

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pydicom
import pytest
import SimpleITK
from dicomfiles import writeDose, writeSeries, writeStructureSet

from SegmentMetricsLib import Settings
from SegmentMetricsLib.case.casework import compareCase
from SegmentMetricsLib.geometry.grids import Grid

pytestmark = pytest.mark.nightly

SLICE, STEP, SLOPE = 2.0, 2.5, 0.5  # mm, mm and Gy per mm
RADII = {"Ball": 22.0, "Small": 9.0}


def contours(radius: float, center) -> list[np.ndarray]:
    """Return the contours of a ball on the slices that it reaches."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    found = []
    for z in SLICE * np.arange(-20, 21):
        if (square := radius**2 - (z - center[2]) ** 2) > 1:
            circle = np.sqrt(square) * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
            found.append(circle + np.array([center[0], center[1], z]))
    return found


def testDicompyler(tmp_path, monkeypatch):
    # a name that it uses, and newer versions of pydicom no longer have
    monkeypatch.setitem(sys.modules, "pydicom.dicomio", SimpleNamespace(read_file=pydicom.dcmread))
    dvhcalc = pytest.importorskip("dicompylercore.dvhcalc", reason="dicompyler-core is not installed")
    matrix = np.diag([1.0, 1.0, SLICE, 1.0])
    matrix[:3, 3] = -60, -60, -40
    slices = writeSeries(tmp_path / "ct", Grid((121, 121, 41), matrix))
    places = {"Ball": (0.3, -0.4, 0), "Small": (25, 20, 4)}
    file = tmp_path / "rs" / "rs.dcm"
    writeStructureSet(file, {name: contours(RADII[name], places[name]) for name in RADII}, slices)
    k, j, i = np.indices((45, 57, 57))
    points = [STEP * index + start for index, start in zip((i, j, k), (-70, -70, -55))]
    image = SimpleITK.GetImageFromArray((45 + SLOPE * (0.6 * points[0] + 0.8 * points[2])).astype(np.float32))
    image.SetSpacing((STEP,) * 3)
    image.SetOrigin((-70, -70, -55))
    dose = writeDose(tmp_path / "rd.dcm", image, STEP * np.arange(45))
    result = compareCase(file, file, Settings(metrics="dose", doseLevels=45), dose=dose)
    for number, (comparison, radius) in enumerate(zip(result, RADII.values(), strict=True), start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # without its interpolation, which moves the dose by half a pixel: the mean by 0.37 Gy, in a ball as well
            peer = dvhcalc.get_dvh(str(file), str(dose), number)
        own = comparison.numbers
        assert peer.volume == pytest.approx(comparison.reference.mask.size / 1000, rel=0.03)
        assert own["DmeanReference"] == pytest.approx(peer.mean, abs=0.001 * 2 * radius * SLOPE)
        # its pixels are 2.5 mm wide, over which the dose rises by 1.75 Gy: a tenth of that, and a bin of 0.01 Gy
        for x in ("D2", "D50", "D95", "D98"):
            assert own[f"{x}Reference"] == pytest.approx(getattr(peer, x).value, abs=0.175 + 0.01), x
        assert own["V45GyccReference"] == pytest.approx(peer.V45Gy.value, rel=0.03)

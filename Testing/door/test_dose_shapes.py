"""Dose: analytic shapes in linear gradients, as in Nelms et al. 2015, doi:10.1118/1.4923175, and files of dose."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pydicom
import pytest
import shapes
import SimpleITK
from dicomfiles import writeDose, writeSeries, writeStructureSet
from sayings import refused, says
from scipy.optimize import brentq
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkTriangleFilter
from vtkmodules.vtkFiltersSources import vtkConeSource, vtkCylinderSource, vtkSphereSource

from SegmentMetricsLib import Dose, Grid, Settings, Structure, compare, compareCase, readDose

SLOPE, LEVEL = 0.5, 80.0  # Gy per mm, and Gy at the origin
KEYS = ("D2", "D50", "D95", "D98", "D0.03cc", "Dmean", "Dmax", "Dmin")


@cache
def gradient(step: float, along=(0, 0, 1)) -> Dose:
    """Return a dose that rises along an axis."""
    half = 96.0
    count = int(2 * half / step) + 1
    k, j, i = np.indices((count, count, count))
    points = np.stack([i, j, k], axis=-1) * step - half
    return Dose(LEVEL + SLOPE * (points @ np.array(along, float)), shapes.gridOf((count,) * 3, step, (-half,) * 3))


def sphere(volume: float):
    """Return half of a sphere's height, its source, the share of its volume above a height from -1 to 1, the mean."""
    half = (3 * volume / 4 / np.pi) ** (1 / 3)
    return half, made(vtkSphereSource, ThetaResolution=300, PhiResolution=151), lambda z: (2 - 3 * z + z**3) / 4, 0.0


def cylinder(volume: float):
    """Upright along the gradient, as high as wide."""
    half = (volume / 2 / np.pi) ** (1 / 3)
    return half, made(vtkCylinderSource, Height=2, Resolution=400), lambda z: (1 - z) / 2, 0.0


def cone(volume: float):
    """Its tip is where the dose is largest; as high as the base is wide."""
    half = (3 * volume / 2 / np.pi) ** (1 / 3)
    return half, made(vtkConeSource, Height=2, Resolution=400), lambda z: ((1 - z) / 2) ** 3, -0.5


def made(kind, **values):
    source = kind()
    for name, value in {"Radius": 1, "OutputPointsPrecision": 1, **values}.items():
        getattr(source, f"Set{name}")(value)
    return source


def along(source, half: float, axis: int, toward: np.ndarray):
    """Return the surface of a source of half the height 1 with its axis along another one, as large as it is."""
    triangles, joined = vtkTriangleFilter(), vtkCleanPolyData()
    triangles.SetInputConnection(source.GetOutputPort())
    joined.SetInputConnection(triangles.GetOutputPort())
    joined.Update()
    surface = joined.GetOutput()
    points = vtk_to_numpy(surface.GetPoints().GetData())[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]
    helper = np.cross(toward, [0.3, 0.5, 0.8])
    helper /= np.linalg.norm(helper)
    turned = half * points @ np.stack([np.cross(helper, toward), helper, toward])
    surface.GetPoints().SetData(numpy_to_vtk(turned, deep=True))
    return surface


@pytest.mark.parametrize("volume", [500, pytest.param(500_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("shape", "axis"), [(sphere, 2), (cylinder, 1), (cone, 0)])
@pytest.mark.parametrize(
    ("step", "toward"), [(3, (0, 0, 1)), pytest.param(2, (0.6, 0, 0.8), marks=pytest.mark.nightly)]
)
def testAnalyticShapes(volume, shape, axis, step, toward):
    half, source, above, mean = shape(volume)
    surface = along(source, half, axis, np.array(toward, float))
    found = compare(surface, surface, Settings(metrics=("dose",)), dose=gradient(step, toward))

    def hottest(share: float) -> float:
        return LEVEL + SLOPE * half * brentq(lambda z: above(z) - share, -1, 1)

    expected = {f"D{x}": hottest(x / 100) for x in (2, 50, 95, 98)}
    expected |= {"D0.03cc": hottest(30 / volume), "Dmean": LEVEL + SLOPE * half * mean}
    expected |= {"Dmax": hottest(0), "Dmin": hottest(1)}
    size = 2 * half * SLOPE
    errors = {key: abs(found[f"{key}Reference"].value - value) / size for key, value in expected.items()}
    assert max(errors.values()) < 0.001, errors
    assert all(found[f"{key}Difference"].value == 0 for key in KEYS)


def testMasksAreTheBoxesOfTheirVoxels():
    image = shapes.ball(9, (0, 0, 0), (1.5, 1, 2.5), (-15, -15, -15), (21, 31, 13))
    array = SimpleITK.GetArrayFromImage(image)
    found = compare(image, image, Settings(metrics=("dose",), doseLevels=(78, 81)), dose=gradient(2))
    layers = array.sum(axis=(1, 2)) / array.sum()
    centers = image.GetOrigin()[2] + 2.5 * np.arange(len(layers))
    # every layer is a ramp between its two faces
    z = np.linspace(-12, 12, 48_001)
    shares = np.clip((centers + 1.25 - z[:, None]) / 2.5, 0, 1) @ layers
    for x in (2, 50, 95, 98):
        expected = LEVEL + SLOPE * np.interp(-x / 100, -shares, z)
        assert found[f"D{x}Test"].value == pytest.approx(expected, abs=0.001 * 18 * SLOPE)
    for dose in (78, 81):
        share = np.interp((dose - LEVEL) / SLOPE, z, shares)
        assert found[f"V{dose}GyTest"].value == pytest.approx(share, abs=0.001)
        volume = share * array.sum() * 1.5 * 2.5 / 1000
        assert found[f"V{dose}GyccTest"].value == pytest.approx(volume, rel=0.002)
    rows = np.flatnonzero(layers)
    assert found["DmaxTest"].value == pytest.approx(LEVEL + SLOPE * (centers[rows[-1]] + 1.25))
    assert found["DminTest"].value == pytest.approx(LEVEL + SLOPE * (centers[rows[0]] - 1.25))


def testPartsThatOnlyOneHas():
    reference, test = (shapes.box((5, 5, z), (14, 14, z + 9), (20, 20, 20)) for z in (5, 7))
    found = compare(reference, test, Settings(metrics=("dose",)), dose=gradient(2))
    # layers of two voxels: 4.5 to 6.5 is missing, and 14.5 to 16.5 is added
    assert found["DmeanUnder"].value == pytest.approx(LEVEL + SLOPE * 5.5, abs=0.005)
    assert found["DmeanOver"].value == pytest.approx(LEVEL + SLOPE * 15.5, abs=0.005)
    assert found["DmaxOver"].value == pytest.approx(LEVEL + SLOPE * 16.5, abs=0.01)
    assert found["DmeanDifference"].value == pytest.approx(SLOPE * 2, abs=0.001)
    less = reference - shapes.box((9, 9, 9), (9, 9, 9), (20, 20, 20))  # by one voxel of a thousand
    found = compare(reference, less, Settings(metrics=("dose",)), dose=gradient(2))
    assert found["DmeanUnder"].value == pytest.approx(LEVEL + SLOPE * 9, abs=1e-4)
    assert found["DmeanOver"].status == "undefined"


def testHottestPartOfALargeStructure():
    """7 liters in a dose whose levels are octahedrons, steep around one point of its grid."""
    values = np.clip(60 - 6 * np.abs(2 * np.indices((97, 97, 97)) - 96).sum(axis=0), 0, 60.0)
    body = shapes.box((1, 1, 1), (100, 100, 60), (102, 102, 62), (2, 2, 3), (-97.3, -105.6, -90.7))
    keys = [f"D{v}ccTest" for v in (0.03, 0.1)]
    found = compare(body, body, Settings(metrics=keys), dose=replace(gradient(2), values=values))
    for key, volume in zip(keys, (30, 100)):
        assert found[key].value == pytest.approx(60 - 6 * (0.75 * volume) ** (1 / 3), abs=0.001 * 60), key


def testDoseOfAnImage(tmp_path):
    values = np.linspace(0, 70, 4 * 5 * 6).reshape(4, 5, 6).astype(np.float32)
    path = tmp_path / "dose.nii.gz"
    SimpleITK.WriteImage(shapes.imageOf(values, (2, 3, 4), (-5, 7, 11)), str(path))
    dose = readDose(path)
    assert dose.at(np.array([[-3.0, 7, 11]]))[0] == pytest.approx(70 / 119) and "Gy" in dose.remarks[0]


@pytest.mark.parametrize(
    "values",
    [np.ones((3, 3, 4)), np.ones((1, 3, 3)), *(np.full((3, 3, 3), value) for value in (np.nan, np.inf, -1.0))],
)
def testValuesThatAreNoDose(values):
    with refused():
        Dose(values, Grid((3, 3, 1) if len(values) == 1 else (3, 3, 3), np.eye(4)))


@pytest.mark.parametrize(
    ("name", "alarm"), [("frameOfReference", "OTHER_DOSE_FRAME"), ("patient", "OTHER_DOSE_PATIENT")]
)
def testDoseOfSomebodyElse(name, alarm):
    box = shapes.box((5, 5, 5), (14, 14, 14), (20, 20, 20))
    structure = Structure("box", shapes.maskOf(box), **{name: "1.2"})
    for value, expected in (("1.3", {alarm, "PLAN_OF_ONE"}), ("1.2", {"PLAN_OF_ONE"})):
        dose = replace(gradient(2), **{name: value})
        found = compare(structure, box, Settings(metrics=("DmeanTest",)), dose=dose).findings
        assert {one.kind.name for one in found} == expected


def testHazardByDose():
    """Where the dose is everywhere half of the prescription, half of everything is dangerous."""
    reference, test = (shapes.box((5, 5, z), (14, 14, z + 9), (20, 20, 24)) for z in (5, 7))
    flat = replace(gradient(3), values=np.full((65, 65, 65), 30.0))
    settings = Settings(metrics=("hazard",), hazardKernel="dose", prescription=60)
    found = compare(reference, test, settings, dose=flat)
    assert found["RFN"].value == pytest.approx(0.2) and found["SIS"].status == "ok"
    says(compare(reference, test, settings.replace(prescription=None), dose=flat)["SIS"].reason)
    # a gradient that is zero where the test misses something, and full where it adds
    steep = replace(gradient(3), values=np.clip(np.indices((65, 65, 65))[0] * 3.0 - 96 - 8, 0, 1) * 60)
    assert compare(reference, test, settings, dose=steep)["RFN"].value == pytest.approx(0, abs=1e-6)


# Dose-volume numbers against dicompyler-core, on the same files: pip install -e .[peers]
SLICE, STEP = 2.0, 2.5  # mm
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


@pytest.mark.nightly
def testDicompyler(tmp_path, monkeypatch):
    # a name that it uses, and newer versions of pydicom no longer have
    monkeypatch.setitem(sys.modules, "pydicom.dicomio", SimpleNamespace(read_file=pydicom.dcmread))
    dvhcalc = pytest.importorskip("dicompylercore.dvhcalc", reason="dicompyler-core is not installed")
    slices = writeSeries(tmp_path / "ct", shapes.gridOf((121, 121, 41), (1, 1, SLICE), (-60, -60, -40)))
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

"""The anatomy of the demonstration samples: two observers' contours of organs, lesions and a vessel, and a CT.

All of it is synthetic; no patient data are used. The anatomy is the table ORGANS: each organ is a blend of simple
shapes in millimeters, and each observer's drawing is a short list of deviations from it, such as a margin, a missed
lobe or a cord that ends lower.

    PYTHONPATH=. python Testing/support/anatomy.py    # writes the files of the package again
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import SimpleITK
from shapes import imageOf

from SegmentMetricsLib import Grid, samples

# World coordinates are LPS mm: x to the left, y to the back, z to the head; the origin lies between the ear canals.
Point = tuple[float, float, float]

# A planning CT (500 mm field of view, 512 pixels, 2.5 mm slices) cropped to the head and neck.
SPACING = (500 / 512, 500 / 512, 2.5)
ORIGIN = (-77.0, -100.0, -150.0)
SIZE = (158, 136, 82)

# The CT has noise of this standard deviation in HU, except in air. Its numbers are multiples of STEP, which makes the
# file small; the noise hides the steps.
NOISE, STEP = 10, 20
AIR, FAT, FLUID, BRAIN, MUSCLE, GLAND, SPONGY, CORTICAL, TOOTH = -1000, -95, 8, 36, 55, 45, 350, 1150, 1900

# Margin in mm around an organ's shapes for additions of the observers, as looked at in so many voxels' steps.
CLEARANCE, STRIDE = 24.0, 4


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid: center and radii in mm; pitch in degrees turns its top to the front, yaw its front to the left."""

    center: Point
    radii: Point
    pitch: float = 0.0
    yaw: float = 0.0

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        x, y, z = x - self.center[0], y - self.center[1], z - self.center[2]
        if self.yaw:
            x, y = _turned(x, y, self.yaw)
        if self.pitch:
            y, z = _turned(y, z, self.pitch)
        return _ellipticDistance((x, y, z), self.radii)


@dataclass(frozen=True)
class Column:
    """A stack of ellipses with flat ends: stations (z, center x, center y, radius x, radius y), or y before x, z."""

    stations: tuple[tuple[float, float, float, float, float], ...]
    along: str = "z"

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        position, other = (z, y) if self.along == "z" else (y, z)
        curve = _smoothCurve(self.stations)
        curve = curve[np.argsort(curve[:, 0])]
        centerX, centerOther, radiusX, radiusOther = (np.interp(position, curve[:, 0], part) for part in curve.T[1:])
        around = _ellipticDistance((x - centerX, other - centerOther), (radiusX, radiusOther))
        return np.maximum(around, np.maximum(curve[0, 0] - position, position - curve[-1, 0]))


@dataclass(frozen=True)
class Arch:
    """A curved plate, left-right symmetric.

    plan is (x, y, half thickness) along its left half as seen from above, outline (y, z) its edge seen from the side.
    """

    plan: tuple[Point, ...]
    outline: tuple[tuple[float, float], ...]
    rounding: float

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        plan, outline = _smoothCurve(self.plan), _smoothCurve(self.outline, closed=True)
        gaps = np.hypot(np.abs(x)[..., None] - plan[:, 0], y[..., None] - plan[:, 1]) - plan[:, 2]
        return _smoothMaximum(gaps.min(axis=-1), _outlineDistance(y, z, outline), self.rounding)


@dataclass(frozen=True)
class Bulge:
    """A local change of a drawing: at center the surface moves by height mm (negative: inward), less around it."""

    center: Point
    reach: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """How an observer's contour deviates from the anatomy, in mm; wobble is the standard deviation of smooth noise."""

    wobble: float = 0.3
    margin: float = 0.0
    shift: Point = (0.0, 0.0, 0.0)
    bulges: tuple[Bulge, ...] = ()
    lowest: float = -np.inf
    highest: float = np.inf


@dataclass(frozen=True)
class Organ:
    """One row of the anatomy: shapes blended over some mm, minus the hollows, and the drawings of the two observers."""

    name: str
    color: tuple[int, int, int]
    shapes: tuple[Ellipsoid | Column | Arch, ...]
    first: Drawing | None
    second: Drawing | None
    hollows: tuple[Ellipsoid, ...] = ()
    blend: float = 5.0
    irregularity: float = 0.5
    mirrored: bool = False


# The anatomy is a table with one row per line.
# fmt: off
BRAINSTEM = (
    Column((  # z, x, y, radius x, radius y: medulla, pons, midbrain, leaning forward
        (-40, 0, 15, 6, 5.2), (-28, 0, 14.5, 6.8, 5.8), (-14, 0, 13, 8.6, 7), (-3, 0, 12, 10, 8),
        (8, 0, 10.5, 13, 9.5), (17, 0, 9.5, 13, 9), (26, 0, 8.5, 11.5, 8), (34, 0, 7.5, 12.5, 8.5),
        (44, 0, 6.5, 13, 8.5))),
    Ellipsoid((0, 2, 11), (16.5, 9.5, 12), pitch=12),  # belly of the pons
    Ellipsoid((14, 11, 9), (5.5, 7, 8), yaw=25), Ellipsoid((-14, 11, 9), (5.5, 7, 8), yaw=-25),  # to the cerebellum
    Ellipsoid((10, -1, 36), (5, 8.5, 12), pitch=15, yaw=-30),  # cerebral peduncles
    Ellipsoid((-10, -1, 36), (5, 8.5, 12), pitch=15, yaw=30),
)
CORD = (Column((  # z, x, y, radius x, radius y: cervical lordosis and enlargement
    (-20, 0, 14, 6.8, 5.6), (-40, 0, 14, 6, 4.8), (-60, 0.3, 10.5, 6.2, 4.6), (-80, 0.5, 8.5, 6.8, 4.5),
    (-100, 0.4, 10, 7.2, 4.5), (-120, 0, 14.5, 6.7, 4.5), (-150, -0.5, 25, 5.8, 4.4))),)
MANDIBLE = (
    Arch(
        plan=((50, 0, 4), (49, -14, 4), (47, -28, 4.5), (42, -42, 5.5), (34, -57, 6), (24, -70, 6), (12, -79, 6.2),
              (0, -82, 6.5)),
        outline=((-13, -4), (-7, -8), (-7, -20), (-8, -38), (-10, -52),  # condyle, back of the ramus
                 (-18, -62), (-32, -67), (-48, -71), (-63, -77), (-76, -84),  # angle, lower border
                 (-86, -85), (-91, -77), (-87, -65), (-88, -56),  # chin
                 (-74, -52), (-58, -48), (-46, -44), (-40, -32), (-41, -18),  # teeth, front of the ramus
                 (-38, -9), (-32, -12), (-26, -18), (-20, -15)),  # coronoid process, notch
        rounding=4),
    Ellipsoid((49, -12, -7), (9, 4.5, 5), yaw=15), Ellipsoid((-49, -12, -7), (9, 4.5, 5), yaw=-15),  # condyles
    Ellipsoid((0, -86, -78), (12, 5, 6)),  # chin
)
PAROTID = (
    Ellipsoid((63, -13, -22), (7.5, 22, 15), yaw=-8),  # superficial lobe on the masseter
    Ellipsoid((61, -5, -36), (8, 15, 16), yaw=-5),  # its lower part, tapering towards the angle of the jaw
    Ellipsoid((58, 4, -26), (10.5, 11, 23), pitch=-5),  # behind the ramus
    Ellipsoid((47, 4, -25), (13, 8, 13), yaw=12),  # deep lobe towards the pharynx
    Ellipsoid((58, 3, -49), (7.5, 9, 14)),  # tail
)
MASTICATION = (Ellipsoid((50, -33, -32), (12, 28, 42)),)  # ramus and masseter, which hollow the parotid from within
SUBMANDIBULAR = (
    Ellipsoid((28, -36, -71), (8.5, 16, 11), yaw=-20, pitch=15),
    Ellipsoid((21, -49, -66), (5, 10, 5), yaw=-25),  # around the edge of the mylohyoid
)
EYE = (Ellipsoid((32, -66, 18), (12.2, 12, 12.2)), Ellipsoid((32.5, -73, 18), (6.8, 6.8, 6.8)))  # globe and cornea
NERVE = (Column((  # y, x, z, radius x, radius z: from the globe through the optic canal to the chiasm
    (-56, 30.5, 17.5, 2.6, 2.9), (-48, 28, 16.5, 2.6, 2.9), (-38, 22.5, 17.5, 2.6, 2.8), (-29, 16, 20.5, 2.4, 2.7),
    (-22, 10.5, 24, 2.6, 2.7), (-15, 4.5, 27, 3.4, 2.8)), along="y"),)

ORGANS = (
    Organ("Brainstem", (230, 190, 90), BRAINSTEM, Drawing(lowest=-28, highest=38), blend=6,
          second=Drawing(wobble=0.7, lowest=-31, highest=40)),
    Organ("SpinalCord", (240, 230, 110), CORD, Drawing(wobble=0.2, lowest=-125, highest=-28), irregularity=0.2,
          second=Drawing(wobble=0.4, lowest=-138, highest=-31)),
    Organ("Mandible", (225, 215, 190), MANDIBLE, Drawing(), Drawing(margin=0.7, wobble=0.3), blend=4, irregularity=0.4),
    Organ("Parotid_L", (90, 170, 220), PAROTID, Drawing(wobble=0.5), hollows=MASTICATION, blend=7, irregularity=1.0,
          second=Drawing(wobble=0.8, bulges=(Bulge((38, 4, -26), 9, -7),))),
    Organ("Parotid_R", (80, 200, 160), PAROTID, Drawing(wobble=0.5), hollows=MASTICATION, blend=7, irregularity=1.0,
          second=Drawing(wobble=0.8, bulges=(Bulge((-66, -33, -24), 8, 4.2),)), mirrored=True),
    Organ("Submandibular_L", (200, 120, 190), SUBMANDIBULAR, Drawing(), Drawing(wobble=1.0), irregularity=0.7),
    Organ("Submandibular_R", (170, 110, 210), SUBMANDIBULAR, Drawing(), None, irregularity=0.7, mirrored=True),
    Organ("Eye_L", (150, 205, 240), EYE, Drawing(wobble=0.1), Drawing(wobble=0.2), blend=3, irregularity=0.1),
    Organ("OpticNrv_L", (245, 150, 80), NERVE, Drawing(wobble=0.1), irregularity=0.1,
          second=Drawing(wobble=0.2, shift=(0.9, 0, 0.7))),
)

LESION, VESSEL = ("Metastases", (220, 90, 70)), ("Vessel", (200, 60, 60))
# Metastases: center, radius, and by how much the second observer's are larger, None where he overlooks one.
LESIONS = (
    ((-31, -22, 34), 11, 0.4), ((28, 31, 22), 7.5, -0.5), ((-44, 18, 12), 6, 0.8), ((14, -41, 41), 4.5, -0.3),
    ((24, -40, 42), 4, 1.9),  # drawn as one with the one before
    ((-8, 44, -6), 3.5, 0.2), ((41, -4, -14), 2.5, None), ((-22, 8, 52), 2, None), ((6, 12, 60), 1.8, 0.4),
)
# What only the second observer takes for one.
INVENTED = ((36, -20, 12), 2.6)
CAVITY, EVEN = ((-62.0, -62.0, -30.0), (125, 125, 105)), (1.0, 1.0, 1.0)
# Branches of a vessel: radius, and points along it. The second observer has a gap, lacks the last branch, and adds one.
BRANCHES = (
    (4.2, ((0, 0, -40), (2, -3, -20), (0, 0, 0), (-1, 3, 12))),
    (3.0, ((-1, 3, 12), (-10, 4, 22), (-20, 0, 36), (-24, -6, 52))),
    (3.2, ((-1, 3, 12), (9, 6, 20), (20, 4, 30), (24, 8, 50))),
    (1.8, ((9, 6, 20), (18, 14, 18), (27, 20, 10))),
)
SPUR = (1.5, ((0, 0, -10), (-9, -4, -8), (-16, -8, -2)))
GAP = ((20, 4, 30), 4.0)
TREE = ((-40.0, -25.0, -48.0), (90, 62, 134), (0.8, 0.8, 0.8))
# fmt: on


def writeFiles(folder: Path) -> None:
    """Write the files of both observers into a folder: compressed NRRD label maps with names and colors of segments."""
    organs = [(organ.name, organ.color) for organ in ORGANS]
    for observer in (0, 1):
        images = (labelMap(observer), organs), (lesionMap(observer), [LESION]), (vesselMap(observer), [VESSEL])
        for (image, segments), files in zip(images, samples.SAMPLES.values(), strict=True):
            for key, value in _segmentationHeader(image, segments).items():
                image.SetMetaData(key, value)
            SimpleITK.WriteImage(image, str(folder / files[observer]), useCompression=True)


def lesionMap(observer: int) -> SimpleITK.Image:
    """Return the metastases that an observer (0 or 1) drew."""
    origin, size = CAVITY
    x, y, z = position = _positions(origin, size, EVEN)
    lesions = [(center, radius, 0.0 if observer == 0 else more) for center, radius, more in LESIONS]
    lesions += [(*INVENTED, 0.0)] * observer
    inside = np.zeros(size[::-1], bool)
    for number, (center, radius, more) in enumerate(lesions):
        if more is not None:
            distance = np.sqrt(sum((axis - middle) ** 2 for axis, middle in zip((x, y, z), center))) - radius
            irregular = 0.12 * radius * _smoothNoise(position, (50 + number,), (8, 16))
            wobble = 0.05 * radius * _smoothNoise(position, (50 + number, observer), (6, 12))
            inside |= distance - more - irregular - observer * wobble < 0
    return imageOf(inside, EVEN, origin)


def vesselMap(observer: int) -> SimpleITK.Image:
    """Return the vessel that an observer (0 or 1) drew."""
    origin, size, spacing = TREE
    position = _positions(origin, size, spacing)
    branches = BRANCHES if observer == 0 else (*BRANCHES[:-1], SPUR)
    distance = np.min([_tubeDistance(position, points) - radius for radius, points in branches], axis=0)
    inside = distance + 0.15 * observer * _smoothNoise(position, (70,), (10, 20)) < 0
    if observer == 1:
        center, radius = GAP
        inside &= sum((axis - middle) ** 2 for axis, middle in zip(position, center)) > radius**2
    return imageOf(inside, spacing, origin)


def _positions(origin: Point, size: tuple[int, int, int], spacing: Point) -> tuple[np.ndarray, ...]:
    x, y, z = (start + step * np.arange(count) for start, step, count in zip(origin, spacing, size))
    return x[None, None, :], y[None, :, None], z[:, None, None]


def _tubeDistance(position: tuple, points: tuple) -> np.ndarray:
    """Return the distance in mm from a smooth curve through points (n, 3)."""
    curve = _smoothCurve(points)
    nearest = np.inf
    for start, end in itertools.pairwise(curve):
        along = end - start
        share = sum((axis - s) * a for axis, s, a in zip(position, start, along)) / (along @ along)
        share = np.clip(share, 0, 1)
        squared = sum((axis - s - share * a) ** 2 for axis, s, a in zip(position, start, along))
        nearest = np.minimum(nearest, squared)
    return np.sqrt(nearest)


def writeImage(folder: Path) -> None:
    """Write the CT into a folder as a compressed NRRD image."""
    SimpleITK.WriteImage(ct(), str(folder / samples.IMAGE), useCompression=True, compressionLevel=6)


def labelMap(observer: int) -> SimpleITK.Image:
    """Return what an observer (0 or 1) drew as a label map. It is the same on every call."""
    labels = np.zeros(SIZE[::-1], np.uint8)
    for index, organ in enumerate(ORGANS):
        drawing = (organ.first, organ.second)[observer]
        if drawing is not None:
            box, place = _boxOf(organ)
            inside = _drawnDistance(organ, drawing, place, seed=(index, observer)) < 0
            labels[box][inside & (labels[box] == 0)] = index + 1
    return imageOf(labels, SPACING, ORIGIN)


# What lies around the organs in the CT.
# fmt: off
HEAD = (Ellipsoid((0, 5, 30), (74, 98, 92)), Ellipsoid((0, -12, -28), (76, 84, 64)),
        Ellipsoid((0, -24, -64), (58, 78, 48)),
        Column(((-160, 0, 14, 72, 60), (-110, 0, 12, 62, 54), (-60, 0, 8, 62, 58), (-20, 0, 5, 66, 66))))
CRANIUM = (Ellipsoid((0, 12, 62), (62, 68, 60)), Ellipsoid((0, 24, 4), (44, 28, 32)))
ORBIT = Ellipsoid((28, -50, 18), (18, 27, 17), yaw=-18)
AIRWAY = (Ellipsoid((0, -72, -12), (11, 30, 17)), Ellipsoid((0, -36, -14), (10, 14, 12)),
          Column(((-95, 0, -24, 9, 6), (-70, 0, -24, 11, 6), (-40, 0, -25, 13, 7), (-12, 0, -24, 10, 8))),
          Column(((-160, 0, -12, 9, 9), (-120, 0, -20, 8.5, 8.5), (-95, 0, -25, 8, 7))))
ANTRUM = Ellipsoid((29, -58, -16), (12, 15, 14))
TONGUE = Ellipsoid((0, -52, -58), (24, 27, 20))
LENS = Ellipsoid((32, -73.5, 18), (4.6, 2.2, 4.6))
# fmt: on
VERTEBRA = 17.0  # mm from one disk to the next


def ct() -> SimpleITK.Image:
    """Return a CT of the anatomy in HU as int16 on the grid of the label maps. It is the same on every call."""
    from scipy.ndimage import gaussian_filter

    x, y, z = _positions(ORIGIN, SIZE, SPACING)
    sides = (x, y, z), (-x, y, z)
    body = _union(HEAD, x, y, z, 20)
    brain = _union(CRANIUM, x, y, z, 6)
    hu = np.where(_smoothNoise((x, y, z), (100,), (9, 24)) > 0.9, FAT, MUSCLE).astype(np.float32)
    hu[body > -5] = FAT
    for place in sides:
        hu[MASTICATION[0].distance(*place) < 0] = MUSCLE
    hu[TONGUE.distance(x, y, z) < 0] = MUSCLE
    hu[brain < 6] = CORTICAL
    for place in sides:
        orbit, antrum = ORBIT.distance(*place), ANTRUM.distance(*place)
        hu[(orbit < 2) & (y > -66) & (brain > 0)] = CORTICAL
        hu[(antrum < 1.5)] = CORTICAL
        hu[antrum < 0] = AIR
        hu[(orbit < 0) & (brain > 0)] = FAT
    hu[brain < 0] = BRAIN
    airway = np.minimum.reduce([shape.distance(x, y, z) for shape in AIRWAY])
    hu[(airway < 1.5) & (y < -50)] = SPONGY  # the walls of the nose
    hu[airway < 0] = AIR
    _paintSpine(hu, x, y, z)
    for index, organ in enumerate(ORGANS):
        box, place = _boxOf(organ)
        _paintOrgan(hu[box], organ, place, _drawnDistance(organ, Drawing(wobble=0), place, seed=(index, 0)))
    hu[_union((LENS,), x, y, z) < 0] = 85
    hu[body > 0] = AIR
    hu = gaussian_filter(hu, (0.35, 0.7, 0.7))  # the point spread of a scanner
    draws = np.random.default_rng(7).random((4, *hu.shape), np.float32).sum(axis=0) - 2  # nearly normal
    hu[hu > -950] += NOISE * np.sqrt(3) * draws[hu > -950]
    return imageOf((STEP * np.rint(np.clip(hu, AIR, 3000) / STEP)).astype(np.int16), SPACING, ORIGIN)


def _union(shapes, x, y, z, blend: float = 5.0) -> np.ndarray:
    """Return the signed distance in mm from shapes blended over some mm, negative inside."""
    distance = shapes[0].distance(x, y, z)
    for shape in shapes[1:]:
        distance = -_smoothMaximum(-distance, -shape.distance(x, y, z), blend)
    return distance


def _paintSpine(hu: np.ndarray, x, y, z) -> None:
    """Paint vertebrae with disks, arches and the fluid around the spinal cord below the skull."""
    stations = _smoothCurve(CORD[0].stations)
    stations = stations[np.argsort(stations[:, 0])]
    middleX, middleY = (np.interp(z, stations[:, 0], column) for column in stations.T[1:3])
    low = z < -26
    phase = np.mod(z, VERTEBRA)
    body = _ellipticDistance((x - middleX, y - middleY + 17), (14, 9.5))
    arch = _ellipticDistance((x - middleX, y - middleY), (15, 12))
    canal = _ellipticDistance((x - middleX, y - middleY), (9.5, 7.5))
    hu[low & (arch < 0) & (phase > 6)] = SPONGY + 250
    hu[low & (body < 0)] = 85
    hu[low & (body < 0) & (phase > 3.5)] = SPONGY
    hu[low & (body < 0) & (body > -2) & (phase > 3.5)] = 2 * SPONGY
    hu[low & (canal < 0)] = FLUID


def _paintOrgan(hu: np.ndarray, organ: Organ, place, distance: np.ndarray) -> None:
    """Paint an organ into the part of the CT around it. distance: signed, in mm, negative inside."""
    kind = organ.name.partition("_")[0]
    inside = distance < 0
    if kind == "Mandible":
        hu[inside] = np.where(distance[inside] > -2.2, CORTICAL, SPONGY)
        hu[inside & (distance < -1) & (place[1] < -45) & (place[2] > -62)] = TOOTH
    elif kind in ("Parotid", "Submandibular"):
        hu[(distance < 2) & (hu < SPONGY)] = FAT  # their capsules
        hu[inside] = -12 if kind == "Parotid" else GLAND
    elif kind == "Eye":
        hu[inside] = np.where(distance[inside] > -1.5, MUSCLE, FLUID)
    else:
        if kind == "Brainstem":
            hu[(distance < 3) & (hu == BRAIN)] = FLUID
        hu[inside] = BRAIN


def _boxOf(organ: Organ) -> tuple[tuple[slice, ...], tuple[np.ndarray, ...]]:
    """Return the (k, j, i) slices of the voxels that the organ's drawings can reach, and their x, y and z."""
    x, y, z = _positions(ORIGIN, SIZE, SPACING)
    some = (-x if organ.mirrored else x)[..., ::STRIDE], y[:, ::STRIDE], z[::STRIDE]
    near = np.nonzero(np.min([shape.distance(*some) for shape in organ.shapes], axis=0) < CLEARANCE)
    k, j, i = (slice(STRIDE * numbers.min(), STRIDE * numbers.max() + 1) for numbers in near)
    return (k, j, i), (x[..., i], y[:, j], z[k])


def _drawnDistance(organ: Organ, drawing: Drawing, position: tuple, seed: tuple[int, int]) -> np.ndarray:
    """Return the approximate signed distance in mm from an observer's contour, negative inside."""
    x, y, z = (axis - shift for axis, shift in zip(position, drawing.shift))
    anatomy = (-x if organ.mirrored else x, y, z)
    distance = _union(organ.shapes, *anatomy, organ.blend)
    for hollow in organ.hollows:
        distance = _smoothMaximum(distance, -hollow.distance(*anatomy), organ.blend)
    # Irregularities that both observers draw depend on the organ's seed only, others on the observer's as well.
    distance = distance - organ.irregularity * _smoothNoise((x, y, z), seed[:1], (18, 45))
    distance -= drawing.margin + drawing.wobble * _smoothNoise((x, y, z), (*seed, 1), (14, 40))
    for bulge in drawing.bulges:
        squared = sum((axis - center) ** 2 for axis, center in zip((x, y, z), bulge.center))
        distance -= bulge.height * np.exp(-squared / (2 * bulge.reach**2))
    return np.where((z >= drawing.lowest) & (z <= drawing.highest), distance, np.inf)


def _smoothNoise(position: tuple, seed: tuple[int, ...], wavelengths: tuple[float, float]) -> np.ndarray:
    """Return a field of standard deviation 1: plane waves of random direction, phase and wavelength (mm)."""
    count = 10
    # Only uniform numbers are drawn, because only their sequence is the same in all versions of numpy.
    draws = np.random.default_rng(seed).random((count, 4))
    height = 2 * draws[:, 0] - 1
    angle = 2 * np.pi * draws[:, 1]
    directions = np.stack([np.sqrt(1 - height**2) * np.cos(angle), np.sqrt(1 - height**2) * np.sin(angle), height])
    frequencies = 2 * np.pi / (wavelengths[0] + (wavelengths[1] - wavelengths[0]) * draws[:, 2])
    # A plane wave is a product of one factor per axis, so that only the axes need exponentials.
    factors = [np.exp(1j * axis.ravel()[:, None] * wave) for axis, wave in zip(position, frequencies * directions)]
    factors[0] = factors[0] * np.exp(2j * np.pi * draws[:, 3])
    plane = factors[1][:, None, :] * factors[0][None, :, :]
    waves = factors[2] @ plane.reshape(-1, count).T
    return np.sqrt(2 / count) * waves.real.reshape(len(factors[2]), *plane.shape[:2])


def _ellipticDistance(offset: tuple, radii: tuple) -> np.ndarray:
    """Return the first-order signed distance from an ellipse or ellipsoid, exact on its surface."""
    scaled = np.sqrt(sum((part / radius) ** 2 for part, radius in zip(offset, radii)))
    slope = np.sqrt(sum((part / radius**2) ** 2 for part, radius in zip(offset, radii)))
    return scaled * (scaled - 1) / np.maximum(slope, 1e-6)


def _smoothMaximum(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    """Return the maximum of two distances with the edge where they meet rounded over a width in mm."""
    return np.maximum(first, second) + np.maximum(width - np.abs(first - second), 0) ** 2 / (4 * width)


def _turned(first: np.ndarray, second: np.ndarray, degrees: float) -> tuple[np.ndarray, np.ndarray]:
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return cosine * first + sine * second, cosine * second - sine * first


def _smoothCurve(points: tuple, closed: bool = False, samples: int = 12) -> np.ndarray:
    """Return points (n, d) along a Catmull-Rom curve through the given points."""
    points = np.array(points, float)
    ends = (points[-1:], points[:2]) if closed else (2 * points[:1] - points[1:2], 2 * points[-1:] - points[-2:-1])
    a = np.concatenate([ends[0], points, ends[1]])
    t = np.linspace(0, 1, samples, endpoint=False)[None, :, None]
    p0, p1, p2, p3 = (a[i : len(a) - 3 + i, None, :] for i in range(4))
    curve = p1 + t / 2 * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)))
    curve = curve.reshape(-1, points.shape[1])
    return curve if closed else np.concatenate([curve, points[-1:]])


def _outlineDistance(u: np.ndarray, v: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Return the signed distance in mm from a closed outline (n, 2) in the plane, negative inside."""
    nearest, crossings = np.inf, np.zeros(np.broadcast(u, v).shape, int)
    for (u0, v0), (u1, v1) in zip(outline, np.roll(outline, -1, axis=0)):
        along = np.clip(((u - u0) * (u1 - u0) + (v - v0) * (v1 - v0)) / ((u1 - u0) ** 2 + (v1 - v0) ** 2), 0, 1)
        nearest = np.minimum(nearest, np.hypot(u - u0 - along * (u1 - u0), v - v0 - along * (v1 - v0)))
        if v0 != v1:
            crossings += ((v0 <= v) != (v1 <= v)) & (u < u0 + (v - v0) / (v1 - v0) * (u1 - u0))
    return np.where(crossings % 2 == 1, -nearest, nearest)


def _segmentationHeader(image: SimpleITK.Image, segments: list[tuple]) -> dict[str, str]:
    """Return the NRRD header fields from which 3D Slicer makes a segmentation: one segment per label in the image.

    segments: name and color of every label, from 1.
    """
    grid = Grid.fromImage(image)
    toRas = np.diag([-1, -1, 1, 1]) @ grid.matrix
    numbers = [*toRas.ravel(), *(bound for size in grid.size for bound in (0, size - 1))]
    # adding 0 turns -0 into 0
    geometry = "".join(f"{number + 0.0:.17g};" for number in numbers)
    header = {
        "Segmentation_ContainedRepresentationNames": "Binary labelmap|",
        # Slicer reads and writes the older name of the source representation; the newer one is for other readers.
        "Segmentation_MasterRepresentation": "Binary labelmap",
        "Segmentation_SourceRepresentation": "Binary labelmap",
        "Segmentation_ReferenceImageExtentOffset": "0 0 0",
        # otherwise Slicer would crop the image to the segments
        "Segmentation_ConversionParameters": f"Reference image geometry|{geometry}|Image drawn on|&",
    }
    statistics = SimpleITK.LabelShapeStatisticsImageFilter()
    statistics.Execute(image)
    for index, label in enumerate(statistics.GetLabels()):
        name, color = segments[label - 1]
        start, size = np.split(np.array(statistics.GetBoundingBox(label)), 2)
        extent = np.stack([start, start + size - 1], axis=1).ravel()
        fields = {
            "ID": f"Segment_{label}",
            "Name": name,
            "NameAutoGenerated": "0",
            "Color": " ".join(f"{part / 255:.6f}" for part in color),
            "ColorAutoGenerated": "0",
            "LabelValue": str(label),
            "Layer": "0",
            "Extent": " ".join(map(str, extent)),
            "Tags": "Segmentation.Status:completed|",
        }
        header.update({f"Segment{index}_{field}": value for field, value in fields.items()})
    return header


if __name__ == "__main__":
    writeFiles(samples.FOLDER)
    writeImage(samples.FOLDER)

"""Reports that the command writes, for tests, and what is found in their pages."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import shapes
import SimpleITK
from imagefiles import save
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib.__main__ import main


def reportOn(folder: Path, pairs: dict, *options) -> str:
    """Return the page about structures: by name, the reference and the test as images or meshes, None for none."""
    sides = [folder / side for side in ("ref", "test")]
    for name, pair in pairs.items():
        for side, one in zip(sides, pair, strict=True):
            side.mkdir(parents=True, exist_ok=True)
            if isinstance(one, vtkPolyData):
                shapes.writeMesh(one, side / f"{name}.vtp", "LPS")
            elif one is not None:
                save(one, side / f"{name}.nrrd")
    given = ["compare", *sides, "--report", "--numbers-only", "--workers", 1, "-o", folder / "out", *options]
    assert main([str(one) for one in given]) in (0, 3)
    return (folder / "out" / "report.html").read_text("utf-8")


def shown(page: str) -> str:
    """Return the text that a page shows."""
    return unescape(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", "", page, flags=re.S))


def cuts(page: str) -> list[ElementTree.Element]:
    """Return the slices through the largest distance of each structure, those of the first one first."""
    found = re.findall(r'<div class="cuts(?: imaged)?" style=.*?<div class="slices">.*?</div>\n</div>', page, re.S)
    return [ElementTree.fromstring(one) for one in found]


def largestOf(page: str) -> str:
    """Return the sentence with the largest distance of the first structure and its place, "" without one."""
    return "".join(re.findall(r"<p>([^<]* mm [^<]*[LR] \d+ [AP] \d+ [IS] \d+,[^<]*)</p>", unescape(page))[:1])


def dataOf(page: str, name: str) -> dict:
    """Return what a script of the page shows: "map0" the map of the first structure, "step0" its slices."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}-data">(.*?)</script>', page, re.S)[1])


def decoded(jpeg: str, folder: Path) -> np.ndarray:
    """Return the pixels of a picture that a page holds as JPEG in base64."""
    path = folder / "picture.jpg"
    path.write_bytes(base64.b64decode(jpeg))
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))


def linesOf(path: str) -> list[tuple[np.ndarray, bool]]:
    """Return the lines of an SVG path: points (n, 2) in its units, and whether the line is closed."""
    lines = []
    for x, y, steps, end in re.findall(r"M(-?\d+) ?(-?\d+)l([^Mz]*)(z?)", path):
        moves = np.reshape([int(n) for n in re.findall(r"-?\d+", steps)], (-1, 2))
        lines.append((np.cumsum([(int(x), int(y)), *moves], axis=0), bool(end)))
    return lines


def contoursOf(figure: ElementTree.Element) -> dict[str, list[tuple[np.ndarray, bool]]]:
    """Return the lines of the reference, "r", and of the test, "t", in pixels of a slice's window."""
    paths = {path.get("id")[-1]: path.get("d") for path in figure.iter("path") if path.get("id")}
    return {side: [(points / 10, isClosed) for points, isClosed in linesOf(path)] for side, path in paths.items()}


def scaleOf(figure: ElementTree.Element) -> float:
    """Return the pixels per mm of a slice, by its scale bar."""
    (text,) = (text.text for text in figure.iter("text") if text.get("class") == "scale")
    (bar,) = (path.get("d") for path in figure.iter("path") if path.get("class") == "bar")
    return float(re.search(r"h([\d.]+)", bar)[1]) / float(text.removesuffix(" mm"))

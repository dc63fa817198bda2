"""OBJ meshes: every legible way to write a corner, and nothing that stops the process."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from imagefiles import refusal

from SegmentMetricsLib import readStructures

POINTS = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\n"
FACES = ((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))
NO_MESH = "the file cannot be read as a mesh: it is damaged, or of a different kind than its name says."


def faces(form: str) -> str:
    return "".join("f " + " ".join(form.format(n, n - 5) for n in face) + "\n" for face in FACES)


@pytest.mark.parametrize(
    "text",
    [
        POINTS + faces("{0}"),
        # the mark at the beginning that some programs write before texts
        "\ufeff# made elsewhere\n" + POINTS + faces("{0}"),
        # texture and normal numbers
        *(
            POINTS + "vt 0 0\n" * 4 + "vn 0 0 1\n" * 4 + faces(form)
            for form in ("{0}/{0}", "{0}/{0}/{0}", "{0}//{0}", "{0}//", "{0}/")
        ),
        # counted back from the last point
        POINTS + faces("{1}"),
        POINTS + faces("{1}/{1}/{1}"),
        # windows line ends, tabs, blank lines, no end of the last line
        (POINTS + faces("{0}")).replace("\n", "\r\n").replace(" ", "\t  ").strip(),
        # comments, groups, materials that are nowhere, and lines that go on
        f"# SPACE=LPS\nmtllib none.mtl\no one # name\n{POINTS}g a b\nusemtl red\ns off\n"
        + faces("{0}").replace("f 1 3 2\n", "f 1 \\\n3 \\\r\n 2 # face\n"),
        # points with colors or weights, normals and textures without use
        POINTS.replace("\n", " 0.1 0.2 0.3\n") + "vn 0 0 1\nvt 0 0\nvp 1\n" + faces("{0}/1/1"),
        POINTS.replace("\n", " 1.0\n") + faces("{0}"),
        # faces before their points, and the old name of faces
        faces("{0}").replace("f ", "fo ") + POINTS,
    ],
)
def testATetrahedron(tmp_path, text):
    path = tmp_path / "tetrahedron.obj"
    path.write_bytes(text.encode())
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(1000 / 6) and structure.surface.openEdges == 0
    assert len(structure.surface.points) == 4 and len(structure.surface.cells) == 4


def testPolygons(tmp_path):
    corners = [(x, y, z) for z in (0, 2) for y in (0, 3) for x in (0, 5)]
    sides = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    path = tmp_path / "box.obj"
    path.write_text(
        "".join("v {} {} {}\n".format(*c) for c in corners) + "".join("f {} {} {} {}\n".format(*s) for s in sides)
    )
    (structure,) = readStructures(path)
    assert structure.surface.volume == pytest.approx(30)


def testLinesAreContours(tmp_path):
    path = tmp_path / "contour.obj"
    path.write_text("v 0 0 5\nv 4 0 5\nv 4 3 5\nv 0 3 5\nl 1 2 3 -1 1\n")
    (structure,) = readStructures(path)
    assert structure.dimension == 2 and structure.surface.volume == pytest.approx(12)


def testTheSpaceOfSlicer(tmp_path):
    found = []
    for space in ("LPS", "RAS"):
        (structure,) = readStructures(
            shapes.writeMesh(shapes.boxMesh((1, 2, 3), (4, 6, 8)), tmp_path / f"{space}.obj", space)
        )
        found.append(structure.box)
    np.testing.assert_allclose(found[0], [(1, 2, 3), (4, 6, 8)])
    np.testing.assert_allclose(found[1], [(-4, -6, 3), (-1, -2, 8)])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((POINTS + f"f {face}\n", NO_MESH) for face in ("1 2", "1", "0 1 2", "1 2 -5", "1 2 3/a", "1 2 3/1/1/1")),
        *((POINTS + f"f {face}\n", NO_MESH) for face in ("1 2 x", "1 2 1.5", f"1 2 {10**30}", "1/1 2/1 /1", "1 2 nan")),
        (POINTS + "f 1 2 5\n", "The surface has triangles or lines between points that do not exist."),
        (POINTS + "l 1\n", NO_MESH),
        ("v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", NO_MESH),
        ("v 0 0 zero\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", NO_MESH),
        ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "The surface has points whose coordinates are not numbers."),
        (POINTS + "q 1 2 3\n", NO_MESH),
        (POINTS + "surf 0 1 0 1 1 2 3\nend\n", "the file holds curved surfaces, which are not supported"),
    ],
)
def testWhatCannotBeUsed(tmp_path, text, says):
    path = tmp_path / "bad.obj"
    path.write_text(text)
    assert refusal(path).startswith(says)

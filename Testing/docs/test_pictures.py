"""The pictures of the module in the README and the user guide can be made anew."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

pytestmark = [pytest.mark.nightly, pytest.mark.opengl]


def testPicturesAreThoseThatAreShown(tmp_path):
    import pictures
    from desktop import photographs, threedview
    from PySide6.QtGui import QImage

    try:
        threedview.requireOpenGL()
    except threedview.NoOpenGLError as error:
        pytest.skip(str(error))
    paths = pictures.write(tmp_path)
    if not photographs.hasFont():
        pytest.skip(f"{photographs.FONT} is not installed: letters are boxes")
    for path in paths:
        made, shown = QImage(str(path)), QImage(str(pictures.ROOT / path.relative_to(tmp_path)))
        assert path.stat().st_size < 300_000, "small enough to be looked at anywhere"
        # as wide as those in the repository; the style of the widgets and a line more or less do not matter
        assert made.width() == shown.width() and abs(made.height() - shown.height()) < 60

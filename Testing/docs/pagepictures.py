"""Make the pictures of what the blocks of the pages do, by `python Testing/docs/pagepictures.py`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pages

BATCH, PYTHON = pages.ROOT / "docs" / "guide" / "batch.md", pages.ROOT / "docs" / "guide" / "python.md"
# By their names in the folder of pictures, where a batch writes them.
OF_BATCH = {"BoxPlot.svg": "plots/HD95.svg", "Correlations.svg": "plots/correlations.svg"}
CONSOLE = "Console.png"


def ofBatch(folder: Path) -> list[Path]:
    """Run the page on many cases and keep pictures of its study in a folder; return their paths."""
    with tempfile.TemporaryDirectory() as name:
        pages.run(BATCH, Path(name))
        results = Path(name) / "study-results"
        return [Path(shutil.copy(results / made, folder / kept)) for kept, made in OF_BATCH.items()]


def console(folder: Path) -> Path:
    """Run the recipe of the map in three colors, draw the 3D view into a folder and return the path.

    Raises NoOpenGLError where nothing can be drawn.
    """
    from desktop import Desktop
    from pictures import distanceMap

    with Desktop() as desktop:
        from SegmentMetricsLib import Settings

        namespace: dict = {"Settings": Settings}
        for block in (block.text for block in pages.blocks(PYTHON)):
            if "loadSample()" in block or 'kind="tolerance"' in block:
                exec(compile(block, PYTHON.name, "exec"), namespace)
        for node in (namespace["referenceNode"], namespace["testNode"]):
            node.GetDisplayNode().SetVisibility(False)
        desktop.processEvents(200)
        image = distanceMap(desktop)
        path = folder / CONSOLE
        if not image.save(str(path), "PNG", 0):
            raise OSError(f"{path} cannot be written.")
    return path


if __name__ == "__main__":
    for made in (*ofBatch(pages.ROOT / "docs" / "pictures"), console(pages.ROOT / "docs" / "pictures")):
        print(f"{made.relative_to(pages.ROOT)}: {made.stat().st_size / 1000:.0f} kB")

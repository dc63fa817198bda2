"""Make the pictures of what the blocks of the pages do, by `python Testing/docs/pagepictures.py`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pages

BATCH, RECIPES = pages.ROOT / "docs" / "guide" / "batch.md", pages.ROOT / "docs" / "guide" / "recipes.md"
BOX_PLOT, CONSOLE = "BoxPlot.svg", "Console.png"


def boxPlot(folder: Path) -> Path:
    """Run the page on many cases and keep the box plot of its study in a folder; return its path."""
    with tempfile.TemporaryDirectory() as name:
        pages.run(BATCH, Path(name))
        return Path(shutil.copy(Path(name) / "study-results" / "boxplots" / "HD95.svg", folder / BOX_PLOT))


def console(folder: Path) -> Path:
    """Run the recipe of the map in three colors, draw the 3D view into a folder and return the path.

    Raises NoOpenGLError where nothing can be drawn.
    """
    from desktop import Desktop
    from pictures import distanceMap

    with Desktop() as desktop:
        namespace: dict = {}
        first, _, shown = (block.text for block in pages.blocks(RECIPES)[:3])
        for block in (first, shown):
            exec(compile(block, RECIPES.name, "exec"), namespace)
        for node in (namespace["referenceNode"], namespace["testNode"]):
            node.GetDisplayNode().SetVisibility(False)
        desktop.processEvents(200)
        image = distanceMap(desktop)
        path = folder / CONSOLE
        if not image.save(str(path), "PNG", 0):
            raise OSError(f"{path} cannot be written.")
    return path


if __name__ == "__main__":
    for made in (boxPlot(pages.ROOT / "docs" / "pictures"), console(pages.ROOT / "docs" / "pictures")):
        print(f"{made.relative_to(pages.ROOT)}: {made.stat().st_size / 1000:.0f} kB")

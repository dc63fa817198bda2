"""Make the pictures of what the blocks of the pages do, and of a report in a browser.

PYTHONPATH=Testing/support python Testing/docs/pagepictures.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pages

BATCH, PYTHON = pages.ROOT / "docs" / "guide" / "batch.md", pages.ROOT / "docs" / "guide" / "python.md"
# By their names in the folder of pictures, where a batch writes them.
OF_BATCH = {"BoxPlot.svg": "plots/HD95.svg", "Correlations.svg": "plots/correlations.svg"}
CONSOLE = "Console.png"
PROTOCOL = "head-and-neck-observers"
# Of the top of a report, and of a structure, down to its slices.
TOP, STRUCTURE = ({"width": 1000, "height": height} for height in (760, 1060))


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


def ofReport(structure: Path, verdicts: Path) -> list[Path]:
    """Compare the two observers of the sample, judge them, photograph a structure and the top of the report."""
    import browsers

    from SegmentMetricsLib import samples

    with tempfile.TemporaryDirectory() as folder, browsers.headless() as shown:
        reference, test = samples.writeHeadAndNeck(folder)
        given = f"{reference} {test} --image {samples.FOLDER / samples.IMAGE} --output {folder}/out"
        pages.segmentMetrics(f"segment-metrics compare {given} --report --protocol {PROTOCOL}")
        page = shown.new_page(viewport=TOP)
        page.goto((Path(folder) / "out" / "report.html").as_uri())
        page.wait_for_function("document.querySelector('.map canvas')", timeout=120_000)
        page.wait_for_timeout(2000)
        page.screenshot(path=verdicts)
        page.set_viewport_size(STRUCTURE)
        summary = page.locator("section.structure summary").first
        summary.evaluate("element => window.scrollTo(0, element.offsetTop - 20)")
        page.wait_for_timeout(1000)
        page.screenshot(path=structure)
    return [structure, verdicts]


if __name__ == "__main__":
    kept = pages.ROOT / "docs" / "pictures"
    report = ofReport(pages.ROOT / "Resources" / "Report.png", kept / "ReportVerdicts.png")
    for made in (*ofBatch(kept), console(kept), *report):
        print(f"{made.relative_to(pages.ROOT)}: {made.stat().st_size / 1000:.0f} kB")

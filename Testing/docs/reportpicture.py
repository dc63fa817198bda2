"""Make the pictures of a report, the README's and the user guide's.

PYTHONPATH=Testing/support python Testing/docs/reportpicture.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import browsers

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "Resources" / "Report.png"
VERDICTS = ROOT / "docs" / "pictures" / "ReportVerdicts.png"
PROTOCOL = "head-and-neck-observers"
SIZE = {"width": 1000, "height": 760}
# of a structure, down to its slices
STRUCTURE_HEIGHT = 1060


def write(structure: Path, verdicts: Path) -> None:
    """Compare the two observers of the sample, judge them and photograph a structure and the top of the report."""
    import samplefiles

    from SegmentMetricsLib import __main__
    from SegmentMetricsLib.io import samples

    with tempfile.TemporaryDirectory() as folder, browsers.headless() as shown:
        reference, test = samplefiles.writeHeadAndNeck(folder)
        out = Path(folder) / "out"
        image = samples.FOLDER / samples.IMAGE
        given = ("compare", reference, test, "--image", image, "--output", out, "--report", "--protocol", PROTOCOL)
        if __main__.main(list(map(str, given))):
            raise SystemExit("The sample could not be compared.")
        page = shown.new_page(viewport=SIZE)
        page.goto((out / "report.html").as_uri())
        page.wait_for_function("document.querySelector('.map canvas')", timeout=120_000)
        page.wait_for_timeout(2000)
        page.screenshot(path=verdicts)
        # what there is to see of one structure, below the verdicts
        page.set_viewport_size({**SIZE, "height": STRUCTURE_HEIGHT})
        summary = page.locator("section.structure summary").first
        summary.evaluate("element => window.scrollTo(0, element.offsetTop - 20)")
        page.wait_for_timeout(1000)
        page.screenshot(path=structure)


if __name__ == "__main__":
    write(PICTURE, VERDICTS)

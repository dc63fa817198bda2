"""Make the pictures of a report, by `PYTHONPATH=. python Testing/reportpicture.py`: the README's, the user guide's."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "Resources" / "Report.png"
VERDICTS = ROOT / "docs" / "pictures" / "ReportVerdicts.png"
SIZE = {"width": 1000, "height": 760}
# of a structure, down to its slices
STRUCTURE_HEIGHT = 1060
# WebGL without a graphics card
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")


def chromium() -> str | None:
    """Return the path of a Chromium or Chrome on this computer, None without one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


@contextmanager
def browser() -> Iterator:
    """Give a headless browser, of playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield found
        found.close()


def write(structure: Path, verdicts: Path) -> None:
    """Compare the two observers of the sample, judge them and photograph a structure and the top of the report."""
    from SegmentMetricsLib import __main__, samples

    with tempfile.TemporaryDirectory() as folder, browser() as shown:
        reference, test = samples.writeHeadAndNeck(folder)
        out = Path(folder) / "out"
        given = ("compare", reference, test, "--output", out, "--report", "--protocol", "head-and-neck-observers")
        if __main__.main(list(map(str, given))):
            raise SystemExit("The sample could not be compared.")
        page = shown.new_page(viewport=SIZE)
        page.goto((out / "report.html").as_uri())
        page.wait_for_function("document.body.dataset.stills === 'ready'", timeout=120_000)
        page.screenshot(path=verdicts)
        # what there is to see of one structure, below the verdicts
        page.set_viewport_size({**SIZE, "height": STRUCTURE_HEIGHT})
        summary = page.locator("section.structure summary").first
        summary.evaluate("element => window.scrollTo(0, element.offsetTop - 20)")
        page.wait_for_timeout(1000)
        page.screenshot(path=structure)


if __name__ == "__main__":
    write(PICTURE, VERDICTS)

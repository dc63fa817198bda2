"""The pages of the documentation do what they say: every code block is run."""

from __future__ import annotations

import re

import pagepictures
import pages
import pytest

from SegmentMetricsLib import samples
from SegmentMetricsLib.metrics.measurement import typeset

README = pages.ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
DOCS = pages.ROOT / "docs"
# test_adding.py runs the pages that change the code.
ELSEWHERE = set((DOCS / "developer").glob("adding-*.md"))
ALONE = [page for page in pages.pages() if page not in ELSEWHERE and pages.blocks(page)]
NEEDS = {"qa.md": "plotly", "batch.md": "matplotlib", "python.md": "matplotlib"}


@pytest.fixture
def folder(tmp_path):
    """A folder with the sample, as `segment-metrics demo` leaves it."""
    samples.writeHeadAndNeck(tmp_path / "segment-metrics-demo")
    return tmp_path


@pytest.mark.nightly
@pytest.mark.parametrize("page", ALONE, ids=lambda page: page.stem)
def testPage(page, folder, request):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name], reason=f"{NEEDS[page.name]} is not installed")
    if pages.isOfSlicer(page):
        request.getfixturevalue("desktop").loadModule()
    elif any("mrml" in block.text for block in pages.blocks(page) if block.language == "python"):
        request.getfixturevalue("scene")  # what the page shows in it is gone afterwards
    pages.run(page, folder)
    if page.name == "batch.md":
        # their bytes depend on the version of matplotlib
        assert all((folder / "study-results" / made).is_file() for made in pagepictures.OF_BATCH.values())


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.relative_to(pages.ROOT).as_posix())
class TestEveryPage:
    def testBlocksAreOfKnownLanguages(self, page):
        """A language that no test runs would be a block that nobody looks after."""
        for block in pages.blocks(page):
            assert block.what or block.language in ("python", "console", "text", "bash", "math"), block
            assert block.language != "text" or block.what or block.number > 1

    def testPicturesAndPagesExist(self, page):
        text = pages.DIRECTIVE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if not re.match(r"\w+:|#", target):
                assert (page.parent / target.partition("#")[0]).exists(), target

    def testReadsOnGitHub(self, page):
        """Which shows directives as code and leads to the sections of a page by their headings."""
        if page.parent.name != "api":
            text = page.read_text(encoding="utf-8")
            assert set(re.findall(r"^(?:```|:::)\{(\w+)\}", text, re.MULTILINE)) <= {"toctree"}
            headings = re.findall(r"^#+ (.+)", TEXT, re.MULTILINE)
            sections = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
            assert set(re.findall(r"/SlicerSegmentMetrics#([\w-]+)", text)) <= sections


BASH = [block for page in pages.pages() for block in pages.blocks(page) if block.language == "bash"]


@pytest.mark.parametrize("block", BASH, ids=lambda block: f"{block.page}-{block.number}")
def testWhatIsNotRunExists(block):
    """Set-up needs a network, and some commands need data: their extras, scripts and options are there."""
    project = (pages.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in re.findall(r"[\w]+", "".join(re.findall(r"\[([\w,]+)\]", block.text))):
        assert re.search(rf"^{extra} = \[", project, re.M), extra
    for line in block.text.splitlines():
        scripts = re.findall(r"Testing/\S+\.py", line)
        for script in scripts:
            source = (pages.ROOT / script).read_text(encoding="utf-8")
            assert all(f'"{option}"' in source for option in re.findall(r"--\w+", line))
        known = ("pip install", "sphinx -W --keep-going -n -b html docs", "segment-metrics demo", "pytest")
        assert scripts or any(part in line for part in known), line


def testPicturesAreShown():
    """A picture that no page shows is not there."""
    text = "".join(page.read_text(encoding="utf-8") for page in pages.pages())
    for picture in (DOCS / "pictures").iterdir():
        assert f"pictures/{picture.name})" in text, picture.name


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page to be written, the only one of a documentation of its own."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs" / "page.md"


def testTheRunnerFindsWhatIsWrong(page, tmp_path):
    page.write_text("```python\nprint(1)\n```\n```text\n2\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="instead of"):
        pages.run(page, tmp_path)
    page.write_text("```python\nprint('a\\nb\\nc')\n```\n```text\na\n...\nc\n```\n", encoding="utf-8")
    assert pages.run(page, tmp_path) == ["a\nb\nc\n", ""][:1]
    page.write_text("```fortran\nstop\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="fortran"):
        pages.run(page, tmp_path)
    page.write_text("```console\n$ segment-metrics compare nothing nothing --output x\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="ended with 2"):
        pages.run(page, tmp_path)


def testAPageIsBroughtUpToDate(page, tmp_path):
    page.write_text("```python\nprint('HD 7.4\\nx')\n```\n```text\nHD 7.3\n```\n", encoding="utf-8")
    assert pages.updated(page, tmp_path).endswith("```text\nHD 7.4\nx\n```\n")


def testWhatTheCommandsOfThePagesWriteIsNoPartOfTheProject():
    """Who follows them in a checkout has nothing new to commit."""
    lines = (pages.ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    written = {"segment-metrics-demo"}
    for page in pages.pages():
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")  # commands of several lines
        written |= set(re.findall(r"^\$? ?segment-metrics .*--output ([\w-]+)", text, re.MULTILINE)) - {"DIR"}
    assert {"eye", "qa"} <= written and [name for name in written if f"/{name}/" not in lines] == []


def testTheReadmeIsReadToItsEnd():
    """What takes more words is in docs/, and linked from here."""
    assert len(TEXT.split()) <= 1000
    guides = (f"guide/{name}" for name in ("slicer", "python", "qa", "batch", "commandline"))
    assert all(f"(docs/{page}.md)" in TEXT for page in ("index", "measurements", *guides))


def testTheFirstTwoBlocksAreTheTwoCommands():
    first, second = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[:2]
    assert [block.text for block in pages.blocks(README) if block.language == "bash"] == [first, second]
    assert first.count("\n") == second.count("\n") == 1
    assert first.rstrip().endswith("segment-metrics demo") and "pytest" in second


def testPicturesOfTheReadme():
    """Small enough to be looked at anywhere, and made in Slicer."""
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)\n\n(.*)", TEXT)
    assert len(pictures) == 2
    for picture, caption in pictures:
        assert (README.parent / picture).stat().st_size < 256_000 and caption.startswith("*Made in Slicer 5.13")


def testTheSummaryThatTheTutorialQuotes(desktop):
    desktop.loadModule()
    from SegmentMetrics import SegmentMetricsLogic

    reference, test = SegmentMetricsLogic().loadSample()
    comparison = SegmentMetricsLogic().compareSegments(reference, "Parotid_L", test, "Parotid_L")
    quoted = re.search(r"above the table: \*(.*?)\*", TEXT, re.DOTALL)[1]
    assert re.sub(r"\s+", " ", quoted) == typeset(comparison.summary)


@pytest.mark.nightly
@pytest.mark.opengl
def testPicturesCanBeMadeAnew(tmp_path):
    """Those of the module in the README and the user guide."""
    for name in ("slicer", "PySide6"):
        pytest.importorskip(name, reason=f"{name} is not installed")
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

"""What goes into a page is escaped, unless its type says that it is markup."""

from __future__ import annotations

import pickle
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import shapes
from test_report import structure

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.markup import Markup, escape, fill, join
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.show.report import blocks
from SegmentMetricsLib.show.report.index import CaseLine, indexOf

# It would end an element, an attribute or a script, and it has what templates begin placeholders with.
NAME = "</p></script><i id='x' title=\"y\">$name & ${name}"
SAFE = "&lt;/p&gt;&lt;/script&gt;&lt;i id=&#x27;x&#x27; title=&quot;y&quot;&gt;$name &amp; ${name}"


def testTextsAreEscapedAndMarkupIsNot():
    assert escape(NAME) == SAFE and fill('<b title="$a">$b</b>', a=NAME, b=7) == f'<b title="{SAFE}">7</b>'
    bold = fill("<b>$text</b>", text=NAME)
    assert isinstance(bold, Markup) and escape(bold) == bold == fill("$bold", bold=bold)
    assert join(["<", bold, ">"], " & ") == f"&lt; &amp; {bold} &amp; &gt;"
    # whoever builds markup by hand sees it
    for text in (f"{bold}", bold + "<i>", bold.upper()):
        assert not isinstance(text, Markup) and "<" not in escape(text)
    # parts of a report come from other processes
    assert isinstance(pickle.loads(pickle.dumps(bold)), Markup)
    with pytest.raises(KeyError):
        fill("$forgotten")


class Elements(HTMLParser):
    """The names of the elements of a page, and of their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, *(name for name, _ in attributes)))


def pageAbout(name: str) -> str:
    """Return a report in which everything that users name has this name."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    from SegmentMetricsLib.show.report import Report

    pairs = [[structure(shapes.ball(radius), name + end) for radius in (6, 8)] for end in ("1", "2")]
    report = Report(name, Settings(families="boundary"), patient=name, origins=(name, name), scene=name)
    compared = [compare(*pair, report.settings) for pair in pairs]
    for comparison in compared:
        report.add(comparison)
    quoted = name.replace('"', '""')
    rules = f'Structure,Measurement,Relation,Pass,Source\n*,HD,<=,1,"{quoted}"\n*,HD95,<=,1,other\n'
    measured = [((name + end,) * 2, {"SegmentMetrics": c.measurements}) for end, c in zip("12", compared, strict=True)]
    judgment = judgeCase(parseProtocol(rules, name), measured, {})
    text = report.page(judgment, {"reference": [f"{name}3"]}, {f"{name}4": name}, [name])
    return text[: text.index("<script>")] + text[text.index("</head>") :]


def testNamesDoNotChangeTheElementsOfAReport():
    plain, odd = (pageAbout(name) for name in (f"N{'a' * (len(NAME) - 1)}", NAME))
    assert Elements(odd).found == Elements(plain).found and NAME not in odd and odd.count(SAFE) > 20
    # all placeholders of the template files are filled
    rest = re.sub(r'content: "[^"]*"', "", odd.replace(SAFE, ""))  # on paper, as CSS writes it
    assert not re.search(r"\$[a-z{]", rest)


def testNamesDoNotChangeTheElementsOfAnIndex():
    pages = [indexOf([CaseLine(name, "fail", name, name, name, name)], name) for name in ("N" * len(NAME), NAME)]
    assert Elements(pages[0]).found == Elements(pages[1]).found and pages[1].count(SAFE) == 6


def testFilesOfPagesAreInstalled():
    """By pip and with the extension: templates, styles and the script."""
    root = Path(blocks.__file__).parents[2]
    parts = {path.suffix for path in Path(blocks.__file__).parent.iterdir() if path.is_file()} - {".py"}
    assert parts == {".html", ".css", ".js"}
    for listed in (root / "CMakeLists.txt", root.parent / "pyproject.toml"):
        if listed.exists():
            assert all(f"show/report/*{suffix}" in listed.read_text("utf-8") for suffix in parts)

"""Reads the tables and sentences of a page of HTML."""

from __future__ import annotations

from html.parser import HTMLParser


class Cells(HTMLParser):
    """Collects the texts of the rows of a page's tables, and of its sentences."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows, self.sentences, self.open = [], [], []
        self.feed(page)
        assert not self.open, "every tag is closed"

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "p":
            self.sentences.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        tag = self.open[-1] if self.open else ""
        if tag in ("td", "th"):
            self.rows[-1][-1] += data
        elif tag == "p":
            self.sentences[-1] += data

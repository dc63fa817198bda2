"""What goes into a page is escaped, unless its type says that it is markup."""

from __future__ import annotations

import pickle

import pytest

from SegmentMetricsLib.base.markup import Markup, escape, fill, join

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

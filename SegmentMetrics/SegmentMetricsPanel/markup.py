"""Names and sentences where Qt would take them for markup: in labels with markup of their own, and in tool tips."""

import re

# What makes Qt take a whole text for markup; "HD95 <= 3" is none.
TAG = re.compile(r"<[A-Za-z/!]|&lt;")


def escaped(text: str) -> str:
    """Return a text that a label does not take for markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def asTip(text: str) -> str:
    """Return a text as a tool tip that shows it as it is, with its line breaks, also where a name has "<b>" in it."""
    return escaped(text).replace("\n", "<br>") if TAG.search(text) else text

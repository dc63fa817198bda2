"""Plain text for Qt widgets that interpret markup: rich-text labels and tool tips."""

import html
import re

# Shorter names are not broken: copied, they would contain characters that nobody sees.
LONG_NAME = 32
# In a column they are broken earlier, and so many letters in a row are broken anywhere.
LONG_IN_COLUMN = 16
BREAK = "\u200b"


def escape(text: str) -> str:
    """Return text with its markup characters escaped."""
    return html.escape(text, quote=False)


def breakable(name: str) -> str:
    """Return a name as markup in which Qt may break a long one after its separators."""
    return escape(name if len(name) <= LONG_NAME else re.sub(r"([_.-])", f"\\1{BREAK}", name))


def breakableInColumn(name: str) -> str:
    """Return plain text that Qt may break into lines of a column after separators, before capitals, or anywhere."""
    if len(name) <= LONG_IN_COLUMN:
        return name
    parts = re.split(r"(?<=[_.\-/])|(?<=[a-z])(?=[A-Z])|(?<= )", name)
    step = LONG_IN_COLUMN
    return BREAK.join(part[n : n + step] for part in parts for n in range(0, len(part), step))


def asTip(text: str) -> str:
    """Return text as markup for a tool tip, one paragraph per line: Qt does not wrap plain ones. "" stays empty."""
    return "".join(f'<p style="margin: 0">{escape(line)}</p>' for line in text.split("\n")) if text else ""


def explain(widget, text: str) -> None:
    """Set a widget's tool tip, and the plain text for screen readers, which would otherwise read the markup."""
    widget.toolTip, widget.accessibleDescription = asTip(text), text


def explainAll(ui) -> None:
    """Make all tool tips of a loaded .ui file wrap, and copy their texts to the accessible descriptions."""
    for widget in vars(ui).values():
        tip = getattr(widget, "toolTip", None)
        # actions have tool tips but no description; widgets inside Slicer's own may already use markup
        if isinstance(tip, str) and tip and hasattr(widget, "accessibleDescription") and not tip.startswith("<"):
            explain(widget, tip)

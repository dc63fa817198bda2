"""Names and sentences where Qt would take them for markup: in labels with markup of their own, and in tool tips."""


def escaped(text: str) -> str:
    """Return a text that a label does not take for markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def asTip(text: str) -> str:
    """Return a text as a tool tip that shows it as it is, a paragraph for each of its lines; "" for none.

    Always markup: Qt wraps no other tool tips, and shows those as lines that are wider than the screen.
    """
    return "".join(f'<p style="margin: 0">{escaped(line)}</p>' for line in text.split("\n")) if text else ""


def explain(widget, text: str) -> None:
    """Give a widget a tool tip, and the same without markup to who is read to, which else would be the tool tip."""
    widget.toolTip, widget.accessibleDescription = asTip(text), text


def explainAll(ui) -> None:
    """Let all tool tips that the widgets of a .ui file have from it be wrapped."""
    for widget in vars(ui).values():
        tip = getattr(widget, "toolTip", None)
        # actions have one, too, but no description; widgets within Slicer's own may have markup already
        if isinstance(tip, str) and tip and hasattr(widget, "accessibleDescription") and not tip.startswith("<"):
            explain(widget, tip)

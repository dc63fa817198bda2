"""Making HTML and SVG: whatever goes into a template is escaped, unless its type says that it is markup already."""

from __future__ import annotations

import html
from collections.abc import Iterable
from string import Template


class Markup(str):
    """Text that is HTML or SVG already. Adding to it or formatting it gives plain text, which is escaped again."""

    __slots__ = ()


def escape(value: object) -> Markup:
    """Return a value as markup: Markup as it is, all else as text whose special characters are escaped."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def fill(template: str, /, **values: object) -> Markup:
    """Return a template with escape()d values for placeholders such as $name. Raises KeyError if one has no value."""
    return Markup(Template(template).substitute({name: escape(value) for name, value in values.items()}))


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Return escaped() parts, one after the other. between: text or markup between two parts."""
    return Markup(escape(between).join(map(escape, parts)))

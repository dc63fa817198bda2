"""Turns the docstrings of this house into reStructuredText.

Parameters and fields are described in the running text, as in "tolerance: in mm. label: None for all." Here every one
of them becomes an entry of a definition list; what is raised, and examples, get paragraphs of their own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator

# A sentence ends, or nothing came before; then follow names and a colon.
DESCRIBED = re.compile(r"(?:^|(?<=[.?!)\"] ))(\w+(?:, \w+)*): ")
FUNCTION = re.compile(r"<function [\w.]*(?:<lambda>)?>")
RAISES = re.compile(r"(?:^|(?<=[.?!)\"] ))(?=Raises \w+)")


def setup(app) -> dict:
    """Connect to autodoc."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", shortened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def process(app, what: str, name: str, thing, options, lines: list[str]) -> None:
    """Replace the lines of a docstring."""
    lines[:] = converted(lines, describedNames(thing))


def shortened(app, what: str, name: str, thing, options, signature: str | None, returned: str | None):
    """Return a signature whose defaults that are functions do not show where they are in memory."""
    return signature and FUNCTION.sub("...", signature), returned


def describedNames(thing) -> set[str]:
    """Return the names of the parameters of a function, of the fields of a class, and of what a class has besides."""
    names: set[str] = set()
    if inspect.isclass(thing):
        names |= {name for name in dir(thing) if not name.startswith("_")}
        if dataclasses.is_dataclass(thing):
            names |= {field.name for field in dataclasses.fields(thing)}
        with contextlib.suppress(OSError, TypeError):  # what was made at run time has no source
            names |= set(re.findall(r"self\.(\w+) = ", inspect.getsource(thing)))
    with contextlib.suppress(TypeError, ValueError):  # constants have no signature
        names |= set(inspect.signature(thing).parameters)
    return names


def converted(lines: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return a docstring as reStructuredText. names: what it may describe."""
    known = set(names)
    result: list[str] = []
    for paragraph in paragraphs(lines):
        if all(line.startswith("    ") for line in paragraph):
            result += [".. code-block:: python", "", *paragraph, ""]
        else:
            # an asterisk is one, as in compute(self, *arguments)
            text = re.sub(
                r"(`[^`]*`)|\*", lambda found: found[1] or r"\*", " ".join(line.strip() for line in paragraph)
            )
            for entry in split(text, known):
                result += [*entry, ""]
    return result


def paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines between empty lines; an example is one paragraph, empty lines included."""
    paragraph: list[str] = []
    for line in lines:
        isCode = bool(paragraph) and all(each.startswith("    ") or not each for each in paragraph)
        if line.strip():
            if isCode and not line.startswith("    "):
                yield trimmed(paragraph)
                paragraph = []
            paragraph.append(line.rstrip())
        elif isCode:
            paragraph.append("")
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield trimmed(paragraph)


def trimmed(paragraph: list[str]) -> list[str]:
    """Return a paragraph without empty lines; those inside an example become lines of blanks."""
    while not paragraph[-1]:
        paragraph = paragraph[:-1]
    return [line or "    " for line in paragraph]


def split(text: str, known: set[str]) -> Iterator[list[str]]:
    """Yield the entries of one paragraph: sentences, described names, and what is raised."""
    starts = [
        (found.start(), found.end(), found[1])
        for found in DESCRIBED.finditer(text)
        if known >= set(found[1].split(", "))
    ]
    starts += [(found.start(), found.start(), "") for found in RAISES.finditer(text)]
    starts.sort()
    ends = [*(start for start, _, _ in starts), len(text)]
    if before := text[: ends[0]].strip():
        yield [before]
    for (_, begin, title), end in zip(starts, ends[1:], strict=True):
        body = text[begin:end].strip()
        yield [f"``{title.replace(', ', '``, ``')}``", f"    {body}"] if title else [body]

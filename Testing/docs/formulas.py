"""Bring the generated parts of pages up to date, which follow the registry and the commands' help.

`python Testing/docs/formulas.py` does it.
They stand between `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import string
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from pathlib import Path
from unittest.mock import patch

from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.base.texts import shortest
from SegmentMetricsLib.metrics.hazard import EPSILON
from SegmentMetricsLib.metrics.metric import EXAMPLES, PARAMETERS, Metric
from SegmentMetricsLib.metrics.registry import FAMILIES, MULTI_LABEL, PURPOSES, REGISTRY
from SegmentMetricsLib.settings.names import familyTitle
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES, Settings

PAGE = Path(__file__).parents[2] / "docs" / "formulas.md"
CODES, MEASUREMENTS = PAGE.with_name("codes.md"), PAGE.with_name("measurements.md")
OPTIONS = PAGE.parent / "guide" / "options.md"
# The commands that take settings, and the heading of their options in --help-settings.
COMMANDS, FURTHER = ("compare", "batch", "observers", "demo"), "further options"
SYMBOLS = {name: parameter.symbol for name, parameter in PARAMETERS.items()}
# The same letters in a formula.
LETTERS = {name: parameter.latex for name, parameter in PARAMETERS.items()}
ADDRESSES = {"arXiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
HEAD = ("unit", "range", "better", "one contour empty", "source", "computed by")


def kinds(families: Iterable[str] = FAMILIES) -> list[tuple[Metric, ...]]:
    """Return the definitions of some families; those with one formula, such as one for each side, are together."""
    chosen = [definition for definition in (*REGISTRY, *MULTI_LABEL) if definition.family in set(families)]
    return [tuple(same) for _, same in itertools.groupby(chosen, key=lambda definition: definition.formula)]


def keys(kind: Sequence[Metric]) -> list[str]:
    """Return the keys of a kind as results have them, for one value of a parameter."""
    return [definition.keyFor(EXAMPLES) for definition in kind]


def merged(texts: Sequence[str]) -> str:
    """Return several texts as one: what differs in the middle is listed, or begun, unless the first one lacks it."""
    first = commonprefix(texts)  # noqa: RUF071 - of letters
    last = commonprefix([text[len(first) :][::-1] for text in texts])[::-1]  # noqa: RUF071
    last = last.lstrip(string.ascii_letters)  # of words that end alike, each is listed whole
    middles = [text[len(first) : len(text) - len(last)] for text in texts]
    listed = " / ".join(middles) if len(middles) <= 3 else f"{middles[0]} … {middles[-1]}"
    return first + (listed if middles[0] else "") + last


def title(kind: Sequence[Metric], emphasis: str = "") -> str:
    """Return the title of a kind, its parameter as a letter."""
    letters = {name: f"{emphasis}{letter}{emphasis}" for name, letter in SYMBOLS.items()}
    return merged([definition.title.format(**letters) for definition in kind])


def shortKeys(kind: Sequence[Metric]) -> str:
    """Return the key of a kind, or its first and its last one."""
    return " … ".join(dict.fromkeys((keys(kind)[0], keys(kind)[-1])))


def heading(kind: Sequence[Metric]) -> str:
    return f"{shortKeys(kind)}: {title(kind)}"


def anchor(kind: Sequence[Metric]) -> str:
    """Return the name by which GitHub, and our pages, link to the heading."""
    return re.sub(r"[^\w\- ]", "", heading(kind).lower()).replace(" ", "-")


def facts(definition: Metric) -> tuple[str, str, str, str]:
    """Return unit, range, which way is better, and what it is when exactly one contour is empty."""
    low, high = (shortest(limit).replace("inf", "∞") for limit in (definition.low, definition.high))
    unit = definition.unit or ("count" if definition.isCount else "fraction")
    better = definition.better or "neither"
    return unit, f"{low} to {high}", better, definition.empty.value


def source(text: str) -> str:
    """Return a source as a link, if it names an identifier."""
    found = re.search(r"\b(arXiv|doi):(\S+)$", text)
    return f"[{text}]({ADDRESSES[found[1]]}{found[2]})" if found else text


def computedBy(definition: Metric) -> str:
    """Return links to the files with the function, or method, that computes it, and with those that it rests on."""
    steps = ", ".join(map(linkTo, definition.steps))
    return linkTo(definition.code) + (f" from {steps}" if steps else "")


def linkTo(code: str) -> str:
    """Return a link to the file that holds something, told by its name in the library."""
    module, names = parts(code)
    return f"[`{names}`](../SegmentMetricsLib/{module.replace('.', '/')}.py)"


def settings(definition: Metric) -> str:
    """Return which settings are behind symbols of the formula, and their defaults; "" if there are none."""
    given = [name for name in PARAMETERS if f"{{{name}}}" in definition.key]
    symbols = [(f"${LETTERS[name]}$", (PARAMETERS[name].setting,)) for name in given]
    symbols += [(f"${symbol}$", names) for symbol, names in definition.symbols]
    if definition.dependsOnGrid:
        symbols.append(("voxels outside both", ("grid",)))
    told = [f"{symbol}: {', '.join(map(withDefault, names))}" for symbol, names in symbols]
    if r"\varepsilon" in definition.formula:
        told.append(rf"$\varepsilon$: fixed, {shortest(EPSILON)}")
    return "; ".join(told)


def withDefault(name: str) -> str:
    """Return the name of a setting, and its default if there is one."""
    value = getattr(Settings(), name)
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    default = ", ".join(one if isinstance(one, str) else shortest(one) for one in values)
    return f"`{name}` ({default})" if default else f"`{name}`"


def parts(code: str) -> tuple[str, str]:
    """Return the module and what is in it, such as "pair" and "Pair.volume", of a name in the library."""
    found = re.fullmatch(r"((?:[a-z]+\.)*[a-z]+)\.((?:[A-Z]\w*\.)?\w+)", code)
    return found[1], found[2]


def section(kind: Sequence[Metric]) -> str:
    """Return what the page says about a kind."""
    definition, letters = kind[0], {name: f"*{letter}*" for name, letter in SYMBOLS.items()}
    lines = definition.formula.split(r" \\ ")
    formula = [lines[0]] if len(lines) == 1 else [r"\begin{gathered}", " \\\\[1ex]\n".join(lines), r"\end{gathered}"]
    row = (*facts(definition), source(definition.source), computedBy(definition))
    description = merged([one.description.format(**letters) for one in kind])
    text = [
        f"### {heading(kind)}",
        "\n".join(["```math", *formula, "```"]),
        description if len(kind) == 1 else f"{description} Keys: {', '.join(f'`{key}`' for key in keys(kind))}.",
        "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, ["---"] * len(HEAD), row)),
    ]
    for name, more in (("Settings", settings(definition)), ("About the source", definition.deviation)):
        text += [f"*{name}:* {more}"] if more else []
    return "\n\n".join(text)


def overview() -> str:
    """Return a table with a link to every kind, a row for each family."""
    rows = ["| family | measurements |", "|---|---|"]
    for family in FAMILIES:
        links = [f"[{shortKeys(kind)}](#{anchor(kind)})" for kind in kinds([family])]
        if links:
            name = familyTitle(family).lower()
            rows.append(f"| [{name}](#{name}) | {', '.join(links)} |")
    return "\n".join(rows)


def aliases() -> str:
    """Return a table of EvaluateSegmentation's short names and ours, with a link to each."""
    rows = ["| EvaluateSegmentation | here | measurement |", "|---|---|---|"]
    for kind in kinds():
        for one in kind:
            if one.alias:
                key = one.keyFor(EXAMPLES)
                rows.append(f"| `{one.alias}` | [`{key}`](#{anchor(kind)}) | {title(kind, '*')} |")
    return "\n".join(rows)


def families() -> str:
    found = []
    for family, says in PURPOSES.items():
        if kinds([family]):
            found += [f"## {familyTitle(family)}", says, *map(section, kinds([family]))]
    return "\n\n".join(found)


def codes() -> str:
    """Return a table of the DICOM codes of all measurements, each with one value of its parameter."""
    from SegmentMetricsLib.show.dicomfiles import conceptOf, ucumUnit  # here, as it needs highdicom

    rows = ["| key | code | scheme | meaning | unit |", "|---|---|---|---|---|"]
    for definition in (*REGISTRY, *MULTI_LABEL):
        key = definition.keyFor(EXAMPLES)
        concept, unit = conceptOf(key, definition.title.format(**EXAMPLES)), ucumUnit(definition.unit)
        rows.append(f"| `{key}` | {concept.value} | {concept.scheme_designator} | {concept.meaning} | `{unit.value}` |")
    return "\n".join(rows)


def registryTable() -> str:
    """Return the measurements of the default families as a table; what has one formula shares a row."""
    rows = ["| key | name | unit | range | better | empty | source |", "|---|---|---|---|---|---|---|"]
    for kind in kinds(DEFAULT_FAMILIES):
        name = f"[{title(kind, '*')}](formulas.md#{anchor(kind)})"
        shown = " ".join(f"`{key}`" for key in keys(kind))
        rows.append(f"| {' | '.join((shown, name, *facts(kind[0]), kind[0].source))} |")
    return "\n".join(rows)


def helpOf(command: str) -> dict[str, dict[str, str]]:
    """Return what --help-settings of a command says of each option, by headings, as in cells of a table."""
    said = io.StringIO()
    with patch.dict(os.environ, COLUMNS="9999"), contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([command, "--help-settings"])
    _, *parts = re.split(r"^(\S.*):\n", said.getvalue().replace("|", r"\|"), flags=re.M)
    return {head: dict(re.findall(r"^  (\S.*?)\s{2,}(.*)", told, re.M)) for head, told in zip(parts[::2], parts[1::2])}


def settingsTables() -> str:
    """Return a table of the settings below each heading."""
    found = []
    for heading, told in helpOf(COMMANDS[0]).items():
        if heading != FURTHER:
            found += ["", f"### {heading[0].upper()}{heading[1:]}", ""]
            found += ["| `--set` | short form | what it does |", "|---|---|---|"]
            for option, text in told.items():
                says, _, short = text.partition("; also ")
                found.append(f"| `{option}` | {short and f'`{short}`'} | {says} |")
    return "\n".join(found[1:])


def furtherTable() -> str:
    """Return a table of the options that --help leaves out, each with its commands."""
    commands: dict[tuple[str, str], list[str]] = {}
    for command in COMMANDS:
        for told in helpOf(command)[FURTHER].items():
            commands.setdefault(told, []).append(f"`{command}`")
    rows = [f"| `{option}` | {', '.join(of)} | {text} |" for (option, text), of in commands.items()]
    return "\n".join(["| option | of | what it does |", "|---|---|---|", *rows])


GENERATED = {
    PAGE: {"overview": overview, "aliases": aliases, "formulas": families},
    CODES: {"codes": codes},
    MEASUREMENTS: {"metrics": registryTable},
    OPTIONS: {"settings": settingsTables, "further": furtherTable},
}


def updated(page: Path) -> str:
    """Return the text of a page with its generated parts made anew."""
    text = page.read_text(encoding="utf-8")
    for name, make in GENERATED[page].items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        _, isThere, behind = rest.partition(end)
        if not isThere:
            raise ValueError(f"There is no part {name!r}.")
        # a table is no table when a comment stands right above or below it
        text = f"{before}{start}\n{make()}\n\n{end}{behind}"
    return text


if __name__ == "__main__":
    for page in GENERATED:
        page.write_text(updated(page), encoding="utf-8")

"""The report of several observers: one page for all structures."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...base.markup import Markup, fill, join
from ...base.palettes import ABSOLUTE
from ...base.texts import commaSeparated, oneLine, pluralize, tellingApart
from ...case.observers.matrix import meansAsTest
from ...case.observers.observed import ObservedStructure
from ...case.observers.study import ObserverStudy
from ...case.protocol.judgment import FAIL, PASS
from ...case.summary import ADVERBS
from ...metrics.measurement import fixDecimals, typeset
from .. import observers as observerfiles
from .. import repeated
from ..rendering import interpolate
from ..resulttables import heading, overviewKeys
from ..tablemodel import Column, Table
from ..writing import REPORT_FILE, fileName, versions
from .blocks import NO_DEVICE, NOTHING, badge, fromFile, linkTo, nameCell, now, page, table
from .notices import sentences

# Most matrices of a structure, and most measurements in the table of tests.
MOST_MATRICES, MOST_MEASUREMENTS = 2, 6
# Matrices of more observers and tests are not beside each other.
MOST_BESIDE = 6
# From this share of the worst value on, letters are white.
DARK = 0.6


def writeReport(study: ObserverStudy, names: Sequence[str], folder: Path, output: Path) -> None:
    """Write the report into a folder that has the pictures already. Raises OSError.

    names: of the files of every structure. output: the folder whose name the title has.
    """
    text = pageOf(study, [pictureOf(folder / fileName("picture", name)) for name in names], output)
    (folder / REPORT_FILE).write_text(text, encoding="utf-8", errors="backslashreplace")


def pageOf(study: ObserverStudy, pictures: Sequence[str], output: Path | str = "") -> str:
    """Return the report as HTML. pictures: of every structure as the address of an image, "" without one."""
    title = f"{len(study.observers)} observers"
    if study.testNames:
        title += f" and {pluralize(len(study.testNames), 'test')}"
    if output:
        title = f"{oneLine(tellingApart([output])[output])}: {title}"
    tests = fill("<span><b>Tests</b> $names</span>", names=commaSeparated(study.testNames, 20))
    methods = dict.fromkeys(found.method for found in study if found.consensus is not None)
    names = [found.name for found in study]
    overview = observerfiles.table(study)
    linked = [[linkTo(number, row[0]), *row[1:]] for number, row in enumerate(overview.rows)]
    common, own = repeated.sortOut([found.remarks for found in study])
    shared = [f"{repeated.phraseFor(members, names)}: {text}" for text, members in common]
    body = fromFile(
        "observers",
        title=title,
        observers=commaSeparated(study.observers, 20),
        tests=tests if study.testNames else NOTHING,
        count=pluralize(len(study), "structure"),
        date=now(),
        method=commaSeparated(methods),
        noDevice=NO_DEVICE,
        overview=table(Table(overview.columns, linked)),
        remarks=sentences([*shared, *study.remarks]),
        structures=join(_section(n, *each) for n, each in enumerate(zip(study, own, pictures, strict=True))),
        software=table(Table.ofRows(["Name", "Version"], [list(pair) for pair in versions().items()], left=2)),
        settings=json.dumps(study.settings.toDictionary(), indent=1, allow_nan=False, ensure_ascii=False),
    )
    return page(title, body)


def _section(number: int, found: ObservedStructure, remarks: Sequence[str], picture: str) -> Markup:
    shown = fill(
        '<img class="sdmap" src="$picture" alt="$what">',
        picture=Markup(picture),
        what=f"The consensus of {found.name} from two sides, colored by the local SD of the observers",
    )
    keys = [key for key in overviewKeys(found.pairs.keys) if found.pairs.any(key).better]
    distances = [key for key in keys if found.pairs.any(key).better == "lower"]
    overlaps = [key for key in keys if key not in distances]
    # one of each kind, HD95 rather than HD
    chosen = [*distances[-1:], *overlaps[:1], *distances[:-1], *overlaps[1:]] if distances else overlaps
    chosen = _sortKeys(chosen)[:MOST_MATRICES]
    return fromFile(
        "observed",
        number=number,
        name=found.name,
        sentence=found.sentence,
        remarks=sentences(remarks),
        picture=shown if picture else NOTHING,
        matrices=join(_matrix(found, key) for key in chosen),
        leaveOneOut=_leaveOneOut(found, _sortKeys(keys)),
        tests=_tests(found, _sortKeys(keys)),
    )


def _sortKeys(keys: Sequence[str]) -> list[str]:
    """Return keys with those first that most people report: a percentile of distances, Dice, NSD."""
    order = ("HD9", "DSC", "NSD", "MASD")
    return sorted(keys, key=lambda key: next((n for n, begin in enumerate(order) if key.startswith(begin)), len(order)))


def _matrix(found: ObservedStructure, key: str) -> Markup:
    """Return the matrix of a measurement as a table whose cells are the darker the worse they are."""
    values, one = found.pairs.values(key), found.pairs.any(key)
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    rows = []
    for row, name in enumerate(found.everyone):
        cells: list[object] = [nameCell(name)]
        for column in range(len(found.everyone)):
            value = float(values[row, column])
            if row == column or (math.isnan(value) and (row, column) not in found.pairs.pairs):
                cells.append(NOTHING if row == column else "-")
                continue
            share = (value - low) / (high - low) if high > low and math.isfinite(value) else float(math.isinf(value))
            if one.better == "higher" and high > low:
                share = 1 - share
            red, green, blue = np.rint(interpolate(np.array([share]), 0.0, 1.0, ABSOLUTE)[0]).astype(int).tolist()
            ink = "#fff" if share >= DARK else "#222"
            style = f"background:#{red:02x}{green:02x}{blue:02x};color:{ink}"
            text = fixDecimals(value, one.unit) if math.isfinite(value) else Column(key).text(value)
            cells.append(fill('<span class="cell" style="$style">$text</span>', style=style, text=typeset(text)))
        rows.append(cells)
    columns = [Column("", isText=True), *map(Column, found.everyone)]
    return fill(
        '<div$wide><h3>$title$unit <span class="soft">reference in the row, test in the column</span></h3>$table</div>',
        wide=Markup(' class="across"') if len(found.everyone) > MOST_BESIDE else NOTHING,
        title=key,
        unit=f" ({typeset(one.unit)})" if one.unit else "",
        table=table(Table(columns, rows), kind="heat"),
    )


def _leaveOneOut(found: ObservedStructure, keys: Sequence[str]) -> Markup:
    """Return the table of who differs where: every observer against the consensus of the others."""
    if not found.leaveOneOut:
        return NOTHING
    keys = [key for key in keys if all(key in one.measurements for one in found.leaveOneOut)][:MOST_MEASUREMENTS]
    rows = []
    for one in found.leaveOneOut:
        place = one.places[0] if one.places else None
        side = "" if place is None else "outside" if place.value > 0 else "inside"
        where = "" if place is None else f"{ADVERBS[place.direction]}, {abs(place.value):.1f} mm {side}"
        rows.append([nameCell(one.name), *(one.measurements[key] for key in keys), where])
    columns = [
        Column("Observer", isText=True),
        *(Column(key, heading(key)) for key in keys),
        Column("Farthest from the others", isText=True),
    ]
    title = Markup("<h3>Who differs where: each against the consensus of the others</h3>")
    return join((title, table(Table(columns, rows))))


def _tests(found: ObservedStructure, keys: Sequence[str]) -> Markup:
    """Return the table of the tests: their means against all observers, beside the observers' own range."""
    if not found.tests:
        return NOTHING
    rows = []
    for test in found.tests:
        for key in [key for key in keys if key in test.mean][:MOST_MEASUREMENTS]:
            one, values = found.pairs.any(key), found.pairs.values(key)
            texts = Column(key, unit=one.unit).text
            own = [meansAsTest(values, n, found.members)[0] for n in found.members]
            own = [value for value in own if not math.isnan(value)]
            best, worst = (min, max) if one.better == "lower" else (max, min)
            reach = f"{texts(best(own))} to {texts(worst(own))}" if own else ""
            isWithin = None if found.isAnyWithin else test.isWithin.get(key)
            verdict = badge(PASS, "within") if isWithin else NOTHING if isWithin is None else badge(FAIL, "outside")
            rank = f"{test.rank[key]} of {len(own) + 1}" if key in test.rank else ""
            mean = typeset(texts(test.mean[key]))
            rows.append([nameCell(test.name), heading(key), mean, typeset(reach), rank, verdict])
    heads = ["Test", "Measurement", "Mean against the observers", "Observers, best to worst", "Rank", "Verdict"]
    return join((Markup("<h3>Are the tests within the observers' range?</h3>"), table(Table.ofRows(heads, rows, 6))))


def pictureOf(path: Path) -> str:
    """Return a PNG file as the address of an image in a page, "" if there is none."""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}" if path.exists() else ""

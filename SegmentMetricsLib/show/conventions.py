"""What other tools would have reported, as JSON, CSV and text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.plain import finite
from ..base.texts import oneLine
from ..case.comparison import identityOf
from ..conventions import allConventions
from ..conventions.evaluation import OPTIMISTIC, PESSIMISTIC, Reported
from ..metrics.measurement import statusOf
from ..model.naming import pairTitle
from ..model.structures import Pairing
from ..settings.settings import Settings
from .resulttables import IDENTITY, heading
from .tablemodel import Column, Table
from .tables import align
from .writing import headOf, writeTable

SCHEMA = "segment-metrics-conventions/1"
COLUMNS = (
    *("Convention", "Version", "Key", "Name", "Value", "Unit", "Status"),
    *("ReferenceValue", "Difference", "Leaning", "Reproducible", "Reason"),
)
# Attributes of a Reported that are columns, from the third on.
ATTRIBUTES = ("key", "name", "value", "unit", "status", "reference", "difference", "leaningText")
# Terminal colors that color-blind people can distinguish: yellow and blue.
TERMINAL_COLORS = {OPTIMISTIC: "\033[33m", PESSIMISTIC: "\033[94m"}
TERMINAL_RESET = "\033[0m"
REFERENCE_ROW = "SegmentMetrics"


@dataclass(frozen=True)
class ConventionsRecord:
    """What tools would have reported for one pair. reference, test: as of describe(). conventions: by tool and key."""

    reference: Mapping
    test: Mapping
    conventions: Mapping[str, Mapping[str, Reported]]

    @property
    def name(self) -> str:
        return pairTitle((self.reference["name"], self.test["name"]))

    def referenceValues(self) -> dict[str, Reported]:
        """Return for every key reported by any tool one of its numbers, which holds the reference value."""
        found: dict[str, Reported] = {}
        for numbers in self.conventions.values():
            found |= {key: number for key, number in numbers.items() if key not in found}
        most = max(self.conventions.values(), key=len, default={})
        return {key: found[key] for key in [*most, *(key for key in found if key not in most)]}

    def table(self, head: str, textOf: Callable[[Reported], str]) -> Table:
        """Return a row with the reference values, and one for every tool. textOf: what a number of a tool reads."""
        first = self.referenceValues()
        rows = [[REFERENCE_ROW, *map(referenceText, first.values())]]
        for tool, numbers in self.conventions.items():
            rows.append([tool, *(textOf(numbers[key]) if key in numbers else "" for key in first)])
        return Table.ofRows([head, *map(heading, first)], rows)


def document(records: Sequence[ConventionsRecord], pairing: Pairing, settings: Settings) -> dict:
    """Return the content of conventions.json."""
    tools = {
        key: {"tool": convention.tool, "version": convention.version, "source": convention.source}
        for key, convention in allConventions().items()
    }
    return {
        **headOf(SCHEMA, settings),
        "tools": tools,
        "pairs": [
            {
                "reference": dict(record.reference),
                "test": dict(record.test),
                "referenceValues": {
                    key: {"value": finite(number.reference), "status": statusOf(number.reference)}
                    for key, number in record.referenceValues().items()
                },
                "conventions": {
                    tool: {key: number.toDictionary() for key, number in numbers.items()}
                    for tool, numbers in record.conventions.items()
                },
            }
            for record in records
        ],
        "unmatched": pairing.unmatched,
    }


def writeCsv(records: Iterable[ConventionsRecord], path: Path) -> None:
    """Write one row for every number of every tool."""
    rows = []
    for record in records:
        for tool, numbers in record.conventions.items():
            first = *identityOf((record.reference, record.test)), tool, allConventions()[tool].version
            for one in numbers.values():
                told = (getattr(one, name) for name in ATTRIBUTES)
                rows.append([*first, *told, "yes" if one.isReproducible else "no", one.reason])
    writeTable(Table([*IDENTITY, *map(Column, COLUMNS)], rows), path)


def textTable(record: ConventionsRecord, colored: bool = False, width: int | None = None) -> str:
    """Return a table with a row for every tool and, in parentheses, its differences from the reference value.

    colored: whether over-optimistic and over-pessimistic values are colored, for terminals. A star marks values that
    the tool itself does not give reproducibly. width: as for tables.align().
    """
    leanings = [{}, *({key: one.leaning for key, one in numbers.items()} for numbers in record.conventions.values())]
    keys = ["", *record.referenceValues()]

    def paint(row: int, column: int, cell: str) -> str:
        color = TERMINAL_COLORS.get(leanings[row].get(keys[column], ""))
        return f"{color}{cell}{TERMINAL_RESET}" if color and cell.strip() else cell

    return align(record.table(oneLine(record.name), _text), width, paint if colored else None)


def referenceText(number: Reported) -> str:
    """Return the reference value in readable form."""
    if not math.isfinite(number.reference):
        return "undefined" if math.isnan(number.reference) else f"{number.reference:.0f}"
    return f"{number.reference:.2f} mm" if number.better == "lower" else f"{number.reference:.3f}"


def _text(number: Reported) -> str:
    difference = number.differenceText().split(" ")[0]
    star = "" if number.isReproducible else "*"
    return f"{number.text()}{star} ({difference})" if difference else f"{number.text()}{star}"


def reasons(record: ConventionsRecord) -> str:
    """Return a line for every tool with its source, and one for each of its numbers on how it is computed."""
    lines = []
    for tool, numbers in record.conventions.items():
        convention = allConventions()[tool]
        lines.append(f"{convention.label}, {convention.source}")
        lines += [f"  {number.key} ({number.name}): {number.reason}" for number in numbers.values()]
    return "\n".join(map(oneLine, lines))

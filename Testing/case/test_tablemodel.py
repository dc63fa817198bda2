"""One model of tables: what a value says is the same in text, files, nodes and pages."""

from __future__ import annotations

import csv
import math

from htmlcells import Cells

from SegmentMetricsLib.show import tables, writing
from SegmentMetricsLib.show.tablemodel import Amount, Column, Table, notebookTable

COLUMNS = (
    Column("Name", isText=True),
    Column("Distance", "Distance (long)", "mm", "How far"),
    Column("Share", digits=1),
    Column("Volume"),
    Column("Count"),
)
TABLE = Table(
    COLUMNS,
    [
        ["=A", 1.23456, 0.25, Amount(12345.678, "mm3"), 3],
        ["<b>", math.inf, -math.inf, Amount(1.0, "mm2"), 0],
        ["none", None, math.nan, None, None],
    ],
)
TEXTS = [
    ["Name", "Distance (long)", "Share", "Volume", "Count"],
    ["=A", "1.23 mm", "0.2", "12.35 cm3", "3"],
    ["<b>", "inf", "-inf", "1.0 mm2", "0"],
    ["none", "", "undefined", "", ""],
]


def testTextsAreTheSameOnATerminalAndInNotebooks():
    lines = tables.align(TABLE).splitlines()
    assert (
        TABLE.texts() == TEXTS and lines[0].split("  ")[0] == "Name" and lines[2].split() == " ".join(TEXTS[1]).split()
    )
    # numbers are flush right
    assert lines[2].index("1.23 mm") + len("1.23 mm") == lines[3].index("inf") + len("inf")
    shown = [[text.replace("cm3", "cm³").replace("mm2", "mm²") for text in row] for row in TEXTS]
    assert Cells(notebookTable(TABLE)).rows == shown


def testFilesHaveAllDigitsAndNoFormulas(tmp_path):
    writing.writeTable(TABLE, tmp_path / "table.csv")
    writing.writeSchema(COLUMNS, tmp_path / "schema.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["Name", "Distance", "Share", "Volume", "Count"],
        ["'=A", "1.23456", "0.25", "12345.678", "3"],
        ["<b>", "inf", "-inf", "1.0", "0"],
        ["none", "", "", "", ""],
    ]
    with (tmp_path / "schema.csv").open(newline="") as file:
        assert list(csv.reader(file))[1:3] == [
            ["Name", "Name", "", ""],
            ["Distance", "Distance (long)", "mm", "How far"],
        ]


def testAColumnOfVolumesHasOneUnit():
    """Small ones are in that of the large ones, with a decimal place more; what is small alone stays as it is."""
    volume = Column("Volume", unit="mm3")
    assert volume.texts([52.8, 13074.0, None, math.inf]) == ["0.053 cm3", "13.074 cm3", "", "inf"]
    assert volume.texts([0.2, -29.0, 1.3e6, 0.0]) == ["< 0.001 cm3", "-0.029 cm3", "1300.000 cm3", "0.000 cm3"]
    assert volume.texts([52.8, 29.0]) == ["52.8 mm3", "29.0 mm3"]
    assert volume.texts([520.0, 2900.0]) == ["0.52 cm3", "2.90 cm3"]
    # of different kinds, such as a volume and an area
    mixed = [Amount(52.8, "mm3"), Amount(13074.0, "mm3"), Amount(1.0, "mm2")]
    assert Column("Value").texts(mixed) == [one.text() for one in mixed]

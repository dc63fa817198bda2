"""The tables of a batch together: the names on which they join, and the schema that describes them."""

from __future__ import annotations

import json
import math
import statistics
from functools import partial
from pathlib import Path

import batchruns
import pytest
import shapes
import SimpleITK
from batchruns import table
from sayings import says

# Where the organs are in the reference; tests are moved.
PLACES = {"Parotid_L": 2, "Cord": 9, "Lens": 16}
PROTOCOL = "Structure,Measurement,Relation,Pass,Weight\n*,DSC,>=,0.85,3\nparotid l,HD95,<=,1.5,\nEye,DSC,>=,0.5,\n"


def draw(path: str, names: dict[str, int], empty: tuple[str, ...] = ()) -> None:
    """Write a folder with a mask per organ, called as given, moved by so many voxels. empty: those without a voxel."""
    Path(path).mkdir(parents=True)
    for (organ, z), (name, shift) in zip(PLACES.items(), names.items()):
        mask = shapes.box((4 + shift, 4, z), (13 + shift, 12, z + 4))
        assert organ[0].lower() in name.lower()
        SimpleITK.WriteImage(mask * 0 if name in empty else mask, f"{path}/{name}.nrrd")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Three cases, three methods: one calls a structure otherwise, one misses or leaves empty what the others have."""
    monkeypatch.chdir(tmp_path)
    lines = ["case,reference,test,method"]
    for n in range(3):
        draw(f"r{n}", {"Parotid_L": 0, "Cord": 0, "Lens": 0})
        draw(f"a{n}", {"left parotid" if n else "Parotid_L": 1 + n % 2, "Cord": 1, "Lens": 1})
        draw(f"b{n}", {"Parotid L": 1 + n % 2, "Cord": 1, "Lens": 1}, empty=("Cord",) if n < 2 else ())
        if n < 2:
            Path(f"b{n}/Lens.nrrd").unlink()
        draw(f"c{n}", {"Parotid_L": 3, "Cord": 2, "Lens": 0})
        lines += [f"00{n},r{n},{method}{n},{method}" for method in "abc"]
    Path("cases.csv").write_text("\n".join(lines) + "\n")
    Path("limits.csv").write_text(PROTOCOL)
    return tmp_path


batch = partial(batchruns.batch, cases="cases.csv")
METRICS = ("--metrics", "DSC,HD95,SignedMean,VolumeTest", "--protocol", "limits.csv")


def testTablesJoin(study, capsys):
    """Every number of the summary is found again in the results, and every verdict, by the same names."""
    assert batch(*METRICS) == 0
    results = {(row["Case"], row["Method"], row["Structure"]): row for row in table("results")}
    assert len(results) == len(table("results")) == 3 * 3 * 3
    assert {name[2] for name in results} == {"Parotid_L", "Cord", "Lens"}
    assert {name[0] for name in results} == {f"00{n}" for n in range(3)}
    for row in table("summary"):
        rows = [r for (_, m, s), r in results.items() if (m, s) == (row["Method"], row["Structure"])]
        values = [float(r[row["Measurement"]]) for r in rows if r[row["Measurement"]]]
        assert len(values) == int(row["Cases"]) - int(row["Undefined"])
        finite = [value for value in values if math.isfinite(value)]
        assert int(row["Used"]) == len(finite) and int(row["Infinite"]) == len(values) - len(finite)
        if finite:
            assert float(row["Mean"]) == pytest.approx(statistics.fmean(finite))
    verdicts = table("verdicts")
    joined = [results.get((v["Case"], v["Method"], v["Structure"])) for v in verdicts]
    for verdict, row in zip(verdicts, joined, strict=True):
        if verdict["Structure"] == "Eye":  # the rule's, as there is none
            assert row is None
        elif verdict["Value"]:
            assert float(row[verdict["Measurement"]]) == pytest.approx(float(verdict["Value"]))
    summarized = {(row["Method"], row["Structure"], row["Measurement"]) for row in table("summary")}
    for test in table("tests"):
        for side in ("First", "Second"):
            assert (test[side], test["Structure"], test["Measurement"]) in summarized

    requireSchema("SegmentMetrics")


def requireSchema(convention: str) -> None:
    """Require that the schema describes every column of every table, and that these state another convention."""
    schema = json.loads(Path("out/schema.json").read_text("utf-8"))
    assert schema["schema"] == "segment-metrics-tables/1"
    assert schema["join"] == ["Case", "Method", "Structure", "Measurement"]
    says(schema["about"])
    assert set(schema["tables"]) == {"results.csv", "verdicts.csv", "summary.csv", "tests.csv"}
    for name, described in schema["tables"].items():
        rows = table(Path(name).stem)
        columns = {column["name"]: column for column in described["columns"]}
        assert list(columns) == list(rows[0]), name
        keys = [tuple(row[key] for key in described["key"]) for row in rows]
        assert len(set(keys)) == len(keys), name
        for row in rows:
            assert row.get("Convention", "SegmentMetrics") in ("", convention) and None not in row
            for column, value in row.items():
                assert columns[column]["description"].strip()
                if columns[column]["type"] == "number" and value:
                    float(value)
    assert [set(row) >= {"Convention"} for row in table("summary")[:1]] == [convention != "SegmentMetrics"]
    units = {column["name"]: column["unit"] for column in schema["tables"]["results.csv"]["columns"]}
    assert units["DSC"] == "" and units["VolumeTest"] == "mm3"


def testTablesOfAnotherTool(study, capsys):
    """They state its convention. The worst structure of the index is the empty one, for which it has no distance."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    lines = Path("cases.csv").read_text().splitlines()
    Path("cases.csv").write_text("\n".join(lines[:4]) + "\n")
    assert batch(*METRICS, "--convention", "MedPy") == 0
    requireSchema("MedPy")
    assert [says(line) for line in capsys.readouterr().out.splitlines() if "MedPy" in line]
    assert json.loads(Path("out/summary.json").read_text("utf-8"))["convention"] == "MedPy"
    # seg-metrics gives 0 for the distance of an empty structure, which is not the best
    for tool in ("MedPy", "seg-metrics"):
        assert batch("--metrics", "HD95,DSC", "--convention", tool, "--report", "-o", tool) == 0
        page = Path(tool, "reports/index.html").read_text("utf-8")
        assert any("000 (b)" in row and "Cord: " in row for row in page.split("<tr>")), tool


def testFailedStructuresHaveTheNamesOfTheOthers(study):
    """A structure that cannot be compared in the first case, where it is spelled differently."""
    Path("a0/Parotid_L.nrrd").rename("a0/parotid l.nrrd")
    far = shapes.box((4, 4, 2), (13, 12, 6), origin=(1e8,) * 3)
    SimpleITK.WriteImage(far, "a0/parotid l.nrrd")
    Path("r0/Parotid_L.nrrd").rename("r0/parotid_left.nrrd")
    assert batch("--metrics", "overlap") == 1
    rows = [row for row in table("results") if row["Case"] == "000" and row["Method"] == "a"]
    (failed,) = [row for row in rows if row["Status"] == "failed"]
    assert failed["Structure"] in {row["Structure"] for row in table("summary")}
    assert len({row["Structure"] for row in table("results")}) == 3

"""Protocols: what they may hold, what is wrong with them and where, and for whom their rules are."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, __main__, compare
from SegmentMetricsLib.base.errors import MOST_MISTAKES, InputError, Mistakes
from SegmentMetricsLib.case.protocol.protocol import EXAMPLES, Rule, exampleNames, parseProtocol, readProtocol
from SegmentMetricsLib.metrics.measurement import Measurement

HEADING = "Structure,Measurement,Relation,Pass,Warn,Weight,Convention,Source\n"


def protocolOf(*lines: str, heading: str = HEADING):
    return parseProtocol(heading + "\n".join(lines) + "\n", "limits.csv")


def measurement(value: float, key: str = "HD95", unit: str = "mm", reason: str = "") -> Measurement:
    status = "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"
    return Measurement(key, key, value, unit, status, reason, "boundary", "", "", "lower")


# Reading


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def testSeparatorsAndOrderOfColumns(separator):
    text = separator.join(["pass", "STRUCTURE", " relation ", "Measurement"]) + "\r\n"
    text += separator.join(["0.9", '"Brain"', ">=", "DSC"]) + "\r\n"
    (rule,) = parseProtocol(text, "x").rules
    assert (rule.structure, rule.measurement, rule.relation, rule.limit) == ("Brain", "DSC", ">=", 0.9)


@pytest.mark.parametrize("separator", [";", "\t"])
def testDecimalCommas(separator):
    """As spreadsheets of many countries write numbers."""

    def read(*lines: str):
        return parseProtocol(
            "\n".join(["Structure,Measurement,Relation,Pass,Warn,Weight", *lines])
            .replace(",", separator)
            .replace("^", ","),
            "x",
        ).rules

    first, second = read("Brain,NSD_1.5mm,>=,0^9,^85,2^5", "Lens^ left,HD,<=,3,10,1")
    assert (first.limit, first.warning, first.weight, first.measurement) == (0.9, 0.85, 2.5, "NSD_1.5mm")
    assert (second.structure, second.limit) == ("Lens, left", 3)
    # with a point in another number, a comma may be one of thousands
    for lines in (("A,DSC,>=,0.9,,", "B,VolumeTest,>=,1^000,,"), ("A,DSC,>=,0.8^5,,",), ("A,HD,<=,1^000^5,,",)):
        with pytest.raises(InputError, match=r"column Pass: '.*' is not a number"):
            read(*lines)


@pytest.mark.parametrize(
    ("measurement", "relation", "written", "limit"),
    [
        ("VolumeTest", "<=", "2 cm3", 2000),
        ("VolumeTest", "<=", "0.35 ml", 350),
        ("VolumeDifference", "within", "1.5 cm^3", 1500),
        ("VolumeTest", "<=", "350", 350),
        ("DSC", ">=", "95 %", 0.95),
        ("HD95", "<=", "0.3 CM", 3),
    ],
)
def testLimitsMayHaveUnits(measurement, relation, written, limit):
    (rule,) = protocolOf(f"Brain,{measurement},{relation},{written}").rules
    assert rule.limit == limit
    # and what is judged and shown does not depend on how it was written
    assert rule == replace(protocolOf(f"Brain,{measurement},{relation},{limit}").rules[0], where=rule.where)


@pytest.mark.parametrize(
    "line, message",
    [
        ("Brain,NSD_3,>=,0.9", "line 2, column Measurement: there is no measurement 'NSD_3'; is it NSD_2mm?"),
        ("Brain,D95,<=,60", r"Measurement: D95 is several measurements; is it D95Reference, D95Test, D95Difference\?"),
        ("Brain,Volumen,<=,1", "line 2, column Measurement: there is no measurement 'Volumen'"),
        ("Brain,DICEml,>=,0.5", "DICEml is one number for all structures, which no rule can judge."),
        ("Brain,HD0,<=,1", "line 2, column Measurement: HD0: A percentile must be greater than 0"),
        (",DSC,>=,0.9", "line 2, column Structure: the name of a structure, or . for all, is missing."),
        ("Brain,DSC,within,0.1", "line 2, column Relation: within is for numbers with a sign, and DSC has none."),
        ("Brain,DSC,=,0.9", "line 2, column Relation: it must be one of <=, <, >=, >, within, not '='."),
        ("Brain,DSC,<=,0.9", "line 2, column Relation: for DSC, higher values are better, so <= cannot pass."),
        ("Brain,DSC,>=,95", r"line 2, column Pass: DSC lies between 0 and 1 \(as a fraction\), not 95."),
        ("Brain,DSC,>=,", "line 2, column Pass: '' is not a number."),
        ('Brain,HD95,<=,"2,5"', "line 2, column Pass: '2,5' is not a number; write 2.5."),
        ("Brain,HD95,<=,3 %", r"column Pass: HD95 is in mm, so a limit cannot be in %; use mm, cm\."),
        ("Brain,DSC,>=,0.9 mm", "column Pass: DSC is a fraction, so a limit cannot be in mm; use % or no unit"),
        ("Brain,VolumeTest,<=,2 mm", "column Pass: VolumeTest is in mm3, so a limit cannot be in mm; use mm3, cm3, ml"),
        ("Brain,DSC,>=,95 %,200 %", r"column Warn: DSC lies between 0 and 1 \(as a fraction\), not 2\."),
        ("Brain,HD95,<=,3,,2 mm", "column Weight: '2 mm' is not a number"),
        ("Brain,HD95,<=,inf", "line 2, column Pass: it must be a finite number"),
        ("Brain,HD95,<=,3,2", r"column Warn: the warning limit \(2\) must be looser than the pass limit \(3\)."),
        ("Brain,HD95,<=,3,,0", "line 2, column Weight: it must be a number greater than 0, not 0."),
        (
            "Brain,HD95,<=,3,,,MONAY",
            "line 2, column Convention: there is no convention 'MONAY'; choose from",
        ),
        ("Brain,NSD_2mm,>=,0.9,,,medpy", "line 2, column Convention: MedPy does not report NSD_2mm"),
        ("Brain,HD95,<=,3\nBrain,HD95,<=,4", r"line 3, column Structure: .* already there \(limits.csv, line 2\)"),
        ('Brain,"HD95,<=,3', "line 2: the quotation marks are wrong"),
        ('Brain,"HD95"x,<=,3', "line 2: the quotation marks are wrong"),
        ("Brain,HD95,<=,3,,,,,more", "line 2: there are 9 cells, but the heading has 8 columns."),
        ("", "limits.csv: the protocol has no rules."),
    ],
)
def testWhatIsWrongAndWhere(line, message):
    with pytest.raises(InputError, match=message):
        protocolOf(line)


def testVeryManyMistakesAreCounted():
    with pytest.raises(Mistakes) as told:
        protocolOf(*(["Brain,Dyce,>=,0.9"] * 50))
    told = pickle.loads(pickle.dumps(told.value))
    assert len(str(told).splitlines()) == MOST_MISTAKES + 1 and str(told).endswith("\n... and 30 more.")


@pytest.mark.parametrize(
    "first, second, isSame",
    [
        ("Parotid_L", "Left Parotid", True),
        ("Spinal Cord", "Cord_Spinal", True),
        ("Parotid_*", "parotid_*", True),
        ("Parotid_L", "Parotid_R", False),
        ("Parotid_L", "Parotid_*", False),
        ("Lung-GTV", "Lung_GTV", False),
    ],
)
def testOneRuleForAStructureHoweverItIsSpelled(first, second, isSame):
    lines = [f"{name},DSC,>=,{limit}" for name, limit in ((first, 0.8), (second, 0.9))]
    if isSame:
        with pytest.raises(InputError) as told:
            protocolOf(*lines)
        assert str(told.value) == (
            f"limits.csv, line 3, column Structure: this rule is already there for {first} (limits.csv, line 2)."
        )
    else:
        assert len(protocolOf(*lines).rules) == 2
    # other limits of the same structure are no second ones
    assert len(protocolOf(lines[0], f"{second},HD95,<=,3", f"{second},DSC,>=,0.9,,,MedPy").rules) == 3


@pytest.mark.parametrize(
    "heading, message",
    [
        ("Structure,Measurement,Pass\n", "line 1: the column Relation is missing"),
        ("Structure,Measurement,Relation,Pass,Pass\n", "line 1, column 5: the column Pass is there twice."),
        ("Structure,Mesurement,Relation,Pass\n", "there is no column 'Mesurement'; is it Measurement?"),
        ("Structure,Measurement,Relation,Pass,Colour\n", "there is no column 'Colour'; the columns are Structure"),
    ],
)
def testWrongHeadings(heading, message):
    with pytest.raises(InputError, match=message):
        protocolOf("Brain,DSC,>=,0.9", heading=heading)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"Structure\0", "Stru\u00e4".encode("latin-1")])
def testFilesThatAreNoTable(tmp_path, content):
    path = tmp_path / "limits.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"limits\.csv"):
        readProtocol(path)
    for missing in (tmp_path, tmp_path / "nothing.csv"):
        with pytest.raises(InputError, match=r"this is a folder, not a file|there is no such file"):
            readProtocol(missing)


@pytest.mark.parametrize("name", exampleNames())
def testExamplesNameTheirSources(name):
    protocol = readProtocol(name)
    assert len(protocol.rules) > 5 and any("no clinical limit" in comment for comment in protocol.comments)
    assert all("arXiv:" in rule.source or "doi:" in rule.source for rule in protocol.rules)
    assert (EXAMPLES / f"{name}.csv").is_file()


# Which rules are for whom, and what to measure


@pytest.mark.parametrize(
    "structure, name, fits",
    [
        ("Parotid_L", "Left Parotid", True),
        ("Parotid_L", "Parotid_R", False),
        ("parotid*", "Left Parotid", True),
        ("Parotid_?", "PAROTID-RT", True),
        ("*", "anything", True),
        ("GTV[1]", "GTV[1]", True),
        # brackets are no choice of letters
        ("PTV[70]", "PTV_70", True),
        ("PTV[70]", "PTV7", False),
        ("PTV[70]*", "PTV7_opt", False),
        ("[*", "[GTV]", True),
        ("Lung_GTV", "Lung-GTV", False),
        ("Lung-GTV", "Lung - GTV", True),
        ("Lung-*", "Lung-GTV", True),
    ],
)
def testNamesAndPatterns(structure, name, fits):
    assert Rule(structure, "DSC", ">=", 0.9).fits(name) is fits


def testANameReplacesAPattern():
    protocol = protocolOf("*,HD95,<=,5", "Lens*,HD95,<=,4", "Lens_L,HD95,<=,2", "*,DSC,>=,0.8")
    assert [(r.measurement, r.limit) for r in protocol.rulesFor("Lens-Lt")] == [("HD95", 2), ("DSC", 0.8)]
    assert [(r.measurement, r.limit) for r in protocol.rulesFor("Lens_R")] == [("HD95", 5), ("HD95", 4), ("DSC", 0.8)]


def testSettingsFollow():
    protocol = protocolOf(
        "Lens_L,NSD_1mm,>=,0.9", "Lens_L,HD99,<=,3", "Lens_L,FMS_2,>=,0.5", "Lens_L,HD95,<=,2,,,MeshMetrics-1.4.1"
    )
    assert protocol.families == ("boundary", "agreement")
    assert protocol.settingsFor(Settings(), "Brain") == {"SegmentMetrics": Settings()}
    chosen = protocol.settingsFor(Settings(families=("overlap",)), "Lens-Lt")
    assert list(chosen) == ["SegmentMetrics", "MeshMetrics-1.4.1"]
    own, other = chosen.values()
    assert (own.tolerances, own.percentiles, own.betas) == ((2.0, 1.0), (95.0, 99.0), (1.0, 2.0))
    assert own.families == ("boundary", "overlap", "agreement")
    assert (other.percentiles, other.tolerances, other.families) == ((95.0,), (), ("boundary",))
    # what is asked for stays, and comes first
    own = protocol.settingsFor(Settings(tolerances=(3.0,)), "Lens_L")["SegmentMetrics"]
    assert own.tolerances == (3.0, 1.0)
    # a rule without a convention is judged in that of the comparison, others in theirs
    own = protocol.settingsFor(Settings.preset("MeshMetrics-1.4.1"), "Lens_L")
    assert list(own) == ["MeshMetrics-1.4.1"] and own["MeshMetrics-1.4.1"].percentiles == (95.0, 99.0)
    back = protocolOf("A,HD95,<=,2,,,SegmentMetrics").settingsFor(Settings.preset("MeshMetrics-1.4.1"), "A")
    assert back["SegmentMetrics"].convention == "SegmentMetrics"
    # another tool leaves nothing to choose
    tool = protocolOf("A,HD90,<=,2,,,MedPy").settingsFor(Settings(families="overlap"), "A")["MedPy"]
    assert (tool.convention, tool.percentiles) == ("MedPy", (90.0,))
    assert list(protocolOf("A,HD95,<=,2,,,MeshMetrics-0.1").settingsFor(tool, "A")) == ["MedPy", "MeshMetrics-0.1"]


def testRulesInTheConventionOfATool(withoutPictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pair = shapes.ball(8), shapes.ball(9, (1, 0, 0))
    for name, image in zip(("reference.nrrd", "test.nrrd"), pair, strict=True):
        SimpleITK.WriteImage(image, name)
    (tmp_path / "limits.csv").write_text(f"{HEADING}Label 1,MASD,<=,0.1,,,MedPy,\nLabel 1,MASD,<=,5,,,,\n", "utf-8")
    given = ["--protocol", "limits.csv", "--metrics", "boundary", "--output", "out"]
    assert __main__.main(["compare", "reference.nrrd", "test.nrrd", *given]) == 0
    medpy, own = json.loads((tmp_path / "out" / "metrics.json").read_text())["protocol"]["structures"][0]["rules"]
    assert medpy["convention"] == "MedPy" and medpy["verdict"] == "fail" and "MASD as by MedPy" in medpy["reason"]
    assert medpy["value"] == compare(*pair, Settings.preset("MedPy"))["MASD"].value
    assert own["value"] == compare(*pair, Settings(families="boundary"))["MASD"].value != medpy["value"]

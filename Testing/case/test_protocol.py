"""Protocols: what they may hold, what is wrong with them and where, and for whom their rules are."""

from __future__ import annotations

import json
import math
import pickle

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf

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
    "line, message",
    [
        ("Brain,NSD_3,>=,0.9", "line 2, column Measurement: there is no measurement 'NSD_3'; is it NSD_2mm?"),
        ("Brain,max dose,<=,60", "there is no measurement 'max dose'; is it DmaxReference?"),
        ("Brain,95% HD,<=,3", "there is no measurement '95% HD'; is it HD95?"),
        ("Brain,Foo,<=,3", "there is no measurement 'Foo'[.]$"),
        ("Brain,???,<=,3", r"there is no measurement '\?\?\?'[.]$"),
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
        ("Brain,DSC,>=,0.9 mm", "column Pass: DSC is a fraction, so a limit cannot be in mm; use % or no unit"),
        ("Brain,DSC,>=,95 %,200 %", r"column Warn: DSC lies between 0 and 1 \(as a fraction\), not 2\."),
        ("Brain,HD95,<=,3,,2 mm", "column Weight: '2 mm' is not a number"),
        ("Brain,HD95,<=,3,2", r"column Warn: the warning limit \(2\) must be looser than the pass limit \(3\)."),
        ("Brain,HD95,<=,3,,0", "line 2, column Weight: it must be a number greater than 0, not 0."),
        ("Brain,HD95,<=,3,,,MONAY", "line 2, column Convention: there is no convention 'MONAY'; choose from"),
        ("Brain,NSD_2mm,>=,0.9,,,medpy", "line 2, column Convention: MedPy does not report NSD_2mm"),
        ("Brain,HD95,<=,3\nBrain,HD95,<=,4", r"line 3, column Structure: .* already there \(limits.csv, line 2\)"),
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
        ("Parotid_*", "parotid_*", True),
        ("Parotid_L", "Parotid_R", False),
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
        ("Structure,Mesurement,Relation,Pass\n", "there is no column 'Mesurement'; is it Measurement?"),
    ],
)
def testWrongHeadings(heading, message):
    with pytest.raises(InputError, match=message):
        protocolOf("Brain,DSC,>=,0.9", heading=heading)


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


# Protocols on the command line: what is measured for them, what is written and said, and the exit status


@pytest.fixture
def case(withoutPictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, shift in (("ref", 0), ("test", 2)):
        (tmp_path / side).mkdir()
        for n, name in enumerate(("Lens_L", "Brain")):
            box = shapes.box((6 + shift * n, 6, 6), (15 + shift * n, 14, 13))
            SimpleITK.WriteImage(box, str(tmp_path / side / f"{name}.nrrd"))
    return tmp_path


def testCommandLine(case, capsys):
    (case / "limits.csv").write_text(
        HEADING
        + "Brain,DSC,>=,0.9,0.8\nBrain,NSD_1.5mm,>=,0.99\nLens_L,HD99,<=,1,,,MeshMetrics-1.4.1,=1+1\n=Eye,HD,<=,1\n"
    )
    assert __main__.main(["compare", "ref", "test", "--output", "out", "--protocol", "limits.csv"]) == 0
    out = capsys.readouterr().out
    assert "Protocol limits.csv: fail" in out
    document = json.loads((case / "out" / "metrics.json").read_text())
    judged = document["protocol"]
    assert (judged["verdict"], judged["name"], len(judged["version"])) == ("fail", "limits.csv", 16)
    assert {s["structure"]: s["verdict"] for s in judged["structures"]} == {
        "Brain": "fail", "Lens_L": "pass", "=Eye": "not evaluable"
    }  # fmt: skip
    pairs = {pair["reference"]["name"]: pair["measurements"] for pair in document["pairs"]}
    assert "NSD_1.5mm" in pairs["Brain"] and "NSD_2mm" in pairs["Lens_L"] and "NSD_2mm" in pairs["Brain"]
    assert [pair["settings"]["tolerances"] for pair in document["pairs"]] == [[2.0, 1.5], [2.0]]
    rows = rowsOf(case / "out" / "verdicts.csv")
    assert [(row["Structure"], row["Verdict"]) for row in rows] == [
        ("Brain", "warn"), ("Brain", "fail"), ("Lens_L", "pass"), ("'=Eye", "not evaluable")
    ]  # fmt: skip
    assert rows[0]["Value"] == "0.8" and rows[2]["Source"] == "'=1+1" and rows[2]["Convention"] == "MeshMetrics-1.4.1"
    # another run without a protocol leaves no verdicts that seem to belong to it
    assert __main__.main(["compare", "ref", "test", "--output", "out"]) == 0
    assert not (case / "out" / "verdicts.csv").exists()


@pytest.mark.parametrize(
    "rule, failOn, status",
    [
        ("Brain,DSC,>=,0.9", None, 0),
        ("Brain,DSC,>=,0.9", "fail", 3),
        ("Brain,DSC,>=,0.9,0.7", "warn", 3),
        ("Chiasm,DSC,>=,0.9", "fail", 0),
        ("Chiasm,DSC,>=,0.9", "not-evaluable", 3),
    ],
)
def testVerdictsDecideTheStatusOnRequest(case, capsys, rule, failOn, status):
    (case / "limits.csv").write_text(f"{HEADING}{rule}\n")
    given = ["--protocol", "limits.csv", "--metrics", "overlap", *(("--fail-on", failOn) if failOn else ())]
    assert __main__.main(["compare", "ref", "test", "--output", "out", *given]) == status
    assert ("--fail-on" in capsys.readouterr().err) == (status == 3)
    # the results are there all the same
    assert (case / "out" / "verdicts.csv").is_file()


def testStructuresWithoutLimitsAreTold(case, capsys):
    (case / "limits.csv").write_text(HEADING + "brain,DSC,>=,0.1\n")
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 14, 13)), str(case / "ref" / "Orbit-Lt.nrrd"))
    given = ["--protocol", "limits.csv", "--metrics", "overlap", "--output", "out"]
    assert __main__.main(["compare", "ref", "test", *given]) == 0
    assert "is at least 0.1.\n\nNo limits for: Lens_L, Orbit-Lt\n" in capsys.readouterr().out
    judged = json.loads((case / "out" / "metrics.json").read_text())["protocol"]
    assert judged["withoutLimits"] == ["Lens_L", "Orbit-Lt"]
    (case / "limits.csv").write_text(HEADING + "*,DSC,>=,0.1\n")
    assert __main__.main(["compare", "ref", "test", *given]) == 0
    assert "No limits" not in capsys.readouterr().out


def testAWrongProtocolComesBeforeAnyWork(case, capsys):
    (case / "limits.csv").write_text(HEADING + "Brain,Dyce,>=,0.9\nBrain,DSC,>=,95\n")
    assert __main__.main(["compare", "ref", "test", "--output", "out", "--protocol", "limits.csv"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in told] == ["segment-metrics"] * 2 and not (case / "out").exists()
    assert "limits.csv, line 2, column Measurement" in told[0] and "limits.csv, line 3, column Pass" in told[1]


# Protocols in table nodes of Slicer


def testTableNodes(scene, savedAndLoaded):
    from SegmentMetricsLib import mrml

    protocol = readProtocol("head-and-neck-observers")
    node = mrml.tableFromProtocol(protocol)
    again = mrml.protocolFromTable(node)
    assert again.version == protocol.version and again.name == node.GetName()
    assert mrml.tableFromProtocol(again, tableNode=node).GetTable().GetNumberOfRows() == len(protocol.rules)
    node.GetTable().GetColumnByName("Relation").SetValue(1, "about")
    with pytest.raises(ValueError, match="line 3, column Relation"):
        mrml.protocolFromTable(node)
    node.RemoveColumn(0)
    with pytest.raises(ValueError, match="the column Structure is missing"):
        mrml.protocolFromTable(node)
    with pytest.raises(ValueError, match="There is no table"):
        mrml.protocolFromTable(None)


def testTablesKeepNamesThatLookLikeComments(scene):
    from SegmentMetricsLib import mrml

    text = 'Structure,Measurement,Relation,Pass\n"#1 Lesion",DSC,>=,0.9\n"a ""b"", c",DSC,>=,0.8\n'
    protocol = parseProtocol(text, "Lesions")
    again = mrml.protocolFromTable(mrml.tableFromProtocol(protocol, scene=scene))
    assert [rule.structure for rule in again.rules] == ["#1 Lesion", 'a "b", c']
    assert again.version == protocol.version


def testRulesOfOtherSurfacesThanTheDisplayedOne(scene):
    """The preset of MeshMetrics goes by the boundary of the voxels, whatever Slicer shows."""
    import scenework

    from SegmentMetricsLib import mrml

    balls = shapes.ball(8.3), shapes.ball(7.1, (1.3, 0, 0))
    nodes = [scenework.segmentation(name, Ball=ball) for name, ball in zip("RT", balls)]
    rule = "Ball,HD95,<=,3,MeshMetrics-1.4.1\n"
    protocol = parseProtocol("Structure,Measurement,Relation,Pass,Convention\n" + rule, "Limits")
    wanted = compare(*balls, Settings.preset("MeshMetrics-1.4.1"))["HD95"].value
    shown = Settings(surface="displayed", families=("boundary",))
    (found,) = judged = mrml.compareSegmentations(*nodes, shown, protocol=protocol)
    assert judged.judgment.verdicts[0].measurement.value == pytest.approx(wanted, abs=1e-6)
    assert found["HD95"].value != pytest.approx(wanted, abs=1e-2) and found.reference.surfaceKind == "displayed"

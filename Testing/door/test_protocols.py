"""Protocols: what they may hold, what is wrong with them and where, for whom their rules are, and verdicts."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import metrics
from commandruns import run as run
from sayings import refused, says
from segmentnodes import segmentationOf
from shapes import structureOf

from SegmentMetricsLib import Settings, compare, compareCase

HEADING = "Structure,Measurement,Relation,Pass,Warn,Weight,Convention,Source"
DSC = Settings(metrics="DSC")
BOX, MOVED = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))


@pytest.fixture
def limits(tmp_path):
    """A function that writes a protocol and returns its path."""

    def write(*lines: str, heading: str = HEADING) -> Path:
        path = tmp_path / "limits.csv"
        path.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")
        return path

    return write


def judge(protocol, called=("Brain",), images=(BOX, MOVED), settings=DSC, **options):
    """Return the judgment of structures that are all alike. called: the name of each, or its names on both sides."""
    each = [(name, name) if isinstance(name, str) else name for name in called]
    sets = ([structureOf(images[side], own[side]) for own in each if own[side]] for side in (0, 1))
    return compareCase(*sets, settings, protocol=protocol, **options).judgment


def rulesOf(protocol):
    return judge(protocol).protocol.rules


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def testSeparatorsAndDecimalCommas(limits, separator):
    """Columns in any order; and numbers as spreadsheets of many countries write them."""
    heading = separator.join(["pass", "STRUCTURE", " relation ", "Measurement"])
    (rule,) = rulesOf(limits(separator.join(["0.9", '"Brain"', ">=", "DSC"]), heading=heading))
    assert (rule.structure, rule.measurement, rule.relation, rule.limit) == ("Brain", "DSC", ">=", 0.9)
    if separator == ",":
        return

    def read(*lines: str):
        written = (line.replace(",", separator).replace("^", ",") for line in (HEADING, *lines))
        return rulesOf(limits(*written, heading="#"))

    first, second = read("Brain,NSD_1.5mm,>=,0^9,^85,2^5", "Lens^ left,HD,<=,3,10,1")
    assert (first.limit, first.warning, first.weight, first.measurement) == (0.9, 0.85, 2.5, "NSD_1.5mm")
    assert (second.structure, second.limit) == ("Lens, left", 3)
    # with a point in another number, a comma may be one of thousands
    for lines in (("A,DSC,>=,0.9,,", "B,VolumeTest,>=,1^000,,"), ("A,DSC,>=,0.8^5,,",), ("A,HD,<=,1^000^5,,",)):
        with refused("Pass: '"):
            read(*lines)


def testWhatIsWrongAndWhere(limits):
    for line, *names in (
        ("Brain,NSD_3,>=,0.9", "Measurement: ", "'NSD_3'", " NSD_2mm"),
        ("Brain,max dose,<=,60", "Measurement: ", "'max dose'", " DmaxReference"),
        ("Brain,95% HD,<=,3", "Measurement: ", "'95% HD'", " HD95"),
        ("Brain,Foo,<=,3", "Measurement: ", "'Foo'."),
        ("Brain,???,<=,3", "Measurement: ", "'???'."),
        ("Brain,D95,<=,60", "Measurement: ", " D95Reference, D95Test, D95Difference"),
        ("Brain,DICEml,>=,0.5", "Measurement: ", "DICEml"),
        ("Brain,HD0,<=,1", "Measurement: HD0: "),
        (",DSC,>=,0.9", "Structure: "),
        ("Brain,DSC,within,0.1", "Relation: within"),
        ("Brain,DSC,=,0.9", "Relation: ", "'='"),
        ("Brain,DSC,<=,0.9", "Relation: ", "DSC"),
        ("Brain,DSC,>=,95", "Pass: DSC ", " 95."),
        ("Brain,DSC,>=,", "Pass: ''"),
        ('Brain,HD95,<=,"2,5"', "Pass: '2,5'", " 2.5."),
        ("Brain,DSC,>=,0.9 mm", "Pass: DSC ", " mm"),
        ("Brain,DSC,>=,95 %,200 %", "Warn: DSC ", " 2."),
        ("Brain,HD95,<=,3,,2 mm", "Weight: '2 mm'"),
        ("Brain,HD95,<=,3,2", "Warn: ", "(2)", "(3)"),
        ("Brain,HD95,<=,3,,0", "Weight: ", " 0."),
        ("Brain,HD95,<=,3,,,MONAY", "Convention: ", "'MONAY'"),
        ("Brain,NSD_2mm,>=,0.9,,,medpy", "Convention: MedPy ", "NSD_2mm"),
        ("Brain,HD95,<=,3\nBrain,HD95,<=,4", " 3, ", "Structure: ", " 2)"),
        ("Parotid_L,DSC,>=,.8\nLeft Parotid,DSC,>=,.9", " 3, ", "Structure: ", "Parotid_L"),
        ("Parotid_*,DSC,>=,.8\nparotid_*,DSC,>=,.9", " 3, ", "Structure: ", "Parotid_*"),
        ("",),
        ("\n".join(["Brain,Dyce,>=,0.9"] * 50), *(f" {n}, " for n in range(2, 22)), " 30 "),
    ):
        with refused("limits.csv", *names, "" if "\n" in line or not line else " 2, "):
            judge(limits(line))


def testWhatIsWrongBesidesTheLines(limits):
    for heading, *names in (
        ("Structure,Measurement,Pass", " 1: ", "Relation"),
        ("Structure,Mesurement,Relation,Pass", " 1, ", "'Mesurement'", " Measurement"),
    ):
        with refused("limits.csv", *names):
            judge(limits("Brain,DSC,>=,0.9", heading=heading))
    # limits of another side, measurement or convention are no second ones
    lines = ("Parotid_L,DSC,>=,.8", "Parotid_R,DSC,>=,.9", "Parotid_L,HD95,<=,3", "Parotid L,DSC,>=,.9,,,MedPy")
    assert len(rulesOf(limits(*lines))) == 4
    for given, *names in ((7, "Protocol", " int"), ("no-such", "no-such", "head-and-neck-observers")):
        with refused(*names):
            judge(given)


@pytest.mark.parametrize("name", ["head-and-neck-observers", "head-and-neck-tolerances"])
def testExamplesNameTheirSources(name):
    protocol = judge(name).protocol
    assert len(protocol.rules) > 5 and says("\n".join(protocol.comments))
    assert all("arXiv:" in rule.source or "doi:" in rule.source for rule in protocol.rules)


# Which rules are for whom, and what is measured


@pytest.mark.parametrize(
    ("structure", "name", "fits"),
    [
        ("Parotid_L", "Left Parotid", True),
        ("Parotid_L", "Parotid_R", False),
        ("parotid*", "Left Parotid", True),
        ("Parotid_?", "PAROTID-RT", True),
        ("*", "anything", True),
        ("Lung_GTV", "Lung-GTV", False),
        ("Lung-GTV", "Lung - GTV", True),
        ("Lung-*", "Lung-GTV", True),
        # brackets are no choice of letters
        ("GTV[1]", "GTV[1]", True),
        ("PTV[70]", "PTV_70", True),
        ("PTV[70]", "PTV7", False),
        ("PTV[70]*", "PTV7_opt", False),
        ("[*", "[GTV]", True),
    ],
)
def testNamesAndPatterns(limits, structure, name, fits):
    judged = judge(limits(f"{structure},DSC,>=,0.1"), [name])
    assert judged.withoutLimits == (() if fits else (name,))
    (found,) = judged.verdicts
    assert (found.structure, found.verdict) == ((name, "pass") if fits else (structure, "not evaluable"))


def testANameReplacesAPattern(limits):
    protocol = limits("*,HD95,<=,5", "Lens*,HD95,<=,4", "Lens_L,HD95,<=,2", "*,DSC,>=,0.8")
    found = judge(protocol, ["Lens-Lt", "Lens_R"]).byStructure()
    limited = {name: [(v.rule.measurement, v.rule.limit) for v in found[name]] for name in found}
    assert limited == {"Lens-Lt": [("HD95", 2), ("DSC", 0.8)], "Lens_R": [("HD95", 5), ("HD95", 4), ("DSC", 0.8)]}


def testSettingsFollow(limits):
    """What is asked for stays, and comes first; a rule without a convention is judged in that of the comparison."""
    mesh = "MeshMetrics-1.4.1"

    def measured(settings, *lines: str):
        sets = ([structureOf(image, "Lens-Lt")] for image in (BOX, MOVED))
        (found,) = compareCase(*sets, settings, protocol=limits(*lines))
        return found

    lines = ("Lens_L,NSD_1mm,>=,0.9", "Lens_L,HD99,<=,3", "Lens_L,FMS_2,>=,0.5", f"Lens_L,HD95,<=,2,,,{mesh}")
    found = measured(DSC, *lines)
    assert list(found) == ["HD99", "NSD_1mm", "DSC", "FMS_2"]
    assert (found.settings.tolerances, found.settings.percentiles) == ((2.0, 1.0), (95.0, 99.0))
    assert {tool: list(numbers) for tool, numbers in found.others.items()} == {mesh: ["HD95"]}
    assert measured(Settings(tolerances=3), *lines).settings.tolerances == (3.0, 1.0)
    assert measured(DSC, "Eye,HD,<=,3").settings == DSC
    own = measured(Settings.preset(mesh), *lines)
    assert own.others == {} and own.settings.convention == mesh and own.settings.percentiles == (95.0, 99.0)
    back = measured(Settings.preset(mesh), "*,HD95,<=,2,,,SegmentMetrics")
    assert list(back.others) == ["SegmentMetrics"] and list(back.others["SegmentMetrics"]) == ["HD95"]
    # another tool leaves nothing to choose, and has its own numbers
    tools = measured(Settings(families="overlap", surface="unsmoothed"), "*,HD90,<=,2,,,MedPy", f"*,HD95,<=,2,,,{mesh}")
    assert {tool: list(numbers) for tool, numbers in tools.others.items()} == {"MedPy": ["HD90"], mesh: ["HD95"]}
    alone = compare(BOX, MOVED, Settings.preset("MedPy", percentiles=90))
    assert tools.others["MedPy"]["HD90"].value == alone["HD90"].value
    judged = judge(limits("*,MASD,<=,0.1,,,MedPy", "*,MASD,<=,5"), settings=Settings(families="boundary"))
    assert [v.verdict for v in judged.verdicts] == ["fail", "pass"]
    says(judged.verdicts[0].reason, "MASD", "MedPy")


# Verdicts; those for values around the limits of every relation are in the phrasebook


VERDICTS = {  # but for rounding HD is 2
    "pass": ["HD,<=,2", "HD,<=,1.9999999999999996", "HD,<,2.00001", "DSC,>=,80 %", "VolumeDifference,within,0"],
    "warn": ["HD,<,2,3", "HD,<=,1,2", "DSC,>=,0.9,0.7"],
    "fail": ["HD,<,1,2", "HD,<,2.0000000000000004", "HD,<=,1.99999", "DSC,>=,0.9,0.85", "DSC,>,0.8"],
}


@pytest.mark.parametrize("verdict", VERDICTS)
def testVerdicts(limits, verdict):
    for rule in VERDICTS[verdict]:
        (found,) = judge(limits(f"*,{rule}")).verdicts
        assert found.verdict == verdict and found.reason.endswith("."), rule


def testValuesAreSeenOnTheirSideOfTheLimit(limits):
    """With as many digits as that takes, and in the unit of the limits."""
    balls = shapes.ball(8.3), shapes.ball(7.1, (1.3, 0, 0))
    value = compare(*balls)["MASD"].value
    for digits in (2, 3, 4, 5):
        limit = round(value, digits)
        (found,) = judge(limits(f"*,MASD,<=,{limit}"), images=balls).verdicts
        shown = float(found.valueText.split()[0])
        assert found.valueText in found.reason and (shown <= limit) == (value <= limit) == (found.verdict == "pass")
    volumes = judge(limits("*,VolumeDifference,within,0.5 cm3,0.7 cm3"), images=balls).verdicts[0]
    assert volumes.valueText.startswith("-0.") and volumes.valueText.endswith(" cm3")
    assert volumes.limitsText == "±0.5 cm3 (warn ±0.7 cm3)"
    # the files keep the unit of the protocol
    assert (volumes.toDictionary()["pass"], volumes.toDictionary()["unit"]) == (500, "mm3")
    (small,) = judge(limits("*,VolumeDifference,within,5 mm3"), images=balls).verdicts
    assert small.limitsText == "±5 mm3" and small.valueText.endswith(" mm3")


def testACase(limits):
    lines = ("Lens_L,DSC,>=,.5,,3", "Lens_R,DSC,>=,.5", "Chiasm,DSC,>=,.5", "Brain*,DSC,>=,.9", "*,IoU,>=,.9")
    names = [("Lens-Lt", "Lens_L"), ("Right Lens", ""), "Twice", "Twice"]
    judged = judge(limits(*lines), names)
    assert [(v.structure, v.rule.measurement, v.verdict) for v in judged.verdicts] == [
        ("Lens-Lt / Lens_L", "DSC", "pass"),
        ("Lens-Lt / Lens_L", "IoU", "fail"),
        # under every rule that fits it
        ("Twice", "IoU", "not evaluable"),
        ("Right Lens", "DSC", "not evaluable"),
        ("Right Lens", "IoU", "not evaluable"),
        ("Chiasm", "DSC", "not evaluable"),
        ("Brain*", "DSC", "not evaluable"),
    ]
    for one, name in zip(judged.verdicts, ("DSC 0.8", "IoU 0.667 ", *(v.structure for v in judged.verdicts[2:]))):
        says(one.reason, name)
    content = judged.toDictionary()
    assert judged.verdict == content["verdict"] == "fail" and content["score"] == 3 / 4
    assert [one["score"] for one in content["structures"]] == [3 / 4, *[None] * 4]
    chosen = judge(limits(*lines[:-1]), names, names=["Lens_L"])
    assert [(v.structure, v.verdict) for v in chosen.verdicts] == [("Lens-Lt / Lens_L", "pass")]
    none = judge(limits("Eye,DSC,>=,.5"), ["A"])
    assert none.verdict == "not evaluable" and none.withoutLimits == ("A",)
    # a warning is no pass
    assert judge(limits("*,DSC,>=,.5", "*,IoU,>=,.9,.6", "*,HD,<=,1")).toDictionary()["score"] == 1 / 3


@pytest.mark.parametrize("convention", ["SegmentMetrics", "MedPy", "EvaluateSegmentation", "Plastimatch"])
@pytest.mark.parametrize("areEmpty", [(True, False), (False, True), (True, True)])
def testNothingPassesOnAnEmptyStructure(limits, areEmpty, convention):
    """Whatever is measured, and however loose a limit is; as where the structure is not there."""
    images = [BOX * (0 if isEmpty else 1) for isEmpty in areEmpty]
    settings = Settings.preset(convention, families=("boundary", "signed", "overlap", "effort"))
    found = compare(*images, settings)
    for hasWarning in (False, True):
        lines = []
        for key, given in found.items():
            most = 1 if given.unit == "" and not given.isCount else 1000
            least, strict = -1 if given.value < 0 else 0, f"{most / 2}," if hasWarning else ""
            lines += [f"*,{key},<=,{strict}{most}"] * (given.better != "higher")
            lines += [f"*,{key},>=,{strict}{least}"] * (given.better != "lower")
        judged = judge(limits(*lines), images=images, settings=settings)
        assert len(judged.verdicts) > 30 and {v.verdict for v in judged.verdicts} <= {"fail", "not evaluable"}
        assert all(math.isnan(v.measurement.value) or v.measurement.empty for v in judged.verdicts)


def testWhyAnEmptyStructureDoesNotPass(limits):
    rules = limits("*,OverFraction_2mm,<=,0.05", "*,NSD_2mm,>=,0.9", "*,HD95,<=,3")
    found = judge(rules, images=(BOX, BOX * 0)).verdicts
    assert [(v.verdict, v.measurement.value) for v in found] == [("not evaluable", 0), ("fail", 0), ("fail", math.inf)]
    for one, value in zip(found, ("(2 mm) 0.000 ", "NSD (2 mm) 0.000 ", "HD95 "), strict=True):
        says(one.reason, value)


# Protocols on the command line: what is measured for them, what is written and said, and the exit status


@pytest.fixture
def case(run):
    for side, shift in (("ref", 0), ("test", 2)):
        Path(side).mkdir()
        for n, name in enumerate(("Lens_L", "Brain")):
            box = shapes.box((6 + shift * n, 6, 6), (15 + shift * n, 14, 13))
            SimpleITK.WriteImage(box, f"{side}/{name}.nrrd")
    return run


@pytest.mark.parametrize("file", ["Brain.nrrd", "set.dcm"])
def testAStructureThatCannotBeReadIsNotMissing(case, limits, file):
    """Nor is one that a file may hold whose structures are not known."""
    Path("test/Brain.nrrd").rename(f"test/{file}").write_bytes(b"DICM" * 99)
    for names in (None, ["Brain", "Lens_L"]):
        judged = compareCase("ref", "test", DSC, protocol=limits("Brain,DSC,>=,.5"), names=names).judgment
        (found,) = judged.verdicts
        assert (found.structure, found.verdict) == ("Brain", "not evaluable") and file.lower() in found.reason.lower()


def testCommandLine(case, limits):
    brain, lens = ("Brain,DSC,>=,0.9,0.8", "Brain,NSD_1.5mm,>=,0.99"), "Lens_L,HD99,<=,1,,,MeshMetrics-1.4.1,=1+1"
    limits(*brain, lens, "=Eye,HD,<=,1")
    status, out, _ = case("compare", "ref", "test", "--output", "out", "--protocol", "limits.csv")
    assert status == 0 and "Protocol limits.csv: fail" in out
    document, judged = metrics("out"), metrics("out")["protocol"]
    assert (judged["verdict"], judged["name"], len(judged["version"])) == ("fail", "limits.csv", 16)
    found = {s["structure"]: s["verdict"] for s in judged["structures"]}
    assert found == {"Brain": "fail", "Lens_L": "pass", "=Eye": "not evaluable"}
    pairs = {pair["reference"]["name"]: pair["measurements"] for pair in document["pairs"]}
    assert "NSD_1.5mm" in pairs["Brain"] and "NSD_2mm" in pairs["Lens_L"] and "NSD_2mm" in pairs["Brain"]
    assert [pair["settings"]["tolerances"] for pair in document["pairs"]] == [[2.0, 1.5], [2.0]]
    rows = rowsOf("out/verdicts.csv")
    found = [(row["Structure"], row["Verdict"]) for row in rows]
    assert found == [("Brain", "warn"), ("Brain", "fail"), ("Lens_L", "pass"), ("'=Eye", "not evaluable")]
    assert rows[0]["Value"] == "0.8" and rows[2]["Source"] == "'=1+1" and rows[2]["Convention"] == "MeshMetrics-1.4.1"
    # another run without a protocol leaves no verdicts that seem to belong to it
    assert case("compare", "ref", "test", "--metrics", "DSC", "--output", "out")[0] == 0
    assert not Path("out/verdicts.csv").exists()


@pytest.mark.parametrize(
    ("rule", "failOn", "status"),
    [
        ("Brain,DSC,>=,0.9", None, 0),
        ("Brain,DSC,>=,0.9", "fail", 3),
        ("Brain,DSC,>=,0.9,0.7", "warn", 3),
        ("Chiasm,DSC,>=,0.9", "fail", 0),
        ("Chiasm,DSC,>=,0.9", "not-evaluable", 3),
    ],
)
def testVerdictsDecideTheStatusOnRequest(case, limits, rule, failOn, status):
    limits(rule)
    given = ["--protocol", "limits.csv", "--metrics", "overlap", *(("--fail-on", failOn) if failOn else ())]
    found, _, err = case("compare", "ref", "test", "--output", "out", *given)
    assert found == status and ("--fail-on" in err) == (status == 3)
    # the results are there all the same
    assert Path("out/verdicts.csv").is_file()


def testWhatIsToldOfAProtocol(case, limits):
    """Structures without limits; and what is wrong, before any work."""
    SimpleITK.WriteImage(BOX, "ref/Orbit-Lt.nrrd")
    given = ("compare", "ref", "test", "--protocol", "limits.csv", "--metrics", "overlap", "--output", "out")
    limits("brain,DSC,>=,0.1")
    (without,) = (line for line in case(*given)[1].splitlines() if line.endswith(": Lens_L, Orbit-Lt"))
    assert metrics("out")["protocol"]["withoutLimits"] == ["Lens_L", "Orbit-Lt"]
    limits("*,DSC,>=,0.1")
    status, out, _ = case(*given)
    assert status == 0 and says(without).partition(":")[0] not in out
    limits("Brain,Dyce,>=,0.9", "Brain,DSC,>=,95")
    status, _, err = case(*given[:-1], "none")
    told = err.splitlines()
    assert status == 2 and [line.partition(":")[0] for line in told] == ["segment-metrics"] * 2
    says(told[0], "limits.csv, ", " 2, ", "Measurement: ")
    says(told[1], "limits.csv, ", " 3, ", "Pass: ")
    assert not Path("none").exists()


# Protocols in table nodes of Slicer


def testTableNodes(scene, limits):
    from SegmentMetricsLib import mrml

    protocol = judge("head-and-neck-observers").protocol
    node = mrml.tableFromProtocol(protocol)
    again = mrml.protocolFromTable(node)
    assert again.version == protocol.version and again.name == node.GetName()
    assert mrml.tableFromProtocol(again, tableNode=node).GetTable().GetNumberOfRows() == len(protocol.rules)
    node.GetTable().GetColumnByName("Relation").SetValue(1, "about")
    with refused(" 3, ", "Relation: ", "'about'"):
        mrml.protocolFromTable(node)
    node.RemoveColumn(0)
    for given, name in ((node, "Structure"), (None, "")):
        with refused(name):
            mrml.protocolFromTable(given)
    # names that look like comments, or are in quotation marks
    odd = judge(limits('"#1 Lesion",DSC,>=,0.9', '"a ""b"", c",DSC,>=,0.8')).protocol
    again = mrml.protocolFromTable(mrml.tableFromProtocol(odd, scene=scene))
    assert [rule.structure for rule in again.rules] == ["#1 Lesion", 'a "b", c'] and again.version == odd.version


def testRulesOfOtherSurfacesThanTheDisplayedOne(scene, limits):
    """The preset of MeshMetrics goes by the boundary of the voxels, whatever Slicer shows."""
    from SegmentMetricsLib import mrml

    balls = shapes.ball(8.3), shapes.ball(7.1, (1.3, 0, 0))
    nodes = [segmentationOf(scene, name, Ball=ball) for name, ball in zip("RT", balls)]
    wanted = compare(*balls, Settings.preset("MeshMetrics-1.4.1"))["HD95"].value
    shown = Settings(surface="displayed", families=("boundary",))
    protocol = limits("Ball,HD95,<=,3,,,MeshMetrics-1.4.1")
    (found,) = judged = mrml.compareSegmentations(*nodes, shown, protocol=protocol)
    assert judged.judgment.verdicts[0].measurement.value == pytest.approx(wanted, abs=1e-6)
    assert found["HD95"].value != pytest.approx(wanted, abs=1e-2) and found.reference.surfaceKind == "displayed"

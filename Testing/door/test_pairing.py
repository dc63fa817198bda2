"""Which structures belong together: by name, by code, as a proposal by where they lie; never left with right."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import segmentnodes
import shapes
import SimpleITK
from commandruns import metrics
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, Structure, compareCase, readStructures

DSC = Settings(metrics="DSC")
LEFT_PAROTID = (
    "Segmentation category and type - 3D Slicer General Anatomy list~SCT^123037004^Anatomical Structure~"
    "SCT^45289007^Parotid~SCT^7771000^Left~Anatomic codes - DICOM master list~^^~^^"
)
RIGHT_PAROTID = LEFT_PAROTID.replace("SCT^7771000^Left", "SCT^24028007^Right")
TISSUE = "Segmentation category and type~SCT^85756007^Tissue~SCT^85756007^Tissue~^^~Anatomic codes~^^~^^"
CUBE = ((2, 2, 2), (5, 5, 5))


def structure(name: str, low=CUBE[0], high=CUBE[1], terminology: str = "") -> Structure:
    return shapes.structureOf(shapes.box(low, high), name, terminology=terminology)


def apart(*names: str) -> list[Structure]:
    """Structures that do not touch each other."""
    return [structure(name, (0, 0, 2 * n), (3, 3, 2 * n)) for n, name in enumerate(names)]


def pair(reference, test, **options):
    return compareCase(reference, test, DSC, **options).pairing


def found(pairing) -> list[tuple[str, str, str]]:
    return [(m.reference.name, m.test.name, m.how) for m in pairing.pairs]


def howPaired(first: str, second: str, codes=("", "")) -> str:
    """Return how two structures are paired that are not alone, "" if they are not."""
    other, (one, another) = structure("Heart", (9, 9, 9), (9, 9, 9)), codes
    sets = [structure(first, terminology=one), other], [structure(second, terminology=another), other]
    ways = [how for name, _, how in found(pair(*sets)) if name == first]
    return ways[0] if ways else ""


def alarmsOf(reference, test, **options) -> list:
    case = compareCase(reference, test, DSC, **options)
    return [one for comparison in case for one in comparison.findings if one.isAlarm]


def testNamesThatAreOne():
    for same in (
        ["Parotid_L", "Left Parotid", "parotid-lt", "PAROTID LT", "ParotidL", "Parotid.left", "LParotid"],
        ["Optic-Nerve-Rt", "OpticNerve_R", "right optic nerve", "R_Optic_Nerve"],
        ["SpinalCord", "Spinal Cord", "spinal-cord", "SPINALCORD"],
        ["PTV_70", "PTV70", "ptv 70"],
        ["Left Parotid", "<Left> Parotid", "(Left) Parotid", "[left] parotid"],
        ["Lungs-GTV", "lungs - gtv", "LUNGS\u2013GTV", "Lungs\u2212GTV"],
        # what says which target it is
        ["Lung_L-PTV70", "left lung-ptv70", "LungLt - PTV70"],
        ["HR-CTV", "HR_CTV", "HRCTV", "hr ctv"],
        ["L-GTV", "GTV_L", "Lt GTV"],
    ):
        assert [howPaired(*both) for both in pairwise(same)] == ["spelling"] * (len(same) - 1)


def testNamesThatAreTwo():
    for first, second, how in (
        ("Parotid_L", "Parotid_R", ""),
        ("Parotid_L", "Parotid", ""),
        ("Lung_L", "Lungs", ""),
        ("Lens_L", "Ens_L", ""),
        ("Label 1 2", "Label 12", ""),
        ("Lung+5mm", "Lung-5mm", ""),
        ("CTV!", "CTV", ""),
        ("VB_L1", "VB1_L", ""),
        ("L 1", "1 left", ""),  # a lumbar vertebra is not on the left
        # AAPM Task Group 263: the lung without the target, and words of the standard names
        ("Lung-GTV", "Lung_GTV", ""),
        ("PTV-GTV", "GTV-PTV", ""),
        ("Glnd_Submand_L", "Submandibular-Lt", "words"),
        ("Nrv_Optic_L", "Left Optic Nerve", "words"),
        ("Parotid Gland R", "Parotid_R", "words"),
    ):
        assert howPaired(first, second) == how


@pytest.mark.parametrize("name", ["", "Left", "_", "L R", "Lungs_L_R", "左耳"])
def testNamesWithoutAWordOrASide(name):
    """No side contradicts them; a name with one is contradicted by the other."""
    assert not [one for other in ("Lens_R", "Lens_L") for one in alarmsOf([structure(name)], [structure(other)])]
    (alarm,) = alarmsOf([structure("Lens L")], [structure("Lens_R")])
    assert (alarm.kind.name, *alarm.values.values()) == ("OTHER_SIDES", "Lens L", "Lens_R")


@pytest.mark.parametrize("entry", ["", "nonsense", "~~~~~~", "a~b~c~d", TISSUE, "a~SCT^1^x~SCT^^Parotid~^^~b~^^~^^"])
def testCodesThatSayNothing(entry):
    assert howPaired("A", "B", (entry, entry)) == ""
    assert howPaired("A", "B", (LEFT_PAROTID, LEFT_PAROTID)) == "code"
    assert howPaired("A", "B", (LEFT_PAROTID, RIGHT_PAROTID)) == ""


@pytest.mark.parametrize("representation", ["Binary labelmap", "Fractional labelmap"])
def testCodesOfASegmentationFile(tmp_path, representation):
    array = SimpleITK.GetArrayFromImage(shapes.box(*CUBE, value=216 if representation.startswith("Fractional") else 1))
    tags = f"Segmentation.Status:completed|TerminologyEntry:{LEFT_PAROTID}|"
    image = shapes.segmentation([array], [{"ID": "a", "Name": "Glandula", "LabelValue": 1, "Layer": 0, "Tags": tags}])
    image.SetMetaData("Segmentation_MasterRepresentation", representation)
    SimpleITK.WriteImage(image, str(tmp_path / "one.seg.nrrd"))
    (one,) = readStructures(tmp_path / "one.seg.nrrd")
    assert one.terminology == LEFT_PAROTID
    others = [structure("Parotide G", terminology=LEFT_PAROTID), structure("Parotide D", terminology=RIGHT_PAROTID)]
    (match,) = pair([one, *apart("Heart")], others).pairs
    assert (match.test.name, match.how, match.confidence) == ("Parotide G", "code", 0.9)
    (finding,) = match.findings
    says(finding, "Glandula", "Parotide G")


def testEqualNamesGoFirst():
    reference = apart("Left Parotid", "Parotid_L", "Spinal_Cord", "Brain")
    pairing = pair(reference, apart("Brain", "Parotid_L", "SpinalCord", "Liver"))
    cord = ("Spinal_Cord", "SpinalCord", "spelling")
    assert found(pairing) == [("Parotid_L", "Parotid_L", "name"), cord, ("Brain", "Brain", "name")]
    assert pairing.unmatched == {"reference": ["Left Parotid"], "test": ["Liver"]}
    assert [match.confidence for match in pairing.pairs] == [1.0, 0.95, 1.0]
    says(pairing.pairs[1].findings[0], "Spinal_Cord", "SpinalCord")


def testWhatIsNotPairedByName():
    """Left and right, what several structures may be, and codes that contradict names; each with its reason."""
    pairing = pair(apart("Parotid_L", "Lens_R"), apart("Right Parotid", "Lt Lens"))
    assert found(pairing) == [] and [len(names) for names in pairing.unmatched.values()] == [2, 2]
    # they lie at the same place, which is worth a word
    assert [p.confidence for p in pairing.proposals] == [1.0, 1.0] and says(pairing.findings[-1], "Lens_R", "Lt Lens")
    pairing = pair(apart("Parotid-L", "Brain"), apart("Parotid L", "parotid_l", "Brain"))
    assert found(pairing) == [("Brain", "Brain", "name")]
    says(pairing.findings[0], "Parotid-L ", "Parotid L, parotid_l ")
    sides = ([structure(name, terminology=LEFT_PAROTID), *apart("Brain")] for name in ("Parotid_L", "Parotid_R"))
    pairing = pair(*sides)
    assert found(pairing) == [("Brain", "Brain", "name")]
    says(pairing.findings[0], "Parotid_L", "Parotid_R")


def testANameThatOneSetHasTwiceStopsNoOther():
    for reference, test, pairs, failures, alone in (
        ("A,B", "A,A,B", "B=B", "A", ""),
        ("A,A,B", "A,B,C", "B=B", "A", "C"),
        ("A,A,B", "A,A,B", "B=B", "A", ""),
        # one spelling of a name is as unclear as another, unless it has a counterpart of its own
        ("a,B", "A,A,B", "B=B", "A,a", ""),
        ("a", "A,A,a", "a=a", "A", ""),
        # what is left is no pair by being alone
        ("A,B,C", "A,A,D,C", "C=C", "A", "B,D"),
    ):
        sets = [[structure(name) for name in names.split(",")] for names in (reference, test)]
        case = compareCase(*sets, DSC)
        assert " ".join(f"{a.name}={b.name}" for a, b in case.pairing.pairs) == pairs
        assert ",".join(case.failures) == failures
        assert ",".join(name for names in case.unmatched.values() for name in names) == alone
        assert all(says(why, "'A'") for why in case.failures.values())


def testANameThatOneSetHasTwiceCannotBeAskedFor():
    sets = [[structure(name) for name in names] for names in ("AAB", "AB")]
    for chosen in ({"names": ["A"]}, {"choices": {"A": "A"}}):
        with refused("reference", "'A'"):
            pair(*sets, **chosen)
    assert found(pair(*sets, names=["B"])) == [("B", "B", "name")]
    for others in ("A", "C"):
        with refused("test", "'A'"):
            pair([structure(name) for name in others], sets[0][:2])


def testChoicesGoBeforeEverything():
    reference, test = apart("A", "B"), apart("A", "B")
    pairing = pair(reference, test, choices={"A": "B"})
    assert found(pairing) == [("A", "B", "choice")]  # what is left over, B and A, is no pair because it is alone
    assert pairing.unmatched == {"reference": ["B"], "test": ["A"]}
    pairing = pair(reference, test, choices={"A": None})
    assert found(pairing) == [("B", "B", "name")] and pairing.unmatchedReference[0].name == "A"
    assert pairing.proposals == ()
    for choices, *names in (
        ({"C": "A"}, "reference", "'C'", " A, B"),
        ({"A": "C"}, "test", "'C'", " A, B"),
        ({"A": "A", "B": "A"}, "'A'", "'B'"),
        ({"A": "A", "a": "B"}, "'A'"),
        (["A"], "list"),
    ):
        with refused(*names):
            pair(reference, test, choices=choices)
    # what is alone on each side is a pair, whatever it is called
    assert found(pair(apart("Parotid_L"), apart("rater 2"))) == [("Parotid_L", "rater 2", "only")]


def testAnotherStructureInTheSamePlace():
    """Equal numbers of labels of two tools say nothing; what lies in the same place is said before anything else."""
    liver, spleen = ((2, 6, 6), (8, 14, 12)), ((16, 7, 7), (20, 12, 11))
    reference = [structure("Label 1", *liver)]
    test = [structure("Label 1", *spleen), structure("Label 2"), structure("Label 5", (2, 6, 6), (8, 14, 11))]
    said = alarmsOf(reference, test)
    assert {"name": "Label 5", "other": "test", "which": "reference", "best": "0.92"}.items() <= said[0].values.items()
    assert len(said) > 1 and not any("Label 5" in one for one in said[1:])
    assert alarmsOf(reference, test, names=["Label 1"]) == said
    other, *_ = alarmsOf(test, reference)
    assert said[0].kind.name == other.kind.name == "OTHER_STRUCTURE" and "5=Label 1" in other
    # what somebody chose is not doubted, nor what fits about as well; a part of it is not in the same place
    assert alarmsOf(reference, test, choices={"Label 1": "Label 1"}) == said[1:]
    assert not alarmsOf(reference, [structure("Label 1", (2, 6, 6), (8, 14, 10)), test[2]])
    assert alarmsOf(reference, [test[0], structure("Label 5", (2, 6, 6), (4, 8, 8))]) == said[1:]
    # of targets within each other one that is drawn too large looks like the next
    targets = [structure("GTV", (6, 6, 6), (11, 11, 11)), structure("PTV", (3, 3, 3), (14, 14, 14))]
    larger = [structure("GTV", (3, 3, 4), (14, 14, 14)), structure("PTV", (2, 2, 2), (15, 15, 15))]
    assert not alarmsOf(targets, larger)
    assert not alarmsOf([structure("Label 1", (1, 1, 1), (0, 0, 0))], test), "it is empty"


@pytest.mark.parametrize("names", [("Parotid_L", "Parotid_R"), ("A", "B")])
def testExchangedStructures(names):
    """One sentence says all that follows from it, and the same of both, in whatever order they come."""
    places = ((2, 2, 2), (6, 6, 6)), ((14, 2, 2), (18, 6, 6))
    reference = [structure(name, *place) for name, place in zip(names, places, strict=True)]
    spelled = [name.replace("_", " ") for name in names]
    test = [structure(name, *place) for name, place in zip(spelled, reversed(places), strict=True)]
    for chosen in (None, names[:1]):
        said = alarmsOf(reference[::-1], test, names=chosen)
        assert len(said) == 2 - bool(chosen) and len(set(said)) == 1
        assert f'--pair "{names[0]}={spelled[1]}" --pair "{names[1]}={spelled[0]}"' in said[0]
    # another one in the place of one of them says nothing of the other
    first, *_ = alarmsOf(reference, [test[0], structure("Other", *places[0])])
    assert (first.kind.name, first.values["name"]) == ("OTHER_STRUCTURE", "Other")


def testOneExplanationForAllOfACase():
    """Of a patient that is mirrored, all structures are: another one in the place of one of them says nothing more."""
    places = {"A": ((1, 2, 2), (4, 6, 7)), "B": ((2, 12, 3), (5, 19, 6)), "C": ((16, 9, 12), (19, 13, 16))}
    mirrored = {n: ((23 - high[0], *low[1:]), (23 - low[0], *high[1:])) for n, (low, high) in places.items()}
    reference, test = ([structure(n, *place) for n, place in some.items()] for some in (places, mirrored))
    other = structure("D", *places["A"])
    (alone,) = compareCase(reference[:1], [test[0], other], DSC)
    assert alone.findings[0].kind.name == "OTHER_STRUCTURE"
    for one in compareCase(reference, [*test, other], DSC):
        assert {finding.kind.name for finding in one.findings if finding.isAlarm} == {"MIRRORED", "NO_OVERLAP"}


def testProposalsAreTheBestAssignment():
    def row(name, start, length, y=0):
        return structure(name, (start, y, 0), (start + length - 1, y, 0))

    def proposals(reference, test):
        sets = ([*some, row("Known", 0, 1, y=9)] for some in (reference, test))
        return [(p.reference.name, p.test.name, p.confidence) for p in pair(*sets).proposals]

    # Dice by hand: A and x share 4 of 4 and 6 voxels, 0.8, but then B is left with nothing; B and x share 3 of 4 and 6,
    # 0.6, A and y 2 of 4 and 4, 0.5: more together
    reference, test = [row("A", 4, 4), row("B", 6, 4)], [row("x", 3, 6), row("y", 2, 4)]
    assert proposals(reference, test) == [("B", "x", 0.6), ("A", "y", 0.5)]
    assert proposals(reference, []) == proposals([row("A", 0, 4)], [row("B", 8, 4)]) == []
    # one voxel in common of 7 and 7 is a Dice of 0.14, and of 11 and 11 one of 0.09, which is no proposal
    assert [len(proposals([row("A", 0, size)], [row("B", size - 1, size)])) for size in (7, 11)] == [1, 0]


def testProposalsAreNotCompared():
    reference, test = apart("Brain", "Glandula"), [*apart("Brain"), structure("Druse", (0, 0, 2), (3, 3, 2))]
    pairing = pair(reference, test)
    assert found(pairing) == [("Brain", "Brain", "name")]
    assert [one.kind.name for one in pairing.findings] == ["PROPOSED"]
    assert "choices={'Glandula': 'Druse'}" in pairing.findings[0]
    # the same if only this structure is to be paired, but never for a structure that was not chosen
    for name in ("Glandula", "Druse"):
        assert pair(reference, test, names=[name]).proposals == pairing.proposals
    assert pair(reference, test, names=["Brain"]).findings == ()
    accepted = pair(reference, test, choices={"Glandula": "Druse"})
    assert found(accepted) == [("Brain", "Brain", "name"), ("Glandula", "Druse", "choice")]
    assert accepted.proposals == () and accepted.unmatchedTest == ()
    says(accepted.pairs[1].findings[0], "Glandula", "Druse")


def testAnAcceptedProposalIsRecordedAsOne(scene):
    """Nobody chose it: the pair is found by overlap, with the Dice of the proposal as confidence."""
    from SegmentMetricsLib import mrml

    nodes = [segmentnodes.boxesNode(scene, "Brain", name) for name in ("Glandula", "Druse")]
    choices = {"Glandula": "Druse", "Brain": "Brain"}
    pairing = mrml.pairSegments(*nodes, choices=choices, proposed={"glandula": 0.75})
    assert found(pairing) == [("Brain", "Brain", "choice"), ("Glandula", "Druse", "overlap")]
    assert pairing.pairs[1].confidence == 0.75 and says(pairing.pairs[1].findings[0], "Glandula", "Druse")


@pytest.fixture
def folders(run):
    for side, names in (("ref", ("Parotid_L", "Druse", "Brain")), ("test", ("Left Parotid", "Gland", "Brain"))):
        Path(side).mkdir()
        for n, name in enumerate(names):
            SimpleITK.WriteImage(shapes.box((2, 2, 4 * n), (9, 9, 4 * n + 2)), f"{side}/{name}.nrrd")
    return run


def testCommandLine(folders):
    status, out, _ = folders("compare", "ref", "test", "--metrics", "DSC", "--output", "out")
    document = metrics("out")
    (proposed,) = (one for one in document["pairing"]["findings"] if one["kind"] == "proposed")
    assert status == 0 and proposed["text"].partition(" (")[0] in out
    ways = [(p["test"]["name"], p["pairing"]["how"], p["pairing"]["confidence"]) for p in document["pairs"]]
    assert ways == [("Brain", "name", 1.0), ("Left Parotid", "spelling", 0.95)]
    assert document["unmatched"] == {"reference": ["Druse"], "test": ["Gland"]}
    proposal = {"reference": "Druse", "test": "Gland", "how": "overlap", "confidence": 1.0}
    assert document["pairing"]["proposals"] == [proposal]
    assert folders("compare", "ref", "test", "-o", "out", "--pair", "Druse=Gland", "--pair", "Brain=")[0] == 0
    assert [p["pairing"]["how"] for p in metrics("out")["pairs"]] == ["choice", "spelling"]
    assert metrics("out")["unmatched"] == {"reference": ["Brain"], "test": ["Brain"]}
    for none in ("Druse", "=Gland", "Druse=Nothing"):
        status, _, err = folders("compare", "ref", "test", "--output", "none", "--pair", none)
        assert status == 2 and err.startswith("segment-metrics: ") and not Path("none").exists()


def testPairsOfNamesWithEqualsSigns(folders):
    """The text is split where both structures exist, in any command."""
    Path("ref/Druse.nrrd").rename("ref/T=1.nrrd")
    Path("test/Gland.nrrd").rename("test/T=1=b.nrrd")
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")

    def pairs(command: str, *chosen: str) -> tuple[list[tuple[str, str]], str]:
        given = ["cases.csv", "--workers", "1"] if command == "batch" else ["ref", "test"]
        status, out, err = folders(command, *given, "--output", command, *chosen)
        assert status == 0, err
        files = {"compare": "metrics.json", "conventions": "conventions.json", "batch": "results.jsonl"}
        content = json.loads(Path(command, files[command]).read_text())
        return [(pair["reference"]["name"], pair["test"]["name"]) for pair in content["pairs"]], out + err

    for command, *options in (("conventions", "--tool=MedPy"), ("batch",)):
        told, said = pairs(command, *options, "--pair", "T=1=T=1=b")
        assert ("T=1", "T=1=b") in told and "--pair" not in said.replace('--pair "', ""), command
    told, _ = pairs("compare", "--metrics=overlap", "--pair", "Brain=T=1=b", "--pair", "T=1=")
    assert ("Brain", "T=1=b") in told
    told, said = pairs("batch", "--overwrite", "--pair", "Brain=T=1=b", "--pair", "T=1=x")
    assert told[0] == ("Brain", "T=1=b") and "--pair T=1=x: " in said
    for chosen in (["T=1=Brain", "T=1=T=1=b"], ["T=Brain=x", "T=Brain=y"]):
        assert folders("compare", "ref", "test", *(word for pair in chosen for word in ("--pair", pair)))[0] == 2

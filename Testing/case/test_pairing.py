"""Which structures belong together: by name, by code, as a proposal by where they lie; never left with right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, Structure, __main__, compare, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.pairing import note, pairStructures, propose
from SegmentMetricsLib.metrics.findings import Kind, split
from SegmentMetricsLib.model import naming
from SegmentMetricsLib.model.inputs import labelMasks

LEFT_PAROTID = (
    "Segmentation category and type - 3D Slicer General Anatomy list~SCT^123037004^Anatomical Structure~"
    "SCT^45289007^Parotid~SCT^7771000^Left~Anatomic codes - DICOM master list~^^~^^"
)
RIGHT_PAROTID = LEFT_PAROTID.replace("SCT^7771000^Left", "SCT^24028007^Right")
TISSUE = "Segmentation category and type~SCT^85756007^Tissue~SCT^85756007^Tissue~^^~Anatomic codes~^^~^^"
CUBE = ((2, 2, 2), (5, 5, 5))


def structure(name: str, low=CUBE[0], high=CUBE[1], terminology: str = "") -> Structure:
    (mask,) = labelMasks(shapes.box(low, high), 0.5).values()
    return Structure(name, mask, terminology=terminology)


def apart(*names: str) -> list[Structure]:
    """Structures that do not touch each other."""
    return [structure(name, (0, 0, 2 * n), (3, 3, 2 * n)) for n, name in enumerate(names)]


def found(pairing) -> list[tuple[str, str, str]]:
    return [(m.reference.name, m.test.name, m.how) for m in pairing.pairs]


# Names


@pytest.mark.parametrize(
    "same",
    [
        ["Parotid_L", "Left Parotid", "parotid-lt", "PAROTID LT", "ParotidL", "Parotid.left", "LParotid"],
        ["Optic-Nerve-Rt", "OpticNerve_R", "right optic nerve", "R_Optic_Nerve"],
        ["SpinalCord", "Spinal Cord", "spinal-cord", "SPINALCORD"],
        ["PTV_70", "PTV70", "ptv 70"],
        ["Left Parotid", "<Left> Parotid", "(Left) Parotid", "[left] parotid"],
        ["Lungs-GTV", "lungs - gtv", "LUNGS\u2013GTV", "Lungs\u2212GTV"],
        ["Lung_L-PTV70", "left lung-ptv70", "LungLt - PTV70"],
        # what says which target it is
        ["HR-CTV", "HR_CTV", "HRCTV", "hr ctv"],
        ["L-GTV", "GTV_L", "Lt GTV"],
    ],
)
def testNamesThatAreOne(same):
    assert len({naming.parse(name).spelled for name in same}) == 1


@pytest.mark.parametrize(
    "first, second",
    [
        ("Parotid_L", "Parotid_R"),
        ("Parotid_L", "Parotid"),
        ("Lung_L", "Lungs"),
        ("Label 1 2", "Label 12"),
        ("VB_L1", "VB1_L"),  # a lumbar vertebra is not on the left
        ("L 1", "1 left"),
        ("Lens_L", "Ens_L"),
        ("Lung+5mm", "Lung-5mm"),
        ("CTV!", "CTV"),
        # AAPM Task Group 263: the lung without the target
        ("Lung-GTV", "Lung_GTV"),
        ("PTV-GTV", "GTV-PTV"),
    ],
)
def testNamesThatAreTwo(first, second):
    assert naming.parse(first).spelled != naming.parse(second).spelled
    assert naming.parse(first).meaning != naming.parse(second).meaning


@pytest.mark.parametrize(
    "first, second",
    [("Glnd_Submand_L", "Submandibular-Lt"), ("Nrv_Optic_L", "Left Optic Nerve"), ("Parotid Gland R", "Parotid_R")],
)
def testWordsOfTheStandardNames(first, second):
    assert naming.parse(first).spelled != naming.parse(second).spelled
    assert naming.parse(first).meaning == naming.parse(second).meaning


@pytest.mark.parametrize("name", ["", "Left", "_", "L R", "Lungs_L_R", "左耳"])
def testNamesWithoutAWordOrASide(name):
    assert naming.parse(name).side == ""


# Codes


@pytest.mark.parametrize("entry", ["", "nonsense", "~~~~~~", "a~b~c~d", TISSUE, "a~SCT^1^x~SCT^^Parotid~^^~b~^^~^^"])
def testCodesThatSayNothing(entry):
    assert naming.parseTerminology(entry) is None


@pytest.mark.parametrize("representation", ["Binary labelmap", "Fractional labelmap"])
def testCodesOfASegmentationFile(tmp_path, representation):
    image = shapes.box(*CUBE, value=216 if representation.startswith("Fractional") else 1)
    for key, value in {
        "Segmentation_MasterRepresentation": representation,
        "Segment0_ID": "a", "Segment0_Name": "Glandula", "Segment0_LabelValue": "1", "Segment0_Layer": "0",
        "Segment0_Tags": f"Segmentation.Status:completed|TerminologyEntry:{LEFT_PAROTID}|",
    }.items():  # fmt: skip
        image.SetMetaData(key, value)
    SimpleITK.WriteImage(image, str(tmp_path / "one.seg.nrrd"))
    (one,) = readStructures(tmp_path / "one.seg.nrrd")
    assert one.terminology == LEFT_PAROTID
    others = [structure("Parotide G", terminology=LEFT_PAROTID), structure("Parotide D", terminology=RIGHT_PAROTID)]
    (match,) = pairStructures([one, *apart("Heart")], others).pairs
    assert (match.test.name, match.how, match.confidence) == ("Parotide G", "code", 0.9)
    assert match.findings == ("Glandula was paired with Parotide G because they have the same terminology codes.",)


# Pairing


def testEqualNamesGoFirst():
    reference = apart("Left Parotid", "Parotid_L", "Spinal_Cord", "Brain")
    test = apart("Brain", "Parotid_L", "SpinalCord", "Liver")
    pairing = pairStructures(reference, test)
    assert found(pairing) == [
        ("Parotid_L", "Parotid_L", "name"), ("Spinal_Cord", "SpinalCord", "spelling"), ("Brain", "Brain", "name")
    ]  # fmt: skip
    assert [s.name for s in pairing.unmatchedReference] == ["Left Parotid"]
    assert [s.name for s in pairing.unmatchedTest] == ["Liver"]
    assert [match.confidence for match in pairing.pairs] == [1.0, 0.95, 1.0]
    assert pairing.pairs[0].findings == () and "spelling only" in pairing.pairs[1].findings[0]


def testLeftAndRightAreNeverPairedByName():
    pairing = pairStructures(apart("Parotid_L", "Brain"), apart("Parotid_R", "Brain"))
    assert found(pairing) == [("Brain", "Brain", "name")]
    pairing = pairStructures(apart("Parotid_L", "Lens_R"), apart("Right Parotid", "Lt Lens"))
    assert found(pairing) == []
    assert [len(s) for s in (pairing.unmatchedReference, pairing.unmatchedTest)] == [2, 2]
    # they lie at the same place, which is worth a word
    assert [p.confidence for p in pairing.proposals] == [1.0, 1.0]
    assert "although their names say different sides" in pairing.findings[0]


def testWhatIsNotClearIsNotPaired():
    pairing = pairStructures(apart("Parotid-L", "Brain"), apart("Parotid L", "parotid_l", "Brain"))
    assert found(pairing) == [("Brain", "Brain", "name")]
    assert pairing.findings[0] == (
        "It is not clear which belong together, so they are not paired: Parotid-L of the reference and "
        "Parotid L, parotid_l of the test."
    )


def testEqualCodesOfDifferentSides():
    one, other = structure("Parotid_L", terminology=LEFT_PAROTID), structure("Parotid_R", terminology=LEFT_PAROTID)
    pairing = pairStructures([one, *apart("Brain")], [other, *apart("Brain")])
    assert found(pairing) == [("Brain", "Brain", "name")]
    assert "their names say different sides: they are not paired" in pairing.findings[0]


def testOneOnEachSide():
    pairing = pairStructures(apart("Parotid_L"), apart("rater 2"))
    assert found(pairing) == [("Parotid_L", "rater 2", "only")] and pairing.pairs[0].findings == ()
    (match,) = pairStructures(apart("Parotid_L"), apart("Parotid_R")).pairs
    assert match.findings == ("Check the sides: Parotid_L is compared with Parotid_R.",)


@pytest.mark.parametrize(
    ("reference", "test", "pairs", "failures", "alone"),
    [
        ("A,B", "A,A,B", "B=B", "A", ""),
        ("A,A,B", "A,B,C", "B=B", "A", "C"),
        ("A,A,B", "A,A,B", "B=B", "A", ""),
        # one spelling of a name is as unclear as another, unless it has a counterpart of its own
        ("a,B", "A,A,B", "B=B", "A,a", ""),
        ("a", "A,A,a", "a=a", "A", ""),
        # what is left is no pair by being alone
        ("A,B,C", "A,A,D,C", "C=C", "A", "B,D"),
    ],
)
def testANameThatOneSetHasTwiceStopsNoOther(reference, test, pairs, failures, alone):
    sets = [[structure(name) for name in names.split(",")] for names in (reference, test)]
    pairing = pairStructures(*sets, isProposing=False)
    assert " ".join(f"{a.name}={b.name}" for a, b in pairing.pairs) == pairs
    assert ",".join(pairing.failures) == failures
    assert ",".join(s.name for s in (*pairing.unmatchedReference, *pairing.unmatchedTest)) == alone
    assert all("has more than one structure named 'A'. Rename all but" in str(e) for e in pairing.failures.values())


def testANameThatOneSetHasTwiceCannotBeAskedFor():
    sets = [[structure(name) for name in names] for names in ("AAB", "AB")]
    for chosen in ({"names": ["A"]}, {"choices": {"A": "A"}}):
        with pytest.raises(InputError, match="The reference has more than one structure named 'A'"):
            pairStructures(*sets, **chosen)
    assert found(pairStructures(*sets, names=["B"])) == [("B", "B", "name")]
    for others in ("A", "C"):
        with pytest.raises(InputError, match="The test has more than one structure named 'A'"):
            pairStructures([structure(name) for name in others], sets[0][:2])


# Proposals


def testAnotherStructureInTheSamePlace():
    """Equal numbers of labels of two tools say nothing; what lies in the same place is said before anything else."""
    liver, spleen = ((2, 6, 6), (8, 14, 12)), ((16, 7, 7), (20, 12, 11))
    reference = [structure("Label 1", *liver)]
    test = [structure("Label 1", *spleen), structure("Label 2"), structure("Label 5", (2, 6, 6), (8, 14, 11))]

    def alarmsOf(*sets, **options):
        pairing = pairStructures(*sets, **options)
        return [str(f) for m in pairing.pairs for f in split(m.findings).alarms]

    (said,) = alarmsOf(reference, test)
    assert said.startswith(
        "Label 5 of the test lies in the same place as the reference, with a Dice of 0.92 instead of"
    )
    assert alarmsOf(reference, test, names=["Label 1"]) == [said]
    (other,) = alarmsOf(test, reference)
    assert other.startswith("Label 5 of the reference lies in the same place as the test") and "5=Label 1" in other
    match = pairStructures(reference, test).pairs[0]
    first = note(compare(*match, Settings(families="overlap")), match).findings
    assert [one.kind for one in first[:2]] == [Kind.OTHER_STRUCTURE, Kind.NO_OVERLAP]
    # what somebody chose is not doubted, nor what fits about as well; a part of it is not in the same place
    assert not alarmsOf(reference, test, choices={"Label 1": "Label 1"})
    assert not alarmsOf(reference, [structure("Label 1", (2, 6, 6), (8, 14, 10)), test[2]])
    assert not alarmsOf(reference, [test[0], structure("Label 5", (2, 6, 6), (4, 8, 8))])
    # of targets within each other one that is drawn too large looks like the next
    gross, planning = ((6, 6, 6), (11, 11, 11)), ((3, 3, 3), (14, 14, 14))
    targets = [structure("GTV", *gross), structure("PTV", *planning)]
    assert not alarmsOf(targets, [structure("GTV", (3, 3, 4), (14, 14, 14)), structure("PTV", (2, 2, 2), (15, 15, 15))])
    none = Structure("Label 1", reference[0].mask.cut(2))
    assert none.isEmpty and not alarmsOf([none], test)


@pytest.mark.parametrize("names", [("Parotid_L", "Parotid_R"), ("A", "B")])
def testExchangedStructures(names):
    """One sentence says all that follows from it, and the same of both, in whatever order they come."""
    places = ((2, 2, 2), (6, 6, 6)), ((14, 2, 2), (18, 6, 6))
    reference = [structure(name, *place) for name, place in zip(names, places, strict=True)]
    spelled = [name.replace("_", " ") for name in names]
    test = [structure(name, *place) for name, place in zip(spelled, reversed(places), strict=True)]
    for chosen in (None, names[:1]):
        for match in pairStructures(reference[::-1], test, names=chosen).pairs:
            alarms, _ = split(note(compare(*match, Settings(families="overlap")), match).findings)
            assert [alarm.kind for alarm in alarms] == [Kind.EXCHANGED]
            assert f'--pair "{names[0]}={spelled[1]}" --pair "{names[1]}={spelled[0]}"' in alarms[0]
    # another one in the place of one of them says nothing of the other
    pairing = pairStructures(reference, [test[0], structure("Other", *places[0])])
    (finding,) = pairing.pairs[0].findings[-1:]
    assert finding.kind == Kind.OTHER_STRUCTURE


def testProposalsAreTheBestAssignment():
    def row(name, start, length):
        return structure(name, (start, 0, 0), (start + length - 1, 0, 0))

    # Dice by hand: A and x share 4 of 4 and 6 voxels, 0.8, but then B is left with nothing; B and x share 3 of 4 and 6,
    # 0.6, A and y 2 of 4 and 4, 0.5: more together
    reference, test = [row("A", 4, 4), row("B", 6, 4)], [row("x", 3, 6), row("y", 2, 4)]
    proposals = propose(reference, test)
    assert [(p.reference.name, p.test.name, p.confidence) for p in proposals] == [("B", "x", 0.6), ("A", "y", 0.5)]
    assert propose(reference, []) == [] and propose([row("A", 0, 4)], [row("B", 8, 4)]) == []
    # one voxel in common of 7 and 7 is a Dice of 0.14, and of 11 and 11 one of 0.09, which is no proposal
    assert [len(propose([row("A", 0, size)], [row("B", size - 1, size)])) for size in (7, 11)] == [1, 0]


def testProposalsAreNotCompared():
    reference, test = apart("Brain", "Glandula"), [*apart("Brain"), structure("Druse", (0, 0, 2), (3, 3, 2))]
    pairing = pairStructures(reference, test)
    assert found(pairing) == [("Brain", "Brain", "name")]
    assert pairing.findings == (
        "Glandula of the reference and Druse of the test may be the same structure: they overlap with a Dice of 1.00. "
        "If they are, pair them (--pair \"Glandula=Druse\"; in Python choices={'Glandula': 'Druse'}; in Slicer "
        "Inputs > Pairs).",
    )
    # the same if only this structure is to be paired, but never for a structure that was not chosen
    for name in ("Glandula", "Druse"):
        assert pairStructures(reference, test, names=[name]).findings == pairing.findings
    assert pairStructures(reference, test, names=["Brain"]).findings == ()
    accepted = pairStructures(reference, test, choices={"Glandula": "Druse"})
    assert found(accepted) == [("Brain", "Brain", "name"), ("Glandula", "Druse", "choice")]
    assert accepted.proposals == () and accepted.unmatchedTest == ()
    assert accepted.pairs[1].findings == ("Glandula was paired with Druse because that was chosen.",)


def testAnAcceptedProposalIsRecordedAsOne():
    """Nobody chose it: the pair is found by overlap, with the Dice of the proposal as confidence."""
    reference, test = apart("Brain", "Glandula"), [*apart("Brain"), structure("Druse", (0, 0, 2), (3, 3, 2))]
    choices = {"Glandula": "Druse", "Brain": "Brain"}
    pairing = pairStructures(reference, test, choices=choices, proposed={"glandula": 0.75})
    assert found(pairing) == [("Brain", "Brain", "choice"), ("Glandula", "Druse", "overlap")]
    match = pairing.pairs[1]
    assert match.confidence == 0.75
    assert match.findings == ("Glandula was paired with Druse because they overlap, which was proposed and accepted.",)
    assert found(pairStructures(reference, test, names=["Brain"], choices=choices, proposed={"Glandula": 1.0})) == [
        *found(pairing)
    ], "what was accepted is compared, whatever else is asked for"


def testChoicesGoBeforeEverything():
    reference, test = apart("A", "B"), apart("A", "B")
    pairing = pairStructures(reference, test, choices={"A": "B"})
    assert found(pairing) == [("A", "B", "choice")]  # what is left over, B and A, is no pair because it is alone
    assert [s.name for s in (*pairing.unmatchedReference, *pairing.unmatchedTest)] == ["B", "A"]
    pairing = pairStructures(reference, test, choices={"A": None})
    assert found(pairing) == [("B", "B", "name")] and pairing.unmatchedReference[0].name == "A"
    assert pairing.proposals == ()
    for choices, message in (
        ({"C": "A"}, "has no structure named 'C'; it has A, B"),
        ({"A": "C"}, "The test has no structure named 'C'"),
        ({"A": "A", "B": "A"}, "is chosen for both 'A' and 'B'"),
    ):
        with pytest.raises(ValueError, match=message):
            pairStructures(reference, test, choices=choices)


# Command line and nodes


@pytest.fixture
def folders(withoutPictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, names in (("ref", ("Parotid_L", "Druse", "Brain")), ("test", ("Left Parotid", "Gland", "Brain"))):
        (tmp_path / side).mkdir()
        for n, name in enumerate(names):
            SimpleITK.WriteImage(shapes.box((2, 2, 4 * n), (9, 9, 4 * n + 2)), str(tmp_path / side / f"{name}.nrrd"))
    return tmp_path


def testCommandLine(folders, capsys):
    assert __main__.main(["compare", "ref", "test", "--output", "out"]) == 0
    document = json.loads((folders / "out" / "metrics.json").read_text())
    assert [(p["test"]["name"], p["pairing"]) for p in document["pairs"]] == [
        ("Brain", {"how": "name", "confidence": 1.0}), ("Left Parotid", {"how": "spelling", "confidence": 0.95})
    ]  # fmt: skip
    assert document["unmatched"] == {"reference": ["Druse"], "test": ["Gland"]}
    assert document["pairing"]["proposals"] == [
        {"reference": "Druse", "test": "Gland", "how": "overlap", "confidence": 1.0}
    ]
    assert "Druse of the reference and Gland of the test may be the same" in capsys.readouterr().out
    assert (
        __main__.main(["compare", "ref", "test", "--output", "out", "--pair", "Druse=Gland", "--pair", "Brain="]) == 0
    )
    document = json.loads((folders / "out" / "metrics.json").read_text())
    assert [p["pairing"]["how"] for p in document["pairs"]] == ["choice", "spelling"]
    assert document["unmatched"] == {"reference": ["Brain"], "test": ["Brain"]}


def testPairsOfNamesWithEqualsSigns(folders, capsys, tmp_path):
    """The text is split where both structures exist, in any command."""
    Path("ref/Druse.nrrd").rename("ref/T=1.nrrd")
    Path("test/Gland.nrrd").rename("test/T=1=b.nrrd")
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")

    def pairs(command: str, *chosen: str) -> list[tuple[str, str]]:
        given = ["cases.csv", "--workers", "1"] if command == "batch" else ["ref", "test"]
        assert __main__.main([command, *given, "--output", command, *chosen]) == 0
        files = {"compare": "metrics.json", "conventions": "conventions.json", "batch": "results.jsonl"}
        content = json.loads(Path(command, files[command]).read_text())
        return [(pair["reference"]["name"], pair["test"]["name"]) for pair in content["pairs"]]

    for command, *options in (("conventions", "--tool=MedPy"), ("batch",)):
        assert ("T=1", "T=1=b") in pairs(command, *options, "--pair", "T=1=T=1=b"), command
    assert "--pair" not in capsys.readouterr().out.replace('--pair "', "")
    assert ("Brain", "T=1=b") in pairs("compare", "--metrics=overlap", "--pair", "Brain=T=1=b", "--pair", "T=1=")
    assert pairs("batch", "--overwrite", "--pair", "Brain=T=1=b", "--pair", "T=1=x")[0] == ("Brain", "T=1=b")
    assert "--pair T=1=x: no case has such a pair." in capsys.readouterr().out
    for chosen in (["T=1=Brain", "T=1=T=1=b"], ["T=Brain=x", "T=Brain=y"]):
        given = [word for pair in chosen for word in ("--pair", pair)]
        assert __main__.main(["compare", "ref", "test", *given]) == 2


@pytest.mark.parametrize("pair", ["Druse", "=Gland", "Druse=Nothing"])
def testPairsThatAreNone(folders, capsys, pair):
    assert __main__.main(["compare", "ref", "test", "--output", "out", "--pair", pair]) == 2
    assert capsys.readouterr().err.startswith("segment-metrics: ") and not (folders / "out").exists()

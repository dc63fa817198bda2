"""What the panel's model makes of results: whether they are out of date, what is possible with them, what is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapes
from panelfakes import Host, Segmentation, Table, comparisonOf, judged, modelOf, outcomeOf, twoBoxes
from SegmentMetricsPanel.contents import conventions, maps, pages, places, results, slices, verdicts
from SegmentMetricsPanel.model.enumerations import MapKind, Mode, SliceQuantity

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled

BOX = shapes.box((6, 5, 5), (15, 11, 12))
RULES = "Structure,Measurement,Relation,Pass,Warn,Source\n"
WHOLE = {"mode": Mode.allStructures}


@pytest.fixture(scope="module")
def box():
    """The comparison of two boxes."""
    return twoBoxes()


@pytest.fixture(scope="module")
def three():
    """The comparisons of three structures, of which the last one agrees least."""
    moved = [shapes.box((6 + 2 * step, 5, 5), (15, 11, 12)) for step in range(3)]
    return [comparisonOf(name, BOX, image) for name, image in zip(("Alike", "Near", "Far"), moved)]


def shown(comparisons, **options):
    """Return an active model that shows these comparisons: those of all structures if there are several."""
    mode = {} if len(comparisons) == 1 else WHOLE
    names = [comparison.reference.name for comparison in comparisons] or ["Box"]
    model = modelOf(Segmentation("One", *names, "Cord"), Segmentation("Two", *names), **mode)
    model.take(outcomeOf(model, comparisons, **options), isRepeated=False)
    return model


def outcomeWith(comparisons, **options):
    return shown(comparisons, **options).outcome


def knowing(record, **kept):
    """Return a comparison without its geometry of which something else is known."""
    return replace(record, kept={**record.kept, **kept})


# Whether results are out of date

CHANGES = {
    "The settings have changed.": [
        lambda m: setattr(m.parameters, "tolerance", 3.0),
        lambda m: setattr(m.parameters, "families", []),
        lambda m: setattr(m.parameters, "protocol", Table("Limits", f"{RULES}Box,DSC,>=,0.5,,\n")),
        lambda m: setattr(m.parameters, "protocol", Table("Limits", f"{RULES}Box,DSC,>=,much,,\n")),
    ],
    "The selection has changed.": [
        lambda m: setattr(m.parameters, "referenceSegment", "cord"),
        lambda m: setattr(m.parameters, "test", None),
        lambda m: m.inputs.swap(),
    ],
    "These are the results of Box.": [lambda m: setattr(m.parameters, "mode", Mode.allStructures)],
    "A compared segmentation was removed.": [lambda m: m.outcome.nodes.update(test=None)],
    "Box of the test has changed.": [
        lambda m: (setattr(m.outcome, "changed", "Box of the test has changed."), m.suspect({"box"}))
    ],
}


@pytest.mark.parametrize(("reason", "change"), [(reason, c) for reason, changes in CHANGES.items() for c in changes])
def test_results_are_out_of_date(box, reason, change):
    model = shown([box])
    assert model.staleness() == model.staleText() == model.whyNotReport() == model.outOfDate() == ""
    change(model)
    assert model.staleness() == reason
    advice = "" if model.whyNot() else " Apply to measure again."
    assert model.staleText() == f"Out of date: {reason}{advice}"
    assert {model.whyNotReport(), model.whyNotTools(), model.outOfDate()} == {
        "The results are out of date. Press Apply again."
    }


def test_automatic_updates_repeat_what_is_shown_once(box):
    model = shown([box])
    model.isNews, model.parameters.tolerance = True, 3.0
    assert not model.isUpdateDue()
    model.parameters.follow = True
    assert model.isUpdateDue()
    model.parameters.referenceSegment = "cord"
    assert model.staleness() and not model.isUpdateDue(), "another pair is measured by Apply only"
    model.parameters.referenceSegment = "box"
    model.parameters.families = []
    assert not model.isUpdateDue(), "it is not possible"
    model.parameters.families = ["boundary"]
    model.isNews = False
    assert not model.isUpdateDue(), "the same attempt would end in the same way"


# Results of scenes


def test_results_come_back_with_a_scene(box):
    model = modelOf(Segmentation("One", "Box"), Segmentation("Two", "Box"))
    saved = outcomeOf(model, [box], comparisons=None, changed="Box of the test has changed.")
    model.parameters.result = saved.table
    saved.table.results = lambda: saved
    assert model.isRecallDue()
    model.recall()
    assert model.outcome is saved and not model.isRecallDue() and model.staleness() == saved.changed
    saved.changed = ""
    model.suspect(None)
    assert "Press Apply again first" in model.whyNotTools() and not model.whyNotReport()
    model.parameters.result = None
    model.recall()
    assert model.outcome is None and not model.isRecallDue()


def test_results_that_cannot_be_read_are_said_to_be():
    def fail():
        raise InputError("The results in Old cannot be read.")

    model = modelOf(Segmentation("One", "Box"), result=Table("Old", results=fail))
    model.recall()
    assert model.outcome is None and model.parameters.result is None and not model.isRecallDue()
    assert model.message() == "The results in Old cannot be read."


# The pair that is shown in detail


def test_the_shown_pair(three):
    model = shown(three)
    assert model.number() == 2 and model.record().name == "Far", "the worst, without a protocol, too"
    model.showPair(0)
    assert model.record().name == "Alike"
    model.showPair(2)
    model.take(outcomeOf(model, three[:2]), isRepeated=False)
    assert model.number() == 1, "one that is there"
    single = shown(three[:1])
    single.showPair(1)
    assert single.parameters.shownPair == 0


def test_the_worst_structure_is_shown_first(three):
    """But nobody is led away from what they look at when it is measured again by itself."""
    rules = f"{RULES}Alike,HD,<=,1,,\nFar,HD,<=,1,,\nNowhere,HD,<=,1,,\n"
    judgment = judged(three, rules, isWhole=True)
    model = shown(three, judgment=judgment)
    assert model.record().name == "Far" and results.mainNumbers(model.outcome).order == [2, 3, 0, 1]
    model.showPair(1)
    model.take(outcomeOf(model, three, judgment=judgment), isRepeated=True)
    assert model.record().name == "Near"


def test_views_go_to_new_and_to_chosen_pairs(three):
    """Not when the same pair is measured again, nor when an update does so."""
    model = shown(three)
    due = [model.takeFraming()]
    model.take(outcomeOf(model, three), isRepeated=False)
    due.append(model.takeFraming())
    model.showPair(1)
    due += [model.takeFraming(), model.takeFraming()]
    model.framed = None
    model.take(outcomeOf(model, three), isRepeated=True)
    due.append(model.takeFraming())
    model.take(outcomeOf(model, three), isRepeated=False)
    due.append(model.takeFraming())
    assert due == [True, False, True, False, False, True]


# Messages


def test_the_next_step_is_said(box):
    model = modelOf(Segmentation("One", "Box"))
    assert model.summary() == "", "one sentence says what to choose"
    assert modelOf().summary() == "Choose a reference and a test segment, then Apply." and not modelOf().message()
    assert model.whyNotReport() == model.whyNotTools() == "Press Apply first."
    assert model.message() == "Choose a segment of the test."
    assert modelOf(Segmentation("One", "Box"), Segmentation("Two", "Box")).summary() == "Press Apply."
    assert shown([box]).summary().startswith("<b>Box</b>: DSC ")


def test_one_message_at_a_time(box):
    model = shown([box])
    assert model.message("", "No map.", "No plot.") == "No map."
    model.parameters.families = []
    assert "famil" in model.message("No map.")
    model.notice = "Stopped."
    assert model.message("No map.") == "Stopped."


# Attempts


def hostOf(model, measured=(), **options) -> Host:
    """Return a host whose logic measures these comparisons. options: of the outcome."""

    def measure(_request, work):
        return work.run(lambda: outcomeOf(model, measured, **options))

    return Host(model, measure)


def test_applying(box):
    model = modelOf(Segmentation("One", "Box"), Segmentation("Two", "Box"))
    model.notice, model.isNews = "Old.", True
    host = hostOf(model, [box])
    seen = []
    host.during = lambda: seen.append(
        (model.isBusy, model.whyNot(), host.attempts.apply(), host.attempts.compareTools())
    )
    assert host.attempts.apply()
    assert seen == [(True, "Measuring ...", False, False)], "nothing else begins meanwhile"
    assert [each for each in host.asked if each != "settleChoices"] == ["freeze", "resume", "take", "showOutcome"]
    assert model.outcome.records and model.parameters.result is model.outcome.table
    assert not (model.notice or model.isBusy or model.isNews or model.inputs.isGuess)


def test_nothing_is_applied_that_makes_no_sense(box):
    model = modelOf(Segmentation("One", "Box"))
    host = hostOf(model, [box])
    assert not host.attempts.apply() and host.asked == ["settleChoices"]
    assert not host.attempts.report("page.html") and host.asked[1:] == ["settleEdits"]
    assert not host.attempts.compareTools() and host.asked[2:] == ["settleEdits"]


@pytest.mark.parametrize("error", [Cancelled("x"), InputError("It is broken."), RuntimeError("No.")])
@pytest.mark.parametrize("isRepeated", [False, True])
def test_attempts_that_fail(box, error, isRepeated):
    """They leave the results as they were, and only the user's stop ends automatic updates."""
    model = shown([box])
    host, before = hostOf(model, [box]), model.outcome
    model.parameters.follow = True

    def fail():
        raise error

    host.during = fail
    if isinstance(error, RuntimeError):
        with pytest.raises(RuntimeError, match="No"):
            host.attempts.apply(isRepeated)
    else:
        assert not host.attempts.apply(isRepeated)
        stopped = isinstance(error, Cancelled)
        assert model.notice == ("The comparison was stopped." if stopped else "It is broken.")
        assert model.parameters.follow == (not stopped)
    assert model.outcome is before and not model.isBusy and host.asked[-2:] != ["take", "showOutcome"]
    host.during = lambda: None
    assert host.attempts.apply() and not model.notice


def test_proposals():
    model = modelOf(Segmentation("One", "A"))
    host = hostOf(model)
    assert host.attempts.propose(lambda work: work.run(lambda: ["pair"])) == ["pair"] and not model.notice
    assert host.attempts.propose(lambda work: []) == []
    assert model.notice == "None of the unpaired structures overlap."


# Numbers


def texts(table) -> list[list[str]]:
    return [[cell[0] for cell in row] for row in table.rows]


def headings(table) -> list[str]:
    return [column.heading for column in table.columns]


def test_numbers_are_sorted_within_their_unit(box):
    """A length is neither more nor less than a volume."""
    keys = [row[1][1] for row in results.numbers(outcomeWith([box]), 0).rows]
    units = [unit for unit, _value in sorted(keys)]
    assert len(set(units)) > 2 and units == sorted(units)
    assert [value for unit, value in sorted(keys) if unit == "mm"] == sorted(v for unit, v in keys if unit == "mm")


def test_sides_have_one_decimal_where_there_is_room():
    """Six columns of a narrow panel hold four characters each."""
    found = compare(BOX, BOX)["SignedMean"]
    values = (-108.24, 13.81, 9.96, 9.94, -0.04, 0.04, 0.05001)
    texts = [results.short(replace(found, value=v)) for v in values]
    assert texts == ["-108", "+14", "+10", "+9.9", "0.0", "0.0", "+0.1"]


def test_units_of_a_column_are_in_its_heading():
    """All its numbers have the same one, also a small volume beside a large one."""
    small = shapes.box((6, 5, 5), (6, 5, 5))
    for other, heading, expected in (
        (BOX, "Volume\nref. (cm³)", ["0.55", "0.55"]),
        (small, "Volume\nref. (cm³)", ["0.548", "< 0.001"]),
    ):
        table = results.mainNumbers(outcomeWith([comparisonOf("A", BOX, BOX), comparisonOf("B", other, BOX)]))
        assert headings(table)[:4] == ["Structure", "DSC", "HD95\n(mm)", "NSD\n2 mm"]
        assert [row[headings(table).index(heading)] for row in texts(table)] == expected


@pytest.fixture(scope="module")
def apart():
    return comparisonOf("Apart", shapes.box((2, 2, 2), (5, 5, 5)), shapes.box((15, 15, 15), (20, 20, 20)))


def test_there_is_no_alarm_without_a_reason(box):
    assert results.alarms(outcomeWith([box]), 0) == results.alarms(None, 0) == results.remarks(None, 0) == ""


def test_alarms_of_other_structures_are_named(box, apart):
    outcome = outcomeWith([box, apart])
    assert "There are alarms about other structures: Apart." in results.alarms(outcome, 0)
    assert "other structures" not in results.alarms(outcome, 1)
    rows = results.mainNumbers(outcome).rows
    assert [row[0][0] for row in rows] == ["Box", "⚠ Apart"]
    assert ["⚠ The two contours" in row[0][2] for row in rows] == [False, True]


def test_what_was_not_compared_is_said(box, three):
    reasons = {"A": "It is broken.", "B": "It is broken."}
    outcome = outcomeWith([box, three[0]], unmatched={"test": ["C", "D"]}, failures=reasons, findings=("Doubtful.",))
    lines = results.remarks(outcome, 0).split("<br>")
    assert lines[:3] == ["• Only in the test: C, D.", "• Doubtful.", "• A, B: It is broken."]
    nothing = replace(outcome, records=[])
    assert results.remarks(nothing, 0).startswith("• Only in the test: C, D.")
    assert "No structure is in both" in results.summary(nothing, 0) and results.numbers(nothing, 0).rows == ()
    assert not results.mainNumbers(nothing).rows


def test_findings_name_the_place_in_the_panel():
    size = (24, 24, 60)
    tubes = shapes.box((5, 5, 5), (14, 14, 50), size), shapes.box((6, 5, 5), (15, 14, 38), size)
    text = results.remarks(outcomeWith([comparisonOf("Tube", *tubes)]), 0)
    assert "choose the common extent (Advanced &gt; Extent)" in text and "Python" not in text and "--" not in text


def test_files_of_several_observers_have_names_of_their_own(box, three):
    record = box.record()
    sides = {side: replace(getattr(record, side), segmentation="Dr. =A/B") for side in ("reference", "test")}
    named = replace(record, **sides)
    one = replace(outcomeWith([box]), records=[named])
    assert results.suggestedFile("metrics", one) == "metrics_Box_Dr._A_B.csv"
    assert results.titlesOf(one) == ["Reference: Box, Dr. =A/B", "Test: Box, Dr. =A/B"]
    several = replace(one, isOfAll=True)
    assert results.suggestedFile("metrics", several) == "metrics_Dr._A_B.csv"
    assert results.suggestedFile("conventions", several, 0) == "conventions_Box_Dr._A_B.csv"
    assert results.titlesOf(several) == ["Reference: Dr. =A/B", "Test: Dr. =A/B"]
    names = [results.suggestedFile("", each, suffix=".html") for each in (one, several)]
    assert names == ["Box_Dr._A_B.html", "Dr._A_B.html"]


# Verdicts


def test_a_rule_for_the_number_of_another_tool_names_it(box):
    text = "Structure,Measurement,Relation,Pass,Warn,Convention\nBox,HD95,<=,0.5,30,MedPy\n"
    outcome = outcomeWith([box], judgment=judged([box], text, isWhole=False))
    assert texts(verdicts.rules(outcome, 0))[0][0] == "HD95\nMedPy"


def test_a_structure_that_was_not_compared_cannot_be_shown(three):
    """It has a row, but there is nothing to see of it."""
    rules = f"{RULES}Nowhere,HD,<=,1,,\n"
    model = shown(three, judgment=judged(three, rules, isWhole=True))
    before = model.number()
    row = [cells[0][0] for cells in results.mainNumbers(model.outcome).rows].index("Nowhere")
    model.showPair(row)
    assert row == len(three) and model.number() == before and model.record() is not None


# Pages and the lines that open


def test_pages_appear_when_there_is_something_in_them(box, three, monkeypatch):
    model = modelOf(Segmentation("One", "Box"), Segmentation("Two", "Box"))
    assert [page.name for page in pages.allPages() if page.hasContent(model)] == []
    model = shown([box])
    assert [page.title for page in pages.allPages() if page.hasContent(model)] == [
        *("Numbers", "Plot", "Map", "Places", "Slices", "Tools"),
    ]
    model.setOutcome(replace(shown(three).outcome, records=[]))
    assert [page.name for page in pages.allPages() if page.hasContent(model)] == ["numbers"]


@pytest.mark.parametrize(
    ("count", "rows"), [(0, []), (1, [1]), (6, [6]), (7, [4, 3]), (9, [5, 4]), (12, [6, 6]), (13, [5, 5, 3])]
)
def test_buttons_of_pages_take_as_many_rows_as_they_need(count, rows):
    found = pages.rowsOf(count)
    assert [len(row) for row in found] == rows and [n for row in found for n in row] == list(range(count))


def test_a_line_says_how_much_there_is_to_read(box, apart):
    assert results.notes(None, 0) == "" and results.notes(outcomeWith([box]), 0) == "1 note"
    outcome = outcomeWith([apart, box], unmatched={"test": ["C"]}, failures={"A": "It is broken."})
    counted = [results.alarms(outcome, n).count("•") for n in (0, 1)]
    assert counted == [1, 1] and results.notes(outcome, 0).startswith("⚠ Check this first: 1 alarm, ")
    assert results.notes(outcome, 1) == "⚠ Check this first: 1 alarm, 3 notes"
    both = replace(outcome, records=[outcome.records[0], outcome.records[0]])
    assert results.notes(both, 0).startswith("⚠ Check this first: 2 alarms, ")


# Maps, places, slices and other tools


def test_the_map_says_where_the_largest_distance_is(box):
    hd = box["HD"]
    record = replace(box.record(), measurements={"HD": replace(hd, referenceToTest=1.0, testToReference=5.04)})
    assert maps.farthest(record, ("reference",)) == "The largest distance is on the test: 5.0 mm."
    assert maps.farthest(record, ("test",)) == maps.farthest(record, ("reference", "test")) == ""
    other = replace(record, measurements={"HD": replace(hd, referenceToTest=5.04, testToReference=5.01)})
    assert maps.farthest(other, ("test",)) == "", "rounded, they are equal"


def test_controls_of_the_map(box):
    model = shown([box])
    p, record = model.parameters, model.record()
    can = maps.controls(p, record)
    assert (can.problem, can.hasOptions, can.hasRange, can.isRangeFree) == ("", True, True, False)
    p.automaticRange, p.showMap = False, False
    can = maps.controls(p, record)
    assert can.isRangeFree and not can.hasOptions
    p.mapKind = MapKind.hazard
    assert maps.kindOf(p, model.outcome) == ("signed", "Hazard was not measured: the map shows signed distances.")
    assert not maps.controls(p, record).hasRange and not maps.controls(p, record).remark
    without = maps.controls(p, knowing(record, method=""))
    assert without.problem == "No distances were measured." and without.hasOptions, "for the next structure"


def test_the_list_of_places(box):
    outcome = replace(outcomeWith([box]), settings=Settings(tolerances=1))
    record = comparisonOf("Box", BOX, shapes.box((9, 5, 5), (15, 11, 12)), Settings(tolerances=1)).record()
    outcome.records = [record]
    table = places.places(outcome, 0)
    first = record.worstPlaces[0]
    assert texts(table)[0][:2] == ["1", f"{first.value:+.1f}"] and len(table.rows) == len(record.worstPlaces)
    assert places.about(outcome, 0) == "Where the contours lie more than 1 mm apart. Click to go there."
    outcome.records = [knowing(record, worstPlaces=())]
    assert places.about(outcome, 0).startswith("The contours are nowhere more") and places.places(outcome, 0).rows == []
    outcome.records = [knowing(record, worstPlaces=(), method="")]
    assert places.about(outcome, 0) == "No distances were measured."
    assert "tolerance" in places.about(None, 0)


def test_the_table_of_slices():
    record = comparisonOf("Box", BOX, shapes.box((8, 5, 5), (15, 11, 13)), Settings(families=("slices",))).record()
    table = slices.slices(record.slices)
    assert len(table.rows) == len(record.slices) and headings(table)[1:3] == ["HD", "MASD"]
    assert "Only the test has it." in table.rows[-1][0][2] and "-" in texts(table)[-1]
    assert slices.keyOf(SliceQuantity.APL, record.slices).startswith("APL_") and slices.slices(()).rows == ()


def test_headings_follow_the_language(monkeypatch):
    monkeypatch.setattr(slices, "_", lambda text: f"<{text}>")
    assert list(slices.headings().values())[:2] == ["<HD>", "<MASD>"]


def test_tools_have_numbers_of_their_own_for_empty_masks():
    from SegmentMetricsLib.show.conventions import ConventionsRecord

    comparison = comparisonOf("Box", BOX, 0 * BOX)
    source = comparison.record()
    record = ConventionsRecord(*source.sides, comparison.conventions(["MONAI"]))
    first, second = texts(conventions.values(record, "HD95"))
    assert first == ["SegmentMetrics", "inf", ""] and second[0] == "MONAI" and second[2] == ""


def test_the_tip_says_how_empty_masks_lean():
    """A best score for two empty masks has no difference to show, and is called over-optimistic all the same."""
    numbers = compare(0 * shapes.ball(4), 0 * shapes.ball(4)).conventions(["pymia"])["pymia"]
    tip = conventions.explain(numbers["NSD_2mm"], "pymia 0.3.4").split("\n")
    assert tip[1:] == ["Both masks are empty: the tool reports -inf.", "Over-pessimistic."]
    assert conventions.explain(numbers["DSC"], "pymia 0.3.4").endswith("\nOver-optimistic.")
    assert conventions.inColumn(numbers["NSD_2mm"], numbers["NSD_2mm"]) == "-inf"
    assert conventions.ownNumber(numbers["HD"]).text() == "undefined"

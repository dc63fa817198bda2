"""What the panel's model makes of results: whether they are out of date, what is possible with them, what is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapes
from panelfakes import Segmentation, Table, comparisonOf, judged, modelOf, outcomeOf
from sayings import says
from SegmentMetricsPanel.contents import curves, maps, pages, places, results
from SegmentMetricsPanel.model.enumerations import Mode, SliceQuantity

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import InputError

BOX = shapes.box((6, 5, 5), (15, 11, 12))
RULES = "Structure,Measurement,Relation,Pass,Warn,Source\n"
WHOLE = {"mode": Mode.allStructures}


@pytest.fixture(scope="module")
def box():
    """The comparison of two boxes, of which the second is the smaller one."""
    return comparisonOf("Box", shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9)))


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
    "settings": [
        lambda m: setattr(m.parameters, "tolerance", 3.0),
        lambda m: setattr(m.parameters, "families", []),
        lambda m: setattr(m.parameters, "protocol", Table("Limits", f"{RULES}Box,DSC,>=,0.5,,\n")),
        lambda m: setattr(m.parameters, "protocol", Table("Limits", f"{RULES}Box,DSC,>=,much,,\n")),
    ],
    "selection": [
        lambda m: setattr(m.parameters, "referenceSegment", "cord"),
        lambda m: setattr(m.parameters, "test", None),
        lambda m: m.inputs.swap(),
    ],
    "mode": [lambda m: setattr(m.parameters, "mode", Mode.allStructures)],
    "removed": [lambda m: m.outcome.nodes.__setitem__(1, None)],
    "segment": [lambda m: (setattr(m.outcome, "changed", "Box of the test"), m.suspect({"box"}))],
}


@pytest.mark.parametrize(("what", "change"), [(what, c) for what, changes in CHANGES.items() for c in changes])
def test_results_are_out_of_date(box, what, change):
    model = shown([box])
    assert model.staleness() == model.staleText() == model.whyNotReport() == model.outOfDate() == ""
    change(model)
    reason = says(model.staleness(), model.outcome.changed)
    says(model.staleText(), reason)
    (why,) = {model.whyNotReport(), model.whyNotTools(), model.outOfDate()}
    says(why)


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


def test_results_come_back_with_a_scene(box):
    model = modelOf(Segmentation("One", "Box"), Segmentation("Two", "Box"))
    saved = outcomeOf(model, [box], comparisons=None, changed="Box of the test")
    model.parameters.result = saved.table
    saved.table.results = lambda: saved
    assert model.due()
    model.recall()
    assert model.outcome is saved and not model.due() and model.staleness() == saved.changed
    saved.changed = ""
    model.suspect(None)
    assert says(model.whyNotTools()) and not model.whyNotReport()
    model.parameters.result = None
    model.recall()
    assert model.outcome is None and not model.due()


def test_results_that_cannot_be_read_are_said_to_be():
    def fail():
        raise InputError("The results in Old cannot be read.")

    model = modelOf(Segmentation("One", "Box"), result=Table("Old", results=fail))
    model.recall()
    assert model.outcome is None and model.parameters.result is None and not model.due()
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
    rules = f"{RULES}Alike,HD,<=,1,,\nNear,STAR,<=,1,,\nFar,HD,<=,1,,\nNowhere,HD,<=,1,,\n"
    judgment = judged(three, rules, isWhole=True)
    model = shown(three, judgment=judgment)
    assert model.record().name == "Far" and results.mainNumbers(model.outcome).order == [2, 1, 3, 0]
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


def test_the_next_step_is_said():
    model = modelOf(Segmentation("One", "Box"))
    assert model.summary() == "", "one sentence says what to choose"
    assert says(modelOf().summary(), "reference", "test") and not modelOf().message()
    assert model.whyNotReport() == says(model.whyNotTools())
    says(model.message(), "test")


def test_one_message_at_a_time(box):
    model = shown([box])
    assert model.message("", "No map.", "No plot.") == "No map."
    model.parameters.families = []
    assert model.message("No map.") == says(model.whyNot())
    model.notice = "Stopped."
    assert model.message("No map.") == "Stopped."


def texts(table) -> list[list[str]]:
    return [[cell[0] for cell in row] for row in table.rows]


def headings(table) -> list[str]:
    return [column.heading for column in table.columns]


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


def test_alarms_of_other_structures_are_named(box, apart):
    outcome = outcomeWith([box, apart])
    says(results.findings(outcome, 0)[0], "Apart")
    assert "Apart" not in results.findings(outcome, 1)[0]
    rows = results.mainNumbers(outcome).rows
    assert [row[0][0] for row in rows] == ["Box", "⚠ Apart"]
    assert ["⚠" in row[0][2] for row in rows] == [False, True]


def test_what_was_not_compared_is_said(box, three):
    reasons = {"A": "It is broken.", "B": "It is broken."}
    outcome = outcomeWith([box, three[0]], unmatched={"test": ["C", "D"]}, failures=reasons, findings=("Doubtful.",))
    lines = results.findings(outcome, 0)[1].split("<br>")
    assert says(lines[0], "test", "C, D") and lines[1:3] == ["• Doubtful.", "• A, B: It is broken."]
    nothing = replace(outcome, records=[])
    assert results.findings(nothing, 0)[1].startswith(lines[0])
    says(results.summary(nothing, 0))
    assert not results.mainNumbers(nothing).rows


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


def test_a_structure_that_was_not_compared_cannot_be_shown(three):
    """It has a row, but there is nothing to see of it."""
    rules = f"{RULES}Nowhere,HD,<=,1,,\n"
    model = shown(three, judgment=judged(three, rules, isWhole=True))
    before = model.number()
    row = [cells[0][0] for cells in results.mainNumbers(model.outcome).rows].index("Nowhere")
    model.showPair(row)
    assert row == len(three) and model.number() == before and model.record() is not None


# Pages and the lines that open


def test_without_any_pair_there_is_the_page_of_numbers(three):
    model = shown(three)
    model.setOutcome(replace(model.outcome, records=[]))
    assert pages.pagesFor(model) == ["numbers"]


@pytest.mark.parametrize(
    ("count", "rows"), [(0, []), (1, [1]), (6, [6]), (7, [4, 3]), (9, [5, 4]), (12, [6, 6]), (13, [5, 5, 3])]
)
def test_buttons_of_pages_take_as_many_rows_as_they_need(count, rows):
    found = pages.rowsOf(count)
    assert [len(row) for row in found] == rows and [n for row in found for n in row] == list(range(count))


def test_a_line_says_how_much_there_is_to_read(box, apart):
    says(results.findings(outcomeWith([box]), 0)[2], "1")
    outcome = outcomeWith([apart, box], unmatched={"test": ["C"]}, failures={"A": "It is broken."})
    counted = [results.findings(outcome, n)[0].count("•") for n in (0, 1)]
    assert counted == [1, 1] and says(results.findings(outcome, 0)[2], "⚠", "1")
    says(results.findings(outcome, 1)[2], "⚠", "1", "3")
    both = replace(outcome, records=[outcome.records[0], outcome.records[0]])
    says(results.findings(both, 0)[2], "⚠", "2")


# Maps, places, slices and other tools


def test_the_map_says_where_the_largest_distance_is(box):
    hd = box["HD"]
    record = replace(box.record(), measurements={"HD": replace(hd, referenceToTest=1.0, testToReference=5.04)})
    says(maps.farthest(record, ("reference",)), "test", "5.0 mm")
    assert maps.farthest(record, ("test",)) == maps.farthest(record, ("reference", "test")) == ""
    other = replace(record, measurements={"HD": replace(hd, referenceToTest=5.04, testToReference=5.01)})
    assert maps.farthest(other, ("test",)) == "", "rounded, they are equal"


def test_what_is_said_of_places(box):
    outcome = replace(outcomeWith([box]), settings=Settings(tolerances=1))
    record = comparisonOf("Box", BOX, shapes.box((9, 5, 5), (15, 11, 12)), Settings(tolerances=1)).record()
    says(places.about(record, outcome), "1 mm")
    nowhere = knowing(record, worstPlaces=())
    says(places.about(nowhere, outcome), "1 mm")
    assert places.places(nowhere).rows == [] and says(places.about(None, None))
    says(places.about(knowing(nowhere, method=""), outcome))


def test_slices_of_one_side():
    record = comparisonOf("Box", BOX, shapes.box((8, 5, 5), (15, 11, 13)), Settings(families=("slices",))).record()
    table = curves.slices(record.slices)
    assert says(table.rows[-1][0][2], "test") and "-" in texts(table)[-1]
    assert curves.keyOf(SliceQuantity.APL, record.slices).startswith("APL_")

"""What is given to functions beside the face, and to options of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapes
from sayings import refused

from SegmentMetricsLib import Settings, compareCase
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.batch.statistics import Cohort, summarize
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol, readProtocol
from SegmentMetricsLib.commands.options import OPTIONS, addSettings, settingsFrom
from SegmentMetricsLib.commands.parsing import Parser
from SegmentMetricsLib.metrics.registry import FAMILIES
from SegmentMetricsLib.settings.settings import DECLARED
from SegmentMetricsLib.show.tablemodel import Amount, Column


def testWrongKindsOfArgumentsAreRefusedInASentence():
    for call, *names in (
        (lambda: summarize([]), "Cohort", "list"),
        (lambda: summarize(Cohort(), {"seed": 1}), "Options", "dict"),
        (lambda: Options(resamples="many"), "'many'"),
        (lambda: readProtocol(7), "Path", "int"),
        (lambda: parseProtocol(Path("limits.csv"), "limits"), type(Path()).__name__),
        (lambda: judgeCase("limits.csv", [], {}), "Protocol", "str"),
    ):
        with refused(*names, error=InputError):
            call()


@pytest.mark.parametrize("first", [0, 1, 2])
def testWhoIsToldOfTheProgressMayCancel(first):
    """What was compared before is kept, if there is anything."""

    def cancel(number, *given):
        if number == first:
            raise Cancelled

    sets = ([shapes.structureOf(shapes.box((2, 2, 2), (6, 6, n + 6)), name) for n, name in enumerate("ABC")],) * 2
    if not first:
        with pytest.raises(Cancelled):
            compareCase(*sets, Settings(metrics="DSC"), progress=cancel)
    else:
        assert len(compareCase(*sets, Settings(metrics="DSC"), progress=cancel)) == first


def testOptionsTakeWhatTheSettingsTake(tmp_path):
    """What the command line gives to a setting is accepted, whatever kind it is of."""
    parser, table = Parser(), tmp_path / "classes.csv"
    addSettings(parser)
    table.write_text("label,class\n1,Edema\n2,Edema\n", encoding="utf-8")
    words = {"metrics": "DSC", "convention": "medpy", "grid": "reference", "membershipMaximum": "255"}
    words |= {"critical": "Cord=0.5", "labelWeights": "Liver=2", "instanceClasses": str(table)}
    for name in (name for names in OPTIONS.values() for name in names):
        one = DECLARED[name]
        value = words.get(name) or (one.check.choices or ("1",))[0]
        isSwitch = one.check.option.get("action") == "store_true"
        given = [settingsFrom(parser.parse_args(["--set", f"{name}={'yes' if isSwitch else value}"]))]
        if one.option.flag:
            given.append(settingsFrom(parser.parse_args([one.option.flag, *([] if isSwitch else [value])])))
        for found in given:
            changed = {field for field in DECLARED if getattr(found, field) != getattr(Settings(), field)}
            assert changed <= {name, "families"} and found == given[0], name


def testEverySettingIsDeclared():
    """Reports, the documentation and the command line tell what was set; nothing is called the same as another."""
    for names in (
        [one.label for one in DECLARED.values()],
        [one.about for one in DECLARED.values()],
        [one.optionFor(name) for name, one in DECLARED.items() if name != "families"],  # --metrics takes families, too
        [one.panel.place for one in DECLARED.values() if one.panel],
    ):
        assert all(names) and len(set(names)) == len(names)
    for name, one in DECLARED.items():
        assert f", optional\n    {one.about}" in Settings.__doc__.partition(f"\n{name} : ")[2]
        assert one.families is None or set(one.families) <= set(FAMILIES)
        assert one.onlyIf is None or one.onlyIf[0] in DECLARED


def testAmountsOfDifferentKindsKeepTheirUnits():
    """Such as volumes and an area in one column."""
    mixed = [Amount(52.8, "mm3"), Amount(13074.0, "mm3"), Amount(1.0, "mm2")]
    assert Column("Value").texts(mixed) == [one.text() for one in mixed]

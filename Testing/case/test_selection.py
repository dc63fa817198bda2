"""Single measurements that somebody asks for: these are measured, and nothing else is."""

from __future__ import annotations

from functools import cache

import pytest
import shapes
from sharedpairs import doseAround
from tiers import throughout

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case import multilabel
from SegmentMetricsLib.metrics.registry import FAMILIES, MULTI_LABEL, REGISTRY, nameOf

PAIR = [shapes.ball(r, (x, 0, 0), origin=(-12, -12, -12), size=(25, 25, 25)) for r, x in ((6, 0), (5, 1))]
EXAMPLES = {
    "percentile": "97.5", "tolerance": "3", "beta": "2", "quantile": "0.9",
    "dosePercent": "90", "doseVolume": "0.5", "doseLevel": "31",
}  # fmt: skip


def keysOf(*pair, **settings) -> list[str]:
    return list(compare(*pair, Settings(**settings)))


CRITICALS = {"Wall": shapes.ball(3, (7, 0, 0), origin=(-12, -12, -12), size=(25, 25, 25))}


@cache
def everything():
    settings = Settings(
        families=("all", "dose"), tolerances=3, percentiles=97.5, betas=2, quantiles=0.9, dosePercents=90,
        doseVolumes=0.5, doseLevels=31,
    )  # fmt: skip
    return compare(*PAIR, settings, criticals=CRITICALS, dose=doseAround(PAIR[0]))


@throughout("definition", REGISTRY, lambda definition: definition.key)
def testEveryMeasurementAlone(definition):
    """By its key in any case, without its parameter where a name is left, and with the value that it has among all."""
    key = definition.keyFor(EXAMPLES)
    dose = doseAround(PAIR[0]) if definition.family == "dose" else None
    alone = compare(*PAIR, Settings(metrics=key.swapcase()), criticals=CRITICALS, dose=dose)
    assert list(alone) == [key]
    assert alone.settings.families == (definition.family,)
    other = everything()[key]
    if definition.key.startswith(("BIoU", "HD{")):  # how many points are sampled depends on all that is measured
        assert alone[key].value == pytest.approx(other.value, abs=0.02)
    else:
        assert alone[key].value == pytest.approx(other.value, rel=1e-3, abs=1e-3, nan_ok=True)


def testAKeyStatesItsParameters():
    settings = Settings(metrics=("NSD_3mm", "hd97.50", "FMS_2", "HDvox_0.9", "DSC"))
    assert settings.metrics == ("NSD_3mm", "HD97.5", "FMS_2", "HDvox_0.9", "DSC")
    assert (settings.tolerances, settings.percentiles, settings.betas, settings.quantiles) == (
        (3.0,), (97.5,), (2.0,), (0.9,)
    )  # fmt: skip
    assert keysOf(*PAIR, metrics=settings.metrics) == ["HD97.5", "NSD_3mm", "DSC", "FMS_2", "HDvox_0.9"]
    # what is given besides stays and comes first, as the worst places are those beyond the first tolerance
    assert Settings(metrics="NSD_3mm", tolerances=(1, 2)).tolerances == (1.0, 2.0, 3.0)
    assert keysOf(*PAIR, metrics="NSD_3mm", tolerances=(1, 2)) == ["NSD_3mm"]


def testANameWithoutItsParameterStandsForAll():
    assert keysOf(*PAIR, metrics=("NSD", "fms"), tolerances=(1, 2), betas=(1, 2)) == [
        "NSD_1mm", "NSD_2mm", "FMS", "FMS_2",
    ]  # fmt: skip
    assert keysOf(*PAIR, metrics="NSD") == ["NSD_2mm"] and keysOf(*PAIR, metrics="HD") == ["HD"]
    names = [nameOf(definition) for definition in (*REGISTRY, *MULTI_LABEL)]
    assert len(set(names)) == len(names), "every measurement can be asked for"
    assert not {name.casefold() for name in names} & set(FAMILIES)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("DCS", "There is no metric family 'DCS', nor such a measurement; choose from boundary, .* Did you mean DSC"),
        ("overlapp", "Did you mean overlap"),
        ("NSD_1.2.3mm", "There is no metric family .NSD_1.2.3mm., nor such a measurement"),
        (3, "are given by name, not as 3"),
        ("NSD_2000mm", "at most 1000 mm"),
        ("HD101", "at most 100"),
    ],
)
def testRefusals(given, said):
    with pytest.raises(InputError, match=said):
        Settings(metrics=given)


def testAllLabelsAtOnce():
    """They are measured with the family, or when they are asked for."""
    both = {"Liver": PAIR[0], "Spleen": PAIR[1]}, {"Liver": PAIR[1], "Spleen": PAIR[1]}
    assert list(multilabel.compareLabels(*both, Settings(metrics="diceml"))) == ["DICEml"]
    assert len(multilabel.compareLabels(*both, Settings())) == 4
    assert compare(*PAIR, Settings(metrics="KAP")).share is None
    assert compare(*PAIR, Settings(metrics=("KAP", "JACml"))).share is not None

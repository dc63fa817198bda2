"""Single measurements that somebody asks for: these are measured, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import refused
from tiers import rarely

from SegmentMetricsLib import Dose, Settings, compare, compareLabels

PAIR = [shapes.ball(r, (x, 0, 0), origin=(-8, -8, -8), size=(17, 17, 17)) for r, x in ((4.2, 0), (3.6, 1))]


def keysOf(*pair, **settings) -> list[str]:
    return list(compare(*pair, Settings(**settings)))


CRITICALS = {"Wall": shapes.ball(2, (5, 0, 0), origin=(-8, -8, -8), size=(17, 17, 17))}


@pytest.mark.parametrize("step", [3, *rarely([1])])
def testEveryMeasurementAlone(step):
    """By its key in any case, and with the value that it has among all."""
    chosen = {"tolerances": 3, "percentiles": 97.5, "betas": 2, "quantiles": 0.9}
    settings = Settings(families=("all", "dose"), **chosen, dosePercents=90, doseVolumes=0.5, doseLevels=31)
    dose = Dose(1.0 + np.indices((21, 21, 21)).sum(axis=0), shapes.gridOf((21, 21, 21), (4, 4, 4), (-40, -40, -40)))
    for key, other in list(compare(*PAIR, settings, criticals=CRITICALS, dose=dose).items())[::step]:
        given = dose if other.family == "dose" else None
        alone = compare(*PAIR, Settings(metrics=key.swapcase()), criticals=CRITICALS, dose=given)
        assert list(alone) == [key] and alone.settings.families == (other.family,)
        # how many points are sampled depends on all that is measured
        slack = 0.02 if key.startswith(("BIoU", "HD9")) else 1e-3
        assert alone[key].value == pytest.approx(other.value, rel=1e-3, abs=slack, nan_ok=True), key


def testAKeyStatesItsParameters():
    settings = Settings(metrics=("NSD_3mm", "hd97.50", "FMS_2", "HDvox_0.9", "DSC"))
    assert settings.metrics == ("NSD_3mm", "HD97.5", "FMS_2", "HDvox_0.9", "DSC")
    stated = [*settings.tolerances, *settings.percentiles, *settings.betas, *settings.quantiles]
    assert stated == [3, 97.5, 2, 0.9]
    assert keysOf(*PAIR, metrics=settings.metrics) == ["HD97.5", "NSD_3mm", "DSC", "FMS_2", "HDvox_0.9"]
    # what is given besides stays and comes first, as the worst places are those beyond the first tolerance
    assert Settings(metrics="NSD_3mm", tolerances=(1, 2)).tolerances == (1.0, 2.0, 3.0)
    assert keysOf(*PAIR, metrics="NSD_3mm", tolerances=(1, 2)) == ["NSD_3mm"]


def testANameWithoutItsParameterStandsForAll():
    found = keysOf(*PAIR, metrics=("NSD", "fms"), tolerances=(1, 2), betas=(1, 2))
    assert found == ["NSD_1mm", "NSD_2mm", "FMS", "FMS_2"]
    assert keysOf(*PAIR, metrics="NSD") == ["NSD_2mm"] and keysOf(*PAIR, metrics="HD") == ["HD"]


def testRefusals():
    for given, *names in (
        ("DCS", "'DCS'", "boundary, ", "DSC"),
        ("overlapp", "'overlapp'", " overlap"),
        ("NSD_1.2.3mm", "'NSD_1.2.3mm'"),
        (3, "3"),
        ("NSD_2000mm", "2000", "1000 mm"),
        ("HD101", "101", "100"),
    ):
        with refused(*names):
            Settings(metrics=given)


def testAllLabelsAtOnce():
    """They are measured with the family, or when they are asked for."""
    both = {"Liver": PAIR[0], "Spleen": PAIR[1]}, {"Liver": PAIR[1], "Spleen": PAIR[1]}
    assert list(compareLabels(*both, Settings(metrics="diceml"))) == ["DICEml"]
    assert len(compareLabels(*both, Settings())) == 4
    assert compare(*PAIR, Settings(metrics="KAP")).share is None
    assert compare(*PAIR, Settings(metrics=("KAP", "JACml"))).share is not None

"""What the panel's model asks for, made of plain values: a scene, parameters and results without Slicer and Qt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace

from SegmentMetricsPanel.model import enumerations
from SegmentMetricsPanel.model.chosensettings import IN_PANEL
from SegmentMetricsPanel.model.panelmodel import PanelModel

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.casework import Case
from SegmentMetricsLib.case.pairing import pairStructures
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.model.structure import Identity
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST, Match, Pairing

UNCHOSEN = "reference test protocol dose result session observersOf observersResult"
EMPTY = "pairs critical observerNodes testNodes observerSegments testSegments"
UNSAID = "referenceSegment testSegment edit observedOnly observedStructure"
ON = "showMap focus automaticRange sliceContour showVariation legend"
OFF = "follow showLesions areObserversChosen showMarkers showHazard reportConventions"
DEFAULTS = {
    **dict.fromkeys(UNCHOSEN.split()),
    **{name: [] for name in EMPTY.split()},
    **dict.fromkeys(UNSAID.split(), ""),
    **dict.fromkeys(ON.split(), True),
    **dict.fromkeys(OFF.split(), False),
    **{"families": ["boundary", "signed", "overlap"], "convention": "SegmentMetrics", "observedKey": "HD95"},
    **{"tolerance": 2.0, "percentile": 95.0, "beta": 1.0, "quantile": 1.0, "il": 1.0, "ol": 1.0, "prescription": 0.0},
    **{"hazardReach": 10.0, "hazardDecay": 8.0, "range": 5.0, "opacity": 1.0, "shownPair": 0},
    **{"lesionMinimum": 0.0, "lesionOverlap": 0.0, "panopticOverlap": 0.5, "lesionDilation": 0},
}
CHOICES = {
    "mode": enumerations.Mode,
    "consensus": enumerations.ConsensusMethod,
    "plot": enumerations.Plot,
    "mapSide": enumerations.MapSide,
    "mapKind": enumerations.MapKind,
    "mapSurface": enumerations.MapSurface,
    "sliceQuantity": enumerations.SliceQuantity,
    **{panel.name: enumerations.choicesOf(name) for name, panel in IN_PANEL.items() if panel.words},
}


def parameters(**chosen) -> SimpleNamespace:
    """Return parameters as a new scene has them, but for what is chosen."""
    firsts = {name: next(iter(kind)) for name, kind in CHOICES.items()}
    lists = {name: list(value) for name, value in DEFAULTS.items() if isinstance(value, list)}
    return SimpleNamespace(**{**DEFAULTS, **lists, **firsts, **chosen})


class Segmentation:
    """A segmentation with segments of these names; an ID is the name in lower case, with a number if it is taken."""

    def __init__(self, name: str, *segments: str):
        self.name, self.segments = name, {}
        for segment in segments:
            identifier = segment.lower()
            self.segments[identifier if identifier not in self.segments else f"{identifier}_1"] = segment


@dataclass(eq=False)
class Table:
    """A table with the text of a protocol, or with results: a function that returns them, or raises InputError."""

    name: str = ""
    text: str = ""
    results: Callable = lambda: None


class Scene:
    """What stands for a SlicerScene, with these segmentations."""

    def __init__(self, *segmentations: Segmentation):
        self.nodes, self.tables, self.isBusy = list(segmentations), [], False

    def isChanging(self) -> bool:
        return self.isBusy

    def segmentations(self) -> list:
        return self.nodes

    def doses(self) -> dict:
        return {}

    def segments(self, node) -> dict:
        return node.segments if node else {}

    def name(self, node) -> str:
        return node.name

    def pairing(self, reference, test, *, choices):
        sides = [[Identity(n) for n in node.segments.values()] for node in (reference, test)]
        return pairStructures(*sides, choices=choices, isProposing=False)

    def protocols(self) -> list:
        return self.tables

    def protocol(self, table):
        return parseProtocol(table.text, table.name)

    def practiceState(self, segmentation) -> str:
        return getattr(segmentation, "practice", "")

    def recall(self, table):
        return table and table.results()

    def isConsensus(self, node) -> bool:
        return node.name.startswith("Consensus")

    def fileName(self) -> str:
        return ""

    def oneChange(self, _parameters):
        return nullcontext()


@dataclass(eq=False)
class Outcome:
    """What mrml.outcomes.Outcome is for the model. changed: what change() says."""

    nodes: list
    given: list
    records: list
    segments: list
    settings: Settings
    isOfAll: bool = False
    table: Table = field(default_factory=Table)
    comparisons: object = None
    judgment: dict | None = None
    unmatched: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)
    findings: tuple = ()
    choices: dict = field(default_factory=dict)
    run: str = "1"
    changed: str = ""
    dose: object = None

    def node(self, side: str):
        return self.nodes[REFERENCE_AND_TEST.index(side)]

    def pair(self, number: int) -> SimpleNamespace:
        parts = zip(self.nodes, self.segments[number], strict=True)
        reference, test = (Identity("", nodeID=str(id(node)), segmentID=segment) for node, segment in parts)
        return SimpleNamespace(reference=reference, test=test)

    def change(self, suspects=None) -> str:
        return self.changed


def comparisonOf(name: str, reference, test, settings: Settings | None = None):
    """Return the comparison of two images as structures of that name."""
    structures = [structureFromImage(image, name, None, 0.5) for image in (reference, test)]
    return compare(*structures, settings or Settings())


def judged(comparisons, text: str, **options) -> dict:
    """Return the judgment of comparisons by the rules of a protocol's text."""
    protocol = parseProtocol(text, "Limits")
    measured = []
    for one in comparisons:
        pairing = Pairing((Match(one.reference, one.test),), (), ())
        (found,) = Case(pairing, one.settings, protocol).pairs(pairing.pairs)
        measured.append(((one.reference.name, one.test.name), found.byConvention))
    return judgeCase(protocol, measured, {}, **options).toDictionary()


def outcomeOf(model: PanelModel, measured, **options) -> Outcome:
    """Return an outcome of what is chosen in a model, made of these comparisons."""
    p = model.parameters
    isOfAll, segments = p.mode.name == "allStructures", (p.referenceSegment, p.testSegment)
    return Outcome(
        nodes=[p.reference, p.test],
        given=["", ""] if isOfAll else segments,
        records=[comparison.record() for comparison in measured],
        segments=[segments] * len(measured),
        settings=model.readSettings().settings,
        isOfAll=isOfAll,
        **{"comparisons": measured, **options},
    )


def modelOf(*segmentations: Segmentation, **chosen) -> PanelModel:
    """Return an active model of a scene; without any choice it preselects what is likely."""
    model = PanelModel(Scene(*segmentations))
    model.setParameters(parameters(**chosen))
    model.inputs.setActive(True)
    return model

"""What several observers have in common and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from SegmentMetricsLib.base.plain import fromPlain
from SegmentMetricsLib.case.places import Place
from SegmentMetricsLib.metrics.measurement import fixDecimals, withUnit
from SegmentMetricsLib.metrics.registry import findMetric

from ..markup import escape
from ..translation import _
from .results import inWords
from .table import Cell

# Characters of a name in the headings of the matrix: a longer one would leave no room for the numbers.
LONGEST = 14
# Of the outlines of observers, bright on images and apart with every color vision deficiency as far as eight can be.
COLORS = ("#ffb000", "#00e0c6", "#ff5cf4", "#f0e442", "#56b4e9", "#d55e00", "#b0ff70", "#ffffff")


def summary(found: Mapping | None) -> str:
    """Return how the observers agree in one sentence of HTML. found: ObservedStructure.toDictionary(), or None."""
    if found is None:
        return _("Check the observers, and the tests, which are not observers; then Apply.")
    return f"<b>{escape(found['name'])}</b>: {escape(found['sentence'])}"


def pairSummary(names, pair, text: str) -> str:
    """Return the outcome of a pair, given by its row and column in the matrix, in one sentence of HTML."""
    reference, test = (escape(names[number]) for number in pair)
    who = _("{reference} (reference) and {test} (test)").format(reference=reference, test=test)
    return f"<b>{who}</b>: {escape(inWords(text))}"


def short(name: str) -> str:
    """Return a name for a heading of the matrix; of a long one the beginning and the end, which tell names apart."""
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[: half - 1]}…{name[-half:]}"


def matrix(found: Mapping, names, key: str, count: int) -> list[list[Cell]]:
    """Return the cells of the matrix of a measurement: `count` observers as references in rows, all in columns.

    Their values are 0 for the best of the matrix to 1 for the worst, which is orange; None for those without a color.
    """
    values, one = found["matrix"][key], findMetric(key)
    unit, better = (one.metric.unit, one.metric.better) if one is not None else ("", "")
    reasons = {(n["reference"], n["test"]): n for n in found.get("notFinite", ()) if n["measurement"] == key}
    known = [value for row in values for value in row if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    cells = []
    for reference, row in zip(names[:count], values):
        cells.append([])
        for test, value in zip(names, row):
            who = _("{reference} (reference) and {test} (test)").format(reference=reference, test=test)
            text, tip, share = "", "", None
            if reference != test and value is None:
                reason = reasons.get((reference, test), {"status": "", "reason": _("They were not compared.")})
                text, tip = {"infinite": "∞"}.get(reason["status"], "-"), f"{who}\n{reason['reason']}"
                share = 1.0 if text == "∞" else None
            elif reference != test:
                text = fixDecimals(value, unit) if unit != "mm3" else withUnit(value, unit)
                tip = f"{who}: {key} {withUnit(value, unit)}\n" + _("Click to see this pair on the pages.")
                worse = value - low if better == "lower" else high - value
                share = None if not better else worse / (high - low) if high > low else 0.0
            color = "" if share is None else f"#ff{round(255 - 85 * share):02x}{round(255 - 165 * share):02x}"
            cells[-1].append(Cell(text, share, tip, color))
    return cells


def colorOfObserver(number: int) -> str:
    """Return the color of an observer or test, by its place among all, in the views, the list and the matrix."""
    return COLORS[number % len(COLORS)]


def choices(keys: Iterable[str]) -> dict[str, str]:
    """Return the texts for the choice of a measurement by key, with its unit."""
    found = {key: findMetric(key) for key in keys}
    return {key: f"{key} ({one.metric.unit})" if one and one.metric.unit else key for key, one in found.items()}


def about(found: Mapping) -> str:
    """Return the agreement, the consensus, and the verdicts on tests, line by line."""
    lines, agreement = [], found["agreement"]
    indices = [agreement["ConformityIndex"], agreement["GeneralizedConformityIndex"]]
    if None not in indices:
        text = _("Conformity index {all}, generalized {pairs}.")
        lines.append(text.format(all=fixDecimals(indices[0], ""), pairs=fixDecimals(indices[1], "")))
    variation = found["variation"]
    if variation is not None and None not in variation.values():
        text = _("Local SD on the consensus: {sd} mm; 95 % of its surface is below {most} mm.")
        sd, most = variation["rootMeanSquareSD"], variation["percentile95SD"]
        lines.append(text.format(sd=fixDecimals(sd, "mm"), most=fixDecimals(most, "mm")))
    for test in found["tests"]:
        text = _("{name}: rank {rank} in {key}, mean {mean}.")
        key = next((key for key in ("HD95", "MASD", "DSC") if key in test["rank"]), next(iter(test["rank"]), None))
        if key is None:
            continue
        one, mean = findMetric(key), test["mean"][key]
        shown = "∞" if mean is None else withUnit(mean, one.metric.unit if one is not None else "")
        lines.append(text.format(name=test["name"], rank=test["rank"][key], key=key, mean=shown))
    return "\n".join(lines)


def outlierPlaces(found: Mapping | None) -> list[Place]:
    """Return the places where the outlier is farthest from the consensus of the others, the worst first."""
    name = ((found or {}).get("outlier") or {}).get("name")
    listed = [one["worstPlaces"] for one in (found or {}).get("leaveOneOut", ()) if one["name"] == name]
    return [fromPlain(Place, place) for place in (listed[0] if listed else ())]


def aboutPlaces(found: Mapping | None) -> str:
    """Return a sentence about the list of the outlier's places, "" if there is nothing to say."""
    if not found or not found["leaveOneOut"]:
        return ""
    if "outlier" not in found:
        return _("No observer differs more from the others than the rest.")
    text = _("Where {name} lies farthest from the consensus of the others. Click to go there.")
    if not outlierPlaces(found):
        text = _("{name} differs most from the others, but nowhere by more than the tolerance.")
    return text.format(name=found["outlier"]["name"])

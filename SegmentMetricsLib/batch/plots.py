"""Figures of a cohort for papers, drawn by matplotlib as SVG, PDF and PNG.

They are box plots, Bland-Altman plots, a ranking and correlations. Sizes, fonts and colors are those that journals ask
for: one or two columns wide, text that stays text, and the colors of Okabe & Ito, which people with color vision
deficiencies can distinguish. Methods differ by their markers, too.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InputError, installing
from ..base.palettes import METHODS
from ..base.texts import pluralize
from ..conventions.convention import OWN_CONVENTION
from ..metrics.registry import findMetric, readName
from ..model.naming import findMeant, hintAt
from ..settings.settings import Settings
from ..show.resulttables import heading
from ..show.tablemodel import Column, Table
from ..show.tables import shorten
from ..show.writing import fileNames, writeJson, writeTable
from .ranks import quantile, ranksOf
from .statistics import NO_METHOD, Cohort, PairedTest, asDrawn, betterOf, box, titleOfKey
from .summaryoptions import CONFIDENCE, Options
from .summarywriting import SUMMARIZED

PLOTS, JSON, SCHEMA = "plots", "plots.json", "segment-metrics-plots/1"
# Kinds of files, without the date, so that the same numbers make the same file.
KINDS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
# The names of the figures that are not of one measurement, and the table beside the ranking.
BLAND_ALTMAN, RANKING, CORRELATIONS = "bland-altman", "ranking", "correlations"
TABLE = "ranking.csv"
MARKERS = "osD^vPX"
INK = "#222222"
# Width of one and of two columns of a journal, and height, in inches; resolution of pictures.
COLUMN, PAGE, HEIGHT, RESOLUTION = 3.5, 7.2, 3.0, 300
STYLE: dict[Any, Any] = {  # matplotlib's own type lists every name
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "pdf.fonttype": 42,  # text that can be edited
    "svg.fonttype": "none",
    "svg.hashsalt": "segment-metrics",  # the same numbers make the same file
    "legend.frameon": False,
    "savefig.dpi": RESOLUTION,
}
# Up to this many values of a group, each is shown as a point, as a box then says little.
MOST_POINTS = 30
# A logarithmic axis is used if few values, up to this share, take up more of a linear one than all others.
FEW, SQUEEZED = 0.05, 3.0
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
# Most characters of a name, and most structures in a figure of box plots; more continue in further ones.
LONGEST = 24
MOST_STRUCTURES = 12
RESAMPLES = 1000
# Fewer contours have no rank correlation that means anything. What stands for infinite values in their order.
FEWEST, LARGEST = 3, 1e300


def requirePlots() -> None:
    """Raise InputError if matplotlib or pandas is not installed."""
    try:
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
    except ImportError as error:
        raise InputError(f"Plots need matplotlib and pandas: {installing('plots')}.") from error


def keysToPlot(names: Sequence[str], keys: Collection[str]) -> list[str]:
    """Return the keys of the measurements to draw: those that names stand for, the main ones without names.

    Names are those of keys and families, as of Settings.metrics. Raises InputError for an unknown one, and for one that
    stands for none of the keys.
    """
    if not names:
        return [key for key in keys if key.startswith(SUMMARIZED)] or list(keys)[:4]
    found: set[str] = set()
    for name in names:
        settings = Settings(metrics=(name,))
        meant = [readName(one) for one in settings.metrics]
        stood = {
            key
            for key in keys
            if (one := findMetric(key))
            and one.metric.family in settings.families
            # a name without its parameter stands for all values
            and all(one.metric in own.metrics and own.parameters in ({}, one.parameters) for own in meant)
        }
        if not stood:
            raise InputError(f"{name} is not measured, so it cannot be drawn: add it to --metrics.")
        found |= stood
    return [key for key in keys if key in found]


def structuresToPlot(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the structures to draw, all without names. Raises InputError for one that the cohort does not have."""
    found = []
    for name in names:
        alike = findMeant(name, known)
        if not alike:
            raise InputError(f"There is no structure {name!r} to be drawn.{hintAt(name, known)}")
        found += alike
    return list(dict.fromkeys(found)) or list(known)


def writePlots(
    cohort: Cohort,
    options: Options,
    tests: Sequence[PairedTest],
    folder: Path,
    names: Sequence[str] = (),
    structures: Sequence[str] = (),
    convention: str = OWN_CONVENTION,
) -> list[Path]:
    """Draw the figures of a cohort into its folder, in place of those of an earlier run, and return the files.

    plots.json has a caption for each. names: measurements and families to draw, the main measurements if ().
    structures: to draw, all that a test has if (). Raises InputError if matplotlib is not installed, or for a name that
    is unknown.
    """
    requirePlots()
    from matplotlib import rc_context

    keys = keysToPlot(names, cohort.keys)
    shown = structuresToPlot(structures, [name for name in cohort.structures if name not in cohort.undrawn])
    removePlots(folder)
    if not shown:
        return []
    stated = "" if convention == OWN_CONVENTION else f" Boundary and overlap in the convention {convention}."
    figures: dict[str, tuple[Any, str] | None] = {}
    own = folder / PLOTS
    own.mkdir(exist_ok=True)
    ranks = ranksOfMethods(cohort, options, keys, shown)
    entries = []
    with rc_context(STYLE):
        for key, start in itertools.product(keys, range(0, len(shown), MOST_STRUCTURES)):
            name = key if len(shown) <= MOST_STRUCTURES else f"{key} {start // MOST_STRUCTURES + 1}"
            figures[name] = boxPlot(cohort, options, tests, key, shown[start : start + MOST_STRUCTURES])
        figures[BLAND_ALTMAN] = blandAltman(cohort, shown)
        figures[RANKING] = rankingPlot(ranks, cohort) if ranks else None
        correlated = [key for key in cohort.keys if betterOf(key) and (key in keys or not names)]
        figures[CORRELATIONS] = heatMap(cohort, options, correlated, shown) if len(correlated) > 1 else None
        made = {key: one for key, one in figures.items() if one is not None}
        for name, (key, (figure, caption)) in zip(fileNames(made), made.items(), strict=True):
            for kind, date in KINDS.items():
                figure.savefig(own / f"{name}.{kind}", metadata=date, bbox_inches="tight", pad_inches=0.03)
            files = [f"{name}.{kind}" for kind in KINDS]
            entries.append({"figure": key, "files": files, "caption": f"{caption}{stated}"})
    if ranks:
        heads = ("Measurement", "Method", "MeanRank", "MeanRankLow", "MeanRankHigh", "Blocks")
        writeTable(Table(list(map(Column, heads)), ranks), own / TABLE)
    files = [name for entry in entries for name in entry["files"]] + [TABLE] * bool(ranks)
    content = {"schema": SCHEMA, "treatment": options.describe(), "figures": entries, "files": files}
    writeJson(content, own / JSON)
    return [own / name for name in (*files, JSON)]


def removePlots(folder: Path, unless: Options | None = None) -> None:
    """Remove the files that writePlots() wrote into a folder, and no others.

    unless: keep them if they were drawn with these options, None to remove them anyway.
    """
    own = folder / PLOTS
    try:
        content = json.loads((own / JSON).read_text(encoding="utf-8"))
        names = [str(name) for name in content["files"]] if content["schema"] == SCHEMA else []
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # missing, or written by another program
        return
    if unless is not None and content.get("treatment") == unless.describe():
        return
    for name in (*names, JSON):
        if Path(name).name == name:
            (own / name).unlink(missing_ok=True)
    with suppress(OSError):  # it contains something else
        own.rmdir()


def _newFigure(width: float, height: float, rows: int = 1, columns: int = 1, **shares):
    """Return a figure, without the state that pyplot keeps, and its axes (rows, columns)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **shares)


def _looks(cohort: Cohort) -> dict[str, tuple[str, str]]:
    return {
        method: (METHODS[number % len(METHODS)], MARKERS[number % len(MARKERS)])
        for number, method in enumerate(cohort.methods)
    }


def boxPlot(
    cohort: Cohort, options: Options, tests: Sequence[PairedTest], key: str, structures: Sequence[str]
) -> tuple[Any, str] | None:
    """Return a figure with a box for every structure and method, and its caption; None without a finite value."""
    ranked, (unit, factor) = cohort.scoresFor(options), asDrawn(cohort.units[key])
    groups = {
        (structure, method): np.array(list(ranked.get((structure, method, key), {}).values()), float) * factor
        for structure in structures
        for method in cohort.methods
    }
    finite = np.concatenate([values[np.isfinite(values)] for values in groups.values()])
    if not len(finite):
        return None
    methods, looks = cohort.methods, _looks(cohort)
    wide = len(structures) * len(methods) > 9
    scale = _scaleFor(finite)
    gap = None if scale else _gapIn(finite)
    # of a broken axis, the part below the gap is an axis of its own
    shares: dict[str, Any] = {} if gap is None else {"height_ratios": [5, 1], "sharex": True}
    figure, parts = _newFigure(PAGE if wide else COLUMN, HEIGHT, 1 if gap is None else 2, **shares)
    axes, last = parts[0][0], parts[-1][0]
    if scale:
        _setScale(axes, scale, finite)
    width = 0.8 / len(methods)
    isPoints = max(map(len, groups.values())) < MOST_POINTS
    for (structure, method), values in groups.items():
        x = structures.index(structure) + width * (methods.index(method) - (len(methods) - 1) / 2)
        _countInfinite(axes, values, x)
        for part in dict.fromkeys((axes, last)) if len(values) else ():
            _drawBox(part, values, x, 0.8 * width, *looks[method], isPoints)
    marked = _drawStars(axes, tests, key, structures, methods, width)
    if gap is not None:
        _break(figure, axes, last, gap, finite)
    last.set_xticks(range(len(structures)), [shorten(name, LONGEST) for name in structures])
    if len(structures) > 4 or max(map(len, structures)) > 10:
        last.tick_params(axis="x", rotation=35)
        for label in last.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
    last.set_xlim(-0.6, len(structures) - 0.4)
    stated = f" ({unit})" if unit else ""
    axes.set_ylabel(heading(key) + stated + (", logarithmic" if scale else ""))
    for part in (axes, last):
        part.grid(axis="y", color="#dddddd", linewidth=0.5)
        part.set_axisbelow(True)
    _legend(figure, looks)
    sizes = sorted({len(values) for values in groups.values() if len(values)})
    number = f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"
    told = "all values are shown as points" if isPoints else "points: values beyond"
    caption = (
        f"{titleOfKey(key)}{stated}; {number} per box. Boxes: median and quartiles; whiskers: farthest values within "
        f"1.5 interquartile ranges; {told}."
    )
    if scale or gap is not None:
        caption += f" The axis is {'logarithmic' if scale else 'broken'}."
    if any(np.isinf(values).any() for values in groups.values()):
        caption += " ∞: number of infinite values, which count as worse than all others."
    if marked:
        test = f"Wilcoxon's signed-rank test, corrected ({options.correction})"
        caption += f" * p < 0.05, ** p < 0.01, *** p < 0.001: {test}."
    return figure, caption


def _scaleFor(finite: np.ndarray) -> str:
    """Return the scale of an axis: logarithmic where a few values would squeeze all others, "" for a linear one."""
    low, most = float(finite.min()), float(finite.max())
    usual = float(np.quantile(finite, 1 - FEW))
    if low < 0 or most - low <= (1 + SQUEEZED) * (usual - low) or most <= 0 or usual <= 0:
        return ""
    return "log" if low > 0 else "symlog"


def _gapIn(finite: np.ndarray) -> tuple[float, float] | None:
    """Return the ends of the gap above a few low values that would squeeze all others, None if there is no such gap.

    Such as the overlap of 0 of structures that a test misses.
    """
    values = np.unique(finite)
    most = float(values[-1])
    usual = float(np.quantile(finite, FEW))
    if usual - values[0] <= SQUEEZED * (most - usual):
        return None
    below = values[: np.searchsorted(values, usual)]
    steps = np.diff(values[: len(below) + 1])
    place = int(np.argmax(steps))
    # a gap that is hardly wider than what is left to be seen saves no room
    isWide = steps[place] > most - values[place + 1]
    return (float(values[place]), float(values[place + 1])) if isWide else None


def _break(figure, axes, last, gap: tuple[float, float], finite: np.ndarray) -> None:
    """Show what lies above a gap in one axis and what lies below it in another, with marks between the two."""
    low, most = float(finite.min()), float(finite.max())
    room = 0.06 * (most - gap[1]) or 0.01
    # the few values below need no scale of their own
    axes.set_ylim(gap[1] - room, most + room)
    last.set_ylim(low - 2 * room, gap[0] + 2 * room)
    last.set_yticks(sorted({low, gap[0]}), [f"{value:.3g}" for value in sorted({low, gap[0]})])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    mark = {"marker": [(-1, -0.6), (1, 0.6)], "markersize": 6, "color": INK, "markeredgewidth": 0.8, "clip_on": False}
    axes.plot([0], [0], transform=axes.transAxes, linestyle="-", **mark)
    last.plot([0], [1], transform=last.transAxes, linestyle="-", **mark)
    figure.get_layout_engine().set(hspace=0.02, h_pad=0.01)


def _setScale(axes, scale: str, finite: np.ndarray) -> None:
    """Give an axis its scale, with plain numbers on a logarithmic one."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    # where values are 0, the axis is linear up to the smaller ones
    linear = float(np.quantile(finite[finite > 0], 0.25))
    axes.set_yscale(scale, **({"linthresh": linear} if scale == "symlog" else {}))
    steps = [1.0] if float(finite.max()) > 1000 * linear else [1.0, 2.0, 5.0]
    isLog = scale == "log"
    locator = LogLocator(subs=steps) if isLog else SymmetricalLogLocator(base=10, linthresh=linear, subs=steps)
    axes.yaxis.set_major_locator(locator)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _drawBox(axes, values: np.ndarray, x: float, width: float, color: str, marker: str, isPoints: bool) -> None:
    """Draw a box with its whiskers, and all values as points or those beyond the whiskers."""
    one = box(values)
    isFinite = all(map(math.isfinite, one[:5]))
    if isFinite:
        line = {"color": color, "linewidth": 0.9}
        axes.fill_between([x - width / 2, x + width / 2], one.q1, one.q3, alpha=0.25, **line)
        axes.vlines([x, x], [one.low, one.q3], [one.q1, one.high], **line)
        axes.hlines([one.low, one.high], x - width / 4, x + width / 4, **line)
        axes.hlines(one.median, x - width / 2, x + width / 2, color=color, linewidth=1.8)
    # if a side is infinite, only the points tell
    points = values if isPoints or not isFinite else np.array(one.outliers)
    points = points[np.isfinite(points)]
    spread = np.random.default_rng(len(points)).uniform(-0.3, 0.3, len(points)) * width
    axes.plot(x + spread, points, marker, color=color, markersize=2.4, markeredgewidth=0, alpha=0.8, linestyle="none")


def _countInfinite(axes, values: np.ndarray, x: float) -> None:
    """Write how many values of a box are infinite, at the edge of the axes beyond which they lie."""
    for sign, place, edge in (("", 1, "top"), ("-", 0, "bottom")):
        if count := int(np.sum(values == float(f"{sign}inf"))):
            at = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": edge}
            axes.annotate(f"{sign}∞ {count}", (x, place), **at, fontsize=6, color=INK)


def _drawStars(
    axes, tests: Sequence[PairedTest], key: str, structures: Sequence[str], methods: Sequence[str], width: float
) -> bool:
    """Draw a bracket above the axes for every significant difference, and return whether there is any."""
    levels: dict[str, int] = {}
    for test in tests:
        stars = next((s for most, s in STARS if test.corrected is not None and test.corrected < most), "")
        if test.measurement != key or test.structure not in structures or not stars:
            continue
        level = levels[test.structure] = levels.get(test.structure, 0) + 1
        middle = structures.index(test.structure) - width * (len(methods) - 1) / 2
        ends = [middle + width * methods.index(name) for name in (test.first, test.second)]
        y = 1 + 0.075 * level - 0.03
        place = axes.get_xaxis_transform()
        line = {"color": INK, "linewidth": 0.7, "transform": place, "clip_on": False}
        axes.plot([ends[0], *ends, ends[1]], [y - 0.012, y, y, y - 0.012], **line)
        axes.text(sum(ends) / 2, y - 0.008, stars, transform=place, ha="center", va="bottom", fontsize=6.5, color=INK)
    return bool(levels)


def _legend(figure, looks: Mapping[str, tuple[str, str]], place: str = "lower") -> None:
    """Name the methods below or above the axes, if there are several."""
    from matplotlib.lines import Line2D

    if len(looks) > 1:
        marks = [Line2D([], [], color=look[0], marker=look[1], markersize=4, linewidth=1.5) for look in looks.values()]
        names = [shorten(method or NO_METHOD, LONGEST) for method in looks]
        figure.legend(marks, names, loc=f"outside {place} center", ncols=min(len(marks), 4))


def blandAltman(cohort: Cohort, structures: Sequence[str]) -> tuple[Any, str] | None:
    """Return Bland-Altman plots of volumes, one for each structure (Bland & Altman 1986), and the caption.

    None if no structure has the volumes of both sides in at least three cases. What one side lacks is left out.
    """
    sides = [[f"{volume}{side}" for side in ("Reference", "Test")] for volume in ("Volume", "VoxelVolume")]
    keys = next((pair for pair in sides if {key for _, _, key in cohort.values}.issuperset(pair)), None)
    if keys is None:
        return None
    unit, factor = asDrawn(cohort.units[keys[0]])
    looks = _looks(cohort)
    points: dict[str, dict[str, np.ndarray]] = {}
    for structure in structures:
        for method in cohort.methods:
            # of the cases in which both sides have the structure
            both = [
                {
                    case: factor * given.value
                    for case, given in cohort.values.get((structure, method, key), {}).items()
                    if math.isfinite(given.value) and not (given.missing or given.isEmpty)
                }
                for key in keys
            ]
            volumes = [[group[case] for group in both] for case in both[0] if case in both[1]]
            if len(volumes) >= 3:
                points.setdefault(structure, {})[method] = np.array(volumes)
    if not points:
        return None
    columns = min(len(points), 3)
    rows = math.ceil(len(points) / columns)
    figure, axes = _newFigure(COLUMN if columns == 1 else PAGE, 0.4 + 2.1 * rows, rows, columns)
    for place, structure in zip(axes.flat, points):
        for method, pairs in points[structure].items():
            color, marker = looks[method]
            means, differences = pairs.mean(axis=1), pairs[:, 1] - pairs[:, 0]
            bias, spread = differences.mean(), 1.96 * differences.std(ddof=1)
            place.plot(means, differences, marker, color=color, markersize=2.8, markeredgewidth=0, alpha=0.8)
            place.axhline(bias, color=color, linewidth=1.2)
            for limit in (bias - spread, bias + spread):
                place.axhline(limit, color=color, linewidth=0.8, linestyle="--")
        place.axhline(0, color="#999999", linewidth=0.5)
        place.set_title(shorten(structure, LONGEST), fontsize=8)
    for place in list(axes.flat)[len(points) :]:
        place.set_visible(False)
    figure.supxlabel(f"Mean of test and reference ({unit})", fontsize=8)
    figure.supylabel(f"Test minus reference ({unit})", fontsize=8)
    _legend(figure, looks, "upper")
    caption = (
        "Bland-Altman plots of volumes: lines are the mean difference, dashed lines the 95 % limits of agreement "
        "(1.96 standard deviations). Structures that one side lacks are left out."
    )
    return figure, caption


def ranksOfMethods(
    cohort: Cohort, options: Options, keys: Iterable[str], structures: Collection[str]
) -> list[tuple[str, str, float, float, float, int]]:
    """Return measurement, method, mean rank with its 95 % interval, and the number of blocks; [] for a single method.

    A block is a structure of a case that all methods have; in each, the best method has rank 1, and equal ones share
    their mean rank. A structure that a test misses is the worst. The interval is by bootstrap of the cases.
    """
    methods = cohort.methods
    if len(methods) < 2:
        return []
    ranked = cohort.scoresFor(options)
    rows = []
    for key in keys:
        better = betterOf(key)
        blocks: dict[str, list[np.ndarray]] = {}
        for structure in structures if better else ():
            groups = [ranked.get((structure, method, key), {}) for method in methods]
            for case in groups[0]:
                if all(case in group for group in groups):
                    values = np.array([group[case] for group in groups])
                    blocks.setdefault(case, []).append(ranksOf(values if better == "lower" else -values))
        if not blocks:
            continue
        sums = np.array([np.sum(own, axis=0) for own in blocks.values()])
        counts = np.array([len(own) for own in blocks.values()])
        random = np.random.default_rng(options.seed)
        chosen = random.integers(0, len(sums), (RESAMPLES, len(sums)))
        resampled = np.sort(sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)[:, None], axis=0)
        means = sums.sum(axis=0) / counts.sum()
        for number, method in enumerate(methods):
            low, high = (quantile(resampled[:, number], (1 + side * CONFIDENCE) / 2) for side in (-1, 1))
            rows.append((key, method, float(means[number]), low, high, int(counts.sum())))
    return rows


def rankingPlot(ranks: Sequence[tuple], cohort: Cohort) -> tuple[Any, str]:
    """Return a figure of the mean rank of every method by measurement, and its caption. ranks: of ranksOfMethods()."""
    keys, looks = list(dict.fromkeys(row[0] for row in ranks)), _looks(cohort)
    figure, ((axes,),) = _newFigure(COLUMN, 0.9 + 0.35 * len(keys))
    step = 0.6 / len(looks)
    for key, method, mean, low, high, _ in ranks:
        color, marker = looks[method]
        y = keys.index(key) + step * (list(looks).index(method) - (len(looks) - 1) / 2)
        axes.plot([low, high], [y, y], color=color, linewidth=1.2)
        axes.plot([mean], [y], marker, color=color, markersize=4)
    axes.set_yticks(range(len(keys)), [heading(key) for key in keys])
    axes.set_ylim(len(keys) - 0.5, -0.5)
    axes.set_xlim(0.95, len(looks) + 0.05)
    axes.set_xticks(range(1, len(looks) + 1))
    axes.set_xlabel("Mean rank (1: the best)")
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    _legend(figure, looks)
    blocks = sorted({row[5] for row in ranks})
    caption = (
        f"Mean rank of the methods over all structures of all cases ({pluralize(blocks[-1], 'block')}) with 95 % "
        "bootstrap intervals; equal values share their mean rank, and a structure that a test misses is the worst."
    )
    return figure, caption


def heatMap(cohort: Cohort, options: Options, keys: Sequence[str], structures: Collection[str]) -> tuple[Any, str]:
    """Return a picture of Spearman's rank correlations between measurements of some structures, and its caption.

    Measurements that rank alike add nothing to each other (Taha & Hanbury, doi:10.1186/s12880-015-0068-x, figure 3).
    """
    from matplotlib.colors import LinearSegmentedColormap

    # which people with color vision deficiencies can distinguish
    colors = LinearSegmentedColormap.from_list("correlation", ["#0072B2", "#FFFFFF", "#D55E00"])
    found = correlations(cohort, options, keys, structures)
    number, values = len(keys), found.to_numpy()
    side = min(max(1.2 + 0.32 * number, COLUMN), 14)
    figure, ((axes,),) = _newFigure(side, side)
    picture = axes.imshow(values, cmap=colors.with_extremes(bad="#eeeeee"), vmin=-1, vmax=1)
    for row, column in np.ndindex(values.shape):
        if not math.isnan(values[row, column]):
            ink = "white" if abs(values[row, column]) > 0.75 else INK
            text = f"{values[row, column]:.2f}".replace("-0.00", "0.00")
            axes.text(column, row, text, ha="center", va="center", fontsize=5.5, color=ink)
    names = [heading(key) for key in keys]
    axes.set_xticks(range(number), names, rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.set_yticks(range(number), names)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(picture, shrink=0.6, label="Spearman's rank correlation")
    contours = pluralize(found.attrs["contours"], "contour")
    caption = (
        f"Rank correlations of measurements over {contours}: 1 means the same ranking from the "
        "best to the worst, also of a distance and an overlap; 0 means that they have nothing in common."
    )
    return figure, caption


def correlations(cohort: Cohort, options: Options, keys: Sequence[str], structures: Collection[str]):
    """Return Spearman's rank correlations of measurements as a data frame; NaN for fewer than FEWEST contours.

    Every measurement ranks the contours of all cases and methods of these structures from the best to the worst, so
    that two that agree have a correlation of 1, also where a lower value of one and a higher one of the other is
    better. Infinite values are the worst; undefined ones are left out pair by pair.
    """
    import pandas

    columns: dict[str, dict[tuple[str, str, str], float]] = {key: {} for key in keys}
    for (structure, method, key), group in cohort.valuesFor(options).items():
        if key in columns and structure in structures:
            sign = -1 if betterOf(key) == "higher" else 1
            columns[key] |= {(structure, method, case): sign * value.value for case, value in group.items()}
    frame = pandas.DataFrame(columns).round(12).replace([math.inf, -math.inf], [LARGEST, -LARGEST])
    found = frame.corr("spearman", min_periods=FEWEST)
    found.attrs["contours"] = int(frame.notna().sum().max())
    return found

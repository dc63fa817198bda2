"""Charts: the distribution of distances in a pair, cumulative distributions of many pairs, and per-slice profiles."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Iterable, Sequence
from numbers import Real
from weakref import WeakKeyDictionary

from ..base.errors import InputError, requireKind
from ..base.palettes import COMPARED, rgb
from ..base.texts import LETTERS_OF_AXES, pluralize, shortest
from ..distances.surfacedistances import SurfaceDistances
from ..metrics.signed import SIDES
from ..metrics.slices import axisOfRows, columnOf
from ..show import distributions
from ..show.maps import requireDistances, shownTolerance
from ..show.resulttables import heading
from ..show.tablemodel import Column, Table
from ..show.tables import shorten
from . import folders, practice
from .folders import nameResult
from .navigation import PLACE_COLUMNS
from .nodes import asNode, asScene, inRas, oneChange, requireComparison
from .outputs import fillTable, pairName

BAR_COLOR = (0.36, 0.50, 0.62)
TOLERANCE_COLOR = (0.25, 0.25, 0.25)
# More names than this leave no room for the curves.
LONGEST_LEGEND = 16
# characters that fit above a plot in the panel
LONGEST_TITLE = 36


def showHistogram(comparison, *, chartNode=None, scene=None, tolerance: float | None = None):
    """Show the distribution of the distances of a pair and return the vtkMRMLPlotChartNode.

    The bars are percentages of both boundaries together. For closed boundaries the distances are signed, positive where
    the test lies outside the reference. Dashed lines mark the tolerance. A few outliers that would compress the rest
    are counted in the outer bars, and the title of the axis mentions it.

    Parameters
    ----------
    comparison
        The comparison to show.
    chartNode, scene : optional
        As for showTable.
    tolerance : float | None, optional
        Tolerance in mm; None means the first one of the comparison's settings, or 2 mm without any.

    Returns
    -------
    vtkMRMLPlotChartNode

    Raises
    ------
    ValueError
        If there are no distances, and for a tolerance that is not positive.
    """
    requireComparison(comparison, "showCumulative shows many")
    requireDistances(comparison, "histogram")
    tolerance = _toleranceOf(comparison, tolerance)
    signed = comparison.distances.hasSides
    shown = histogramOf(comparison.distances, tolerance)
    what = "surfaces" if comparison.dimension == 3 else "contours"
    top = distributions.roundAbove(1.05 * shown.shares.max())
    chart = _Chart(comparison, "histogram", chartNode, scene)
    share = f"Share of both {what} that lies this far from the other one"
    bars = [
        (Column("Distance", unit="mm", description="Middle of the bar"), shown.centers),
        (Column("From", unit="mm", description="Where the bar begins"), shown.edges[:-1]),
        (Column("To", unit="mm", description="Where the bar ends"), shown.edges[1:]),
        (Column("Share", unit="%", description=share), shown.shares),
    ]
    table = chart.table("bars", Table.ofColumns(bars))
    chart.series("bars", f"Share of both {what} (%)", table, "Distance", "Share", BAR_COLOR, isBar=True)
    chart.toleranceLines([-tolerance, tolerance] if signed else [tolerance], top)
    title = "Signed distance (mm), + test outside" if signed else "Distance (mm)"
    if shown.outerBars:
        title += f"\n{shown.outerBars}"
    return chart.finish((title, f"Share of {what} (%)"), (shown.edges[0], shown.edges[-1]), (0, top))


# Histograms by tolerance: that of a large structure takes half a second.
_histograms: WeakKeyDictionary[SurfaceDistances, dict[float, distributions.Histogram]] = WeakKeyDictionary()


def histogramOf(distances: SurfaceDistances, tolerance: float) -> distributions.Histogram:
    """Return the histogram that showHistogram() shows; it is kept as long as the distances are."""
    known = _histograms.setdefault(distances, {})
    if tolerance not in known:
        known[tolerance] = distributions.histogram(distances, tolerance, distances.hasSides)
    return known[tolerance]


def showCumulative(comparisons, *, chartNode=None, scene=None, tolerance: float | None = None):
    """Show the percentage of the boundaries within each distance as curves; return the vtkMRMLPlotChartNode.

    Curves have the structures' colors if these differ.

    Parameters
    ----------
    comparisons
        One comparison, whose chart is placed in its pair's folder, or a sequence of them, one curve each, whose chart
        is placed in the folder of all pairs; those without distances are left out.
    chartNode, scene, tolerance : optional
        As for showHistogram.

    Returns
    -------
    vtkMRMLPlotChartNode

    Raises
    ------
    ValueError
        If no comparison has distances.
    """
    isOne = hasattr(comparisons, "measurements")
    if isOne:
        requireDistances(comparisons, "curve")
    requireKind([comparisons] if isOne else comparisons, Iterable, "The input", "one comparison or several")
    given = [comparisons] if isOne else list(comparisons)
    for comparison in given:
        requireComparison(comparison)
    pairs = [comparison for comparison in given if comparison.distances is not None]
    if not pairs:
        raise InputError("There are no curves because no pair has distances.")
    tolerance = _toleranceOf(pairs[0], tolerance)
    scene = asScene(scene)
    limit = distributions.cumulativeLimit([pair.distances for pair in pairs], tolerance)
    positions = distributions.cumulativePositions(limit, tolerance)
    owner = comparisons if isOne else folders.allPairs(pairs, scene)
    what = "surfaces" if any(pair.dimension == 3 for pair in pairs) else "contours"
    chart = _Chart(owner, "cumulative", chartNode, scene, "" if isOne else folders.folderName(owner, scene))
    columns = [(Column("Distance", unit="mm", description="Distance to the other contour"), positions)]
    for number, pair in enumerate(pairs, start=1):
        shares = distributions.cumulativeShares(pair.distances, positions)
        # line breaks, tabs and quotes would not survive saving
        title = " ".join(pairName(pair).replace('"', "'").split())
        columns.append((Column(f"Share{number}", title, "%", f"Share of both {what} within the distance"), shares))
    table = chart.table("curves", Table.ofColumns(columns))
    for number, (pair, color) in enumerate(zip(pairs, _curveColors(pairs), strict=True), start=1):
        chart.series(f"curve {number}", pairName(pair), table, "Distance", f"Share{number}", color)
    chart.toleranceLines([tolerance], 100)
    title = f"{len(pairs)} structures" if len(pairs) > 1 else pairName(pairs[0])
    axes = ("Distance (mm)", f"{what.title()} within (%)")
    legend = 1 < len(pairs) <= LONGEST_LEGEND
    # slightly more than 100, so that no curve runs along the frame
    return chart.finish(axes, (0, limit), (0, 102), title, legend)


def showDoseVolume(comparison, *, chartNode=None, scene=None):
    """Show the dose-volume histograms of a pair as curves and return the vtkMRMLPlotChartNode.

    Each point is the share of the volume that receives at least a dose. The plan was made for one of the two contours:
    for the other one, another plan would have been made.

    Parameters
    ----------
    comparison, chartNode, scene
        As for showTable.

    Returns
    -------
    vtkMRMLPlotChartNode

    Raises
    ------
    ValueError
        If there is no dose in both.
    """
    requireComparison(comparison)
    curves = comparison.doseCurves
    if curves is None:
        raise InputError("There are no dose-volume histograms because there is no dose in both structures.")
    chart = _Chart(comparison, "dose", chartNode, scene)
    share = "Share of the volume that receives at least this dose"
    columns = [
        (Column("Dose", unit="Gy", description="Dose of a plan that was made for one of the two"), curves.doses),
        (Column("Reference", unit="%", description=share), 100 * curves.reference),
        (Column("Test", unit="%", description=share), 100 * curves.test),
    ]
    table = chart.table("curves", Table.ofColumns(columns))
    chart.series("reference", "Reference", table, "Dose", "Reference", rgb(COMPARED["reference"]))
    chart.series("test", "Test", table, "Dose", "Test", rgb(COMPARED["test"]), isDashed=True)
    limits = (0, distributions.roundAbove(curves.doses[-1] or 1.0))
    return chart.finish(("Dose (Gy)", "Volume (%)"), limits, (0, 102), legend=True)


def showSlices(comparison, *, quantity: str = "HD", chartNode=None, scene=None):
    """Show the differences of a pair slice by slice and return the vtkMRMLPlotChartNode.

    Each point is a slice at its position in mm along the normal. The table of the series has all numbers, with NaN
    where only one of the two has the slice. navigation.jumpToSlice moves the slice views to the slice of a point.

    Parameters
    ----------
    comparison
        The comparison to show.
    quantity : str, optional
        "DSC", "HD", "MASD", "AreaReference", "AreaTest", "AreaDifference" or one like "APL_2mm".
    chartNode, scene : optional
        As for showHistogram.

    Returns
    -------
    vtkMRMLPlotChartNode

    Raises
    ------
    ValueError
        If there is no profile or no such quantity.
    """
    requireComparison(comparison)
    rows = comparison.slices
    if not rows:
        raise InputError("There is no chart of slices because there is no per-slice profile.")
    if quantity not in rows[0].values:
        raise InputError(f"There is no {quantity!r} of slices; choose from {', '.join(rows[0].values)}.")
    chart = _Chart(comparison, "slices", chartNode, scene)
    columns = [
        Column("Position", unit="mm", description="Position of the slice along its normal (LPS)"),
        Column("Slice", description="Number of the slice in the reference's image"),
        Column("Only", description="The side that has the slice, if only one does", isText=True),
        *(Column(key, *columnOf(key)) for key in rows[0].values),
        *(Column(key, unit="mm", description="Where the two differ most in the slice") for key in PLACE_COLUMNS),
    ]
    lines = []
    for row in rows:
        values = [value if math.isfinite(value) else math.nan for value in row.values.values()]  # plots leave out NaN
        lines.append([row.position, row.index, row.only, *values, *inRas(row.place).tolist()])
    table = chart.table("rows", Table(columns, lines))
    title, unit, _ = columnOf(quantity)
    label = f"{title} ({unit})" if unit else title
    chart.series("curve", label, table, "Position", quantity, BAR_COLOR, hasMarkers=True)
    shown = [value for row in rows if math.isfinite(value := row.values[quantity])] or [0.0]
    low, high = min(0.0, *shown), max(0.0, *shown)
    margin = 0.05 * (high - low)  # so that no curve runs along the frame
    ends = (rows[0].position, rows[-1].position)
    room = 0.02 * (ends[1] - ends[0]) or 1.0
    along = axisOfRows(rows)
    toward = "" if along is None else f", + {SIDES[LETTERS_OF_AXES[along][1]]}"
    # in short, because the plot in the panel is low
    axes = (f"Position of the slice (mm){toward}", f"{heading(quantity)} ({unit})" if unit else heading(quantity))
    # VTK labels the ends and the middle of an axis
    xRange = distributions.roundRange(ends[0] - room, ends[1] + room)
    yRange = (0.0, 1.0) if quantity == "DSC" else distributions.roundRange(low - margin * (low < 0), high + margin)
    return chart.finish(axes, xRange, yRange)


def showSession(pair, tableNode):
    """Show the NSD over the time of a practice session, of practice.keepSession(), and return the chart node."""
    rows = practice.readSession(tableNode)
    chart = _Chart(pair, "session")
    chart.series("curve", "NSD", tableNode, "Time", "NSD", BAR_COLOR, hasMarkers=True)
    end = max([row[0] for row in rows], default=0.0)
    low = min([row[4] for row in rows if math.isfinite(row[4])], default=0.0)
    title = f"{chart.name}: {pluralize(int(rows[-1][1]) if rows else 0, 'stroke')}"
    ranges = distributions.roundRange(0.0, max(end, 1.0)), (min(math.floor(10 * low) / 10, 0.9), 1.0)
    return chart.finish(("Time (s)", "NSD"), *ranges, title)


def isDrawn(chartNode) -> bool:
    """Return whether every series of a chart has its table, which may be deleted or not saved; False for None."""
    if chartNode is None:
        return False
    series = [chartNode.GetNthPlotSeriesNode(n) for n in range(chartNode.GetNumberOfPlotSeriesNodes())]
    for one in series:
        table = one.GetTableNode().GetTable() if one is not None and one.GetTableNode() is not None else None
        names = (one.GetXColumnName(), one.GetYColumnName()) if table is not None else ("",)
        columns = [table and table.GetColumnByName(name) for name in names]
        if not all(column is not None and column.GetNumberOfValues() for column in columns):
            return False
    return bool(series)


class _Chart:
    """The nodes of one chart. Nodes of an earlier run are reused, and those no longer needed are removed."""

    def __init__(self, owner, role: str, chartNode=None, scene=None, name: str = "") -> None:
        self.owner, self.role, self.scene, self.name = owner, role, asScene(scene), name or pairName(owner)
        found = folders.findResults(owner, self.scene)
        # "histogram", "histogram bars", ...
        self.before = {key: node for key, node in found.items() if key == role or key.startswith(f"{role} ")}
        if asNode(chartNode, "vtkMRMLPlotChartNode") is not None:
            self.before[role] = chartNode
        self.nodes: dict = {}

    def _node(self, role: str, className: str):
        node = self.before.get(role)
        if node is None or node.GetScene() is None:
            node = self.scene.AddNewNodeByClass(className)
        self.nodes[role] = node
        return node

    def table(self, part: str, table: Table):
        node = self._node(f"{self.role} {part} table", "vtkMRMLTableNode")
        with oneChange(node):
            nameResult(node, f"{self.name}: {self.role} ({part})")
            fillTable(node, table)
        return node

    def series(
        self, part: str, name: str, table, x: str, y: str, color, isBar=False, isDashed=False, hasMarkers=False
    ) -> None:
        """Draw two columns of a table as bars, or as a curve that may be dashed or have markers."""
        node = self._node(f"{self.role} {part}", "vtkMRMLPlotSeriesNode")
        with oneChange(node):
            node.SetName(name)
            node.SetAndObserveTableNodeID(table.GetID())
            node.SetXColumnName(x)
            node.SetYColumnName(y)
            node.SetPlotType(node.PlotTypeScatterBar if isBar else node.PlotTypeScatter)
            node.SetMarkerStyle(node.MarkerStyleCircle if hasMarkers else node.MarkerStyleNone)
            # no outlines, which would hide narrow bars
            node.SetLineStyle(node.LineStyleNone if isBar else node.LineStyleDash if isDashed else node.LineStyleSolid)
            node.SetLineWidth(2)
            node.SetColor(*color)

    def toleranceLines(self, positions: list[float], top: float) -> None:
        """Draw dashed vertical lines from 0 to the top."""
        heights = (Column("Height", unit="%", description="Where the lines begin and end"), [0.0, top])
        columns = [
            (Column(f"Distance{n}", "Distance", "mm", "Tolerance"), [position, position])
            for n, position in enumerate(positions, start=1)
        ]
        table = self.table("tolerance", Table.ofColumns([*columns, heights]))
        title = f"Tolerance {shortest(positions[-1])} mm"
        for n in range(1, len(positions) + 1):
            self.series(f"tolerance {n}", title, table, f"Distance{n}", "Height", TOLERANCE_COLOR, isDashed=True)

    def finish(self, axes: tuple[str, str], xRange, yRange, title: str = "", legend: bool = False):
        """Fill the chart node, put all nodes into the folder and return the chart node."""
        isNew = self.before.get(self.role) is None
        series = [node for node in self.nodes.values() if node.IsA("vtkMRMLPlotSeriesNode")]
        chart = self._node(self.role, "vtkMRMLPlotChartNode")
        with oneChange(chart):
            chart.SetName(f"{self.name}: {'practice' if self.role == 'session' else self.role}")
            chart.SetTitle(shorten(title or self.name, LONGEST_TITLE))
            chart.SetXAxisTitle(axes[0])
            chart.SetYAxisTitle(axes[1])
            chart.SetXAxisRangeAuto(False)
            chart.SetYAxisRangeAuto(False)
            chart.SetXAxisRange(*map(float, xRange))
            chart.SetYAxisRange(*map(float, yRange))
            chart.SetLegendVisibility(legend)
            if isNew:  # sizes that fit into the panel
                chart.SetTitleFontSize(14)
                chart.SetAxisTitleFontSize(12)
                chart.SetAxisLabelFontSize(11)
                chart.SetLegendFontSize(11)
            chart.RemoveAllPlotSeriesNodeIDs()
            for node in series:
                chart.AddAndObservePlotSeriesNodeID(node.GetID())
        folders.removeNodes([node for key, node in self.before.items() if key not in self.nodes], self.scene)
        folders.addToFolder(self.nodes, self.owner)
        return chart


def _toleranceOf(comparison, tolerance: float | None) -> float:
    if tolerance is None:
        tolerance = shownTolerance(comparison)
    requireKind(tolerance, Real, "The tolerance", "a number")
    if not 0 < tolerance < float("inf"):
        raise InputError(f"The tolerance of a chart is a positive number of millimeters, not {tolerance}.")
    return float(tolerance)


def _curveColors(pairs: Sequence) -> list[tuple[float, float, float]]:
    """Return one color per curve, dark enough on white: the structure's own, or another one if that is taken."""
    taken: set = set()
    colors = []
    for number, pair in enumerate(pairs):
        color = pair.reference.color or pair.test.color
        key = color and tuple(round(c, 2) for c in color)
        if color is None or key in taken:
            # golden-ratio steps keep any number of hues far apart
            color = colorsys.hsv_to_rgb((0.58 + 0.618034 * number) % 1, 0.85, (0.8, 0.55)[number % 2])
        taken.add(key)
        luminance = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
        colors.append(tuple(c * min(1.0, 0.65 / max(luminance, 1e-6)) for c in color))
    return colors

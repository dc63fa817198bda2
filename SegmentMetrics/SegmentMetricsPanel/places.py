"""The list of worst places; clicking one moves all views there."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.analysis.places import positionText
from SegmentMetricsLib.families.signed.entries import SIDES
from SegmentMetricsLib.mrml import folders, markers, navigation

from .sorting import SortableTable


class Places:
    """Lists the worst places of a pair and shows their markers.

    onSide: called with the side, "reference" or "test", on which the place lies that the views have moved to.
    """

    def __init__(self, ui, onSide):
        self.ui = ui
        self.table = SortableTable(ui.placesTable, self.jump)
        self.onSide = onSide
        self.places = ()

    def show(self, parameters, outcome, number: int) -> None:
        """List the places of a pair of an outcome, or nothing if it is None, and show their markers if requested."""
        record = outcome.records[number] if outcome is not None and outcome.records else None
        self.places = record.worstPlaces if record else ()
        self.table.show(*rows(self.places, record is None or record.hasSides), stretched=[3])
        tolerance = f"{outcome.settings.tolerances[0]:g}" if outcome is not None else ""
        if record is None:
            text = _("Where the contours lie farther apart than the tolerance. Click to go there.")
        elif self.places:
            text = _("Where the contours lie more than {tolerance} mm apart. Click to go there.")
        elif not record.method:
            text = _("No distances were measured.")
        else:
            text = _("Nowhere do the contours lie more than {tolerance} mm apart.")
        self.ui.placesTable.visible = self.ui.showMarkersCheckBox.visible = bool(self.places)
        self.ui.placesLabel.text = text.format(tolerance=tolerance)
        self._showMarkers(parameters, outcome.pair(number) if record else None, record)

    def jump(self, number: int) -> None:
        """Move all slice views and 3D views to a place, and color the surface on which it lies."""
        place = self.places[number]
        self.onSide(place.side)
        navigation.jumpTo(place.position, normal=place.normal, scene=slicer.mrmlScene, cameras=cameras())

    def _showMarkers(self, parameters, pair, record) -> None:
        mine = None
        if pair is not None and parameters.showMarkers and self.places:
            mine = markers.showMarkers(pair, places=self.places, scene=slicer.mrmlScene, signed=record.hasSides)
        for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode"):
            if folders.isResult(node, "markers") and node.GetDisplayNode():
                node.GetDisplayNode().SetVisibility(node is mine)


def rows(places, signed: bool) -> tuple:
    """Return headings, rows and heading tips of the list of places. signed: whether inside and outside are known."""
    headings = [_("#"), _("mm"), _("cm²"), _("Where")]
    tips = [
        _("Rank, the worst first."),
        _("Largest distance there in mm: + where the test lies outside the reference, - where inside."),
        _("Area of the connected patch in cm²."),
        _("The side of the structure on which it lies, and its coordinates in mm."),
    ]
    listed = []
    for place in places:
        where = f"{SIDES[place.direction]}, {positionText(place.position)}"
        tip = markers.describe(place, signed)
        listed.append(
            [
                (str(place.rank), place.rank, tip),
                (f"{place.value:+.1f}" if signed else f"{place.value:.1f}", place.value, tip),
                (f"{place.area / 100:.2f}", place.area, tip),
                (where, where, tip),
            ]
        )
    return headings, listed, tips


def cameras() -> list | None:
    """Return the camera nodes of all 3D views, or None if there is no layout."""
    manager = slicer.app.layoutManager()
    if manager is None:
        return None
    logic = slicer.modules.cameras.logic()
    views = [manager.threeDWidget(number).mrmlViewNode() for number in range(manager.threeDViewCount)]
    return [camera for camera in map(logic.GetViewActiveCameraNode, views) if camera is not None]

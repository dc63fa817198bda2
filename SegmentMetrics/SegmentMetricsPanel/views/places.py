"""The list of worst places; clicking one moves all views there."""

import slicer

from SegmentMetricsLib.mrml import folders, markers, navigation

from ..contents import places
from .tables import SortableTable


class PlacesView:
    """Lists the worst places of the shown pair and shows their markers."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.table = SortableTable(ui.placesTable, self.jump)
        self.places, self.about = (), ""

    def show(self) -> None:
        """List the places, or nothing without an outcome, and show their markers if requested."""
        outcome, number, record = self.model.outcome, self.model.number(), self.model.record()
        self.places = record.worstPlaces if record else ()
        self.table.show(*places.places(outcome, number))
        self.ui.placesTable.visible = self.ui.showMarkersCheckBox.visible = bool(self.places)
        self.ui.placesLabel.text = self.about = places.about(outcome, number)
        self._showMarkers(outcome.pair(number) if record else None, record)

    def jump(self, number: int) -> None:
        """Move all slice views and 3D views to a place, and say if it is on the surface that the map does not color."""
        place = self.places[number]
        self.ui.placesLabel.text = self.model.remark(place.side) or self.about
        navigation.jumpTo(place.position, normal=place.normal, scene=slicer.mrmlScene, cameras=cameras())

    def _showMarkers(self, pair, record) -> None:
        mine = None
        if pair is not None and self.model.parameters.showMarkers and self.places:
            mine = markers.showMarkers(pair, places=self.places, scene=slicer.mrmlScene, signed=record.hasSides)
        for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode"):
            if folders.isResult(node, "markers") and node.GetDisplayNode():
                node.GetDisplayNode().SetVisibility(node is mine)


def cameras() -> list | None:
    """Return the camera nodes of all 3D views, or None if there is no layout."""
    manager = slicer.app.layoutManager()
    if manager is None:
        return None
    logic = slicer.modules.cameras.logic()
    views = [manager.threeDWidget(number).mrmlViewNode() for number in range(manager.threeDViewCount)]
    return [camera for camera in map(logic.GetViewActiveCameraNode, views) if camera is not None]

"""The user's choices in the panel, stored in a parameter node and saved with the scene."""

from typing import Annotated

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import Default, WithinRange, parameterNodeWrapper

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.relevance import isRelevant
from SegmentMetricsLib.mrml import protocolFromTable
from SegmentMetricsLib.settings.settings import DECLARED, DEFAULT_FAMILIES, OWN_CONVENTION, Settings

from .enumerations import Labeled, MapKind, MapSide, MapSurface, Mode, Plot, SliceQuantity, choicesOf
from .segments import segmentName, segmentNames

# The settings that the panel offers, by name.
IN_PANEL = {name: one.panel for name, one in DECLARED.items() if one.panel}


def withSettings(kind: type) -> type:
    """Add parameters for the settings that the panel offers to a class; those that are not there yet."""
    for name, panel in IN_PANEL.items():
        declaration, usual = DECLARED[name], getattr(Settings, name)
        if panel.name in kind.__annotations__:
            continue
        if panel.words:
            choices = choicesOf(name)
            kind.__annotations__[panel.name] = choices
            usual = choices[usual]
        else:
            number = declaration.check.option["type"]
            kind.__annotations__[panel.name] = Annotated[number, WithinRange(number(panel.low), number(panel.high))]
            if usual is None:
                usual = declaration.parameter.values[0] if declaration.parameter else panel.low
        setattr(kind, panel.name, usual)
    return kind


@parameterNodeWrapper
@withSettings
class SegmentMetricsParameterNode:
    """Inputs, settings, display options, and the table that holds the results.

    withSettings() adds one for each setting. Distances are in mm. Segments are given by ID, critical structures by
    their names in the reference.
    """

    mode: Mode = Mode.onePair
    reference: slicer.vtkMRMLSegmentationNode
    referenceSegment: str
    test: slicer.vtkMRMLSegmentationNode
    testSegment: str
    # edited pairs, flattened: reference name, test name ("" for none), and how the pair was found, repeated for each
    pairs: list[str]

    families: Annotated[list[str], Default(generator=lambda: list(DEFAULT_FAMILIES))]
    critical: list[str]
    convention: str = OWN_CONVENTION
    protocol: slicer.vtkMRMLTableNode
    autoUpdate: bool = False

    result: slicer.vtkMRMLTableNode
    shownPair: int = 0
    plot: Plot = Plot.histogram
    showMap: bool = True
    mapSide: MapSide = MapSide.reference
    mapKind: MapKind = MapKind.signed
    mapSurface: MapSurface = MapSurface.displayed
    automaticRange: bool = True
    range: Annotated[float, WithinRange(0.1, 1e6)] = 5.0
    opacity: Annotated[float, WithinRange(0.0, 1.0)] = 1.0
    sliceContour: bool = True
    legend: bool = True
    showMarkers: bool = False
    showHazard: bool = False
    sliceQuantity: SliceQuantity = SliceQuantity.HD
    reportConventions: bool = False


def forgetUnknownChoices(node) -> None:
    """Remove from a parameter node the choices that another version saved and this version does not offer.

    Otherwise Slicer would refuse to read any of its parameters.
    """
    for name, kind in SegmentMetricsParameterNode.__annotations__.items():
        if isinstance(kind, type) and issubclass(kind, Labeled):
            text = node.GetParameter(name)
            if text and text not in kind.__members__:
                node.UnsetParameter(name)


class GuiConnection:
    """Connects the widgets of a panel with a parameter node until end() is called.

    Slicer 5.10 does not remove all observers when a connection is ended. Each leftover observer would update all
    widgets again whenever a parameter changes, so they are removed here.
    """

    def __init__(self, parameters, ui):
        self._parameters = parameters
        node = parameters.parameterNode
        # observer tags are ascending, so those between these two were added by the connection
        first, self._tag, last = self._nextTag(node), parameters.connectGui(ui), self._nextTag(node)
        self._added = range(first + 1, last)

    @staticmethod
    def _nextTag(node) -> int:
        tag = node.AddObserver(vtk.vtkCommand.DeleteEvent, lambda *_: None)
        node.RemoveObserver(tag)
        return tag

    def end(self) -> None:
        """Disconnect the widgets."""
        self._parameters.disconnectGui(self._tag)
        for tag in self._added:
            self._parameters.parameterNode.RemoveObserver(tag)


def settingsOf(parameters: SegmentMetricsParameterNode) -> Settings:
    """Return the chosen settings, with defaults for those that have no effect.

    Raises ValueError if no family is chosen, or the hazard family without any critical structure.
    """
    chosen = {name: valueOf(name, parameters) for name in IN_PANEL if isOffered(name, parameters)}
    if not chosen.get("critical", True):
        raise InputError(_("Choose critical structures, or turn off the hazard metrics."))
    convention = chosen.pop("convention", OWN_CONVENTION)
    return Settings.preset(convention, families=list(parameters.families), **chosen)


def valueOf(name: str, parameters: SegmentMetricsParameterNode):
    """Return what is chosen for a setting, as Settings take it."""
    panel = IN_PANEL[name]
    value = criticalNames(parameters) if name == "critical" else getattr(parameters, panel.name)
    if panel.isAutomatic and value == panel.low:
        return None
    return value.name if panel.words else value


def isOffered(name: str, parameters: SegmentMetricsParameterNode) -> bool:
    """Return whether a setting has an effect with the other choices; otherwise the panel does not show it."""
    declaration = DECLARED[name]
    if declaration.isDecidedByTools and conventionOf(parameters) != OWN_CONVENTION:
        return False
    if declaration.onlyIf is not None and valueOf(declaration.onlyIf[0], parameters) != declaration.onlyIf[1]:
        return False
    isAlways = declaration.affectsAll or declaration.panel.isAlwaysShown
    return isAlways or isRelevant(name, list(parameters.families))


def conventionOf(parameters: SegmentMetricsParameterNode) -> str:
    """Return the chosen convention if it affects any chosen family, otherwise SegmentMetrics' own."""
    return parameters.convention if isRelevant("convention", list(parameters.families)) else OWN_CONVENTION


def possibleCriticals(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the reference's segments that can be critical structures: all but the compared one."""
    p = parameters
    compared = segmentName(p.reference, p.referenceSegment) if p.mode == Mode.onePair else None
    return [name for name in segmentNames(p.reference) if name != compared]


def criticalNames(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the chosen critical structures that exist in the reference."""
    return [name for name in possibleCriticals(parameters) if name in list(parameters.critical)]


def protocolOf(parameters):
    """Return the chosen protocol, or None. Raises ValueError that names the row and column of a mistake."""
    return protocolFromTable(parameters.protocol) if parameters.protocol is not None else None


def versionOf(parameters) -> str | None:
    """Return a version string that changes with the rules of the chosen protocol, or None. Raises as protocolOf."""
    protocol = protocolOf(parameters)
    return protocol.version if protocol else None

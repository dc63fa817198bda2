"""Make the pictures of the module, the README's and the user guide's.

    PYTHONPATH=Testing/support python Testing/docs/pictures.py

The panel and the plot are those of the stand-in for Slicer's widgets in Testing/support/desktop; the 3D view is
Slicer's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from desktop import Desktop, photographs
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter, QPalette
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib.mrml import practice

ROOT = Path(__file__).parents[2]
STRUCTURE = "Parotid_L"
PRACTICED = "Brainstem"
PROTOCOL = "head-and-neck-observers"
COLUMN = 330  # width of the panel in pixels, as in Slicer
WIDER = 420  # and where somebody has made it wider
WIDE = 640  # and where many structures are listed
HEIGHT = 740  # of the panel, so that a page is seen whole
TALL = 960  # and where there is more above the page
GAP = 16
BORDER = 8
STROKE = 20  # mm around a place that is corrected
# pictures of views, which have no widgets in them
WITHOUT_BORDER = ("Resources/DistanceMap.png", "Resources/Histogram.png", "docs/pictures/HazardMap.png")
# from the patient's right and front, RAS: the side on which this gland was drawn differently
SEEN_FROM = (0.5, 0.8, 0.3)


def write(root: Path) -> list[Path]:
    """Use the module as the tutorial and the user guide say; write the pictures below a folder and return their paths.

    Raises NoOpenGLError where nothing can be drawn.
    """
    import slicer

    with Desktop() as desktop, photographs.usualFont():
        desktop.loadModule()
        from SegmentMetrics import SegmentMetricsLogic

        reference, _test = SegmentMetricsLogic().loadSample()
        slicer.util.selectModule("SegmentMetrics")
        desktop.processEvents(100)
        widget = slicer.modules.SegmentMetricsWidget
        made = dict(taken(desktop, widget.ui, widget.panel, reference))
        if desktop.exceptions or desktop.messages:
            raise RuntimeError(f"The module did not work: {desktop.exceptions} {desktop.messages}")
    paths = []
    for name, image in made.items():
        paths.append(root / name)
        if name not in WITHOUT_BORDER:
            image = beside([image], BORDER)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        if not image.save(str(paths[-1]), "PNG", 0):  # 0 is the smallest file; the quality is always the same
            raise OSError(f"{paths[-1]} cannot be written.")
    return paths


def taken(desktop, ui, panel, reference) -> Iterator[tuple[str, QImage]]:
    """Yield pictures and where they are kept, in the order in which a user would see them."""

    def apply() -> None:
        desktop.processEvents(100)
        ui.applyButton.click()
        desktop.processEvents(300)

    ui.referenceSelector.setCurrentSegmentID(reference.GetSegmentation().GetSegmentIdBySegmentName(STRUCTURE))
    apply()
    yield "Resources/Panel.png", withPages(ui, panel, "numbers", "map", "places")
    yield "Resources/DistanceMap.png", distanceMap(desktop)
    yield "Resources/Histogram.png", photographs.photograph(ui.plotFrame, width=560, height=300)

    panel.pages.open("tools")
    ui.conventionsButton.click()
    desktop.processEvents(300)
    yield "docs/pictures/OtherTools.png", photographs.photograph(ui.toolsPage, width=WIDER, height=460)

    panel.parameters.families = [*panel.parameters.families, "hazard", "slices"]
    panel.parameters.critical = ["Mandible"]
    apply()
    panel.pages.open("slices")
    desktop.processEvents(100)
    yield "docs/pictures/Slices.png", photographs.photograph(ui.slicesPage, width=WIDER, height=480)
    panel.pages.open("numbers")
    ui.mapKindComboBox.currentIndex = ui.mapKindComboBox.findText("Hazard")
    desktop.processEvents(100)
    yield "docs/pictures/HazardMap.png", distanceMap(desktop)
    panel.parameters.families = panel.parameters.families[:-2]
    ui.mapKindComboBox.currentIndex = 0

    ui.modeComboBox.currentIndex = 1
    apply()
    ui.notesButton.click()
    yield "Resources/AllStructures.png", part(ui, ui.summaryLabel, ui.pagesFrame, WIDE)
    ui.notesButton.click()
    yield "Resources/Pairs.png", pairs(ui, panel, desktop)
    ui.protocolComboBox.currentIndex = ui.protocolComboBox.findText(f"Example: {PROTOCOL}")
    apply()
    rows = [ui.mainTable.item(row, 0).text() for row in range(ui.mainTable.rowCount)]
    panel.results.main.onCell(rows.index(STRUCTURE), 0)
    desktop.processEvents(100)
    yield "docs/pictures/Protocol.png", part(ui, ui.summaryLabel, ui.judgmentLabel, WIDE)

    ui.protocolComboBox.currentIndex = 0
    ui.modeComboBox.currentIndex = 0
    apply()
    ui.followCheckBox.click()
    desktop.processEvents(100)
    for number in range(2):
        ui.nextPlaceButton.click()
        correct(desktop, panel, panel.places.places[number])
    ui.nextPlaceButton.click()
    panel.pages.open("places")
    desktop.processEvents(100)
    yield "docs/pictures/Following.png", photographs.photograph(ui.placesPage, width=WIDER, height=300)

    ui.referenceSelector.setCurrentSegmentID(reference.GetSegmentation().GetSegmentIdBySegmentName(PRACTICED))
    apply()
    places = panel.places.places
    ui.practiceCheckBox.click()
    desktop.processEvents(300)
    panel.follower.settle()  # what was there is the first point
    for place in places:
        correct(desktop, panel, place)
    table = panel.parameters.session
    rows = [[20.0 * number, *row[1:]] for number, row in enumerate(practice.readSession(table))]  # as slow as a person
    practice.keepSession(rows, table)
    ui.revealButton.click()
    desktop.processEvents(300)
    panel.pages.open("plot")
    desktop.processEvents(100)
    yield "docs/pictures/Practice.png", photographs.photograph(ui.plotPage, width=560, height=300)


def correct(desktop, panel, place) -> None:
    """Make the test like the reference around a place, as a stroke does."""
    import slicer

    p = panel.parameters
    volume = slicer.util.getNode("CT")
    matrix = vtkMatrix4x4()
    volume.GetIJKToRASMatrix(matrix)
    arrays = [
        slicer.util.arrayFromSegmentBinaryLabelmap(node, segment, volume)
        for node, segment in ((p.reference, p.referenceSegment), (p.test, p.testSegment))
    ]
    x, y, z = place.position
    k, j, i = np.meshgrid(*map(np.arange, arrays[0].shape), indexing="ij", sparse=True)
    m = [[matrix.GetElement(row, column) for column in range(4)] for row in range(3)]
    offsets = [a * i + b * j + c * k + d - at for (a, b, c, d), at in zip(m, (-x, -y, z))]
    isNear = sum(offset**2 for offset in offsets) < STROKE**2
    arrays[1][isNear] = arrays[0][isNear]
    image = slicer.vtkOrientedImageData()
    image.SetDimensions(arrays[1].shape[::-1])
    image.SetImageToWorldMatrix(matrix)
    image.GetPointData().SetScalars(numpy_to_vtk(arrays[1].ravel(), deep=True))
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, p.test, p.testSegment)
    desktop.processEvents(150)
    panel.follower.settle()
    desktop.processEvents(100)


def withPages(ui, panel, *names: str) -> QImage:
    """Draw the panel with each of some pages, one beside the other."""
    images = []
    for name in names:
        panel.pages.open(name)
        images.append(photographs.photograph(ui.inputsSection.parent(), width=COLUMN, height=HEIGHT))
    return beside(images)


def beside(images: list[QImage], border: int = 0) -> QImage:
    """Return pictures of widgets one beside the other, with some room around them, as there is in Slicer."""
    width = sum(image.width() + GAP for image in images) - GAP
    result = QImage(width + 2 * border, images[0].height() + 2 * border, QImage.Format.Format_RGB32)
    result.fill(QPalette().window().color())
    painter = QPainter(result)
    for image in images:
        painter.drawImage(border, border, image)
        painter.translate(image.width() + GAP, 0)
    painter.end()
    return result


def part(ui, first, last, width: int) -> QImage:
    """Draw the panel from one widget to just above another one."""
    whole = photographs.photograph(ui.inputsSection.parent(), width=width, height=TALL)
    top, bottom = (edge(ui, whole, widget) for widget in (first, last))
    return whole.copy(0, top, whole.width(), bottom - top)


def pairs(ui, panel, desktop) -> QImage:
    """Draw the choice of structures, where one has another name and is proposed."""
    segmentation = panel.parameters.test.GetSegmentation()
    mandible = segmentation.GetSegment(segmentation.GetSegmentIdBySegmentName("Mandible"))
    mandible.SetName("Lower jaw")
    desktop.processEvents(600)
    ui.pairsGroupBox.collapsed = False
    ui.proposePairsButton.click()
    desktop.processEvents(200)
    picture = part(ui, ui.inputsSection, ui.settingsButton, WIDER)
    mandible.SetName("Mandible")
    ui.pairsGroupBox.collapsed = True
    desktop.processEvents(600)
    return picture


def edge(ui, whole: QImage, widget) -> int:
    """Return where a widget begins in a picture of the panel."""
    # the PySide6 widgets behind those of the stand-in
    content, part = (getattr(each, "_native", each) for each in (ui.inputsSection.parent(), widget))
    before = content.size()
    content.resize(whole.size())
    position = part.mapTo(content, QPoint(0, 0)).y()
    content.resize(before)
    return position - 1


def distanceMap(desktop) -> QImage:
    """Draw what Slicer's 3D view shows, as a user would turn it, without its box."""
    from SegmentMetricsLib.mrml import maps

    view = desktop.layoutManager.threeDWidget(0).threeDView().offscreen()
    view.viewNode.SetBoxVisible(False)
    view.viewNode.SetAxisLabelsVisible(False)
    view.window.SetSize(700, 565)  # smaller, the legend of Slicer cannot be read
    (model,) = maps.allMaps(desktop.scene)
    points = vtk_to_numpy(model.GetPolyData().GetPoints().GetData())
    view.lookFrom(SEEN_FROM, points, area=(0.06, 0.06, 0.74, 0.94))
    pixels = view.image()
    height, width, _ = pixels.shape
    return QImage(pixels.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


if __name__ == "__main__":
    for path in write(ROOT):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")

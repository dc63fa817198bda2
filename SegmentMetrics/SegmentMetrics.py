"""The Segment Metrics module of 3D Slicer: how two segments differ, where, and by how much."""

import sys
import tempfile
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _
from slicer.i18n import translate
from slicer.ScriptedLoadableModule import (
    ScriptedLoadableModule,
    ScriptedLoadableModuleLogic,
    ScriptedLoadableModuleTest,
    ScriptedLoadableModuleWidget,
)
from slicer.util import VTKObservationMixin

# In a source tree the library is beside the module's folder; in an installed extension it is beside this file.
for folder in (Path(__file__).resolve().parent, Path(__file__).resolve().parents[1]):
    if (folder / "SegmentMetricsLib").is_dir() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

PACKAGES = ("SegmentMetricsLib", "SegmentMetricsPanel")
# Major and minor version of the first Slicer whose Python can import them; that of Slicer 5.8 can only read this file.
OLDEST_SLICER = (5, 10)


def tooOld() -> str:
    """Return why the module cannot work in this version of Slicer, "" when it can."""
    version = (slicer.app.majorVersion, slicer.app.minorVersion)
    if version >= OLDEST_SLICER:
        return ""
    first, present = (".".join(map(str, numbers)) for numbers in (OLDEST_SLICER, version))
    return _("Segment Metrics needs Slicer {first} or later; this is {present}.").format(first=first, present=present)


class SegmentMetrics(ScriptedLoadableModule):
    """What Slicer has to know about the module."""

    def __init__(self, parent):
        super().__init__(parent)
        parent.title = _("Segment Metrics")
        parent.categories = [translate("qSlicerAbstractCoreModule", "Quantification")]
        parent.dependencies = ["Cameras", "Colors", "Markups", "Plots", "Segmentations"]
        parent.contributors = ["SegmentMetrics contributors"]
        parent.helpText = _(
            "Choose a reference and a test segment, then Apply: exact surface distances, overlap and volumes, and "
            "where the two differ, in a table, a plot and a colored map on the 3D surface. "
            "See the <a href='https://github.com/SegmentMetrics/SlicerSegmentMetrics'>documentation and tutorial</a>."
        )
        parent.acknowledgementText = _(
            "Distances are defined as in Podobnik and Vrtovec, Metrics Revolutions, arXiv:2410.02630; the surface Dice "
            "(NSD) is that of Nikolov et al., arXiv:1809.04430, the boundary IoU that of Cheng et al., "
            "arXiv:2103.16562, and the overlap measures are those of Taha and Hanbury, doi:10.1186/s12880-015-0068-x."
        )
        if slicer.util.mainWindow() is None:  # the application starts: it makes its modules before its window
            slicer.app.connect("startupCompleted()", registerSampleData)
        else:
            registerSampleData()


def registerSampleData() -> None:
    """Offer two observers' head-and-neck contours in the Sample Data module."""
    if tooOld():
        return
    try:
        import SampleData
    except ImportError:  # custom applications may leave it out
        return

    icon = Path(__file__).parent / "Resources" / "Icons" / "SegmentMetrics.png"
    SampleData.SampleDataLogic.registerCustomSampleDataSource(
        category="Segment Metrics",
        sampleName="HeadAndNeckObservers",
        uris="",  # nothing is downloaded, but there has to be one
        fileNames="HeadAndNeckObservers.seg.nrrd",
        nodeNames="Observer 1",
        thumbnailFileName=str(icon),
        customDownloader=lambda _source: SegmentMetricsLogic().loadSample(),
    )


class SegmentMetricsWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """The module's panel in the life of the application: shown, hidden, and while scenes come and go."""

    def __init__(self, parent=None):
        ScriptedLoadableModuleWidget.__init__(self, parent)
        VTKObservationMixin.__init__(self)
        self.logic = None
        self.panel = None
        self.isOpen = False  # whether the panel follows the scene: from enter() to exit()
        self.isSceneChanging = False  # whether a scene comes or goes

    def setup(self) -> None:
        """Build the panel; called once, before it is shown for the first time. In an older Slicer there is none.

        It leaves the scene alone until enter(): a script may make it that wants no more than its parameters.
        """
        ScriptedLoadableModuleWidget.setup(self)
        problem = tooOld()
        if problem:
            label = qt.QLabel(problem)
            label.wordWrap = True
            self.layout.addWidget(label)
            self.layout.addStretch(1)
            return
        uiWidget = slicer.util.loadUI(self.resourcePath("UI/SegmentMetrics.ui"))
        self.layout.addWidget(uiWidget)
        self.ui = slicer.util.childWidgetVariables(uiWidget)
        uiWidget.setMRMLScene(slicer.mrmlScene)

        from SegmentMetricsPanel.panel import Panel

        self.logic = SegmentMetricsLogic()
        self.panel = Panel(self.ui, self.logic, self.useParameterNode)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.StartCloseEvent, self.onSceneStart)
        self.addObserver(scene, scene.StartImportEvent, self.onSceneStart)
        # closing and loading are batches, and so is loading that closes first
        self.addObserver(scene, scene.EndBatchProcessEvent, self.onSceneEnd)
        # nobody calls enter() for one that is reloaded while it is shown, nor for one in a window of its own
        self.isOpen = getattr(self.parent, "isEntered", True)
        self.useParameterNode()

    def enter(self) -> None:
        """Work with the scene; called each time the user opens the module."""
        self.isOpen = True
        self.useParameterNode()

    def exit(self) -> None:
        """Leave the scene alone; called each time the user opens another module."""
        self.isOpen = False
        if self.panel:
            self.panel.pause()

    def cleanup(self) -> None:
        """Let go of the scene; called when the application closes or the module is reloaded."""
        self.removeObservers()
        if self.panel:
            self.panel.close()

    def onReload(self) -> None:
        """Reload the module together with its library."""
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
        super().onReload()

    def onSceneStart(self, _caller, _event) -> None:
        """Let go of the scene that is about to be closed, or to get nodes from a file."""
        if self.panel.parameters:
            self.isSceneChanging = True
        self.panel.releaseScene()

    def onSceneEnd(self, _caller, _event) -> None:
        """Work with the scene as it is now, with a fresh wrapper: one made before would not see nodes that came."""
        if slicer.mrmlScene.IsBatchProcessing():
            return
        isChanged, self.isSceneChanging = self.isSceneChanging, False
        if not isChanged:
            self.panel.onNews()  # what happened in the batch was not shown yet
        elif self.isOpen:  # else enter() does it
            self.useParameterNode()

    def useParameterNode(self) -> None:
        """Work with the parameters of the scene, and show and follow them while the module is open."""
        if not self.panel or slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsImporting():
            return
        if self.panel.parameters is None:
            self.panel.setParameters(self.logic.getParameterNode())
        if self.isOpen:
            self.panel.resume()


class SegmentMetricsLogic(ScriptedLoadableModuleLogic):
    """Comparisons as the module makes them; everything is done by SegmentMetricsLib.

    comparison = SegmentMetricsLogic().compareSegments(referenceNode, "Liver", testNode, "Liver")
    comparison["HD95"].value
    """

    def getParameterNode(self):
        from SegmentMetricsPanel.parameters import SegmentMetricsParameterNode, forgetUnknownChoices

        node = super().getParameterNode()
        forgetUnknownChoices(node)
        return SegmentMetricsParameterNode(node)

    @staticmethod
    def compareSegments(*arguments, **options):
        """Compare two segments: see SegmentMetricsLib.mrml.compareSegments."""
        from SegmentMetricsLib import mrml

        return mrml.compareSegments(*arguments, **options)

    @staticmethod
    def compareSegmentations(*arguments, **options):
        """Compare all segments that belong together: see SegmentMetricsLib.mrml.compareSegmentations."""
        from SegmentMetricsLib import mrml

        return mrml.compareSegmentations(*arguments, **options)

    def measure(self, parameters, work):
        """Compare what the parameter node says and return the Outcome, kept in a table node. work: a LongWork."""
        from SegmentMetricsPanel.enumerations import Mode
        from SegmentMetricsPanel.pairs import choicesOf
        from SegmentMetricsPanel.parameters import settingsOf

        from SegmentMetricsLib.mrml import outcomes

        p, settings = parameters, settingsOf(parameters)
        comparisons = self.compareChosen(p, settings, work)
        judgment = self.judge(p, comparisons, work)
        for number, comparison in enumerate(comparisons):
            work.report(number, len(comparisons), comparison.reference.name)
            work.run(comparison.record)  # the worst places of large structures take long to find, and are kept
        if p.mode == Mode.allStructures:
            return outcomes.keepAll(comparisons, p.reference, p.test, settings, judgment=judgment, choices=choicesOf(p))
        return outcomes.keepPair(comparisons[0], judgment=judgment)

    def compareChosen(self, parameters, settings, work) -> list:
        """Compare the segments that the parameter node says and return Comparisons. work: a LongWork."""
        from SegmentMetricsPanel.enumerations import Mode
        from SegmentMetricsPanel.pairs import choicesOf

        from SegmentMetricsLib.mrml import Comparisons

        p = parameters
        if p.mode == Mode.allStructures:
            return self.compareSegmentations(
                p.reference, p.test, settings, progress=work.report, run=work.run, choices=choicesOf(p)
            )
        pair = (p.reference, p.referenceSegment, p.test, p.testSegment)
        return Comparisons([self.compareSegments(*pair, settings, run=work.run, by="ID")])

    def judge(self, parameters, comparisons, work):
        """Return what the chosen protocol says about Comparisons, a Judgment; None without a protocol."""
        from SegmentMetricsPanel.enumerations import Mode
        from SegmentMetricsPanel.protocols import protocolOf

        from SegmentMetricsLib.protocol.judgment import judgeCase
        from SegmentMetricsLib.protocol.measuring import measuredFor

        protocol = protocolOf(parameters)
        if protocol is None:
            return None
        measured = []
        for number, comparison in enumerate(comparisons):
            work.report(number, len(comparisons), comparison.reference.name)
            measured.append(work.run(lambda comparison=comparison: measuredFor(comparison, protocol)))
        isWhole = parameters.mode == Mode.allStructures
        return judgeCase(protocol, measured, comparisons.unmatched, isWhole, comparisons.failures)

    @staticmethod
    def loadSample() -> list:
        """Load the two observers' contours that come with the extension and return their segmentation nodes."""
        from SegmentMetricsLib.mrml.sample import loadSample

        return loadSample(slicer.mrmlScene)


class SegmentMetricsTest(ScriptedLoadableModuleTest):
    """Short tests in the running application; the whole test suite is in the folder Testing."""

    def setUp(self) -> None:
        slicer.mrmlScene.Clear()

    def runTest(self) -> None:
        for name in [name for name in dir(self) if name.startswith("test_")]:
            self.setUp()
            getattr(self, name)()
        self.delayDisplay("Segment Metrics: tests passed")

    def openModule(self):
        """Open the module as a user does, without a main window as that would do it, and return its widget."""
        widget = slicer.modules.segmentmetrics.widgetRepresentation().self()
        if slicer.util.mainWindow():
            slicer.util.selectModule("SegmentMetrics")
        else:
            widget.enter()
        slicer.app.processEvents()
        return widget

    def leaveModule(self, widget) -> None:
        """Open another module."""
        if slicer.util.mainWindow():
            slicer.util.selectModule("Data")
        else:
            widget.exit()
        slicer.app.processEvents()

    def choose(self, name: str):
        """Choose a structure of the sample in the module, on both sides, and return the module's widget."""
        nodes = SegmentMetricsLogic().loadSample()
        widget = self.openModule()
        parameters = widget.panel.parameters
        parameters.reference, parameters.test = nodes
        for side, node in zip(("reference", "test"), nodes):
            setattr(parameters, f"{side}Segment", node.GetSegmentation().GetSegmentIdBySegmentName(name))
        return widget

    def measure(self, name: str = "Eye_L"):
        """Compare a structure of the sample in the module, and return the module's widget."""
        widget = self.choose(name)
        self.assertTrue(widget.panel.apply())
        return widget

    def shownValues(self, widget) -> dict:
        """Return what was measured by key, as the panel shows it."""
        return {key: m.value for key, m in widget.panel.outcome.records[0].measurements.items()}

    def maps(self) -> list:
        """Return the models of all distance maps of the scene."""
        from SegmentMetricsLib.mrml import maps

        return maps.allMaps(slicer.mrmlScene)

    def test_SegmentMetrics1(self) -> None:
        """Two clicks from two segmentations to numbers and a map, without touching the segmentations."""
        widget = self.choose("Parotid_L")
        parameters = widget.panel.parameters
        reference, test = parameters.reference, parameters.test
        before = [node.GetSegmentation().GetMTime() for node in (reference, test)]
        self.assertTrue(widget.panel.apply())
        comparison = SegmentMetricsLogic().compareSegments(reference, "Parotid_L", test, "Parotid_L")
        self.assertEqual(self.shownValues(widget), {key: m.value for key, m in comparison.items()})
        self.assertGreater(comparison["HD"].value, comparison["HD95"].value)
        self.assertEqual(len(slicer.util.getNodesByClass("vtkMRMLColorLegendDisplayNode")), 1)
        self.assertEqual([node.GetSegmentation().GetMTime() for node in (reference, test)], before)

    def test_SavedAndLoaded(self) -> None:
        """Numbers and the map come back with the scene, and are up to date."""
        widget = self.measure()
        before = self.shownValues(widget)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "scene.mrb")
            self.assertTrue(slicer.util.saveScene(path))
            slicer.mrmlScene.Clear()
            slicer.util.loadScene(path)
        slicer.app.processEvents()
        self.assertEqual(self.shownValues(widget), before)
        self.assertEqual(widget.panel.staleness(), "")
        (model,) = self.maps()
        self.assertTrue(model.GetDisplayNode().GetVisibility())
        self.assertTrue(model.GetPolyData().GetPointData().HasArray("SignedDistance"))

    def test_Closed(self) -> None:
        """A closed scene leaves an empty panel, which works with the next one."""
        widget = self.measure()
        slicer.mrmlScene.Clear()
        slicer.app.processEvents()
        self.assertIsNone(widget.panel.outcome)
        self.assertEqual((widget.ui.resultsTable.rowCount, self.maps()), (0, []))
        self.assertFalse(widget.ui.applyButton.enabled)
        self.measure("OpticNrv_L")
        self.assertGreater(widget.ui.resultsTable.rowCount, 0)

    def test_LeftAndOpened(self) -> None:
        """While another module is open, the panel shows what a script measures, and follows nothing else."""
        widget = self.measure()
        panel, before = widget.panel, self.shownValues(widget)
        self.leaveModule(widget)
        self.assertFalse(panel.isActive)
        panel.parameters.tolerance = 4.0
        self.assertTrue(panel.apply())
        self.assertFalse(panel.isActive)
        self.assertIn("NSD_4mm", self.shownValues(widget))
        panel.parameters.tolerance = 2.0
        slicer.app.processEvents()
        self.assertNotEqual(widget.ui.toleranceSpinBox.value, 4.0)
        self.openModule()
        self.assertTrue(panel.isActive)
        self.assertNotEqual(panel.staleness(), "")
        self.assertTrue(panel.apply())
        self.assertEqual(self.shownValues(widget), before)

    def test_DeletedTable(self) -> None:
        """The table goes alone; the next run of the pair fills the map that is left."""
        widget = self.measure()
        (model,) = self.maps()
        count = slicer.mrmlScene.GetNumberOfNodes()
        slicer.mrmlScene.RemoveNode(widget.panel.parameters.result)
        slicer.app.processEvents()
        self.assertIsNone(widget.panel.outcome)
        self.assertEqual(widget.ui.resultsTable.rowCount, 0)
        self.assertEqual(self.maps(), [model])
        self.assertTrue(widget.panel.apply())
        self.assertEqual(self.maps(), [model])
        self.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), count)

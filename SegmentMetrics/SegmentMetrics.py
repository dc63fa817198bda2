"""The Segment Metrics module of 3D Slicer: how two segments differ, where, and by how much."""

import sys
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
        self.isSceneChanging = False  # whether a scene comes or goes
        self.shouldResume = False  # whether the panel follows the scene after that

    def setup(self) -> None:
        """Build the panel; called once, before it is shown for the first time. In an older Slicer there is none."""
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
        self.useParameterNode()

    def enter(self) -> None:
        """Work with the scene; called each time the user opens the module."""
        self.shouldResume = True
        self.useParameterNode()

    def exit(self) -> None:
        """Leave the scene alone; called each time the user opens another module."""
        self.shouldResume = False
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
            self.isSceneChanging, self.shouldResume = True, self.panel.isActive
        self.panel.releaseScene()

    def onSceneEnd(self, _caller, _event) -> None:
        """Work with the scene as it is now, with a fresh wrapper: one made before would not see nodes that came."""
        if slicer.mrmlScene.IsBatchProcessing():
            return
        isChanged, self.isSceneChanging = self.isSceneChanging, False
        if not isChanged:
            self.panel.onNews()  # what happened in the batch was not shown yet
        elif self.shouldResume:  # else enter() does it
            self.useParameterNode()

    def useParameterNode(self) -> None:
        """Show the parameters of the scene."""
        if not self.panel or slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsImporting():
            return
        if self.panel.parameters is None:
            self.panel.setParameters(self.logic.getParameterNode())
        else:
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

        from SegmentMetricsLib.cohort.casework import measuredFor
        from SegmentMetricsLib.protocol.judgment import judgeCase

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
    """A short test in the running application; the whole test suite is in the folder Testing."""

    def setUp(self) -> None:
        slicer.mrmlScene.Clear()

    def runTest(self) -> None:
        self.setUp()
        self.test_SegmentMetrics1()

    def test_SegmentMetrics1(self) -> None:
        """Two clicks from two segmentations to numbers and a map, without touching the segmentations."""
        logic = SegmentMetricsLogic()
        reference, test = logic.loadSample()
        before = [node.GetSegmentation().GetMTime() for node in (reference, test)]
        if slicer.util.mainWindow():
            slicer.util.selectModule("SegmentMetrics")
        widget = slicer.modules.segmentmetrics.widgetRepresentation().self()
        parameters = widget.panel.parameters
        parameters.reference, parameters.test = reference, test
        for name in ("reference", "test"):
            segmentation = getattr(parameters, name).GetSegmentation()
            setattr(parameters, f"{name}Segment", segmentation.GetSegmentIdBySegmentName("Parotid_L"))
        self.assertTrue(widget.panel.apply())
        comparison = logic.compareSegments(reference, "Parotid_L", test, "Parotid_L")
        shown = widget.panel.outcome.records[0].measurements
        self.assertEqual({key: m.value for key, m in shown.items()}, {key: m.value for key, m in comparison.items()})
        self.assertGreater(comparison["HD"].value, comparison["HD95"].value)
        self.assertEqual(len(slicer.util.getNodesByClass("vtkMRMLColorLegendDisplayNode")), 1)
        self.assertEqual([node.GetSegmentation().GetMTime() for node in (reference, test)], before)
        self.delayDisplay("Segment Metrics: test passed")

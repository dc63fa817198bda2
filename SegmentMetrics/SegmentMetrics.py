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

PACKAGES = ("SegmentMetricsLib", "SegmentMetricsPanel")
# Major and minor version of the first Slicer whose Python can import the packages; that of Slicer 5.8 can only import
# this file.
OLDEST_SLICER = (5, 10)


def tooOld() -> str:
    """Return the reason why the module cannot work in this version of Slicer, or "" if it can."""
    version = (slicer.app.majorVersion, slicer.app.minorVersion)
    if version >= OLDEST_SLICER:
        return ""
    first, present = (".".join(map(str, numbers)) for numbers in (OLDEST_SLICER, version))
    return _("Segment Metrics needs Slicer {first} or later; this is {present}.").format(first=first, present=present)


class SegmentMetrics(ScriptedLoadableModule):
    """The module's metadata for Slicer."""

    def __init__(self, parent):
        super().__init__(parent)
        # in a source tree, the library is next to the module's folder; Slicer finds it in an installed extension
        source = Path(__file__).resolve().parents[1]
        if (source / "SegmentMetricsLib").is_dir() and str(source) not in sys.path:
            sys.path.insert(0, str(source))
        parent.title = _("Segment Metrics")
        parent.categories = [translate("qSlicerAbstractCoreModule", "Quantification")]
        parent.dependencies = ["Colors", "Markups", "Plots", "Segmentations"]
        parent.contributors = ["SegmentMetrics contributors"]
        parent.helpText = _(
            "Choose a reference and a test segment, then Apply: surface distances with bounds, overlap, volumes, and "
            "where the two differ, in a table, a plot and a colored map on the 3D surface. "
            "See the <a href='https://github.com/SegmentMetrics/SlicerSegmentMetrics'>documentation and tutorial</a>."
            "<p>Distances are defined as in Podobnik and Vrtovec, Metrics Revolutions, arXiv:2410.02630; the surface "
            "Dice (NSD) is that of Nikolov et al., arXiv:1809.04430, the boundary IoU that of Cheng et al., "
            "arXiv:2103.16562, and the overlap measures are those of Taha and Hanbury, doi:10.1186/s12880-015-0068-x."
            "<p>The panel can be translated; sentences about the numbers are always in English."
        )
        parent.acknowledgementText = _(
            "This module was developed by the SegmentMetrics contributors. If you use it, please cite it and the "
            "papers whose metrics you report; the file CITATION.cff lists them."
        )
        if slicer.util.mainWindow() is None:  # during startup, modules are created before the main window
            slicer.app.connect("startupCompleted()", onStartup)
        else:
            onStartup()


def onStartup() -> None:
    """Do what Slicer needs of the module even if its panel is never opened."""
    if not tooOld():
        registerSampleData()
        slicer.mrmlScene.AddObserver(slicer.mrmlScene.EndImportEvent, restoreHidden)


def restoreHidden(scene, _event) -> None:
    """Show the segmentations and models of a loaded scene that was saved while the panel hid them."""
    if any(node.GetAttribute("SegmentMetrics.HiddenByFocus") for node in scene.GetNodes()):
        from SegmentMetricsLib.mrml.focus import restoreOthers  # its import takes a second

        restoreOthers(scene)


def registerSampleData() -> None:
    """Register the two observers' contours and a task for practicing, each with the CT, with the Sample Data module."""
    try:
        import SampleData
    except ImportError:  # custom applications may not include it
        return

    icons = Path(__file__).parent / "Resources" / "Icons"
    logic, category = SampleData.SampleDataLogic, "Segment Metrics"
    if hasattr(logic, "registerCustomSampleDataCategory"):  # older versions show its name
        logic.registerCustomSampleDataCategory(category, title=_("Segment Metrics"))
    samples = (
        ("HeadAndNeckObservers", "Observer 1", "head-and-neck"),
        ("ContouringPractice", "Trainee", "practice"),
        ("BrainLesions", "Observer 1", "lesions"),
        ("BranchingVessel", "Observer 1", "vessel"),
    )
    for name, node, sample in samples:
        logic.registerCustomSampleDataSource(
            category=category,
            sampleName=name,
            uris="",  # required, although nothing is downloaded
            fileNames=f"{name}.seg.nrrd",
            nodeNames=node,
            thumbnailFileName=str(icons / f"{name}.png"),
            customDownloader=lambda _source, sample=sample: SegmentMetricsLogic.loadSample(sample),
        )


class SegmentMetricsWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """Hosts the panel through the application's lifecycle: shown, hidden, and while scenes are opened and closed."""

    def __init__(self, parent=None):
        VTKObservationMixin.__init__(self)
        self.logic = None
        self.panel = None
        self.isOpen = False  # whether the panel follows the scene: between enter() and exit()
        # last, because without a parent it makes its own window and calls setup()
        ScriptedLoadableModuleWidget.__init__(self, parent)

    def setup(self) -> None:
        """Build the panel, or say that Slicer is too old. The scene stays: a script may only need the parameters."""
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

        from SegmentMetricsLib.mrml import comparing

        self.logic = SegmentMetricsLogic()
        self.panel = Panel(self.ui, self.logic, self.useParameterNode)
        # once the panel is shown: it takes a third of a second
        qt.QTimer.singleShot(0, comparing.prepare)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.StartCloseEvent, self.onSceneStart)
        self.addObserver(scene, scene.StartImportEvent, self.onSceneStart)
        # closing, loading, and loading that closes first are each one batch
        self.addObserver(scene, scene.EndBatchProcessEvent, self.onSceneEnd)
        # enter() is not called for a module reloaded while it is shown, nor for one in its own window
        self.isOpen = getattr(self.parent, "isEntered", True)
        self.useParameterNode()

    def enter(self) -> None:
        """Follow the scene; called each time the user opens the module."""
        self.isOpen = True
        self.useParameterNode()

    def exit(self) -> None:
        """Stop following the scene; called each time the user switches to another module."""
        self.isOpen = False
        if self.panel:
            self.panel.pause()

    def cleanup(self) -> None:
        """Release the scene; called when the application closes or the module is reloaded."""
        self.removeObservers()
        if self.panel:
            self.panel.close()

    def onReload(self) -> None:
        """Reload the module together with its library."""
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
        super().onReload()

    def onSceneStart(self, _caller, _event) -> None:
        """Release the scene before it is closed or nodes are imported into it."""
        self.panel.releaseScene()

    def onSceneEnd(self, _caller, _event) -> None:
        """Follow the new scene with a new parameter node wrapper: the old one would not see imported nodes."""
        if slicer.mrmlScene.IsBatchProcessing():
            return
        if self.panel.parameters is not None:
            self.panel.onNews()  # changes made in the batch have not been shown yet
        elif self.isOpen:  # otherwise enter() will do it
            self.useParameterNode()

    def useParameterNode(self) -> None:
        """Use the scene's parameter node; show and follow it if the module is open."""
        if not self.panel or slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsImporting():
            return
        if self.panel.parameters is None:
            self.panel.useNode(self.logic.getParameterNode())
        if self.isOpen:
            self.panel.resume()


class SegmentMetricsLogic(ScriptedLoadableModuleLogic):
    """Runs the module's comparisons; all computations are in SegmentMetricsLib.

    comparison = SegmentMetricsLogic().compareSegments(referenceNode, "Liver", testNode, "Liver")
    comparison["HD95"].value
    outcome = SegmentMetricsLogic().measure(mrml.Request([(referenceNode, ""), (testNode, "")]))  # what Apply does
    outcome.table
    """

    @staticmethod
    def compareSegments(*arguments, **options):
        """Compare two segments: see SegmentMetricsLib.mrml.compareSegments."""
        from SegmentMetricsLib import mrml

        return mrml.compareSegments(*arguments, **options)

    @staticmethod
    def compareSegmentations(*arguments, **options):
        """Compare all matching segments: see SegmentMetricsLib.mrml.compareSegmentations."""
        from SegmentMetricsLib import mrml

        return mrml.compareSegmentations(*arguments, **options)

    @staticmethod
    def measure(request, work=None):
        """Measure what a mrml.Request asks for; return the Outcome, kept in a table node. work: perhaps a LongWork."""
        from SegmentMetricsLib.mrml import outcomes

        if work is None:
            return outcomes.measure(request)
        return outcomes.measure(request, progress=work.report, run=work.run, isPartWanted=work.isPartWanted)

    @staticmethod
    def loadSample(name: str = "head-and-neck") -> list:
        """Load the two observers' contours of a sample that comes with the extension, and return their nodes.

        name: "head-and-neck", whose CT is loaded, too, and shown in the slice views; "practice" with the same CT, a
        reference that the module hides, and an empty segment to draw in; "lesions" or "vessel".
        """
        from SegmentMetricsLib.mrml import focus, sample

        scene, isPractice = slicer.mrmlScene, name == "practice"
        nodes = sample.loadPractice(scene=scene) if isPractice else sample.loadSample(sample=name, scene=scene)
        if isPractice or name == "head-and-neck":
            image = sample.loadImage(nodes, scene=scene)
            if slicer.app.layoutManager() is not None:
                slicer.util.setSliceViewerLayers(background=image, fit=True)
        if isPractice:  # else Segment Editor would open on the reference, and ask whether to show it
            drawn = nodes[-1]
            focus.chooseInEditor(drawn, drawn.GetSegmentation().GetNthSegmentID(0), scene)
        return nodes


class SegmentMetricsTest(ScriptedLoadableModuleTest):
    """Short tests in the running application; the full test suite is in the folder Testing."""

    def setUp(self) -> None:
        slicer.mrmlScene.Clear()

    def runTest(self) -> None:
        self.setUp()
        self.test_SegmentMetrics1()
        self.delayDisplay("Segment Metrics: tests passed")

    def test_SegmentMetrics1(self) -> None:
        """One click leads from two segmentations to numbers and a map, and a saved scene brings them back."""
        widget, logic = slicer.modules.segmentmetrics.widgetRepresentation().self(), SegmentMetricsLogic()
        nodes = logic.loadSample()
        if slicer.util.mainWindow():
            slicer.util.selectModule("SegmentMetrics")
        else:  # which would do it
            widget.enter()
        slicer.app.processEvents()
        panel = widget.panel
        panel.parameters.reference, panel.parameters.test = nodes
        for side, node in zip(("reference", "test"), nodes):
            setattr(panel.parameters, f"{side}Segment", node.GetSegmentation().GetSegmentIdBySegmentName("Parotid_L"))
        self.assertTrue(panel.apply())
        comparison = logic.compareSegments(nodes[0], "Parotid_L", nodes[1], "Parotid_L")
        self.assertEqual(panel.outcome.records[0].numbers, comparison.numbers)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "scene.mrb")
            self.assertTrue(slicer.util.saveScene(path))
            slicer.mrmlScene.Clear()
            slicer.app.processEvents()
            self.assertIsNone(panel.outcome)
            slicer.util.loadScene(path)
        slicer.app.processEvents()
        self.assertEqual(panel.outcome.records[0].numbers, comparison.numbers)
        self.assertEqual(panel.staleness(), "")

"""Loading the sample into the scene."""

from __future__ import annotations

from ..base.errors import InputError
from ..io.samples import FOLDER, HEAD_AND_NECK, IMAGE, SAMPLES
from .nodes import asScene
from .practice import HIDDEN, setPractice

# Window and level in HU.
SOFT_TISSUE = (350, 40)
# The structure to draw for practicing.
TASK = "Parotid_L"


def loadSample(*, sample: str = HEAD_AND_NECK, scene=None) -> list:
    """Load the contours of a sample's two observers, one of SAMPLES, and return their nodes, the reference first."""
    kind, names = "vtkMRMLSegmentation", enumerate(SAMPLES[sample], start=1)
    return [_load(f"{kind}Node", f"Observer {n}", f"{kind}StorageNode", name, scene) for n, name in names]


def _load(kind: str, name: str, storageKind: str, file: str, scene):
    """Return a new node with the content of a file of the sample. kind, storageKind: of the node and its storage."""
    scene = asScene(scene)
    node, storage = scene.AddNewNodeByClass(kind, name), scene.AddNewNodeByClass(storageKind)
    storage.SetFileName(str(FOLDER / file))
    isRead = storage.ReadData(node)
    scene.RemoveNode(storage)  # saving the scene must not write into the package
    if not isRead:
        scene.RemoveNode(node)
        raise InputError("The sample could not be loaded.")
    node.CreateDefaultDisplayNodes()
    return node


def loadPractice(*, scene=None) -> list:
    """Load a task for practicing and return its nodes: the hidden reference, and one with an empty segment to draw."""
    scene = asScene(scene)
    reference, other = loadSample(scene=scene)
    scene.RemoveNode(other)
    trainee = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Trainee")
    trainee.CreateDefaultDisplayNodes()
    trainee.GetSegmentation().AddEmptySegment("", TASK)
    setPractice(reference, HIDDEN)
    return [reference, trainee]


def loadImage(segmentationNodes=(), *, scene=None):
    """Load the CT that both observers have drawn on, for the Segment Editor, too, and return its volume node."""
    node = _load("vtkMRMLScalarVolumeNode", "CT", "vtkMRMLVolumeArchetypeStorageNode", IMAGE, scene)
    display = node.GetDisplayNode()
    display.SetAutoWindowLevel(False)
    display.SetWindowLevel(*SOFT_TISSUE)
    for segmentation in segmentationNodes:
        segmentation.SetReferenceImageGeometryParameterFromVolumeNode(node)
    return node

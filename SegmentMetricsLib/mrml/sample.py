"""Loading the sample into the scene."""

from __future__ import annotations

from ..base.errors import InputError
from ..io.samples import FOLDER, HEAD_AND_NECK, SAMPLES
from .arguments import asScene


def loadSample(*, sample: str = HEAD_AND_NECK, scene=None) -> list:
    """Load the contours of a sample's two observers and return their vtkMRMLSegmentationNodes, the reference first.

    sample: one of samples.SAMPLES. scene: None is Slicer's.
    """
    scene = asScene(scene)
    nodes = []
    for number, name in enumerate(SAMPLES[sample], start=1):
        node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", f"Observer {number}")
        storage = scene.AddNewNodeByClass("vtkMRMLSegmentationStorageNode")
        storage.SetFileName(str(FOLDER / name))
        isRead = storage.ReadData(node)
        scene.RemoveNode(storage)  # saving the scene must not write into the package
        if not isRead:
            scene.RemoveNode(node)
            raise InputError("The sample could not be loaded.")
        node.CreateDefaultDisplayNodes()
        nodes.append(node)
    return nodes

"""Loading the sample into the scene."""

from __future__ import annotations

from ..base.errors import InputError
from ..io.samples import FILES, FOLDER
from .arguments import asScene


def loadSample(*, scene=None) -> list:
    """Load the two observers' head-and-neck contours and return their vtkMRMLSegmentationNodes, the reference first.

    scene: None is Slicer's.
    """
    scene = asScene(scene)
    nodes = []
    for number, name in enumerate(FILES, start=1):
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

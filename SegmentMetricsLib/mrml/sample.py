"""Loading the sample into the scene."""

from __future__ import annotations

import tempfile

from ..base.errors import InputError
from ..io.samples import writeHeadAndNeck
from .arguments import asScene


def loadSample(*, scene=None) -> list:
    """Load the two observers' head-and-neck contours and return their vtkMRMLSegmentationNodes, the reference first.

    scene: None is Slicer's.
    """
    scene = asScene(scene)
    nodes = []
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(writeHeadAndNeck(folder), start=1):
            node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", f"Observer {number}")
            storage = scene.AddNewNodeByClass("vtkMRMLSegmentationStorageNode")
            storage.SetFileName(str(path))
            isRead = storage.ReadData(node)
            scene.RemoveNode(storage)  # its file is about to be deleted
            if not isRead:
                scene.RemoveNode(node)
                raise InputError("The sample could not be loaded.")
            node.CreateDefaultDisplayNodes()
            nodes.append(node)
    return nodes

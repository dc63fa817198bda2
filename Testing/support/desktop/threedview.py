"""Slicer's 3D view rendered offscreen."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

# Run in a child process, because a missing or broken OpenGL driver causes a crash, not an exception.
_DRAW = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkRenderingCore import vtkRenderWindow
window = vtkRenderWindow()
window.SetOffScreenRendering(1)
window.Render()
"""


class NoOpenGLError(RuntimeError):
    """Pictures cannot be drawn because this machine has no working OpenGL."""


@functools.cache
def requireOpenGL() -> None:
    """Raise NoOpenGLError if nothing can be drawn; the first call takes about half a second."""
    done = subprocess.run([sys.executable, "-c", _DRAW], capture_output=True, timeout=60, check=False)
    if done.returncode:
        raise NoOpenGLError("this machine has no working OpenGL; on a Linux server install libegl1 and libgl1-mesa-dri")


def privateScene():
    """Return a new scene that no other view shows, for models, color nodes, legends and a 3D view."""
    import slicer

    from SegmentMetricsLib.mrml.headless import ensureScene

    ensureScene()
    scene = slicer.vtkMRMLScene()
    scene.RegisterNodeClass(slicer.vtkMRMLColorLegendDisplayNode())
    return scene


class ThreeDView:
    """Slicer's 3D view of a scene, rendered offscreen; close it, or use it in a with statement.

    scene: the scene to show; a display node's view node IDs apply as in Slicer. size: width and height in pixels.
    background: RGB colors, in [0, 1], of the lower and the upper edge. viewNode: of the scene, which then keeps it.

    Attributes: viewNode, cameraNode, renderer, window.
    Raises NoOpenGLError on a machine without OpenGL.
    """

    MANAGERS = (
        "vtkMRMLCameraDisplayableManager",
        "vtkMRMLViewDisplayableManager",
        "vtkMRMLModelDisplayableManager",
        "vtkMRMLSegmentationsDisplayableManager3D",
        "vtkMRMLColorLegendDisplayableManager",
    )

    def __init__(
        self,
        scene,
        size: tuple[int, int] = (800, 600),
        background: tuple[Sequence[float], Sequence[float]] = ((1, 1, 1), (1, 1, 1)),
        viewNode=None,
    ) -> None:
        import slicer
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 - draws
        from vtkmodules.vtkRenderingCore import vtkLightKit, vtkRenderer, vtkRenderWindow
        from vtkmodules.vtkRenderingUI import vtkGenericRenderWindowInteractor

        self.window = vtkRenderWindow()
        self.window.SetShowWindow(False)
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(0)  # which is slow without a graphics card
        self.window.SetSize(*size)
        self.scene = scene
        self._ownNodes = []
        self.renderer = vtkRenderer()
        self.window.AddRenderer(self.renderer)
        # Slicer's displayable managers need an interactor; this one needs no display
        self._interactor: Any = vtkGenericRenderWindowInteractor()
        self._interactor.SetRenderWindow(self.window)
        # neutral light from above with a bright fill: shapes are recognizable, and colors match the legend
        kit = self._lights = vtkLightKit()
        kit.SetKeyLightIntensity(0.72)
        kit.SetKeyLightAngle(35, -20)
        kit.SetKeyToFillRatio(2.2)
        kit.SetKeyToHeadRatio(2.6)
        kit.SetKeyToBackRatio(3.5)
        for setWarmth in (
            kit.SetKeyLightWarmth,
            kit.SetFillLightWarmth,
            kit.SetHeadLightWarmth,
            kit.SetBackLightWarmth,
        ):
            setWarmth(0.5)
        kit.AddLightsToRenderer(self.renderer)

        self._applicationLogic = slicer.vtkMRMLApplicationLogic()
        self._applicationLogic.SetMRMLScene(scene)
        self.viewNode = viewNode or self._makeViewNode(background)
        cameras = [node for node in scene.GetNodes() if node.IsA("vtkMRMLCameraNode")]
        self._group = slicer.vtkMRMLDisplayableManagerGroup()
        self._group.SetRenderer(self.renderer)
        for name in self.MANAGERS:
            # only the group may own a manager: one that outlives the group crashes when it is deleted
            manager = getattr(slicer, name)()
            manager.SetMRMLApplicationLogic(self._applicationLogic)
            self._group.AddDisplayableManager(manager)
            del manager
        self._group.SetMRMLDisplayableNode(self.viewNode)
        self.cameraNode = self._group.GetDisplayableManagerByClassName(self.MANAGERS[0]).GetCameraNode()
        _announceLegends(scene)
        if viewNode is None and self.cameraNode not in cameras:
            self.cameraNode.SetSaveWithScene(False)
            self._ownNodes.append(self.cameraNode)

    def _makeViewNode(self, background):
        """Return a view node that a running Slicer neither adds to its layout nor saves."""
        owner = self.scene.AddNewNodeByClass("vtkMRMLScriptedModuleNode", "Offscreen layout")
        viewNode = self.scene.CreateNodeByClass("vtkMRMLViewNode")
        viewNode.UnRegister(None)  # CreateNodeByClass passes its reference to the caller
        viewNode.SetLayoutName(self.scene.GenerateUniqueName("Offscreen"))
        viewNode.SetName("Offscreen view")
        viewNode.SetAndObserveParentLayoutNodeID(owner.GetID())
        viewNode.SetBoxVisible(False)
        viewNode.SetAxisLabelsVisible(False)
        viewNode.SetBackgroundColor(*background[0])
        viewNode.SetBackgroundColor2(*background[1])
        viewNode.SetRenderMode(viewNode.Orthographic)
        for node in (owner, viewNode):
            node.SetHideFromEditors(True)
            node.SetSaveWithScene(False)
        self.scene.AddNode(viewNode)
        self._ownNodes += [viewNode, owner]
        return viewNode

    def lookFrom(self, direction, points, area) -> None:
        """Turn the camera and make the content fit into an area of the picture.

        direction: (3,) from the content to the viewer, RAS. points: (n, 3) RAS positions that must be visible. area:
        left, bottom, right, top as fractions of the picture.
        """
        # right, up, which is toward the head, and toward the viewer
        toward = np.asarray(direction, float) / np.linalg.norm(direction)
        right = np.cross((0, 0, 1), toward)
        right /= np.linalg.norm(right)
        axes = np.array([right, np.cross(toward, right), toward])
        # for large surfaces, a subset of the points is accurate to a fraction of a pixel
        projected = np.asarray(points[:: 1 + len(points) // 50000], float) @ axes.T
        low, high = projected.min(axis=0), projected.max(axis=0)
        width, height = self.window.GetSize()
        share = np.array([area[2] - area[0], area[3] - area[1]])
        middle = np.array([area[0] + area[2] - 1, area[1] + area[3] - 1]) / 2
        # height of the whole picture in mm
        tall = max((high[1] - low[1]) / share[1], (high[0] - low[0]) / share[0] * height / width, 1e-6)
        focus = (low + high) / 2
        focus[:2] -= middle * np.array([tall * width / height, tall])
        focus = focus @ axes
        distance = np.linalg.norm(high - low) + tall
        camera = self.cameraNode
        wasModifying = camera.StartModify()
        camera.SetParallelProjection(True)
        camera.SetFocalPoint(*focus)
        camera.SetPosition(*(focus + distance * axes[2]))
        camera.SetViewUp(*axes[1])
        camera.SetParallelScale(tall / 2)
        camera.EndModify(wasModifying)
        self.renderer.ResetCameraClippingRange()

    def image(self) -> np.ndarray:
        """Return the picture as (height, width, 3) uint8 RGB, top row first."""
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

        self.renderer.ResetCameraClippingRange()
        for renderer in self.window.GetRenderers():
            # it takes time even if there is nothing to smooth
            renderer.SetUseFXAA(renderer.VisibleActorCount() > 0)
        self.window.Render()
        width, height = self.window.GetSize()
        pixels = vtkUnsignedCharArray()
        self.window.GetPixelData(0, 0, width - 1, height - 1, 0, pixels, 0)
        return vtk_to_numpy(pixels).reshape(height, width, 3)[::-1].copy()

    def close(self) -> None:
        """Free the graphics memory and remove the view's own nodes from the scene; a second call does nothing."""
        if self._group is None:
            return
        self._group.SetMRMLDisplayableNode(None)
        self._group = None
        for node in self._ownNodes:
            self.scene.RemoveNode(node)
        self._ownNodes = []
        self._interactor.SetRenderWindow(None)
        self.window.RemoveRenderer(self.renderer)
        self.window.Finalize()

    def __enter__(self) -> ThreeDView:
        return self

    def __exit__(self, *error) -> None:
        self.close()


def _announceLegends(scene) -> None:
    """Re-add the color legends of a scene: Slicer's views only show legends that are added while the view exists."""
    for legend in [node for node in scene.GetNodes() if node.IsA("vtkMRMLColorLegendDisplayNode")]:
        displayable, primary = legend.GetDisplayableNode(), legend.GetPrimaryDisplayNode()
        if displayable is not None:
            scene.RemoveNode(legend)
            scene.AddNode(legend)
            displayable.AddAndObserveDisplayNodeID(legend.GetID())
            legend.SetAndObservePrimaryDisplayNode(primary)
            legend.Modified()  # update the view now that the legend is complete

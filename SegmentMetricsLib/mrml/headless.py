"""Slicer without its application: the scene and the logics that the rest of the library works with."""

from __future__ import annotations

import signal

from ..workers import signalsLater


class HeadlessSlicer:
    """A scene with the logics that Slicer's application would provide, alive as long as this object.

    scene: the vtkMRMLScene to serve; a new one when None.
    """

    def __init__(self, scene=None) -> None:
        import slicer
        from vtkmodules.vtkCommonCore import vtkObject

        self.scene = scene if scene is not None else slicer.vtkMRMLScene()
        self.applicationLogic = slicer.vtkSlicerApplicationLogic()
        self.applicationLogic.SetMRMLScene(self.scene)
        # registers how segments are converted; a segmentation made before it could not make a closed surface
        self.segmentationsLogic = slicer.vtkSlicerSegmentationsModuleLogic()
        self.segmentationsLogic.SetMRMLApplicationLogic(self.applicationLogic)
        self.segmentationsLogic.SetMRMLScene(self.scene)
        # registers the color legend; the color files it looks for only come with the application
        self.colorLogic = slicer.vtkSlicerColorLogic()
        self.colorLogic.SetMRMLApplicationLogic(self.applicationLogic)
        warnings = vtkObject.GetGlobalWarningDisplay()
        vtkObject.SetGlobalWarningDisplay(0)
        try:
            self.colorLogic.SetMRMLScene(self.scene)
        finally:
            vtkObject.SetGlobalWarningDisplay(warnings)


_headlessSlicer: HeadlessSlicer | None = None


def ensureScene():
    """Return slicer.mrmlScene; where there is no Slicer application, the first call makes it with its logics.

    A scene that a script already put at slicer.mrmlScene is kept and given the logics. Raises ImportError when neither
    Slicer nor the slicer-core package is there.
    """
    import slicer

    if hasattr(slicer, "app"):
        return slicer.mrmlScene
    global _headlessSlicer
    scene = getattr(slicer, "mrmlScene", None)
    if _headlessSlicer is None or scene is not _headlessSlicer.scene:
        _headlessSlicer = HeadlessSlicer(scene)
        slicer.mrmlScene = _headlessSlicer.scene
    return slicer.mrmlScene


def privateScene():
    """Return a new scene that no other view looks at, able to hold models, color nodes, legends and a 3D view.

    Pictures are drawn from it, so that neither the user's scene nor the application's layout notices.
    """
    import slicer

    ensureScene()
    scene = slicer.vtkMRMLScene()
    scene.RegisterNodeClass(slicer.vtkMRMLColorLegendDisplayNode())
    return scene


def whyUnavailable() -> str:
    """Return why Slicer's classes cannot be used here, "" when they can."""
    try:
        # Ctrl-C or the end of a batch system's patience is no reason why it cannot be loaded
        with signalsLater(signal.SIGINT, signal.SIGTERM):
            import slicer  # noqa: F401
    except ImportError as error:
        return f"the package slicer-core is missing or cannot be loaded ({error})."
    return ""

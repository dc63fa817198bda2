"""Slicer without its application: the scene and the logics that the rest of the library needs."""

from __future__ import annotations

import signal

from ..base.errors import installing
from ..base.parallel import signalsLater


class HeadlessSlicer:
    """A scene, the given one or a new one, with the logics that Slicer's application would provide, kept alive."""

    def __init__(self, scene=None) -> None:
        import slicer
        from vtkmodules.vtkCommonCore import vtkObject

        self.scene = scene if scene is not None else slicer.vtkMRMLScene()
        self.applicationLogic = slicer.vtkSlicerApplicationLogic()
        self.applicationLogic.SetMRMLScene(self.scene)
        # registers the converters; segmentations created before could not be converted to closed surfaces
        self.segmentationsLogic = slicer.vtkSlicerSegmentationsModuleLogic()
        self.segmentationsLogic.SetMRMLApplicationLogic(self.applicationLogic)
        self.segmentationsLogic.SetMRMLScene(self.scene)
        # adds the color nodes and registers the legend; warnings are off: color files exist only in the application
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
    """Return slicer.mrmlScene; without the Slicer application, the first call creates it with its logics.

    A scene that a script has already assigned to slicer.mrmlScene is kept and gets the logics.

    Returns
    -------
    vtkMRMLScene

    Raises
    ------
    ImportError
        If neither Slicer nor the slicer-core package is available.
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


def whyUnavailable() -> str:
    """Return the reason why Slicer's classes are not available, or "" if they are."""
    try:
        # delay Ctrl-C and termination by a batch system, which would otherwise be mistaken for a failed import
        with signalsLater(signal.SIGINT, signal.SIGTERM):
            import slicer  # noqa: F401
    except ImportError as error:
        return f"the package slicer-core is missing or cannot be loaded ({error}): {installing('slicer')}."
    return ""

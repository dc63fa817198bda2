"""Cleaning up after results that are deleted one by one."""

from __future__ import annotations

from . import folders


class Leftovers:
    """Records the helper nodes and folders of results that are about to be removed, and removes them afterwards.

    Other results of the same pair are not removed: the user may want to keep them, or they may be newer.
    """

    def __init__(self) -> None:
        self.forget()

    def note(self, node) -> None:
        """Record the helpers of a result that is about to be removed from its scene."""
        helpers = folders.helpersOf(node)
        self.helpers |= {helper.GetID() for helper in helpers}
        self.colors |= {helper.GetColorNodeID() for helper in helpers if helper.IsA("vtkMRMLDisplayNode")}
        self.folders |= {folders.resultFolder(node)} - {0}

    def forget(self) -> None:
        """Forget all records, for example when the scene is closed."""
        self.helpers: set[str] = set()  # IDs of display and storage nodes
        self.colors: set[str | None] = set()  # IDs of the color nodes that these display nodes use
        self.folders: set[int] = set()  # subject hierarchy items

    def remove(self, scene) -> None:
        """Remove the recorded helpers that no remaining node uses, and recorded folders that are empty."""
        if not (self.helpers or self.folders):
            return
        helpers, colors, items = self.helpers, self.colors, self.folders
        self.forget()
        used = {helper.GetID() for node in scene.GetNodes() for helper in folders.helpersOf(node)}
        for identifier in helpers - used:
            helper = scene.GetNodeByID(identifier)
            if helper is not None:
                scene.RemoveNode(helper)
        for item in items:
            folders.removeIfEmpty(item, scene)
        folders.removeUnusedColors(scene, colors)

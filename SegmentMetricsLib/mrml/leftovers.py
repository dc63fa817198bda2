"""What results leave in a scene when somebody deletes them one by one."""

from __future__ import annotations

from collections.abc import Iterable

from . import folders


class Leftovers:
    """Remembers what only serves nodes that are about to be removed, and removes it when they are gone."""

    def __init__(self) -> None:
        self.helpers: set[str] = set()  # IDs of display and storage nodes
        self.folders: set[int] = set()  # subject hierarchy items
        self.owners: list = []  # pairs whose results have lost what tells of them

    def note(self, node) -> None:
        """Notice that a result is about to be removed from its scene."""
        self.helpers |= {helper.GetID() for helper in folders.helpersOf(node)}
        self.folders |= {folders.resultFolder(node)} - {0}

    def noteOwners(self, owners: Iterable) -> None:
        """Notice that everything goes that was made for these pairs."""
        self.owners += owners

    def forget(self) -> None:
        """Forget all, as when the scene is closed."""
        self.helpers, self.folders, self.owners = set(), set(), []

    def remove(self, scene) -> None:
        """Remove from the scene what served nothing but nodes that are gone."""
        if not (self.helpers or self.folders or self.owners):
            return
        helpers, items, owners = self.helpers, self.folders, self.owners
        self.forget()
        for owner in owners:
            folders.removeResults(owner, scene)
        used = {helper.GetID() for node in scene.GetNodes() for helper in folders.helpersOf(node)}
        for identifier in helpers - used:
            helper = scene.GetNodeByID(identifier)
            if helper is not None:
                scene.RemoveNode(helper)
        for item in items:
            folders.removeIfEmpty(item, scene)
        folders.removeUnusedColors(scene)

"""Buttons that explain why they are disabled, and those that write files."""

import slicer

from ..markup import explain
from ..saving import askForPath


class ExplainedButton:
    """A button whose tool tip describes it, or explains why it is disabled; to be created after explainAll().

    tip: the description; None is that of the .ui file.
    """

    def __init__(self, button, tip: str | None = None):
        self.button, self.tip = button, button.accessibleDescription if tip is None else tip

    def enable(self, problem: str) -> None:
        self.button.enabled = not problem
        explain(self.button, problem or self.tip)


class SaveButton(ExplainedButton):
    """A button that asks for a path and writes a file there.

    title, kind: of the dialog. suggest: returns a file name. write: called with the path. problem: said of an error.
    """

    def __init__(self, button, title: str, kind: str, suggest, write, problem: str):
        super().__init__(button)
        self.title, self.kind, self.suggest, self.write, self.problem = title, kind, suggest, write, problem
        button.connect("clicked(bool)", self.onClicked)

    def onClicked(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(self.problem):
            path = askForPath(self.button, self.title, self.suggest(), self.kind)
            if path:
                self.write(path)

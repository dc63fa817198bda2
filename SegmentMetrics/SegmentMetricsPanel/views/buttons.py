"""Buttons that explain why they are disabled."""

from ..markup import explain


class ExplainedButton:
    """A button whose tool tip, by default that of the .ui file, describes it or says why it is disabled."""

    def __init__(self, button, tip: str = ""):
        self.button, self.tip = button, tip or button.accessibleDescription

    def enable(self, problem: str) -> None:
        self.button.enabled = not problem
        explain(self.button, problem or self.tip)

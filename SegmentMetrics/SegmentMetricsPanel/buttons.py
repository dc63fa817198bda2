"""Buttons that say why they are disabled."""

from .markup import asTip


class ExplainedButton:
    """A button whose tool tip says what it does, or why it is disabled."""

    def __init__(self, button):
        self.button, self.tip = button, button.toolTip

    def enable(self, problem: str) -> None:
        """Enable the button, or disable it when there is a problem."""
        self.button.enabled = not problem
        self.button.toolTip = asTip(problem) or self.tip

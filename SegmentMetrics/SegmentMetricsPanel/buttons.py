"""Buttons that say why they are disabled."""

from .markup import explain


class ExplainedButton:
    """A button whose tool tip says what it does, or why it is disabled; explainAll() has seen it before."""

    def __init__(self, button):
        self.button, self.tip = button, button.accessibleDescription

    def enable(self, problem: str) -> None:
        """Enable the button, or disable it when there is a problem."""
        self.button.enabled = not problem
        explain(self.button, problem or self.tip)

"""Buttons that explain why they are disabled."""

from ..markup import explain


class ExplainedButton:
    """A button whose tool tip describes it, or explains why it is disabled; to be created after explainAll().

    tip: the description; None is that of the .ui file.
    """

    def __init__(self, button, tip: str | None = None):
        self.button, self.tip = button, button.accessibleDescription if tip is None else tip

    def enable(self, problem: str) -> None:
        """Enable the button, or disable it when there is a problem."""
        self.button.enabled = not problem
        explain(self.button, problem or self.tip)

"""The buttons that choose a page, and the pages."""

from pathlib import Path

import qt

from ..contents import pages
from ..markup import explain
from .results import scrollAreaOf
from .view import View

# Pixels around the title of a button.
PADDING = 8
# How often, and after how many milliseconds, a page that opens is brought into sight: a scroll bar may come, and texts
# have other heights then.
ROUNDS, SETTLING = 3, 30
ICONS = Path(__file__).parents[2] / "Resources" / "Icons"


class PagesView(View):
    """Shows one page at a time, and buttons for those that have something in them."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        self.current, self.offered = "observers", []
        self.group = qt.QButtonGroup(self.ui.pagesFrame)
        self.buttons = {}
        for number, (name, (title, tip)) in enumerate(pages.allPages().items()):
            self.buttons[name] = button = qt.QToolButton(self.ui.pagesFrame)
            button.text, button.checkable, button.autoRaise = title, True, True
            button.icon = qt.QIcon(str(ICONS / f"{name}.png"))
            button.toolButtonStyle = qt.Qt.ToolButtonTextUnderIcon
            button.setSizePolicy(qt.QSizePolicy.Ignored, qt.QSizePolicy.Fixed)
            font = button.font
            font.setPointSize(8)
            button.font = font
            explain(button, tip)
            self.group.addButton(button, number)
        self.group.connect("idClicked(int)", self.onClicked)
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(SETTLING)
        self.timer.connect("timeout()", self.bringIntoSight)
        self.rounds = 0  # that are still to come

    def frame(self, name: str):
        return getattr(self.ui, f"{name}Page")

    def onClicked(self, number: int) -> None:
        """Open a page and bring it into sight, with the buttons above it, once its place is known."""
        self.open(list(self.buttons)[number])
        self.rounds = ROUNDS
        self.timer.start()

    def bringIntoSight(self) -> None:
        self.panel.heights.draw()
        area = scrollAreaOf(self.ui.pagesFrame)
        if area is not None:
            for widget in (self.frame(self.current), self.ui.pagesFrame):
                area.ensureWidgetVisible(widget, 0, 0)
        self.rounds -= 1
        if self.rounds > 0:
            self.timer.start()

    def open(self, name: str) -> None:
        self.current = name
        self.show()
        self.panel.heights.timer.start()  # a text that was never seen did not know its width

    def state(self) -> tuple:
        observers = self.model.observers
        return *self.pair, observers.outcome, observers.isChosen, self.current

    def draw(self) -> None:
        """Offer the pages that have something in them, and show the current one if it is among them, or the first."""
        offered = pages.pagesFor(self.model)
        shown = self.current if self.current in offered else next(iter(offered), None)
        layout = self.ui.pagesFrame.layout()
        for name, button in self.buttons.items():
            button.checked = name == shown
            self.frame(name).visible = name == shown
            if offered != self.offered:
                layout.removeWidget(button)
                button.visible = name in offered
        if offered == self.offered:
            return
        for row, numbers in enumerate(pages.rowsOf(len(offered))):
            for column, number in enumerate(numbers):
                button = self.buttons[offered[number]]
                layout.addWidget(button, row, column)
                # room according to the title, so that none is cut
                stretch = button.fontMetrics().horizontalAdvance(button.text) + PADDING
                layout.setColumnStretch(column, max(stretch, layout.columnStretch(column) if row else 0))
        self.ui.pagesFrame.visible = bool(offered)
        self.offered = offered

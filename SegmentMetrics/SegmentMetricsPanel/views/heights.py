"""Heights of texts that take several lines: Slicer's module panel would have one line for each, and cover the rest."""

import qt

from .view import View


class HeightsView(View):
    """Gives every wrapped text the height that it needs, whenever a text or the width of the panel changes."""

    def __init__(self, panel):
        super().__init__(panel)
        texts = [one for one in vars(self.ui).values() if hasattr(one, "wordWrap") and hasattr(one, "heightForWidth")]
        self.labels = [one for one in texts if one.inherits("QLabel") and one.wordWrap]
        self.known = {}  # text, width and height of letters by number
        # nothing else tells of a new width: the only column of a table that is as wide as the panel, and not seen
        self.ui.rulerTable.setColumnCount(1)
        header = self.ui.rulerTable.horizontalHeader()
        header.setSectionResizeMode(0, qt.QHeaderView.Stretch)
        self.timer = qt.QTimer()  # afterwards, because heights change widths: a scroll bar comes and goes
        self.timer.setSingleShot(True)
        self.timer.setInterval(0)
        self.timer.connect("timeout()", self.draw)
        header.connect("sectionResized(int,int,int)", lambda *_sizes: self.timer.start())

    def draw(self) -> None:
        whole = self.ui.rulerTable.columnWidth(0)
        for number, label in enumerate(self.labels):
            # one that was never seen does not know its width yet
            width = min(label.width, whole) if label.isVisible() else whole
            about = label.text, width, label.fontMetrics().height()
            if self.known.get(number) != about:
                self.known[number] = about
                label.setMinimumHeight(0)  # else it is as high as it was
                label.setMinimumHeight(max(label.heightForWidth(width), 0) if label.text else 0)

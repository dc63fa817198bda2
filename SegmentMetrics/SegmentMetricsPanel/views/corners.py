"""Numbers in the corners of the views, which stay there while another module is open."""

import slicer

# Positions of a corner annotation: others in the slice views are rewritten by Slicer.
UPPER_EDGE, UPPER_LEFT = 7, 2
# Points, as in Slicer's own corners; those of a 3D view would grow with it.
FONT_SIZE = 14


class CornersView:
    """Shows a text in all slice and 3D views, "" for none."""

    def __init__(self):
        self.text = ""

    def show(self, text: str) -> None:
        """Show a text, also in the views that a new layout has added meanwhile."""
        if text or self.text:
            self.text = text
            for view, position in views():
                annotation = view.cornerAnnotation()
                if (annotation.GetText(position) or "") == text:
                    continue
                if position == UPPER_LEFT:
                    annotation.SetMaximumFontSize(FONT_SIZE)
                    annotation.GetTextProperty().SetShadow(True)
                annotation.SetText(position, text)
                view.scheduleRender()


def views() -> list[tuple]:
    """Return all slice and 3D views with the position of the text in each; none without a main window."""
    manager = slicer.app.layoutManager()
    if manager is None:
        return []
    found = [(manager.sliceWidget(name).sliceView(), UPPER_EDGE) for name in manager.sliceViewNames()]
    threeD = [manager.threeDWidget(number) for number in range(manager.threeDViewCount)]
    return found + [(widget.threeDView(), UPPER_LEFT) for widget in threeD]

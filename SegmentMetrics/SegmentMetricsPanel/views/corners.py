"""Numbers in the corners of the views, which stay there while another module is open."""

import slicer

from ..contents.following import cornerText
from .view import View

# Positions of a corner annotation: others in the slice views are rewritten by Slicer.
UPPER_EDGE, UPPER_LEFT = 7, 2
# Points, as in Slicer's own corners; those of a 3D view would grow with it.
FONT_SIZE = 14
BOX_OPACITY = 0.6


class CornersView(View):
    """Shows the numbers of the pair that is followed in all slice and 3D views."""

    text, isDrawnEmpty = "", True

    def draw(self) -> None:
        """Show them, also in the views that a new layout has added meanwhile, or nothing."""
        isShown = self.model.isFollowing() and self.model.isFollowable()
        text = cornerText(self.model.record(), self.model.edit()) if isShown else ""
        if not (text or self.text):  # texts of other modules stay
            return
        self.text = text
        for view, position in views():
            annotation = view.cornerAnnotation()
            if (annotation.GetText(position) or "") == text:
                continue
            if position == UPPER_LEFT:
                annotation.SetMaximumFontSize(FONT_SIZE)
            annotation.GetTextProperty().SetBackgroundColor(0, 0, 0)  # a dark box, to be read over bone
            annotation.GetTextProperty().SetBackgroundOpacity(BOX_OPACITY if text else 0.0)
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

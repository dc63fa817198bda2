"""Lists of combo boxes that are as wide as what they list, however narrow the panel is."""

import qt


def widen(box) -> None:
    """Make the list that a combo box opens wide enough for its entries; to be called whenever they have changed.

    The names that differ at their ends could not be told apart otherwise.
    """
    view = box.view()
    bar = view.verticalScrollBar().sizeHint.width()
    view.setMinimumWidth(view.sizeHintForColumn(0) + bar)
    view.setTextElideMode(qt.Qt.ElideMiddle)

"""Colors of distance maps and of lesions, in Slicer and in reports."""

from __future__ import annotations

# Colors at equally spaced values from the lower to the upper end of the range, readable with color vision deficiencies.
# Agreement is a light sand, never white: white would vanish on bright slices and on a white page.
SIGNED = ("#1f3f8f", "#3a76bd", "#77b0dc", "#bcd6dd", "#f1e8ca", "#f6c48d", "#e98a50", "#cc4a31", "#8c1427")
ABSOLUTE = ("#f1e8ca", "#f8cf84", "#f4a653", "#e2733f", "#c14140", "#8d2349", "#551247")
# Of a dose, which is no distance.
DOSE = ("#e8e3c4", "#b7d3a8", "#79bd9a", "#3f9f98", "#25798c", "#1f527a", "#2a2a5e")
# Of the reference and the test: no map has these, for lines on dark and on bright images.
COMPARED = {"reference": "#ffb000", "test": "#00e0c6"}
# Of methods that are compared (Okabe & Ito).
METHODS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# What happened to a lesion; apart from each other with every color vision deficiency (Okabe & Ito).
EVENTS = {
    "missed": "#d55e00",
    "invented": "#0072b2",
    "mixed": "#999933",
    "merged": "#cc79a7",
    "split": "#e69f00",
    "found": "#009e73",
}


def rgb(color: str) -> tuple[float, float, float]:
    """Return a color given as #rrggbb as three numbers in [0, 1]."""
    red, green, blue = (int(color[n : n + 2], 16) / 255 for n in (1, 3, 5))
    return red, green, blue

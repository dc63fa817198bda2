"""The distance map of a page without plotly: pictures of both surfaces, and the scale of their colors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis.distributions import mapRange
from ...base.markup import Markup, filled, joined
from ...base.palettes import ABSOLUTE, SIGNED
from ...case.comparison import Comparison
from . import figures
from .gray import jpeg

NO_PICTURES = (
    "The distance map is missing: it is drawn by plotly, or by Slicer's 3D view where there is one that can draw."
)


def flatMap(comparison: Comparison, images: Sequence[tuple[str, np.ndarray]]) -> Markup:
    """Return pictures of the map of a comparison in space with their titles, or a note that there are none."""
    if not images:
        return filled('<p class="soft">$note</p>', note=NO_PICTURES)
    shown = joined(
        filled(
            '<figure><img alt="$title" src="data:image/jpeg;base64,$data"><figcaption>$title</figcaption></figure>',
            title=title,
            data=jpeg(pixels),
        )
        for title, pixels in images
    )
    return filled('<div><div class="views">$shown</div>$scale</div>', shown=shown, scale=_scale(comparison))


def _scale(comparison: Comparison) -> Markup:
    """Return the scale of the colors."""
    signed = comparison.knownDistances.hasSides
    limit = mapRange(comparison.knownDistances, figures.firstTolerance(comparison) or 0.0)
    ends = figures.clipped(comparison, limit)["signed" if signed else "absolute"]
    ticks = figures.colorTicks(limit, *ends)
    low = -limit if signed else 0.0
    labels = joined(
        filled('<span style="left:$place%">$text</span>', place=f"{100 * (value - low) / (limit - low):.4g}", text=text)
        for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True)
    )
    return filled(
        '<div class="colors"><div style="background:linear-gradient(to right,$colors)"></div>$labels</div>'
        '<p class="soft">$what (mm)</p>',
        colors=",".join(SIGNED if signed else ABSOLUTE),
        labels=labels,
        what="Signed distance, + outside" if signed else "Distance",
    )

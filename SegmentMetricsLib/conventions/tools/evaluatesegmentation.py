"""EvaluateSegmentation, the program of Taha & Hanbury."""

from __future__ import annotations

from ..bandrules import overlaps
from ..cellsearch import searchCells
from ..convention import HD, HDP, MASD, Convention, Number
from ..elements import Voxels, faceBorder, foreground
from ..rules import largestDistance, linearPercentile, meanOfMeans

MESSAGE = "the tool prints a message instead of a number"

CONVENTION = Convention(
    key="EvaluateSegmentation",
    tool="EvaluateSegmentation",
    version="2017.04.25 source",
    source="https://github.com/Visceral-Project/EvaluateSegmentation, doi:10.1186/s12880-015-0068-x",
    elements=Voxels(foreground, faceBorder, zeroInside=True),
    numbers={
        HD: Number(largestDistance, "HDRFDST", "largest distance of all voxels of the structures"),
        HDP: Number(
            linearPercentile,
            "HDRFDST@{percentile}@",
            "percentile of each direction over all voxels, 0 in the overlap; the larger one",
            notReproducible="the program looks at voxels outside the overlap only, in random order, and stops early",
        ),
        MASD: Number(
            meanOfMeans,
            "AVGDIST",
            "mean of the directed means over ALL voxels of the structures, which are 0 in the overlap",
            searchCells,
        ),
        **overlaps("DICE", "JACRD"),
    },
    oneEmpty={"": MESSAGE},
    bothEmpty={"": MESSAGE},
)

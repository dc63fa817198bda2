"""The registry's entries of the topology family."""

from __future__ import annotations

import math

from ...comparison.definitions import OURS, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas as topology
from .ofpair import bettiErrorOf, bettiNumbersOf, gapsOf, skeletonsOf, spursOf

SHIT = "Shit et al., arXiv:2003.07311"
HU = "Hu et al., arXiv:1906.05404"
WHOLE = "The source averages over patches of the image; here the whole structures count."
FINER = "Where thinning the voxels loses a part of a vessel, both structures are thinned at twice the resolution."

TOPOLOGY = (
    Definition(
        key="clDice", title="Center line Dice (clDice)", family="topology", source=SHIT,
        unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
        description="Harmonic mean of the shares of both center lines that the other structure covers.",
        compute=lambda pair: topology.centerLineDice(*pair.once(skeletonsOf)),
        needs=(Workspace.masks, skeletonsOf),
        isMain=True, identity=1,
        hint="For vessels and airways: it sees an interruption, which hardly changes the volume.",
        formula=r"\mathrm{clDice} = \frac{2 \, \mathrm{Tprec} \, \mathrm{Tsens}}{\mathrm{Tprec} + \mathrm{Tsens}}",
        code="families.topology.formulas.centerLineDice", deviation=FINER,
        steps=("families.topology.formulas.skeletonOf", "families.topology.formulas.lostRuns"),
    ),
    *(
        Definition(
            key=key, title=title, family="topology", source=SHIT,
            unit="", low=0, high=1, better="higher", empty=Empty.ZERO,
            description=description,
            compute=lambda pair, number=number: topology.coveredShare(pair.once(skeletonsOf)[number]),
            needs=(Workspace.masks, skeletonsOf),
            symmetric=False, identity=1, heading=heading, hint=hint,
            formula=formula, code="families.topology.formulas.coveredShare", deviation=FINER,
            steps=("families.topology.formulas.skeletonOf", "families.topology.formulas.lostRuns"),
        )
        for number, key, title, heading, description, hint, formula in (
            (1, "Tprec", "Topology precision", "Topol. prec.",
             "Share of the test's center line that lies inside the reference.",
             "Low where the test has branches that are not there.",
             r"\mathrm{Tprec} = \frac{\lvert S(B) \cap A \rvert}{\lvert S(B) \rvert}"),
            (0, "Tsens", "Topology sensitivity", "Topol. sens.",
             "Share of the reference's center line that the test covers.",
             "Low where the test misses branches, or is interrupted.",
             r"\mathrm{Tsens} = \frac{\lvert S(A) \cap B \rvert}{\lvert S(A) \rvert}"),
        )
    ),
    Definition(
        key="BettiError", title="Betti error", family="topology", source=HU,
        unit="", low=0, high=math.inf, better="lower", empty=Empty.COUNTED,
        description="How many parts, tunnels and cavities one structure has more than the other, all added up.",
        compute=lambda pair: topology.bettiError(*pair.once(bettiNumbersOf)),
        needs=(Workspace.masks, bettiNumbersOf),
        isMain=True, identity=0, isCount=True,
        hint="It counts without looking where: a part too few here and one too many there cancel out.",
        formula=r"\mathrm{BettiError} = \sum_{k=0}^{2} \lvert \beta_k(A) - \beta_k(B) \rvert",
        code="families.topology.formulas.bettiError", deviation=WHOLE,
        steps=("families.topology.formulas.bettiNumbers",),
    ),
    *(
        Definition(
            key=f"BettiError{number}", title=f"Betti error, {words}", family="topology", source=HU,
            unit="", low=0, high=math.inf, better="lower", empty=Empty.COUNTED,
            description=f"Difference between the numbers of {words} of the two structures.",
            compute=lambda pair, number=number: bettiErrorOf(pair, number),
            needs=(Workspace.masks, bettiNumbersOf),
            identity=0, hint=hint, isCount=True,
            formula=r"\mathrm{BettiError}_k = \lvert \beta_k(A) - \beta_k(B) \rvert",
            code="families.topology.formulas.bettiErrorOf", deviation=WHOLE,
            steps=("families.topology.formulas.bettiNumbers", "families.topology.formulas.eulerCharacteristic"),
        )
        for number, words, hint in (
            (0, "separate parts", "Voxels that share a corner are connected; choose it for vessels in one piece."),
            (1, "tunnels", "A ring that is closed in only one of the two structures counts."),
            (2, "cavities", "Hollows that are closed on all sides count; a plane has none."),
        )
    ),
    *(
        Definition(
            key=key, title=title, family="topology", source=OURS,
            unit="", low=0, high=math.inf, better="lower", empty=Empty.COUNTED,
            description=description, compute=lambda pair, runs=runs: topology.numberOf(pair.once(runs)),
            needs=(Workspace.masks, runs),
            symmetric=False, identity=0, hint=hint, isCount=True,
            formula=formula, code="families.topology.formulas.numberOf",
            steps=("families.topology.formulas.runsOutside",),
        )
        for runs, key, title, description, hint, formula in (
            (gapsOf, "Gaps", "Gaps of the center line",
             "Connected stretches of the reference's center line that the test does not cover.",
             "Each has a length and a place in the list of gaps and spurs.",
             r"\mathrm{Gaps} = \beta_0(S(A) \setminus B)"),
            (spursOf, "Spurs", "Spurs of the center line",
             "Connected stretches of the test's center line outside the reference.",
             "Branches that are not there, and leaks.",
             r"\mathrm{Spurs} = \beta_0(S(B) \setminus A)"),
        )
    ),
    *(
        Definition(
            key=key, title=title, family="topology", source=OURS,
            unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COUNTED,
            description=description, compute=lambda pair, runs=runs: topology.lengthOf(pair.once(runs)),
            needs=(Workspace.masks, runs),
            symmetric=False, identity=0, hint=hint, heading=title,
            formula=formula, code="families.topology.formulas.lengthOf",
            steps=("families.topology.formulas.runsOutside",),
        )
        for runs, key, title, description, hint, formula in (
            (gapsOf, "GapLength", "Length of gaps",
             "Length of the reference's center line that the test does not cover.",
             "In mm along the vessel, so compare it between cases of the same vessel only.",
             r"\mathrm{GapLength} = \lvert S(A) \setminus B \rvert"),
            (spursOf, "SpurLength", "Length of spurs",
             "Length of the test's center line outside the reference.",
             "In mm along the branches that are not there.",
             r"\mathrm{SpurLength} = \lvert S(B) \setminus A \rvert"),
        )
    ),
)  # fmt: skip

"""The registry's entries of the instances family."""

from __future__ import annotations

import math
from functools import partial

from ...comparison.definitions import OURS, Definition, Empty
from ...comparison.workspace import Workspace
from . import formulas
from .formulas import Event
from .ofpair import (
    detectionOf,
    lesionsOf,
    meanDice,
    meanHausdorff,
    noteOnLesions,
    overlapsOf,
    panopticOf,
    scoredOf,
)

KIRILLOV = "Kirillov et al., arXiv:1801.00868"
BRATS = "BraTS 2023, github.com/rachitsaluja/BraTS-2023-Metrics"
# What the setting for the overlap of a match decides.
TRUE_POSITIVES = r"\mathrm{TP}_t"
NEEDS = (Workspace.masks, lesionsOf, overlapsOf)
# What all entries of counts have in common.
count = partial(
    Definition, family="instances", source=OURS, unit="", low=0, high=math.inf, empty=Empty.COMPUTED, needs=NEEDS,
    symmetric=False, note=noteOnLesions, isCount=True,
)  # fmt: skip
share = partial(
    Definition, family="instances", unit="", low=0, high=1, better="higher", empty=Empty.COUNTED, identity=1,
    note=noteOnLesions,
)  # fmt: skip

INSTANCES = (
    *(
        count(
            key=key, title=f"Lesions of the {which}", better="",
            description=f"Separate lesions of the {which}.",
            compute=lambda pair, number=number: formulas.numberOf(pair.once(lesionsOf)[number]),
            identity=None, hint="Voxels that share a corner belong to one lesion, unless the settings say otherwise.",
            formula=formula, code="families.instances.formulas.numberOf",
            steps=("families.instances.ofpair.lesionsOf",),
        )
        for number, key, which, formula in (
            (0, "LesionsReference", "reference", r"\mathrm{LesionsReference} = m"),
            (1, "LesionsTest", "test", r"\mathrm{LesionsTest} = n"),
        )
    ),
    *(
        count(
            key=f"Lesions{event.value.capitalize()}", title=title, better=better,
            description=description,
            compute=lambda pair, event=event: formulas.countOf(pair.once(overlapsOf), event),
            identity=None if event is Event.FOUND else 0, isMain=event in (Event.MISSED, Event.INVENTED), hint=hint,
            heading=event.value.capitalize() if event in (Event.MISSED, Event.INVENTED) else "",
            formula=rf"\mathrm{{Lesions{event.value.capitalize()}}} = \lvert \lbrace G : {condition} \rbrace \rvert",
            code="families.instances.formulas.countOf", steps=("families.instances.formulas.Overlaps.groups",),
        )
        for event, title, better, description, hint, condition in (
            (Event.FOUND, "Lesions found", "higher",
             "Lesions of the reference that overlap exactly one of the test, which overlaps no other.",
             "Any overlap counts: look at LesionDSC for how well they are drawn.",
             r"\lvert G_A \rvert = \lvert G_B \rvert = 1"),
            (Event.SPLIT, "Lesions split", "lower",
             "Lesions of the reference that overlap several of the test, which overlap no other.",
             "Often one lesion with a gap; the volume hardly changes.",
             r"\lvert G_A \rvert = 1, \lvert G_B \rvert > 1"),
            (Event.MERGED, "Groups of lesions merged", "lower",
             "Lesions of the test that overlap several of the reference, which overlap no other.",
             "Neighbors that are drawn as one; counts of lesions are then wrong.",
             r"\lvert G_A \rvert > 1, \lvert G_B \rvert = 1"),
            (Event.MIXED, "Groups of lesions mixed up", "lower",
             "Groups in which several lesions of the reference overlap several of the test.",
             "Look at them in the list: nothing simple can be said.",
             r"\lvert G_A \rvert > 1, \lvert G_B \rvert > 1"),
            (Event.MISSED, "Lesions missed", "lower",
             "Lesions of the reference that no lesion of the test overlaps.",
             "What matters most for treatment: the volume alone does not tell that small ones are missed.",
             r"\lvert G_A \rvert = 1, \lvert G_B \rvert = 0"),
            (Event.INVENTED, "Lesions invented", "lower",
             "Lesions of the test that no lesion of the reference overlaps.",
             "Each one costs somebody a look, or a biopsy.",
             r"\lvert G_A \rvert = 0, \lvert G_B \rvert = 1"),
        )
    ),
    *(
        share(
            key=key, title=title, source=OURS, heading=heading,
            description=description, compute=lambda pair, ask=ask: ask(pair.once(detectionOf)),
            needs=(*NEEDS, detectionOf), symmetric=ask is formulas.recognitionQuality,
            isMain=ask is formulas.recognitionQuality, hint=hint,
            formula=formula, code=f"families.instances.formulas.{ask.__name__}",
            steps=("families.instances.formulas.matched",),
            symbols=((TRUE_POSITIVES, ("lesionOverlap",)),),
        )
        for ask, key, title, heading, description, hint, formula in (
            (formulas.sensitivity, "LesionSensitivity", "Sensitivity for lesions", "Sens. lesions",
             "Share of the reference's lesions that are found, each by a lesion of its own.",
             "Choose it when missing a lesion matters most; inventing some never lowers it.",
             r"\mathrm{LesionSensitivity} = \frac{\mathrm{TP}_t}{\mathrm{TP}_t + \mathrm{FN}_t}"),
            (formulas.precision, "LesionPrecision", "Precision for lesions", "Prec. lesions",
             "Share of the test's lesions that belong to a lesion of the reference of their own.",
             "Choose it when false alarms matter most; missing some never lowers it.",
             r"\mathrm{LesionPrecision} = \frac{\mathrm{TP}_t}{\mathrm{TP}_t + \mathrm{FP}_t}"),
            (formulas.recognitionQuality, "LesionF1", "F1 score of lesions", "F1 lesions",
             "Harmonic mean of sensitivity and precision for lesions.",
             "One number for detection; any overlap is enough unless the settings ask for more.",
             r"\mathrm{LesionF1} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}"),
        )
    ),
    *(
        share(
            key=key, title=title, source=KIRILLOV,
            description=description, compute=lambda pair, ask=ask: ask(pair.once(panopticOf)),
            needs=(*NEEDS, panopticOf), hint=hint,
            formula=formula, code=f"families.instances.formulas.{ask.__name__}",
            steps=("families.instances.formulas.matched",),
            symbols=((TRUE_POSITIVES, ("panopticOverlap",)),),
        )
        for ask, key, title, description, hint, formula in (
            (formulas.panopticQuality, "PQ", "Panoptic quality",
             "Recognition quality times segmentation quality of the lesions that match.",
             "One number for finding and drawing; a match needs an IoU above one half, hard for small lesions.",
             r"\mathrm{PQ} = \mathrm{SQ} \cdot \mathrm{RQ} = \frac{\sum_{(a, b)} \mathrm{IoU}(a, b)}"
             r"{\mathrm{TP}_t + \frac{1}{2} \mathrm{FP}_t + \frac{1}{2} \mathrm{FN}_t}"),
            (formulas.recognitionQuality, "RQ", "Recognition quality",
             "F1 score of the lesions, of which a match overlaps by more than half.",
             "Stricter than LesionF1, as a match must overlap well.",
             r"\mathrm{RQ} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}"),
            (formulas.segmentationQuality, "SQ", "Segmentation quality",
             "Mean intersection over union of the lesions that match.",
             "Of the matched lesions only: missing the hard ones raises it.",
             r"\mathrm{SQ} = \frac{1}{\mathrm{TP}_t} \sum_{(a, b)} \mathrm{IoU}(a, b)"),
        )
    ),
    share(
        key="LesionDSC", title="Dice of lesions, one by one", source=BRATS, heading="DSC lesions",
        description="Mean Dice of the reference's lesions with what overlaps each, where missed and invented lesions "
        "count 0.",
        compute=meanDice, needs=(*NEEDS, scoredOf), symmetric=False, isMain=True,
        hint="Every lesion counts alike, however small; a single large one does not hide the others.",
        formula=r"\mathrm{LesionDSC} = \frac{1}{L + I} \sum_{l=1}^{L} \mathrm{DSC}(X_l, Y_l)",
        code="families.instances.ofpair.meanDice", steps=("families.instances.ofpair.scoredOf",),
    ),
    Definition(
        key="LesionHD95", title="HD95 of lesions, one by one", family="instances", source=BRATS,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COUNTED, identity=0,
        description="Mean 95th percentile Hausdorff distance of the reference's lesions to what overlaps each, where "
        "missed and invented lesions count a penalty.",
        compute=meanHausdorff, needs=(*NEEDS, scoredOf), symmetric=False, note=noteOnLesions,
        heading="HD95 lesions",
        hint="The penalty decides it as soon as a lesion is missed: state it.",
        formula=r"\mathrm{LesionHD95} = \frac{1}{L + I} \left( \sum_{l} \mathrm{HD}_{95}(X_l, Y_l) + "
        r"P_0 \, (M + I) \right)",
        code="families.instances.ofpair.meanHausdorff",
        steps=("families.instances.ofpair.scoredOf", "families.instances.ofpair.penaltyOf"),
        symbols=(("P_0", ("lesionPenalty",)),),
        deviation="The distance is that of exact surfaces; the presets of BraTS 2023 sample it as DeepMind's "
        "surface-distance does.",
    ),
)  # fmt: skip

"""What to measure and how: every setting is a field, declared with all that is known of it."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.errors import InputError, requireKind
from ..conventions.convention import OWN_CONVENTION
from ..conventions.presets import PRESETS
from ..metrics.metric import PARAMETERS
from ..metrics.registry import FAMILY_CHOICE, meaningOf
from . import names
from .checks import classes, fromZero, nameOrNumber, oneOf, orNone, positive, several, weights, wholeNumber, yesOrNo
from .declarations import (
    DISTANCES,
    DOSE,
    HAZARD,
    INSTANCES,
    MEASURED,
    MEMBERSHIPS,
    SIMILARITY,
    InPanel,
    Option,
    _,
    declarationsOf,
    setting,
)
from .names import DEFAULT_FAMILIES, GRIDS

if TYPE_CHECKING:
    from ..geometry.grids import Grid

# mm, Gy and so on: contours of a patient are never farther apart, and no dose is higher
LARGEST = 1000.0
LARGEST_MEMBERSHIP = 2**31 - 1
# mm3, of the smallest lesion; voxels; and cm3
LARGEST_LESION, LARGEST_DILATION, LARGEST_VOLUME = 1e6, 20, 1e5


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """All choices that determine the numbers of a comparison; each has a default.

    Values out of range raise a ValueError.
    """

    # The rest of the docstring is made from what is declared here. Types are those of a finished object; None may
    # always be given and means the default.
    tolerances: tuple[float, ...] = setting(
        None,
        orNone(several("tolerance", LARGEST, " mm")),
        "Tolerance",
        unit="mm",
        about="Distance in mm up to which two contours count as the same.",
        inPython="None means those in the keys of the metrics, else 2 mm.",
        option=Option("--tolerance", MEASURED, "tolerance of NSD, BIoU and so on", "MM"),
        parameter=PARAMETERS["tolerance"],
        panel=InPanel(
            label="Tolerance τ",
            section="",
            name="tolerance",
            low=0.01,
            high=LARGEST,
            decimals=2,
            step=0.5,
            isAlwaysShown=True,
        ),
    )
    percentiles: tuple[float, ...] = setting(
        None,
        orNone(several("percentile", 100, " %")),
        "Percentile of the Hausdorff distance",
        unit="%",
        about="Share of the surface, in %, that the reported Hausdorff distance covers; 95 ignores the worst 5 %.",
        inPython="None means those in the keys of the metrics, else 95.",
        option=Option("--percentile", MEASURED, "percentile of the Hausdorff distance", "P"),
        parameter=PARAMETERS["percentile"],
        panel=InPanel(label="Percentile", section="", name="percentile", low=1, high=100, decimals=1),
    )
    surface: str = setting(
        "unsmoothed",
        oneOf("surface", ("unsmoothed", "displayed")),
        "Surface",
        about="The boundary that is measured. Unsmoothed: exactly around the voxels, so the numbers do not depend on "
        "how Slicer displays the segments. As displayed: the smooth surface of the 3D views.",
        option=Option(
            "--surface", DISTANCES, "surface to measure: around the voxels, or the smooth one that Slicer shows"
        ),
        panel=InPanel(
            label="Surface",
            section="",
            control="ComboBox",
            words={"unsmoothed": _("Unsmoothed"), "displayed": _("As displayed")},
        ),
        isDecidedByTools=True,
    )
    families: tuple[str, ...] = setting(
        None,
        orNone(names.chosenFamilies),
        "Families of measurements",
        about=f"Names of the metric families to compute: {FAMILY_CHOICE}.",
        inPython=f"None means those of the metrics, else {', '.join(DEFAULT_FAMILIES)}.",
        isAlwaysTold=True,
    )
    metrics: tuple[str, ...] = setting(
        (),
        names.chosenMetrics,
        "Single measurements",
        about="Single measurements to compute, by key, in upper or lower case. Of a family with keys in the list, only "
        'these are computed; of other families, all. A key without its parameter, such as "NSD", stands for all '
        "tolerances. The name of a family stands for all its measurements and makes its keys superfluous.",
        option=Option(
            "--metrics",
            MEASURED,
            f"families: {FAMILY_CHOICE}; or single measurements, such as DSC,HD95",
            "FAMILY|KEY,...",
            ",".join(DEFAULT_FAMILIES),
        ),
    )
    threshold: float | None = setting(
        None,
        orNone(positive("threshold", 1)),
        "Membership from which a voxel belongs to a structure",
        about="Membership at or above which a voxel of a membership image belongs to the structure.",
        inPython="None: voxels count in part, by their membership, for overlap and agreement; surfaces and distances "
        "use 0.5.",
        option=Option("--threshold", MEMBERSHIPS, "count voxels at or above T as inside", "T", "all count in part"),
    )
    membershipMaximum: int | None = setting(
        None,
        orNone(wholeNumber("largest membership", 2, LARGEST_MEMBERSHIP)),
        "Full membership",
        about="Full membership of images with values above 1, such as 255 or 100.",
        inPython="None: whole numbers are labels.",
        option=Option("", MEMBERSHIPS, "value of full membership if values go beyond 1", "N", ""),
    )
    cuts: int | None = setting(
        None,
        orNone(wholeNumber("cuts", 1, 100)),
        "Cuts of memberships",
        about="Number of membership thresholds, evenly spaced up to 1, over which the voxel family is averaged.",
        inPython="None means the single threshold 0.5. Has no effect if a threshold is given.",
        option=Option("", MEMBERSHIPS, "how many thresholds the voxel family is averaged over", "K", "1, at 0.5"),
        families=("voxel",),
        onlyIf=("threshold", None),
    )
    meshSpacing: float = setting(
        1.0,
        positive("grid spacing for meshes", unit=" mm"),
        "Voxel size for the overlap of two meshes",
        unit="mm",
        about="Voxel size in mm of the grid on which two meshes are compared by volume; finer for small structures.",
        option=Option("", DISTANCES, "voxel size for the overlap of two meshes", "MM"),
    )
    grid: str | Grid = setting(  # noqa: RUF009 - a field, not a Grid
        "reference",
        names.chosenGrid,
        "Voxels outside both structures are those of",
        about="Which voxels outside both segments count. Reference image: all voxels of the image that the reference "
        "was drawn on, and more where the test goes beyond it. Union of both: the box around both.",
        inPython='Must be "reference", "union", or a Grid or SimpleITK image, which is extended to contain both.',
        option=Option(
            "",
            MEASURED,
            "where true negatives are counted: in the reference's image, in the box around both "
            "structures, or in the image of a file",
            "|".join((*GRIDS, "FILE")),
        ),
        panel=InPanel(
            label=_("Evaluated grid"),
            row=3,
            control="ComboBox",
            words={"reference": _("Reference image"), "union": _("Union of both")},
        ),
        entries="dependsOnGrid",
    )
    ignore: str | None = setting(
        None,
        orNone(nameOrNumber("label to be ignored")),
        "Label that is ignored",
        about="The label of the reference that marks what nobody annotated: its voxels count on neither side, and both "
        "contours end at their border.",
        inPython='None means the one called "ignore", as in nnU-Net, if the given names of labels include it. Not used '
        "between observers.",
        option=Option(
            "--ignore",
            MEASURED,
            "label of the reference for what nobody annotated; it counts on neither side",
            "NAME",
            "",
        ),
    )
    extent: str = setting(
        "whole",
        oneOf("extent", ("whole", "common")),
        "Extent",
        about="How much of the two is compared. Whole: everything. Common: only the slices that both contours cover, "
        "without the caps at the ends, for organs whose ends are arbitrary.",
        option=Option("--extent", DISTANCES, "the whole structures, or only the slices that both cover"),
        panel=InPanel(
            label=_("Extent"),
            row=0,
            control="ComboBox",
            words={"whole": _("Whole structures"), "common": _("Common extent")},
        ),
    )
    betas: tuple[float, ...] = setting(
        None,
        orNone(several("beta", LARGEST)),
        "Weight of sensitivity in the F-measure",
        about="Weight of sensitivity against precision in the F-measure; 1 is the Dice coefficient.",
        inPython="None means those in the keys of the metrics, else 1.",
        option=Option("", MEASURED, "beta of the F-measure", "B"),
        parameter=PARAMETERS["beta"],
        panel=InPanel(label=_("F-measure β"), row=4, name="beta", low=0.01, high=LARGEST, decimals=2, step=0.5),
    )
    quantiles: tuple[float, ...] = setting(
        None,
        orNone(several("quantile", 1)),
        "Quantile of the Hausdorff distance of voxels",
        about="Share of the voxels that the Hausdorff distance of voxels covers; 0.95 ignores the worst 5 %.",
        inPython="None means those in the keys of the metrics, else 1.",
        option=Option("", MEASURED, "quantile of the voxels' Hausdorff distance, up to 1", "Q"),
        parameter=PARAMETERS["quantile"],
        panel=InPanel(label=_("HDvox quantile"), row=5, name="quantile", low=0.01, high=1, decimals=2, step=0.05),
    )
    voxelUnit: str = setting(
        "mm",
        oneOf("unit of voxel distances", ("mm", "voxel")),
        "Unit of the distances of voxels",
        about="The unit of distances between voxels.",
        option=Option("", MEASURED, "unit of the voxel family"),
        panel=InPanel(
            label=_("Voxel distances"), row=6, control="ComboBox", words={"mm": _("Millimeters"), "voxel": _("Voxels")}
        ),
        families=("voxel",),
    )
    labelWeights: tuple[tuple[str, float], ...] = setting(
        (),
        weights("label"),
        "Weights of labels",
        about="Weights of labels for DICEml and JACml; labels without one have weight 1.",
        option=Option("", MEASURED, "weight of a structure for DICEml and JACml", "NAME=WEIGHT", "1; may be repeated"),
    )
    critical: tuple[tuple[str, float], ...] = setting(
        (),
        weights("critical structure", 1),
        "Critical structures",
        about="Structures of the reference segmentation near which differences are dangerous, such as the spinal "
        "cord beside a target.",
        option=Option(
            "--critical",
            HAZARD,
            "structure of the reference near which errors are dangerous",
            "NAME[=WEIGHT]",
            "weight 1; may be repeated",
        ),
        panel=InPanel(label="Critical structures", section="", control="ComboBox"),
        families=("hazard",),
    )
    hazardKernel: str = setting(
        "polynomial",
        oneOf("hazard kernel", ("polynomial", "exponential", "dose")),
        "Hazard falls with the distance",
        about="How hazard falls with the distance to a critical structure: to zero at the reach, as 1 - (distance / "
        "reach)², or exponentially, to 37 % at the decay length. Dose: hazard is the dose as a share of the "
        "prescription, at most 1, and needs no critical structure.",
        inPython='For a distance d in mm, "polynomial" is 1 - (d / hazardReach)^hazardPower, "exponential" exp(-d / '
        "hazardDecay).",
        option=Option("--kernel", HAZARD, "how hazard falls with the distance"),
        panel=InPanel(
            label=_("Hazard decay"),
            row=7,
            control="ComboBox",
            words={"polynomial": _("Polynomial (to zero)"), "exponential": _("Exponential"), "dose": _("Dose")},
        ),
        families=("hazard",),
    )
    hazardReach: float = setting(
        10.0,
        positive("reach of the hazard", unit=" mm"),
        "Reach of the hazard",
        unit="mm",
        about="Distance to a critical structure, in mm, at and beyond which there is no hazard.",
        option=Option("", HAZARD, "distance at which polynomial hazard ends", "MM"),
        panel=InPanel(label=_("Hazard reach"), row=8, low=0.1, high=LARGEST, decimals=1),
        families=("hazard",),
        onlyIf=("hazardKernel", "polynomial"),
    )
    hazardPower: float = setting(
        2.0,
        positive("power of the hazard"),
        "Power of the hazard",
        about="Power of the distance with which polynomial hazard falls.",
        option=Option("", HAZARD, "power of the distance with which polynomial hazard falls", "P"),
        families=("hazard",),
        onlyIf=("hazardKernel", "polynomial"),
    )
    hazardDecay: float = setting(
        8.0,
        positive("decay of the hazard", unit=" mm"),
        "Decay length of the hazard",
        unit="mm",
        about="Distance to a critical structure, in mm, at which hazard has fallen to 37 %.",
        option=Option("", HAZARD, "distance over which exponential hazard falls to 1/e", "MM"),
        panel=InPanel(label=_("Decay length"), row=9, low=0.1, high=LARGEST, decimals=1),
        families=("hazard",),
        onlyIf=("hazardKernel", "exponential"),
    )
    hazardCombination: str = setting(
        "max",
        oneOf("combination of hazards", ("max", "sum")),
        "Several critical structures",
        about="Hazard near several critical structures: the largest, or the sum, at most 1.",
        option=Option("", HAZARD, "hazard near several critical structures: the largest, or the sum, up to 1"),
        families=("hazard",),
    )
    hazardBalance: float = setting(
        0.7,
        fromZero("balance of the hazard", 1),
        "Weight of missed against added voxels",
        about="Weight of missed against added voxels in SIS and STAR.",
        option=Option("", HAZARD, "weight of missed against added voxels in SIS and STAR, from 0 to 1", "W"),
        families=("hazard",),
    )
    hazardTail: float = setting(
        0.05,
        positive("tail of the hazard", 1),
        "Share of the most hazardous errors",
        about="Share of the most hazardous errors that STAR considers.",
        option=Option("", HAZARD, "share of the most hazardous errors that STAR looks at", "SHARE"),
        families=("hazard",),
    )
    il: float = setting(
        1.0,
        positive("inside level", LARGEST),
        "Level inside the reference",
        about="How severely the similarity index judges contours inside the reference; at 1, 10 mm score 0.61.",
        option=Option("", SIMILARITY, "inside level of the similarity index", "LEVEL"),
        panel=InPanel(label=_("MSI inside"), row=10, low=0.01, high=LARGEST, decimals=2, step=0.5),
        families=("similarity",),
    )
    ol: float = setting(
        1.0,
        positive("outside level", LARGEST),
        "Level outside the reference",
        about="How severely the similarity index judges contours outside the reference; at 1, 10 mm score 0.61.",
        option=Option("", SIMILARITY, "outside level of the similarity index", "LEVEL"),
        panel=InPanel(label=_("MSI outside"), row=11, low=0.01, high=LARGEST, decimals=2, step=0.5),
        families=("similarity",),
    )
    asPublished: bool = setting(
        False,
        yesOrNo("the similarity index is computed as published"),
        "By the authors' formula, on boundary chains",
        about="Whether the similarity index is computed by the authors' formula on chains of boundary pixels, in "
        "pixels, instead of by their definition. It is not their program, which traces other edges.",
        option=Option(
            "",
            SIMILARITY,
            "similarity index by its authors' formula, on chains of boundary pixels; not by their program",
            default="",
        ),
        families=("similarity",),
    )
    msiUnit: str = setting(
        "mm",
        oneOf("unit of contour distances", ("mm", "pixel")),
        "Unit of the similarity index",
        about="The unit of the similarity index's distances and of the 10 in its formula; published values are in "
        "pixels.",
        option=Option(
            "--msi-unit", SIMILARITY, "unit of the similarity index's distances; published values need pixels"
        ),
        families=("similarity",),
    )
    splitContours: bool = setting(
        False,
        yesOrNo("contours are split"),
        "Touching contours are cut apart",
        about="Whether a contour that looks like several touching ones is cut apart if the other side has more.",
        option=Option(
            "", SIMILARITY, "cut touching contours of a slice apart, so that each has its counterpart", default=""
        ),
        families=("similarity",),
    )
    lesionConnectivity: int = setting(
        26,
        oneOf("connectivity of lesions", (6, 18, 26)),
        "Connectivity of lesions",
        about="How many of the voxels around a voxel belong to the same lesion: 26, 18 without corners, or 6 "
        "with a common face. In a plane 26 stands for 8, and the others for 4.",
        option=Option("", INSTANCES, "neighbors of a voxel that belong to the same lesion"),
        panel=InPanel(
            label=_("Connectivity"),
            row=14,
            control="ComboBox",
            words={"26": _("26 neighbors"), "18": _("18 neighbors"), "6": _("6 neighbors")},
        ),
        families=("instances",),
    )
    instanceMaps: bool = setting(
        False,
        yesOrNo("The labels are lesions"),
        "Labels are lesions of one structure",
        about="Every label or segment is one lesion, and all together are one structure.",
        inPython="Or several, as given by instanceClasses.",
        option=Option("--instances", INSTANCES, "every label or segment is one lesion of one structure", default=""),
    )
    instanceClasses: tuple[tuple[str, str], ...] = setting(
        (),
        classes("The classes of lesions"),
        "Classes of the lesions",
        about="The structure that each label or segment of an instance map is a lesion of, by its name or number; "
        "those that are not named are left out.",
        option=Option(
            "--instance-classes",
            INSTANCES,
            "table of labels, and the structure that each is a lesion of (.csv, .tsv, .json); needs --instances",
            "FILE",
            "",
        ),
        onlyIf=("instanceMaps", True),
    )
    lesionMinimum: float = setting(
        0.0,
        fromZero("smallest lesion", unit=" mm3"),
        "Smallest lesion",
        unit="mm3",
        about="Lesions of a smaller volume are left out on both sides, and counted.",
        inPython="In mm3, in a plane in mm2. BraTS leaves out those of the reference up to this volume, after it has "
        "found their counterparts.",
        option=Option("", INSTANCES, "volume of the smallest lesion that counts, in mm3", "MM3"),
        panel=InPanel(label=_("Smallest lesion"), row=15, low=0, high=LARGEST_LESION, decimals=1, step=10),
        families=("instances",),
    )
    lesionOverlap: float = setting(
        0.0,
        fromZero("overlap of lesions", 1),
        "Overlap (IoU) of a lesion that is found",
        about="Intersection over union above which a lesion counts as found; 0 is any overlap.",
        option=Option("", INSTANCES, "IoU above which a lesion is found", "IOU", "0, any overlap"),
        panel=InPanel(label=_("Found: IoU >"), row=16, low=0, high=1, decimals=2, step=0.05),
        families=("instances",),
    )
    panopticOverlap: float = setting(
        0.5,
        fromZero("overlap for the panoptic quality", 1),
        "Overlap (IoU) of a match in the panoptic quality",
        about="Intersection over union above which two lesions match in the panoptic quality.",
        inPython="For the preset panoptica, an IoU that equals it matches, too.",
        option=Option("", INSTANCES, "IoU above which lesions match in PQ, RQ and SQ", "IOU"),
        panel=InPanel(label=_("PQ match: IoU >"), row=17, low=0, high=1, decimals=2, step=0.05),
        families=("instances",),
    )
    lesionDilation: int = setting(
        0,
        wholeNumber("dilation of lesions", 0, LARGEST_DILATION),
        "Dilation that joins lesions",
        unit="voxels",
        about="Lesions of the reference that touch when they are dilated by this many voxels are scored as one in "
        "LesionDSC and LesionHD95, together with what the test has within them.",
        option=Option("", INSTANCES, "voxels by which lesions are dilated for LesionDSC and LesionHD95", "N"),
        panel=InPanel(label=_("Lesion dilation"), row=18, low=0, high=LARGEST_DILATION),
        families=("instances",),
    )
    lesionPenalty: float | None = setting(
        None,
        orNone(positive("penalty of a lesion", unit=" mm")),
        "Distance of a missed or invented lesion",
        unit="mm",
        about="Distance that counts in LesionHD95 for a lesion that is missed or invented.",
        inPython="None means the diagonal of the image.",
        option=Option(
            "", INSTANCES, "distance in LesionHD95 of a missed or invented lesion", "MM", "the image's diagonal"
        ),
        families=("instances",),
    )
    dosePercents: tuple[float, ...] | None = setting(
        None,
        orNone(several("percentage of the volume", 100, " %")),
        "Percentages of the volume for a dose",
        unit="%",
        about="Shares of the volume, in %, whose dose is reported: D95 is the dose that 95 % of it receives at least.",
        inPython="None means those in the keys of the metrics, else 2, 50, 95 and 98.",
        option=Option("", DOSE, "share of the volume whose dose is reported, as in D95", "PERCENT"),
        parameter=PARAMETERS["dosePercent"],
    )
    doseVolumes: tuple[float, ...] | None = setting(
        None,
        orNone(several("volume for a dose", LARGEST_VOLUME, " cm3")),
        "Volumes for a dose",
        unit="cm3",
        about="Volumes in cm3 whose dose is reported: D0.03cc is the dose that the hottest 0.03 cm3 receives at least.",
        inPython="None means those in the keys of the metrics, else 0.03.",
        option=Option("", DOSE, "volume whose dose is reported, as in D0.03cc", "CM3"),
        parameter=PARAMETERS["doseVolume"],
    )
    doseLevels: tuple[float, ...] | None = setting(
        None,
        orNone(several("dose level", LARGEST, " Gy")),
        "Dose levels",
        unit="Gy",
        about="Doses in Gy for which the volume that receives them is reported: V20Gy.",
        inPython="None means those in the keys of the metrics.",
        option=Option("", DOSE, "dose for which the volume is reported, as in V20Gy", "GY", "none"),
        parameter=PARAMETERS["doseLevel"],
    )
    prescription: float | None = setting(
        None,
        orNone(positive("prescription", LARGEST, " Gy")),
        "Prescription",
        unit="Gy",
        about="Prescribed dose in Gy: a hazard that is taken from the dose is 1 where the dose reaches it.",
        option=Option("", DOSE, "prescribed dose, for the hazard kernel dose", "GY", ""),
        panel=InPanel(label=_("Prescription"), row=13, low=0, high=LARGEST, decimals=1, isAutomatic=True),
        families=("hazard",),
        onlyIf=("hazardKernel", "dose"),
    )
    placesBy: str = setting(
        "distance",
        oneOf("ranking of the worst places", ("distance", "dose")),
        "Worst places ranked by",
        about="What the worst places are ranked by: how far apart the contours lie, or the dose there.",
        option=Option("", DOSE, "what the worst places are ranked by"),
        families=("dose",),
    )
    convention: str = setting(
        OWN_CONVENTION,
        names.chosenConvention,
        "Measured as",
        about="The tool whose conventions are used for boundary and overlap metrics, if a study or a protocol "
        "demands one. SegmentMetrics: as they are defined. Another tool: as it would report them; it decides "
        "the surface, too.",
        inPython='A key of SegmentMetricsLib.conventions, such as "MedPy", in any case, or the name of the preset '
        "that these settings come from.",
        option=Option("--convention", MEASURED, "report boundary and overlap as this tool does", "TOOL", ""),
        panel=InPanel(label="Report as", control="ComboBox"),
        families=("boundary", "overlap"),
        isAlwaysTold=True,
    )

    def __post_init__(self) -> None:
        for name, declaration in DECLARED.items():
            object.__setattr__(self, name, declaration.check(getattr(self, name)))
        # the families, the single measurements, and the parameters that their keys state
        whole = names.orderFamilies(name for name in self.metrics if names.isFamily(name))
        named = [meaningOf(name) for name in self.metrics if not names.isFamily(name)]
        named = [one for one in named if one.metric.family not in whole]
        families = names.orderFamilies((*(self.families or ()), *whole, *(one.metric.family for one in named)))
        object.__setattr__(self, "metrics", tuple(one.key for one in named))
        isOfLesions = self.convention in PRESETS and self.convention != OWN_CONVENTION
        ofLesions = ("instances",) if isOfLesions else ()
        object.__setattr__(self, "families", names.orderFamilies((*(families or DEFAULT_FAMILIES), *ofLesions)))
        for parameter in PARAMETERS.values():
            given = getattr(self, parameter.setting)
            stated = [one.parameters[parameter.name] for one in named if parameter.name in one.parameters]
            values = (stated or parameter.values) if given is None else (*given, *stated)
            object.__setattr__(self, parameter.setting, DECLARED[parameter.setting].check(values))
        fixed = DECIDED_BY_TOOLS if self.isOfAnotherTool else PRESETS[self.convention]
        for name in (one for one, value in fixed.items() if getattr(self, one) != value):
            if getattr(self, name) != getattr(Settings, name):
                raise InputError(f"The convention {self.convention} fixes the {name}; leave either one out.")
            raise InputError(
                f"{self.convention} is a preset with other settings, too, such as {name}: take all of them with "
                f"Settings.preset({self.convention!r})."
            )

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults, as they can be given."""
        usual = Settings()
        given = ((name, getattr(self, name)) for name in DECLARED)
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in given if value != getattr(usual, name))})"

    @staticmethod
    def preset(name: str, **changes) -> Settings:
        """Return the settings of a preset or convention, with further changes by keyword.

        name: in any case. Raises ValueError for an unknown name, and when a change contradicts the preset.
        """
        name = names.knownConvention(name)
        return Settings(**{**PRESETS.get(name, {}), **changes, "convention": name})

    @property
    def isOfAnotherTool(self) -> bool:
        """Whether the boundary and overlap measurements reproduce those of another tool."""
        return self.convention not in PRESETS

    def replace(self, **changes) -> Settings:
        """Return the settings with changes by keyword."""
        return dataclasses.replace(self, **changes)

    def toDictionary(self) -> dict:
        """Return the settings as plain values for files; `Settings(**values)` restores them."""
        return {name: declaration.check.plain(getattr(self, name)) for name, declaration in DECLARED.items()}


DECLARED = declarationsOf(Settings)
# settings that the conventions of other tools fix
DECIDED_BY_TOOLS = {name: getattr(Settings, name) for name, one in DECLARED.items() if one.isDecidedByTools}
_PARAMETERS = (
    f"{one.name} : {one.type}, optional\n    {DECLARED[one.name].documentation(one.name)}"
    for one in dataclasses.fields(Settings)
)
Settings.__doc__ = "\n".join((inspect.cleandoc(f"{Settings.__doc__}"), "", "Parameters", "----------", *_PARAMETERS))


def isInEffect(name: str, chosen: Settings) -> bool:
    """Return whether the other settings leave a setting its effect: the reach of a hazard has none if it has none."""
    condition = DECLARED[name].onlyIf
    return condition is None or getattr(chosen, condition[0]) == condition[1]


def asSettings(given: Settings | None) -> Settings:
    """Return the given settings, or the defaults for None. Raises InputError for anything else."""
    if given is None:
        return Settings()
    requireKind(given, Settings, "The settings", "Settings")
    return given

"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError, requireText
from ..settings import ACCURACIES, DEFAULT_FAMILIES, FAMILIES, GRIDS, KERNELS, PRESETS, SURFACES, VOXEL_UNITS, Settings


def addSettings(parser: argparse.ArgumentParser) -> None:
    """Add the options that become Settings; those not given keep the defaults of the settings or the preset."""
    parser.add_argument(
        "--tolerance", metavar="MM", action="append", type=float, help="tau of NSD and BIoU (2; may be repeated)"
    )
    parser.add_argument(
        "--percentile", metavar="P", action="append", type=float, help="of the Hausdorff distance (95; may be repeated)"
    )
    parser.add_argument("--surface", choices=SURFACES, default="unsmoothed", help="boundary to measure (%(default)s)")
    parser.add_argument("--accuracy", choices=ACCURACIES, help="as close as needed (converged), or at equal pieces")
    parser.add_argument("--subdivisions", metavar="N", type=int, help="if sampled: how often to cut (1, in 2D 5)")
    parser.add_argument("--oversampling", metavar="N", type=int, help="sub-voxels per axis for BIoU (automatic)")
    parser.add_argument(
        "--metrics",
        metavar="FAMILY,...",
        default=",".join(DEFAULT_FAMILIES),
        help=f"metric families, of {', '.join(FAMILIES)} (%(default)s; or all)",
    )
    parser.add_argument("--threshold", metavar="T", type=float, default=0.5, help="of membership images (%(default)s)")
    parser.add_argument("--fuzzy", action="store_true", help="count voxels of membership images in part")
    parser.add_argument("--cuts", metavar="K", type=int, help="with --fuzzy: cuts to average voxel distances over")
    parser.add_argument("--grid", choices=GRIDS, default="reference", help="where true negatives count (%(default)s)")
    parser.add_argument("--beta", metavar="B", action="append", type=float, help="of the F-measure (1; repeatable)")
    parser.add_argument(
        "--quantile", metavar="Q", action="append", type=float, help="of the voxels' Hausdorff distance (1; repeatable)"
    )
    parser.add_argument("--voxel-unit", choices=VOXEL_UNITS, default="mm", help="of the voxel family (%(default)s)")
    parser.add_argument(
        "--critical",
        metavar="NAME[=WEIGHT]",
        action="append",
        help="critical structure of the reference for the hazard family (weight 1; may be repeated)",
    )
    parser.add_argument("--kernel", choices=KERNELS, help="how hazard falls with the distance (polynomial)")
    parser.add_argument(
        "--preset", choices=[name for name in PRESETS if name != "SegmentMetrics"], help="parity preset"
    )


def settingsFrom(options: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for. Raises InputError for values out of range."""
    given = {
        "tolerances": options.tolerance,
        "percentiles": options.percentile,
        "surface": options.surface,
        "accuracy": options.accuracy,
        "subdivisions": options.subdivisions,
        "oversampling": options.oversampling,
        "families": chosenFamilies(options),
        "threshold": options.threshold,
        "fuzzy": options.fuzzy,
        "cuts": options.cuts,
        "grid": options.grid,
        "betas": options.beta,
        "quantiles": options.quantile,
        "voxelUnit": options.voxel_unit,
        "critical": criticalWeights(options.critical) if options.critical else None,
        "hazardKernel": options.kernel,
    }
    return Settings.preset(options.preset or "SegmentMetrics", **{k: v for k, v in given.items() if v is not None})


def chosenFamilies(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the metric families; critical structures add theirs to the default ones.

    Raises InputError when critical structures are given but their family is not among those that were chosen.
    """
    families = tuple(filter(None, (family.strip() for family in options.metrics.split(","))))
    if not options.critical or {"hazard", "all"} & set(families):
        return families
    if families != DEFAULT_FAMILIES:
        raise InputError("Critical structures serve the hazard family: add hazard to --metrics, or leave them out.")
    return (*families, "hazard")


def criticalWeights(given: Sequence[str]) -> dict[str, float]:
    """Return the weights of critical structures given as NAME or NAME=WEIGHT; a name may have an equals sign, too."""
    weights = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            weights[name or text] = float(number) if name else 1.0
        except ValueError:
            weights[text] = 1.0
    return weights


def criticalsOf(structures: Sequence, settings: Settings) -> dict:
    """Return the critical structures that the settings name. Raises InputError for those that are not there."""
    from ..structures import listed

    found = {}
    for name, _ in settings.critical:
        matches = [s for s in structures if s.name == name]
        if len(matches) != 1:
            problem = "more than one" if matches else "no"
            raise InputError(
                f"The reference has {problem} critical structure named {name!r}; it has "
                f"{listed(s.name for s in structures)}."
            )
        found[name] = matches[0]
    return found


def requireWritable(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists. Raises InputError when it takes no results."""
    requireText(folder)
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"{existing}: this is not a folder, so results cannot be written into it.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: results cannot be written into this folder.")
    return existing

"""The sample's head and neck, in memory and as files."""

from __future__ import annotations

import shutil
from pathlib import Path

import SimpleITK

from SegmentMetricsLib.io.samples import FILES, FOLDER
from SegmentMetricsLib.io.segmentationfiles import segmentHeaders


def headAndNeck() -> tuple[SimpleITK.Image, SimpleITK.Image, dict[int, str]]:
    """Return the two observers' label maps and the organ name of every label value."""
    reference, test = (SimpleITK.ReadImage(FOLDER / name) for name in FILES)
    names = {segment["label"]: segment["name"] for segment in segmentHeaders(reference)}
    for image in (reference, test):
        for key in image.GetMetaDataKeys():
            image.EraseMetaData(key)
    return reference, test, names


def writeHeadAndNeck(folder: str | Path) -> tuple[Path, Path]:
    """Copy the files of both observers into a folder, which is made if needed, and return their paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    reference, test = (Path(shutil.copy(FOLDER / name, folder)) for name in FILES)
    return reference, test

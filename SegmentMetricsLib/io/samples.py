"""The demonstration samples: two observers' synthetic contours, without patient data.

They are of a few head-and-neck organs, of lesions in the brain, and of a vessel with branches.

Its files belong to the package; Testing/support/anatomy.py makes them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import SimpleITK

from .segmentationfiles import segmentHeaders

# Compressed NRRD label maps of the reference and the test, which 3D Slicer loads as segmentations.
FILES = ("observer1.seg.nrrd", "observer2.seg.nrrd")
# The files of all samples, by the names that the command line uses.
HEAD_AND_NECK = "head-and-neck"
SAMPLES = {
    HEAD_AND_NECK: FILES,
    "lesions": ("lesions1.seg.nrrd", "lesions2.seg.nrrd"),
    "vessel": ("vessel1.seg.nrrd", "vessel2.seg.nrrd"),
}
# A compressed NRRD image, the CT that both have drawn on.
IMAGE = "ct.nrrd"
FOLDER = Path(__file__).with_name("sample")


def headAndNeck() -> tuple[SimpleITK.Image, SimpleITK.Image, dict[int, str]]:
    """Return the two observers' label maps of the head and neck, and the organ name of every label value."""
    reference, test = (SimpleITK.ReadImage(FOLDER / name) for name in FILES)
    names = {segment["label"]: segment["name"] for segment in segmentHeaders(reference)}
    for image in (reference, test):
        for key in image.GetMetaDataKeys():
            image.EraseMetaData(key)
    return reference, test, names


def writeHeadAndNeck(folder: str | Path) -> tuple[Path, Path]:
    """Copy the files of both observers' head and neck into a folder, made if needed, and return their paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    reference, test = (Path(shutil.copy(FOLDER / name, folder)) for name in FILES)
    return reference, test

"""The demonstration samples: two observers' synthetic contours, without patient data.

They are of a few head-and-neck organs, of lesions in the brain, and of a vessel with branches.

Its files belong to the package; Testing/support/anatomy.py makes them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import SimpleITK

from ..base.errors import asPath
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
    """Return the two observers' label maps and the organ name of every label value.

    Both images are uint8 on one LPS grid of 158 x 136 x 82 voxels (0.98 x 0.98 x 2.5 mm), 0 where nothing was drawn.
    Submandibular_R exists in the first image only.
    """
    reference, test = (SimpleITK.ReadImage(str(FOLDER / name)) for name in FILES)
    names = {segment["label"]: segment["name"] for segment in segmentHeaders(reference)}
    for image in (reference, test):
        for key in image.GetMetaDataKeys():
            image.EraseMetaData(key)
    return reference, test, names


def writeHeadAndNeck(folder: str | Path) -> tuple[Path, Path]:
    """Copy observer1.seg.nrrd (reference) and observer2.seg.nrrd (test) into a folder and return the two paths.

    The folder is created if it does not exist. Raises ValueError when the folder cannot be written to.
    """
    folder = asPath(folder, "The folder")
    reference, test = (folder / name for name in FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in (reference, test):
            shutil.copyfile(FOLDER / path.name, path)
    except OSError as error:
        raise ValueError(f"The sample cannot be written to the folder {folder}: {error}") from error
    return reference, test

"""The demonstration samples: two observers' synthetic contours, without patient data.

They are of a few head-and-neck organs, of lesions in the brain, and of a vessel with branches.

Its files belong to the package; Testing/support/anatomy.py makes them.
"""

from __future__ import annotations

from pathlib import Path

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

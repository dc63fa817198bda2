"""DICOM structure sets (RTSTRUCT) and segmentations (SEG) as structures.

Needs the extra `dicom`: pydicom, and highdicom for SEG.
"""

from __future__ import annotations

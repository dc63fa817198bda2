"""The image under the contours: the volume that Slicer's slice views show."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from vtkmodules.util.numpy_support import vtk_to_numpy

from ..base.errors import InputError
from ..model.grayimages import GrayImage, shownValues
from .inputs import gridOf
from .nodes import asScene, nodesOf

# The attribute of a volume with the UIDs of its DICOM instances.
INSTANCES = "DICOM.instanceUIDs"
# DICOM elements of these instances.
FRAME, PATIENT, MODALITY = "0020,0052", "0010,0020", "0008,0060"


def shownImage(scene=None) -> GrayImage | None:
    """Return the image of gray values that the first slice view with one shows, not copied, or None."""
    for volume in shownVolumes(asScene(scene)):
        isScalar = volume.IsA("vtkMRMLScalarVolumeNode") and not volume.IsA("vtkMRMLLabelMapVolumeNode")
        if isScalar and volume.GetImageData() and volume.GetImageData().GetNumberOfScalarComponents() == 1:
            with suppress(InputError):  # bent by a transform, so that it has no grid, or without any number
                return _imageOf(volume)
    return None


def shownVolumes(scene) -> list:
    """Return the volume nodes in the background of the slice views, the first view first."""
    composites = nodesOf(scene, "vtkMRMLSliceCompositeNode")
    found = [scene.GetNodeByID(one.GetBackgroundVolumeID() or "") for one in composites]
    return [volume for volume in found if volume is not None]


def _imageOf(volume) -> GrayImage:
    """Return the image of a volume node, with its parent transforms applied. Raises InputError without a grid."""
    grid = gridOf(volume)
    scalars = volume.GetImageData().GetPointData().GetScalars()
    values = shownValues(vtk_to_numpy(scalars).reshape(grid.size[::-1]))
    instances, database = (volume.GetAttribute(INSTANCES) or "").split(), _database()
    isDicom = bool(instances) and database is not None
    told = [database.instanceValue(instances[0], tag) if isDicom else "" for tag in (MODALITY, FRAME, PATIENT)]
    modality, frame, patient = map(str.strip, told)
    key = hashlib.sha256(patient.encode()).hexdigest() if patient else ""
    name = volume.GetName() or ""
    return GrayImage(values, grid, name=name, modality=modality, frameOfReference=frame, patient=key)


def dicomSources(nodes) -> tuple[list[str], dict[str, str]]:
    """Return the DICOM files in Slicer's database that segmentations are from, as writeReport() takes them.

    They are their own files, and those of the volume that the first of them was drawn on. Without any, the second
    result is what the scene says of the name and the ID of the patient, by their DICOM keywords.
    """
    import slicer

    scene = asScene(None)
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
    constants, database = slicer.vtkMRMLSubjectHierarchyConstants, _database()
    role = slicer.vtkMRMLSegmentationNode.GetReferenceImageGeometryReferenceRole()

    def filesOf(node) -> list[str]:
        item = hierarchy.GetItemByDataNode(node)
        names = (constants.GetDICOMInstanceUIDName(), constants.GetDICOMUIDName())
        instance, series = (hierarchy.GetItemUID(item, name) if item else "" for name in names)
        found = [database.fileForInstance(uid) for uid in (node.GetAttribute(INSTANCES) or instance).split()]
        found = found or (database.filesForSeries(series) if series else [])
        return [file for file in found if file and os.path.isfile(file)]

    known = [node for node in dict.fromkeys(nodes) if node is not None]
    volumes = [volume for node in known if (volume := node.GetNodeReference(role)) is not None]
    if database is not None:
        own = [file for node in known for file in filesOf(node)]
        if files := [*own, *next(filter(None, map(filesOf, volumes)), [])]:
            return files, {}
    given: dict[str, str] = {}
    for item in filter(None, map(hierarchy.GetItemByDataNode, (*volumes, *known))):
        for name in ("PatientID", "PatientName"):
            attribute = f"{constants.GetDICOMAttributePrefix()}{name}"
            said = hierarchy.GetAttributeFromItemAncestor(item, attribute, constants.GetDICOMLevelPatient())
            if said:
                given.setdefault(name, said)
    return [], given


def _database():
    """Return Slicer's DICOM database, None if none is open."""
    import slicer

    database = getattr(slicer, "dicomDatabase", None)
    return database if database is not None and database.isOpen else None

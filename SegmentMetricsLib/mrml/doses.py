"""The dose of a plan in a scene: a volume that SlicerRT loaded from RTDOSE, or any other in Gy."""

from __future__ import annotations

from vtkmodules.util.numpy_support import vtk_to_numpy

from ..base.errors import InputError
from ..model.dose import Dose
from .inputs import gridOf

# What SlicerRT writes on volumes of doses.
IS_DOSE, UNIT = "DicomRtImport.DoseVolume", "DicomRtImport.DoseUnitName"
# Units by their size in Gy.
UNITS = {"GY": 1.0, "CGY": 0.01}
IN_GY = "The volume {name} does not say its unit: its values are taken to be in Gy."


def doseOf(volumeNode) -> Dose:
    """Return the dose in a volume node, with its parent transforms applied.

    Parameters
    ----------
    volumeNode
        A vtkMRMLScalarVolumeNode: a dose that SlicerRT loaded, or another volume, whose values are taken to be in Gy.

    Returns
    -------
    Dose

    Raises
    ------
    ValueError
        For a node that is no scalar volume, has no voxels, is bent by a transform, or has another unit, and for values
        that are no dose.
    """
    if not hasattr(volumeNode, "IsA") or not volumeNode.IsA("vtkMRMLScalarVolumeNode"):
        raise InputError("The dose must be a scalar volume.")
    name, grid = volumeNode.GetName(), gridOf(volumeNode)
    scalars = volumeNode.GetImageData().GetPointData().GetScalars()
    if scalars is None or scalars.GetNumberOfComponents() != 1:
        raise InputError(f"{name} does not have one number per voxel, so it is no dose.")
    said = volumeNode.GetAttribute(UNIT) or ""
    unit = UNITS.get(said.strip().upper()) if said else 1.0
    if unit is None:
        raise InputError(f"{name} is in the unit {said}, and Gy are needed.")
    values = vtk_to_numpy(scalars).reshape(grid.size[::-1]) * unit
    try:
        return Dose(values, grid, name, remarks=() if said else (IN_GY.format(name=name),))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def isDose(volumeNode) -> bool:
    """Return whether SlicerRT loaded a volume as a dose."""
    return volumeNode is not None and volumeNode.GetAttribute(IS_DOSE) == "1"

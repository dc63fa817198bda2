"""The volume in the slice views as the image under contours, and the DICOM files that segmentations are from."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import shapes
import slicer
from segmentnodes import move, volumeNode

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.grids import RAS_FROM_LPS, Grid
from SegmentMetricsLib.model.grayimages import GrayImage
from SegmentMetricsLib.mrml.images import dicomSources, shownImage


def testItIsTheVolumeInTheSliceViews(scene):
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4) * 10 - 150
    matrix = np.diag([2.0, 3.0, 4.0, 1.0])
    matrix[:3, 3] = 5, 6, 7
    volume = volumeNode(scene, values, matrix, "Jürgens CT")
    assert shownImage(scene) is None
    composite = scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    assert shownImage(scene) is None
    composite.SetBackgroundVolumeID(volume.GetID())
    move(scene, volume, shift=(100, 0, 0))
    image = shownImage(scene)
    matrix[0, 3] += 100
    np.testing.assert_allclose(image.grid.matrix, RAS_FROM_LPS @ matrix)
    assert (image.values == values).all() and image.name == "Jürgens CT" and image.isHounsfield
    # the value at a place is that of the voxel there
    place = image.grid.toWorld([[3, 1, 1]])[0]
    assert image.sample(place, np.eye(3)[0], np.eye(3)[1], (1, 1))[0, 0] == values[1, 1, 3]
    # segments and color images are nothing to see contours on
    for kind, components in (("vtkMRMLLabelMapVolumeNode", 1), ("vtkMRMLVectorVolumeNode", 3)):
        composite.SetBackgroundVolumeID(volumeNode(scene, values, matrix, kind=kind, components=components).GetID())
        assert shownImage(scene) is None


def testOverlayPicturesHaveSlicesOfTheImageBelow(tmp_path):
    import SimpleITK

    from SegmentMetricsLib.show.pictures.overlay import drawOverlay

    comparison = compare(shapes.ball(12), shapes.ball(14, (2, 0, 0)), Settings(tolerances=(1.0,)))
    grid = Grid((30, 30, 30), np.diag([2.0, 2.0, 2.0, 1.0]))
    matrix = grid.matrix.copy()
    matrix[:3, 3] = -30
    values = np.full((30, 30, 30), 240, np.int16)  # white in the window that is shown first
    values[:, :, :15] = -160  # black on the right of the patient
    image = GrayImage(values, Grid((30, 30, 30), matrix), modality="CT")
    paths = [drawOverlay(comparison, tmp_path / f"{n}.png", image=one) for n, one in enumerate((None, image))]
    plain, imaged = (SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))) for path in paths)
    assert plain.shape == (700, 1200, 3) and imaged.shape[0] > 950 and (imaged[:700] == plain).all()
    strip = imaged[700:]
    middle = strip[56 + 20]
    black = np.flatnonzero((middle == 0).all(axis=1))
    white = np.flatnonzero((middle == 255).all(axis=1))
    # axial first: the patient's right is on the left
    assert len(black) > 80 and len(white) > 80 and black.min() < white.min()
    for color in ((79, 195, 255), (255, 171, 64)):
        assert (np.abs(strip.astype(int) - color).max(axis=2) < 12).sum() > 200


def testSources(scene, tmp_path, monkeypatch):
    files = {name: tmp_path / name for name in ("1", "2", "seg")}
    for path in files.values():
        path.write_bytes(b"")
    files["gone"] = tmp_path / "gone"
    database = SimpleNamespace(
        isOpen=True,
        fileForInstance=lambda uid: str(files.get(uid, "")),
        filesForSeries=lambda uid: [str(files["seg"])] if uid == "1.2.3" else [],
    )
    monkeypatch.setattr(slicer, "dicomDatabase", database, raising=False)
    monkeypatch.setattr(slicer, "mrmlScene", scene, raising=False)
    constants = slicer.vtkMRMLSubjectHierarchyConstants
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
    patient = hierarchy.CreateSubjectItem(hierarchy.GetSceneItemID(), "Patient")
    hierarchy.SetItemLevel(patient, constants.GetDICOMLevelPatient())
    hierarchy.SetItemAttribute(patient, constants.GetDICOMPatientIDAttributeName(), "P7")
    volume = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode")
    volume.SetAttribute("DICOM.instanceUIDs", "1 2 gone")
    both = [scene.AddNewNodeByClass("vtkMRMLSegmentationNode") for _ in range(2)]
    both[1].SetNodeReferenceID(both[1].GetReferenceImageGeometryReferenceRole(), volume.GetID())
    hierarchy.SetItemUID(hierarchy.CreateItem(patient, both[0]), constants.GetDICOMUIDName(), "1.2.3")
    assert dicomSources([*both, both[0], None]) == ([str(files[name]) for name in ("seg", "1", "2")], {})
    database.isOpen = False
    assert dicomSources(both) == ([], {"PatientID": "P7"})
    assert dicomSources(both[1:]) == ([], {})

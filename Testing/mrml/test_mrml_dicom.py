"""The DICOM files in Slicer's database that segmentations are from, or what the scene says of the patient."""

from __future__ import annotations

from types import SimpleNamespace

import slicer

from SegmentMetricsLib.mrml.images import dicomSources


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

"""Whole files of every kind, for the fuzzer to damage."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import shapes
import SimpleITK
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from SegmentMetricsLib import Grid


def _labels() -> SimpleITK.Image:
    array = np.zeros((9, 10, 11), np.uint8)
    array[2:6, 2:7, 2:8], array[6:8, 3:6, 3:9] = 1, 3
    return shapes.imageOf(array, (1, 1.5, 2), (10, -20, 30))


def _images(folder: Path, *suffixes: str) -> list[Path]:
    image, paths = _labels(), []
    whole = {"labels": image, "wide": SimpleITK.Cast(image, SimpleITK.sitkInt16)}
    whole["memberships"] = SimpleITK.Cast(image > 0, SimpleITK.sitkFloat32) * 0.75
    for suffix, name, isCompressed in itertools.product(suffixes, whole, (False, True)):
        paths.append(folder / f"{name}{isCompressed:d}{suffix}")
        SimpleITK.WriteImage(whole[name], str(paths[-1]), isCompressed)
    return paths


def _asText(path: Path, header: str) -> Path:
    """Write the labels behind a header, as words."""
    path.write_text(header + " ".join(map(str, SimpleITK.GetArrayFromImage(_labels()).ravel())) + "\n")
    return path


def _nrrd(folder: Path) -> list[Path]:
    header = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 11 10 9\nspacings: 1 1.5 2\nencoding: ascii\n\n"
    paths = [*_images(folder, ".nrrd"), _asText(folder / "text.nrrd", header), folder / "layers.seg.nrrd"]
    array = SimpleITK.GetArrayFromImage(_labels())
    fields = {"LabelValue": "1", "Color": "1 0 0", "Extent": "0 10 0 9 0 8"}
    segments = [{"ID": name, "Name": name, "Layer": layer, **fields} for layer, name in enumerate(("Heart", "Liver"))]
    layers = [(array == label).astype("uint8") for label in (1, 3)]
    SimpleITK.WriteImage(shapes.segmentation(layers, segments), str(paths[-1]), True)
    return paths


def _nhdr(folder: Path) -> list[Path]:
    paths = [folder / "apart.nhdr", folder / "apart.mhd"]
    for path in paths:
        SimpleITK.WriteImage(_labels(), str(path), path.suffix == ".nhdr")
    return paths


def _mha(folder: Path) -> list[Path]:
    head = "ObjectType = Image\nNDims = 3\nBinaryData = False\nElementSpacing = 1 1.5 2\nDimSize = 11 10 9\n"
    text = _asText(folder / "text.mha", f"{head}ElementType = MET_UCHAR\nElementDataFile = LOCAL\n")
    return [*_images(folder, ".mha"), text]


def _meshes(folder: Path, suffix: str) -> list[Path]:
    mesh = shapes.ballMesh(9, (3, 4, 5), 8)
    return [shapes.writeMesh(mesh, folder / f"{ascii:d}{suffix}", ascii=ascii) for ascii in (False, True)]


def _obj(folder: Path) -> list[Path]:
    path, _ = _meshes(folder, ".obj")
    lines = path.read_text().splitlines()
    points = [line for line in lines if line.startswith("v ")]
    faces = [[int(word.split("/")[0]) for word in line.split()[1:]] for line in lines if line.startswith("f ")]
    forms = {"texture": "{0}/{0}", "both": "{0}/{0}/{0}", "normals": "{0}//{0}", "bare": "{0}//", "negative": "{1}"}
    paths = [path]
    for name, form in forms.items():
        cells = ("f " + " ".join(form.format(n, n - len(points) - 1) for n in face) for face in faces)
        paths.append(folder / f"{name}.obj")
        head = [f"# {name}", "mtllib none.mtl", "o one", *points, "g \\", "all", "usemtl x", "s off"]
        paths[-1].write_text("\n".join([*head, *cells]))
    return paths


def _vtp(folder: Path) -> list[Path]:
    paths = []
    for mode, isCompressed in itertools.product(("Ascii", "Binary", "Appended"), (False, True)):
        writer = vtkXMLPolyDataWriter()
        paths.append(folder / f"{mode}{isCompressed:d}.vtp")
        writer.SetFileName(str(paths[-1]))
        writer.SetInputData(shapes.ballMesh(9, (3, 4, 5), 8))
        getattr(writer, f"SetDataModeTo{mode}")()
        if not isCompressed:
            writer.SetCompressorTypeToNone()
        writer.SetEncodeAppendedData(isCompressed)
        writer.Write()
    return paths


def _slices(folder: Path) -> list:
    import dicomfiles

    return dicomfiles.writeSeries(folder / "series", Grid((16, 14, 8), np.diag([1.0, 1.5, 2.5, 1.0])))


def _structureSet(folder: Path) -> list[Path]:
    import dicomfiles

    corners = np.array([(3, 3), (11, 3), (11, 10), (3, 10)], float)
    loops = [np.column_stack([corners * (1, 1.5), np.full(4, 2.5 * k)]) for k in range(2, 6)]
    path = folder / "set" / "set.dcm"
    dicomfiles.writeStructureSet(path, {"Heart": loops, "Liver": loops[1:]}, _slices(folder))
    return [path]


def _segmentation(folder: Path) -> list[Path]:
    import dicomfiles

    slices, array = _slices(folder), np.zeros((8, 14, 16), np.uint8)
    array[2:6, 3:10, 3:11] = 1
    (folder / "seg").mkdir(exist_ok=True)
    paths = [folder / "seg" / f"{name}.dcm" for name in ("binary", "fractional", "labels")]
    dicomfiles.writeSegmentation(paths[0], slices, {"Heart": array, "Liver": array[::-1]})
    dicomfiles.writeSegmentation(paths[1], slices, {"Heart": array * 0.75}, fractional=True)
    dicomfiles.writeLabelMap(paths[2], slices, array, {1: "Heart"})
    return paths


# What writes the whole files of a kind into a folder, and returns those that are to be damaged.
KINDS: dict[str, Callable[[Path], list[Path]]] = {
    "nrrd": _nrrd,
    "detached": _nhdr,
    "mha": _mha,
    "nifti": lambda folder: _images(folder, ".nii", ".nii.gz"),
    "stl": lambda folder: _meshes(folder, ".stl"),
    "obj": _obj,
    "ply": lambda folder: _meshes(folder, ".ply"),
    "vtp": _vtp,
    "structureset": _structureSet,
    "segmentation": _segmentation,
}

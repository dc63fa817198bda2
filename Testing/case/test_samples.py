"""The demonstration sample: plausible anatomy, plausible observers, and files that Slicer and SimpleITK read alike."""

from __future__ import annotations

import anatomy
import numpy as np
import pytest
import SimpleITK
from scipy import ndimage

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.io import samples

# Volume of the first observer in cm3 and Dice coefficient of the two observers, each as (lowest, highest).
EXPECTED = {
    "Brainstem": ((25, 36), (0.86, 0.95)),
    "SpinalCord": ((6, 13), (0.80, 0.92)),
    "Mandible": ((60, 85), (0.86, 0.94)),
    "Parotid_L": ((25, 32), (0.80, 0.91)),
    "Parotid_R": ((25, 32), (0.85, 0.94)),
    "Submandibular_L": ((6, 11), (0.88, 0.96)),
    "Submandibular_R": ((6, 11), None),
    "Eye_L": ((7, 9), (0.96, 0.995)),
    "OpticNrv_L": ((0.5, 1.2), (0.55, 0.80)),
}


@pytest.fixture(scope="module")
def sample():
    return samples.headAndNeck()


@pytest.fixture(scope="module")
def arrays(sample):
    return tuple(SimpleITK.GetArrayFromImage(image) for image in sample[:2])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return samples.writeHeadAndNeck(tmp_path_factory.mktemp("sample") / "made on demand")


def labelOf(name):
    return list(EXPECTED).index(name) + 1


def surfaceDistances(mask, other, spacing):
    """Return the distances in mm from the mask's boundary voxels to the other mask's, in the order of np.argwhere."""
    boundary, otherBoundary = (region & ~ndimage.binary_erosion(region) for region in (mask, other))
    return ndimage.distance_transform_edt(~otherBoundary, sampling=spacing[::-1])[boundary], np.argwhere(boundary)


def test_names(sample):
    assert sample[2] == dict(enumerate(EXPECTED, start=1))


def test_geometryIsThatOfAPlanningCT(sample):
    for image in sample[:2]:
        assert not image.GetMetaDataKeys()  # images made of it are no segmentations
        assert image.GetPixelID() == SimpleITK.sitkUInt8
        assert image.GetSize() == (158, 136, 82)
        assert image.GetSpacing() == (500 / 512, 500 / 512, 2.5)
        assert image.GetOrigin() == (-77.0, -100.0, -150.0)
        assert image.GetDirection() == (1, 0, 0, 0, 1, 0, 0, 0, 1)


@pytest.mark.nightly
def test_filesAreThoseThatTheAnatomyMakes(files, tmp_path):
    """The one description of the sample is the anatomy; its files, which nobody edits, follow from it."""
    anatomy.writeFiles(tmp_path)
    for path in files:
        kept, made = (SimpleITK.ReadImage(folder / path.name) for folder in (path.parent, tmp_path))
        assert np.array_equal(SimpleITK.GetArrayFromImage(kept), SimpleITK.GetArrayFromImage(made))
        header = {key: kept.GetMetaData(key) for key in kept.GetMetaDataKeys()}
        assert header == {key: made.GetMetaData(key) for key in made.GetMetaDataKeys()} and len(header) > 70


@pytest.mark.nightly
def test_theImageIsThatOfTheAnatomy(tmp_path):
    anatomy.writeImage(tmp_path)
    kept, made = (SimpleITK.ReadImage(folder / samples.IMAGE) for folder in (samples.FOLDER, tmp_path))
    assert made.GetOrigin() == kept.GetOrigin() and made.GetSpacing() == kept.GetSpacing()
    change = SimpleITK.GetArrayFromImage(kept) - SimpleITK.GetArrayFromImage(made)
    # versions of scipy may round differently
    assert np.abs(change).max() <= anatomy.STEP and np.count_nonzero(change) < 1e-3 * change.size


def test_theImageFitsTheContours(arrays):
    """Air around the head, bone, soft tissue and noise; every organ differs from what lies around it."""
    image = SimpleITK.ReadImage(samples.FOLDER / samples.IMAGE)
    assert (image.GetSize(), image.GetSpacing()) == ((158, 136, 82), anatomy.SPACING)
    assert image.GetOrigin() == anatomy.ORIGIN and (samples.FOLDER / samples.IMAGE).stat().st_size < 600_000
    hu = SimpleITK.GetArrayFromImage(image).astype(float)
    assert hu.min() == -1000 and 0.2 < np.mean(hu == -1000) < 0.5 and hu.max() > 1500 and (hu[:, 0] < -900).mean() > 0.9
    assert 5 < hu[60:64, 100:110, 70:88].std() < 20, "noise in the brain"
    expected = {"Mandible": (600, 1200), "Parotid_L": (-40, 10), "Parotid_R": (-40, 10), "Eye_L": (0, 40),
                "SpinalCord": (15, 50), "Brainstem": (15, 50), "OpticNrv_L": (0, 60), "Submandibular_L": (10, 60),
                "Submandibular_R": (10, 60)}  # fmt: skip
    for name, (low, high) in expected.items():
        organ = arrays[0] == labelOf(name)
        near, far = (ndimage.binary_dilation(organ, iterations=steps) for steps in (1, 2))
        inside, around = np.median(hu[organ]), hu[far & ~near]
        assert low <= inside <= high, (name, inside)
        assert name == "Brainstem" or np.mean(np.abs(around - inside) > 30) > 0.3, name


@pytest.mark.parametrize("name", EXPECTED)
def test_volumesAndAgreement(arrays, name):
    volumeRange, diceRange = EXPECTED[name]
    reference, test = (array == labelOf(name) for array in arrays)
    voxel = np.prod(anatomy.SPACING) / 1000
    assert volumeRange[0] < reference.sum() * voxel < volumeRange[1]
    if diceRange is None:
        assert not test.any()
        return
    dice = 2 * (reference & test).sum() / (reference.sum() + test.sum())
    assert diceRange[0] < dice < diceRange[1]


def test_differencesLightUpWhereAnObserverErred(arrays):
    def farthest(name, side):
        masks = [array == labelOf(name) for array in arrays]
        distances, places = surfaceDistances(masks[side], masks[1 - side], anatomy.SPACING)
        position = places[distances.argmax()][::-1] * anatomy.SPACING + anatomy.ORIGIN
        return distances.max(), position, np.percentile(distances, 75)

    height, position, elsewhere = farthest("Parotid_L", side=0)  # the deep lobe that the second observer missed
    assert 5 < height < 10 and elsewhere < 2.6 and np.linalg.norm(position - (38, 4, -26)) < 12
    height, position, elsewhere = farthest("Parotid_R", side=1)  # the front part that the second observer added
    assert 5 < height < 10 and elsewhere < 2.6 and np.linalg.norm(position - (-66, -35, -24)) < 12
    height, position, _ = farthest("SpinalCord", side=1)
    assert height > 4 * anatomy.SPACING[2] and position[2] < -135
    assert farthest("Eye_L", side=1)[0] < 2.5


def test_filesRoundTripInSimpleITK(sample, files):
    assert [path.name for path in files] == ["observer1.seg.nrrd", "observer2.seg.nrrd"]
    for image, path in zip(sample[:2], files):
        read = SimpleITK.ReadImage(path)
        assert np.array_equal(SimpleITK.GetArrayFromImage(read), SimpleITK.GetArrayFromImage(image))
        for name in ("GetPixelID", "GetSpacing", "GetOrigin", "GetDirection"):
            assert getattr(read, name)() == getattr(image, name)()
        assert read.GetMetaData("Segmentation_MasterRepresentation") == "Binary labelmap"
        assert read.GetMetaData("Segmentation_ContainedRepresentationNames") == "Binary labelmap|"
        assert path.stat().st_size < 100_000


def test_unusableFolderIsNamed(tmp_path):
    occupied = tmp_path / "occupied"
    occupied.write_text("a file, not a folder")
    with pytest.raises(ValueError, match=r"cannot be written to the folder .*occupied"):
        samples.writeHeadAndNeck(occupied)


def test_slicerLoadsNamesColorsAndVoxels(sample, files):
    slicer = pytest.importorskip("slicer")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import mutable

    for image, path in zip(sample[:2], files):
        scene = slicer.vtkMRMLScene()
        node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        storage = scene.AddNewNodeByClass("vtkMRMLSegmentationStorageNode")
        storage.SetFileName(str(path))
        assert storage.ReadData(node) == 1
        assert storage.GetUserMessages().GetNumberOfMessages() == 0

        array = SimpleITK.GetArrayFromImage(image)
        segmentation = node.GetSegmentation()
        segments = [segmentation.GetNthSegment(index) for index in range(segmentation.GetNumberOfSegments())]
        assert segmentation.GetSourceRepresentationName() == "Binary labelmap"
        assert segmentation.GetNumberOfLayers() == 1
        assert [segment.GetLabelValue() for segment in segments] == list(np.unique(array)[1:])
        for segment in segments:
            organ = anatomy.ORGANS[segment.GetLabelValue() - 1]
            assert segment.GetName() == organ.name
            assert np.allclose(segment.GetColor(), np.array(organ.color) / 255, atol=1e-6)
            assert not segment.GetNameAutoGenerated() and not segment.GetColorAutoGenerated()
            status = mutable("")
            assert segment.GetTag("Segmentation.Status", status) and status == "completed"
            # Slicer is RAS, the file LPS; Slicer keeps the part of the grid that the segments fill.
            oriented = segment.GetRepresentation("Binary labelmap")
            extent = oriented.GetExtent()
            shape = [extent[5] - extent[4] + 1, extent[3] - extent[2] + 1, extent[1] - extent[0] + 1]
            loaded = vtk_to_numpy(oriented.GetPointData().GetScalars()).reshape(shape)
            box = tuple(slice(extent[2 * axis], extent[2 * axis + 1] + 1) for axis in (2, 1, 0))
            assert np.array_equal(loaded == segment.GetLabelValue(), array[box] == segment.GetLabelValue())
            assert (loaded == segment.GetLabelValue()).sum() == (array == segment.GetLabelValue()).sum()
            assert np.allclose(oriented.GetSpacing(), image.GetSpacing())
            assert np.allclose(oriented.GetOrigin(), np.array(image.GetOrigin()) * (-1, -1, 1))


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "draw"), [("lesions", anatomy.lesionMap), ("vessel", anatomy.vesselMap)])
def test_theOtherFilesAreThoseOfTheAnatomy(name, draw):
    for observer, file in enumerate(samples.SAMPLES[name]):
        read = SimpleITK.ReadImage(samples.FOLDER / file)
        assert np.array_equal(SimpleITK.GetArrayFromImage(read), SimpleITK.GetArrayFromImage(draw(observer)))
        assert (samples.FOLDER / file).stat().st_size < 20_000


def test_whatTheOthersShow():
    """What the page on lesions and vessels says of them."""
    lesions, vessel = ([samples.FOLDER / file for file in samples.SAMPLES[name]] for name in ("lesions", "vessel"))
    found = compare(*lesions, Settings(metrics=("instances", "DSC")))
    keys = ("LesionsReference", "LesionsFound", "LesionsMerged", "LesionsMissed", "LesionsInvented")
    assert [found[key].value for key in keys] == [9, 5, 1, 2, 1] and found["DSC"].value > 0.85
    cut = compare(*vessel, Settings(metrics=("BettiError", "Gaps", "Spurs", "DSC")))
    assert [cut[key].value for key in ("BettiError", "Gaps")] == [1, 2] and cut["DSC"].value > 0.9
    # the branch that is not there, and where the finer center line forks beside the gap
    assert cut.spurs[0].length > 20 and all(spur.length < 1.5 for spur in cut.spurs[1:])

"""The demonstration sample: plausible anatomy, plausible observers, and files that Slicer and SimpleITK read alike."""

from __future__ import annotations

import anatomy
import numpy as np
import pytest
import SimpleITK

from SegmentMetricsLib import Settings, compare, samples


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return samples.writeHeadAndNeck(tmp_path_factory.mktemp("sample") / "made on demand")


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

import shutil

import pytest

from tests.learned.small import write_ruber, write_vectors


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """The name of an encoder of ten words."""
    return write_vectors(tmp_path_factory.mktemp("vectors") / "ten.txt")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory, vectors):
    return write_ruber(tmp_path_factory.mktemp("models") / "small-ruber", vectors, members=2)


@pytest.fixture
def model(pristine, tmp_path):
    """A model directory that may be changed."""
    return shutil.copytree(pristine, tmp_path / "model")

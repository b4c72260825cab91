"""Directories of small models, and a small file of word vectors. A test that changes a model takes a copy."""

import shutil

import pytest

from dialogauge.encode.static import open_static
from tests.encode.vectors import THREE


@pytest.fixture(scope="session")
def directories(tmp_path_factory):
    """One of each family."""
    from tests.encode.models import FAMILIES, build

    return {family: build(family, tmp_path_factory.mktemp("models") / family) for family in FAMILIES}


@pytest.fixture(scope="session")
def bert(directories):
    return directories["bert"]


@pytest.fixture
def copy(bert, tmp_path):
    """A small BERT that may be changed."""
    return shutil.copytree(bert, tmp_path / "copy")


@pytest.fixture
def folder(tmp_path):
    """Where word vectors are converted into."""
    return tmp_path / "converted"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "three.txt"
    path.write_text(THREE)
    return path


@pytest.fixture
def three(source, folder):
    return open_static(source, folder)

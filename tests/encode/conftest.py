"""Directories of small models. A test that changes a file takes a copy."""

import shutil

import pytest


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

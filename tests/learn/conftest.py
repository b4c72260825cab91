from functools import cache

import pytest

from dialogauge.encode.static import open_static
from tests.learn.conversations import WORDS, dialogues, material_for, quick, quick_towers
from tests.models.small import write_vectors


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """The name of an encoder."""
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.txt", WORDS, width=8)


@pytest.fixture(scope="session")
def encoder(vectors):
    return open_static(vectors.removeprefix("static:"))


@pytest.fixture(scope="session")
def material(encoder):
    """What to learn from, for each kind of sentence."""
    return cache(lambda sentence="mean": material_for(encoder, quick(sentence=sentence)))


@pytest.fixture(scope="session")
def towers_material(encoder):
    return material_for(encoder, quick_towers())


@pytest.fixture(scope="session")
def learnable(encoder):
    """What a network learns in a few epochs, for each kind of sentence."""
    said = dialogues(60, utterances=2, topics=2)
    return cache(lambda sentence="mean": material_for(encoder, quick(sentence=sentence), said))

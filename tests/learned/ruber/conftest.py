from functools import cache

import pytest

from dialogauge.encode.static import open_static
from tests.learned.ruber.conversations import WORDS, dialogues, quick, quick_towers, training_data_for
from tests.learned.small import write_vectors


@pytest.fixture(scope="session")
def topic_vectors(tmp_path_factory):
    """The name of an encoder."""
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.txt", WORDS, width=8)


@pytest.fixture(scope="session")
def encoder(topic_vectors):
    return open_static(topic_vectors.removeprefix("static:"))


@pytest.fixture(scope="session")
def training_data(encoder):
    """What to learn from, for each kind of sentence."""
    return cache(lambda sentence="mean": training_data_for(encoder, quick(sentence=sentence)))


@pytest.fixture(scope="session")
def towers_data(encoder):
    return training_data_for(encoder, quick_towers())


@pytest.fixture(scope="session")
def learnable(encoder):
    """What a network learns in a few epochs, for each kind of sentence."""
    said = dialogues(60, utterances=2, topics=2)
    return cache(lambda sentence="mean": training_data_for(encoder, quick(sentence=sentence), said))

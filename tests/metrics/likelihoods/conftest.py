import pytest

from tests.encode.causal.small import build_causal
from tests.encode.models import safetensors


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    """A small language model of random weights."""
    return build_causal(tmp_path_factory.mktemp("causal") / "llama")


@pytest.fixture(scope="session")
def uniform(tmp_path_factory):
    """One to which every token is as likely as any other: all its weights are 0."""
    directory = build_causal(tmp_path_factory.mktemp("causal") / "uniform")
    weights = safetensors.load_file(directory / "model.safetensors")
    for weight in weights.values():
        weight.zero_()
    safetensors.save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    return directory

"""Low-rank adapters on small transformers."""

import numpy as np
import pytest

from dialogauge.encode.network import load_model, skeleton
from dialogauge.learned.entailment.model import POOLS, EntailmentShape, tensors_of_tuned
from dialogauge.learned.entailment.networks import ClassHead
from dialogauge.learned.pair_network import (
    SCALE,
    PairNetwork,
    TokenIds,
    adapt,
    adapters,
    expected,
    matrices,
    merge,
)
from tests.encode.models import FAMILIES, build, open_model
from tests.learned.small import torch

RANK = 3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return open_model(build("bert", tmp_path_factory.mktemp("low-rank") / "bert")).files


@pytest.fixture(scope="module", params=FAMILIES)
def each(request, tmp_path_factory):
    return open_model(build(request.param, tmp_path_factory.mktemp("each") / request.param)).files


def tuned(shape, encoder):
    return PairNetwork(encoder, shape.rank, shape.pool, ClassHead(shape))


def loaded(files):
    return load_model(files, "float32", files.layers)


def ids(seed=0, lengths=(6, 3, 5)):
    drawn = np.random.default_rng(seed).integers(5, 40, size=(len(lengths), max(lengths)))
    return TokenIds(torch.from_numpy(drawn), None, torch.tensor(lengths))


def states(model, pairs):
    mask = torch.arange(pairs.ids.shape[1]) < pairs.lengths[:, None]
    with torch.no_grad():
        return model(input_ids=pairs.ids, attention_mask=mask.long()).last_hidden_state[mask]


def stir(tensors, seed=0):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in tensors.values():
            tensor.copy_(0.1 * torch.randn(tensor.shape, generator=generator))


def test_nothing_is_changed_at_first_and_the_product_is_added(each):
    plain, adapted = loaded(each), loaded(each)
    adapt(adapted, RANK)
    assert torch.equal(states(adapted, ids()), states(plain, ids()))
    added = adapters(adapted)
    assert all(tensor.abs().max() == 0 for name, tensor in added.items() if name.endswith(".up"))
    assert all(tensor.abs().max() > 0 for name, tensor in added.items() if name.endswith(".down"))
    stir(added)
    name, layer = next(iter(matrices(plain).items()))
    changed = matrices(adapted)[name].weight
    by_hand = layer.weight + SCALE * added[f"{name}.up"] @ added[f"{name}.down"]
    torch.testing.assert_close(changed, by_hand)
    assert (states(adapted, ids()) - states(plain, ids())).abs().max() > 1e-3


def test_merged_it_says_the_same_without_an_extra_layer(each):
    adapted, merged = loaded(each), loaded(each)
    adapt(adapted, RANK)
    stir(adapters(adapted))
    names = [name for name, _ in merged.named_parameters()]
    merge(merged, adapters(adapted))
    torch.testing.assert_close(states(merged, ids()), states(adapted, ids()), atol=1e-5, rtol=1e-5)
    assert [name for name, _ in merged.named_parameters()] == names


def test_names_and_shapes_without_any_weights(each):
    """What a model directory is checked against, though the model itself is not loaded for it."""
    bare, model = skeleton(each), loaded(each)
    assert "meta" in {tensor.device.type for tensor in bare.parameters()}
    for rank in (0, RANK):
        shape = EntailmentShape("transformer", 32, rank=rank)
        made = tuned(shape, loaded(each))
        found = {name: tuple(tensor.shape) for name, tensor in made.learned().items()}
        assert dict(tensors_of_tuned(bare, shape)) == found
    adapt(model, RANK)
    assert expected(bare, RANK) == {name: tuple(tensor.shape) for name, tensor in adapters(model).items()}
    for name, layer in matrices(model).items():
        assert expected(bare, RANK)[f"{name}.up"] == (layer.weight.shape[0], RANK)
        assert expected(bare, RANK)[f"{name}.down"] == (RANK, layer.weight.shape[1])


def test_the_pooler_is_left_alone(files):
    found = matrices(loaded(files))
    assert len(found) == 3 * 6  # query, key, value, their output, and two of each layer
    assert not any("pooler" in name for name in found)
    assert any("pooler" in name for name, _ in loaded(files).named_modules())
    assert not any("pooler" in name for name in tuned(EntailmentShape("transformer", 32), loaded(files)).learned())


@pytest.mark.parametrize("rank", [0, RANK])
@pytest.mark.parametrize("pool", POOLS)
def test_what_gets_gradients(files, rank, pool):
    network = tuned(EntailmentShape("transformer", 32, rank=rank, pool=pool), loaded(files))
    if rank:
        stir(adapters(network.encoder))  # before the first step, no gradient gets past `up`, which is zero
    before = {name: tensor.detach().clone() for name, tensor in network.named_parameters()}
    network(ids()).logsumexp(dim=1).sum().backward()
    learned = {tensor.data_ptr() for tensor in network.learned().values()}
    for name, parameter in network.named_parameters():
        assert parameter.requires_grad == (parameter.data_ptr() in learned), name
        assert (parameter.grad is not None) == parameter.requires_grad, name
    named = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    if rank:
        assert all(name.startswith("head.") or name.endswith((".up", ".down")) for name in named)
        assert len(named) == 4 + 2 * 18
    else:
        assert len(before) - len(named) == 2  # the pooler's weight and bias
    torch.optim.SGD(network.parameters(), lr=0.1).step()
    kept = [name for name, parameter in network.named_parameters() if torch.equal(parameter, before[name])]
    assert all("key.bias" in name for name in named & set(kept))  # which no softmax feels


def test_who_stands_beside_a_pair_changes_nothing_for_it(files):
    network = tuned(EntailmentShape("transformer", 32, pool="mean"), loaded(files)).eval()
    pairs = ids()
    with torch.no_grad():
        together = network(pairs)
        for row, length in enumerate(pairs.lengths.tolist()):
            alone = TokenIds(pairs.ids[row : row + 1, :length], None, pairs.lengths[row : row + 1])
            torch.testing.assert_close(network(alone)[0], together[row], atol=1e-5, rtol=1e-5)

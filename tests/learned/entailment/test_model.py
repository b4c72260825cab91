"""Trained entailment models: from texts to probabilities."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.network import EncoderNetwork
from dialogauge.errors import InputError
from dialogauge.learned.entailment.model import EntailmentShape, open_entailment, premise_of
from dialogauge.learned.entailment.networks import Esim
from tests.encode.models import build
from tests.learned.small import torch, write_entailment, write_vectors

PREMISES = ["the dog", "weather", "nice dinner today", "hello ?", "the dog"]
HYPOTHESES = ["is nice", "bark at all", "no", "the weather is nice today", "dinner"]
WORDY = [("tea milk", "cat"), ("rain", "tea milk snow"), ("hello there world", "dog dog"), ("bye", "bye")]
OPENED = Encoders()
KINDS = [
    {"network": "esim"},
    {"network": "transformer", "rank": 2},
    {"network": "transformer", "rank": 0, "pool": "max"},
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("bert") / "bert"))


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind['network']}-{kind.get('rank')}")
def each(request, bert, tmp_path_factory):
    """A model of each kind over the same small transformer, ready to judge."""
    return open_entailment(made(tmp_path_factory.mktemp("each"), bert, **request.param)).ready(OPENED)


def made(folder, encoder, **options):
    return write_entailment(folder / "my-model", encoder, opened=OPENED.get(encoder), **options)


def test_what_the_card_says(vectors, tmp_path):
    found = open_entailment(write_entailment(tmp_path / "m", vectors, units=3, dropout=0.2, temperature=2))
    assert found.shape == EntailmentShape("esim", 5, units=3, dropout=0.2)
    assert (found.temperature, type(found.temperature)) == (2.0, float)


def test_esim_by_the_network_itself(vectors, tmp_path):
    model = open_entailment(write_entailment(tmp_path / "m", vectors, temperature=0.7))
    network = Esim(model.shape).double().eval()
    network.load_state_dict({name: torch.from_numpy(array).double() for name, array in model.saved.weights.items()})
    encoder = OPENED.get(vectors)
    found = model.ready(OPENED).judged(*zip(*WORDY, strict=True))
    for row, texts in enumerate(WORDY):
        states = [torch.from_numpy(encoder.tokens([text])[0].words).double()[None] for text in texts]
        from dialogauge.learned.words import Words

        with torch.no_grad():
            logits = network(*(Words(state, torch.tensor([state.shape[1]])) for state in states))
        expected = torch.softmax(logits / 0.7, dim=1)[0].tolist()
        assert found.probabilities[row].tolist() == pytest.approx(expected, abs=1e-7)


def test_probabilities(each):
    found = each.judged(PREMISES, HYPOTHESES)
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-6)
    assert (found.probabilities > 0).all()
    assert np.ptp(found.probabilities, axis=0).max() > 1e-3
    assert not found.cut.any()
    assert not found.silent.any()


def test_a_pair_is_judged_the_same_alone_and_in_any_company(each, bert):
    together = each.judged(PREMISES, HYPOTHESES).probabilities
    for row, (premise, said) in enumerate(zip(PREMISES, HYPOTHESES, strict=True)):
        assert each.judged([premise], [said]).probabilities[0].tolist() == together[row].tolist()
    fresh = each.model.ready(Encoders())
    for row in (4, 2, 0):
        alone = fresh.judged(PREMISES[row : row + 1], HYPOTHESES[row : row + 1]).probabilities[0]
        np.testing.assert_allclose(alone, together[row], atol=1e-5)


def test_blocks_and_batches_change_nothing(each, monkeypatch):
    whole = each.judged(PREMISES * 3, HYPOTHESES * 3).probabilities
    monkeypatch.setattr("dialogauge.learned.entailment.networks.AT_ONCE", 4)
    monkeypatch.setattr("dialogauge.learned.entailment.networks.BATCH", 2)
    np.testing.assert_allclose(each.judged(PREMISES * 3, HYPOTHESES * 3).probabilities, whole, atol=1e-7)


def test_an_empty_text_is_neutral(each):
    """So is one of which nothing can be seen."""
    found = each.judged(
        ["", "the dog", "  ", "the dog", "\u200b", "the dog"], ["nice", " ", "", "\0 \u200b", "nice", "nice"]
    )
    assert found.silent.tolist() == [True] * 5 + [False]
    assert found.probabilities[:5].tolist() == [[0, 1, 0]] * 5
    assert found.probabilities[5].max() < 1


def test_space_around_texts_means_nothing(each):
    plain, spaced = each.judged(["the dog", " the dog\n"], ["is nice", "\tis nice "]).probabilities
    assert plain.tolist() == spaced.tolist()


def test_no_pairs(each):
    found = each.judged([], [])
    assert [part.shape for part in (found.probabilities, found.cut, found.silent)] == [(0, 3), (0,), (0,)]


def test_a_long_history_is_cut_and_never_the_response(each):
    """What is said long ago means nothing; what is said in the response's last word does."""
    ends = "the weather is nice " * 20
    first, second, other = each.judged(
        [f"dog {ends}", f"dinner dinner dinner {ends}", f"dog {ends}"], ["is nice today"] * 2 + ["is nice dog"]
    ).probabilities
    found = each.judged([f"dog {ends}", "dog"], ["is nice today"] * 2)
    assert found.cut.tolist() == [True, False]
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert np.abs(first - other).max() > 1e-5
    # What is said last in a history does mean something.
    assert np.abs(each.judged([f"dog {ends} dinner"], ["is nice today"]).probabilities[0] - first).max() > 1e-5


def test_the_premise_is_hidden_where_it_was_while_training(bert, vectors, tmp_path):
    for encoder, options in ((bert, {"network": "transformer"}), (vectors, {})):
        hidden, plain = (
            open_entailment(made(tmp_path / f"{only}-{len(options)}", encoder, hypothesis_only=only, **options))
            for only in (True, False)
        )
        first, second, third = hidden.ready(OPENED).judged(["tea", "rain snow", ""], ["milk"] * 3).probabilities
        assert first.tolist() == second.tolist() == third.tolist() != [0, 1, 0]
        assert hidden.ready(OPENED).judged(["tea"], [""]).silent.tolist() == [True]
        first, second = plain.ready(OPENED).judged(["tea", "rain snow"], ["milk"] * 2).probabilities
        assert np.abs(first - second).max() > 1e-6


def test_the_temperature_divides_logits(vectors, tmp_path):
    logits = {}
    for temperature in (1, 4):
        model = open_entailment(write_entailment(tmp_path / str(temperature), vectors, temperature=temperature))
        judged = model.ready(OPENED).judged(["tea milk"], ["cat"]).probabilities[0]
        logits[temperature] = np.log(judged) - np.log(judged).mean()
    np.testing.assert_allclose(logits[4], logits[1] / 4, atol=1e-5)


def test_weights_of_16_bits(vectors, tmp_path):
    exact, half = (
        open_entailment(write_entailment(tmp_path / np.dtype(dtype).name, vectors, dtype=dtype)).ready(OPENED)
        for dtype in (np.float32, np.float16)
    )
    found = [model.judged(*zip(*WORDY, strict=True)).probabilities for model in (exact, half)]
    np.testing.assert_allclose(*found, atol=5e-3)
    assert not np.array_equal(*found)


@pytest.mark.parametrize("rank", [0, 2])
def test_vectors_of_tunings_and_of_the_encoder_itself_are_never_mixed_up(bert, tmp_path, rank):
    """One after the other, they share a run, a memory and a cache."""
    models = [
        open_entailment(made(tmp_path / str(seed), bert, network="transformer", rank=rank, seed=seed))
        for seed in (1, 2)
    ]
    pairs = list(zip(PREMISES, HYPOTHESES, strict=True))
    alone = [model.ready(Encoders()).judge.encoder.pooled(pairs, "cls").vectors for model in models]
    base = Encoders().get(bert).pooled(pairs, "cls").vectors
    wanted = [*alone, base]
    assert min(np.abs(one - other).max() for at, one in enumerate(wanted) for other in wanted[:at]) > 1e-3
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        cache = Cache(tmp_path / f"cache-{''.join(map(str, order))}")
        for _ in range(2):  # cold, then warm
            encoders = Encoders(cache)
            for place in order:
                used = encoders.get(bert) if place == 2 else models[place].ready(encoders).judge.encoder
                np.testing.assert_allclose(used.pooled(pairs, "cls").vectors, wanted[place], atol=1e-6)


def test_with_a_warm_cache_no_model_is_loaded(bert, tmp_path, monkeypatch):
    model = open_entailment(made(tmp_path, bert, network="transformer"))
    cold = model.ready(Encoders(Cache(tmp_path / "cache"))).judged(PREMISES, HYPOTHESES)
    monkeypatch.setattr(EncoderNetwork, "__init__", None)
    warm = model.ready(Encoders(Cache(tmp_path / "cache"))).judged(PREMISES, HYPOTHESES)
    np.testing.assert_array_equal(warm.probabilities, cold.probabilities)
    assert warm.cut.tolist() == cold.cut.tolist()


def test_a_tuned_encoder_is_opened_once_in_a_run(bert, tmp_path):
    model = open_entailment(made(tmp_path, bert, network="transformer"))
    encoders = Encoders()
    first, second = (model.ready(encoders).judge.encoder for _ in range(2))
    assert first is second
    assert first is not encoders.get(bert)


def test_only_transformers_are_tuned(vectors, bert, tmp_path):
    from dialogauge.learned.pair_network import Tuned

    model = open_entailment(made(tmp_path, bert, network="transformer"))
    with pytest.raises(InputError, match="is no transformer, and has no weights to be tuned"):
        Encoders().tuned(vectors, Tuned(model.saved, model.shape.rank))


def test_the_identity_follows_all_that_decides_numbers(vectors, tmp_path):
    changed = [{}, {"seed": 5}, {"temperature": 1.25}, {"hypothesis_only": True}]
    names = [
        open_entailment(write_entailment(tmp_path / str(place) / "m", vectors, **options)).saved.identity
        for place, options in enumerate(changed)
    ]
    assert len(set(names)) == len(names)
    assert {name.split("@")[0] for name in names} == {"m"}
    again = open_entailment(write_entailment(tmp_path / "again" / "m", vectors)).saved.identity
    assert again == names[0]


def test_another_encoder_is_refused(vectors, bert, tmp_path):
    model = open_entailment(write_entailment(tmp_path / "m", vectors))
    other = write_vectors(tmp_path / "other.txt", seed=1)
    for given in (other, bert):
        with pytest.raises(InputError, match="was trained with the encoder ten@.*train entailment --encoder") as raised:
            model.ready(Encoders(), given)
        assert raised.value.path == tmp_path / "m"
    tuned = open_entailment(made(tmp_path / "tuned", bert, network="transformer"))
    with pytest.raises(InputError, match="was trained with the encoder bert@"):
        tuned.ready(Encoders(), str(build("bert", tmp_path / "another", seed=1)))


def test_the_encoder_may_be_elsewhere(bert, tmp_path):
    model = open_entailment(made(tmp_path, bert, network="transformer"))
    copy = shutil.copytree(bert, tmp_path / "elsewhere")
    moved = model.ready(Encoders(), str(copy)).judged(PREMISES, HYPOTHESES).probabilities
    np.testing.assert_allclose(moved, model.ready(OPENED).judged(PREMISES, HYPOTHESES).probabilities, atol=1e-6)


def test_an_encoder_that_is_no_longer_there(tmp_path):
    path = tmp_path / "gone.txt"
    directory = write_entailment(tmp_path / "m", write_vectors(path))
    Path(path).unlink()
    with pytest.raises(InputError, match="say with encoder= where it is"):
        open_entailment(directory).ready(Encoders())


SAID = ("one", " two ", "three")


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (None, "one two three"),
        (1, "three"),
        (2, "two three"),
        (3, "one two three"),
        (9, "one two three"),
        (-1, "three"),
        (-2, "two"),
        (-3, "one"),
        (-4, ""),
    ],
)
def test_how_much_of_the_history(history, expected):
    assert premise_of(SAID, history) == expected


@pytest.mark.parametrize("history", [None, 1, 2, -1, -2])
def test_nothing_was_said(history):
    assert premise_of((), history) == ""
    assert premise_of(("", " \n"), history) == ""


def test_an_utterance_without_text_is_one_all_the_same():
    assert premise_of(("one", " ", "three")) == "one three"
    assert premise_of(("one", " ", "three"), 2) == "three"
    assert premise_of(("one", " ", "three"), -2) == ""

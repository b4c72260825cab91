"""Trained relatedness models: from texts to numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from dialogauge.encode.encoders import Encoders
from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, check_encoder, encoder_name, model_path
from dialogauge.learned.ruber.inputs import KINDS, SENTENCES, RuberShape
from dialogauge.learned.ruber.model import SHIPPED, Normalisation, Query, Range, open_ruber, query_of
from tests.encode.models import build, encoders, minilm, open_model
from tests.learned.small import WIDTH, change_card, random_network, torch, write_ruber, write_vectors

CONTEXTS = [
    ["tea milk"],
    ["rain", "hello"],
    [""],
    ["nothing known"],
    ["tea", "cat dog rain snow"],
    ["hello", "dog", "bye"],
]
RESPONSES = ["milk", "hello there", "tea", "bye", "", "unheard-of"]
SHAPES = [*({"sentence": sentence} for sentence in SENTENCES), {"network": "towers"}]


@pytest.fixture(scope="module")
def opened(vectors):
    return Encoders().get(vectors)


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def each(request, vectors, tmp_path_factory):
    """A model of each kind."""
    return open_ruber(
        write_ruber(tmp_path_factory.mktemp("each") / "m", vectors, members=2, context=2, **request.param)
    )


def test_what_the_card_says(model, vectors):
    found = open_ruber(model)
    assert (found.members, found.context, found.shape) == (2, 1, RuberShape(WIDTH))
    assert encoder_name(found.saved) == vectors
    assert open_ruber(str(model)).identity == found.identity


def test_layers_stand_as_a_list_in_the_card_and_come_back_as_a_tuple(vectors, tmp_path):
    directory = write_ruber(tmp_path / "m", vectors, network="towers", sentence="max", layers=(3, 1))
    assert json.loads((directory / CARD).read_text())["network"]["layers"] == [3, 1]
    assert open_ruber(directory).shape == RuberShape(WIDTH, "towers", "max", (3, 1))


def test_relatedness_by_the_networks_themselves(pristine, opened):
    related = open_ruber(pristine).relatedness(opened, [["tea milk"]], ["cat"])
    q = torch.from_numpy(opened.pooled(["tea milk"]).vectors)
    r = torch.from_numpy(opened.pooled(["cat"]).vectors)
    with torch.no_grad():
        logits = [random_network(RuberShape(WIDTH), seed)(q, r).item() for seed in (0, 1)]
    assert related.values.tolist() == pytest.approx([np.mean([1 / (1 + np.exp(-x)) for x in logits])], abs=1e-6)


def test_towers_take_the_last_two_utterances_apart(vectors, opened, tmp_path):
    model = open_ruber(write_ruber(tmp_path / "m", vectors, network="towers", context=2))
    values = model.relatedness(opened, [["rain", "cat", "tea milk"], ["tea milk"]], ["dog", "dog"]).values
    q, r, p = (
        torch.from_numpy(opened.pooled([text]).vectors.astype(np.float64)) for text in ("tea milk", "dog", "cat")
    )
    network = random_network(RuberShape(WIDTH, "towers")).double()
    with torch.no_grad():
        expected = [network(q, r, p).sigmoid().item(), network(q, r).sigmoid().item()]
    assert values.tolist() == pytest.approx(expected, rel=1e-7)  # 32 bits
    assert abs(values[0] - values[1]) > 1e-3


def test_how_much_of_the_context_towers_look_at(vectors, opened, tmp_path):
    contexts = [["rain", "tea"], ["snow", "tea"], ["cat", "rain", "tea"], ["tea"], [" ", "tea"]]
    values = {
        context: open_ruber(write_ruber(tmp_path / str(context), vectors, network="towers", context=context))
        .relatedness(opened, contexts, ["dog"] * 5)
        .values
        for context in (1, 2)
    }
    # One: what came before the last utterance is nothing to it.
    assert values[1].tolist() == pytest.approx([values[1][0]] * 5, rel=1e-12)
    # Two: the utterance before it, and none before that.
    assert values[2][0] == pytest.approx(values[2][2], rel=1e-12)
    assert abs(values[2][0] - values[2][1]) > 1e-3
    assert abs(values[2][0] - values[2][3]) > 1e-3
    # A context of one utterance, or with nothing in the one before, is as if no more were looked at.
    assert values[2][3:].tolist() == pytest.approx(values[1][:2].tolist(), rel=1e-12)


def test_a_pair_scores_the_same_alone(each, opened):
    together = each.relatedness(opened, CONTEXTS, RESPONSES)
    assert ((together.values >= 0) & (together.values <= 1)).all()
    assert np.ptp(together.values) > 1e-3
    for place, (context, response) in enumerate(zip(CONTEXTS, RESPONSES, strict=True)):
        alone = each.relatedness(opened, [context], [response])
        assert alone.values[0] == pytest.approx(together.values[place], rel=1e-12)
        assert alone.silent[0] == together.silent[place]
    backwards = each.relatedness(opened, CONTEXTS[::-1], RESPONSES[::-1])
    np.testing.assert_allclose(backwards.values[::-1], together.values, rtol=1e-12)


def test_the_same_pair_has_the_same_number_every_time(each, opened):
    """To the last bit: ranks tell the smallest difference from a tie."""
    together = each.relatedness(opened, [*CONTEXTS, *[["rain", "tea"]] * 7], [*RESPONSES, *["dog"] * 7])
    alone = each.relatedness(opened, [["rain", "tea"]], ["dog"])
    assert {*together.values[-7:].tolist()} == {*alone.values.tolist()}


def test_silent_texts(each, opened):
    """An empty query, one of unknown words, an empty response and one of unknown words."""
    assert each.relatedness(opened, CONTEXTS, RESPONSES).silent.tolist() == [False, False, True, True, True, True]
    # What came before the query may be silent.
    assert (
        each.relatedness(opened, [["nothing known", "tea"], ["", "tea"]], ["milk"] * 2).silent.tolist() == [False] * 2
    )


def test_no_pairs(each, opened):
    related = each.relatedness(opened, [], [])
    assert [len(part) for part in (related.values, related.cut, related.silent)] == [0, 0, 0]


def test_space_around_a_text_means_nothing(each, opened):
    plain, spaced = (each.relatedness(opened, [context], [response]).values[0] for context, response in SPACED)
    assert plain == pytest.approx(spaced, rel=1e-12)


SPACED = [(["rain", "tea milk"], "cat"), ([" rain", " tea milk\n"], "\tcat ")]


@pytest.mark.parametrize("network", KINDS)
def test_weights_of_16_bits(vectors, opened, tmp_path, network):
    exact = open_ruber(write_ruber(tmp_path / "exact", vectors, seed=3, network=network))
    half = open_ruber(write_ruber(tmp_path / "half", vectors, seed=3, network=network, dtype=np.float16))
    values = [model.relatedness(opened, CONTEXTS, RESPONSES).values for model in (exact, half)]
    np.testing.assert_allclose(*values, atol=5e-3)
    assert not np.array_equal(*values)


LONG = "hello " * 60


@pytest.mark.parametrize(
    ("network", "context", "expected"),
    [
        ("ruber", 1, [True, False, True, False]),
        ("ruber", 2, [True, True, True, False]),
        ("towers", 1, [True, False, True, False]),
        ("towers", 2, [True, True, True, False]),
    ],
)
def test_a_text_that_is_cut_is_counted_wherever_it_is_looked_at(tmp_path, network, context, expected):
    """The query, what was said before it where that is looked at, and the response."""
    bert = open_model(build("bert", tmp_path / "bert"))
    model = open_ruber(write_ruber(tmp_path / "m", "bert", opened=bert, network=network, context=context))
    contexts = [["tea", LONG], [LONG, "tea"], ["tea"], [LONG, "milk", "tea"]]
    assert model.relatedness(bert, contexts, ["tea", "tea", LONG, "tea"]).cut.tolist() == expected


def test_towers_over_layers_of_a_transformer(tmp_path):
    bert = open_model(build("bert", tmp_path / "bert"))
    made = write_ruber(tmp_path / "m", "bert", opened=bert, network="towers", layers=(3, 1), context=2)
    related = open_ruber(made).relatedness(bert, [["thank you", "how are you ?"]], ["fine"])
    q, r, p = (
        torch.from_numpy(
            np.concatenate([bert.pooled([text], "mean", layer).vectors for layer in (3, 1)], axis=1).astype(float)
        )
        for text in ("how are you ?", "fine", "thank you")
    )
    with torch.no_grad():
        expected = random_network(RuberShape(32, "towers", layers=(3, 1))).double()(q, r, p).sigmoid().item()
    assert related.values[0] == pytest.approx(expected, rel=1e-7)  # 32 bits


def test_another_encoder_is_refused(model, tmp_path):
    other = open_static(write_vectors(tmp_path / "other.txt", seed=1).removeprefix("static:"))
    found = open_ruber(model)
    with pytest.raises(InputError, match=f"trained with the encoder ten@.*, found {other.identity}") as raised:
        check_encoder(found.saved, other)
    assert raised.value.path == model
    assert "dialogauge train ruber --encoder" in str(raised.value)
    check_encoder(found.saved, Encoders().get(encoder_name(found.saved)))


def test_the_same_vectors_under_another_name_are_the_same_encoder(model, vectors, tmp_path):
    """`encoder=` says where a model's encoder is found: the file may be called otherwise there."""
    renamed = tmp_path / "renamed.txt"
    renamed.write_bytes(Path(vectors.removeprefix("static:")).read_bytes())
    check_encoder(open_ruber(model).saved, open_static(renamed))


def test_shipped_model_is_whole():
    found = open_ruber()
    assert encoder_name(found.saved) == "minilm"
    assert found.identity.startswith(f"{SHIPPED}@")
    assert found.normalisation.unreferenced.low < found.normalisation.unreferenced.high
    assert (model_path(None, SHIPPED) / "README.md").read_text(encoding="utf-8").startswith(f"# {SHIPPED}\n")


def test_shipped_model_tells_a_reply_from_a_stray_sentence():
    encoder = minilm()
    found = open_ruber()
    check_encoder(found.saved, encoders().get("minilm"))
    queries = [["Would you like a cup of tea ?"], ["Where is the station ?"], ["I lost my job yesterday ."]]
    replies = ["Yes , please , with milk .", "Go straight on and turn left .", "I 'm sorry to hear that ."]
    true = found.relatedness(encoder, queries, replies).values
    stray = found.relatedness(encoder, queries, [*replies[1:], replies[0]]).values
    assert (true > stray).all()


def test_shipped_model_by_its_name():
    from dialogauge.learned.ruber.model import open_ruber

    assert open_ruber("ruber-minilm").identity == open_ruber().identity


@pytest.mark.parametrize(
    ("context", "utterances", "expected"),
    [
        (["a", "b", "c"], 1, "c"),
        (["a", "b", "c"], 2, "b c"),
        (["a", "b", "c"], 9, "a b c"),
        ([" a ", "b\n"], 2, "a  b"),
        (["a"], 2, "a"),
        ([" "], 1, ""),
        ([], 2, ""),
    ],
)
def test_the_last_utterances_joined_for_rubers_network(context, utterances, expected):
    assert query_of(context, utterances, "ruber") == Query(expected, "")


@pytest.mark.parametrize(
    ("context", "utterances", "expected"),
    [
        (["a", "b", "c"], 1, Query("c", "")),
        (["a", "b", "c"], 2, Query("c", "b")),
        ([" b ", "\tc "], 2, Query("c", "b")),
        (["c"], 2, Query("c", "")),
        (["c"], 1, Query("c", "")),
        (["b", " "], 2, Query("", "b")),
        ([" ", "c"], 2, Query("c", "")),
        ([], 2, Query("", "")),
    ],
)
def test_the_last_two_utterances_apart_for_towers(context, utterances, expected):
    assert query_of(context, utterances, "towers") == expected


@pytest.mark.parametrize("network", KINDS)
def test_any_sequence_will_do(network):
    assert query_of(("a", "b"), 2, network) == query_of(["a", "b"], 2, network)


def test_a_range_becomes_0_to_1_and_is_clipped():
    scores = np.array([0.1, 0.2, 0.3, 0.6, 0.9])
    np.testing.assert_allclose(Range(0.2, 0.6)(scores), [0, 0, 0.25, 1, 1])
    np.testing.assert_allclose(Range(-1, 1)(np.array([-1, 0, 1.5])), [0, 0.5, 1])


@pytest.mark.parametrize("ends", [(1, 1), (0.5, 0.2), (float("nan"), 1), (0, float("inf"))])
def test_no_range(ends):
    with pytest.raises(InputError, match="expected a range of numbers"):
        Range(*ends)


def test_what_is_recorded_is_read_again(model):
    kept = Normalisation(Range(0.125, 0.75), Range(-0.5, 1.0), "mean")
    change_card(model, normalisation=kept.record())
    assert open_ruber(model).normalisation == kept


@pytest.mark.parametrize(
    "changes",
    [
        {"unreferenced": {"low": 1, "high": 0}},
        {"unreferenced": {"low": "a", "high": "b"}},
        {"unreferenced": {"low": None, "high": 1}},
        {"unreferenced": {"low": 0}},
        {"unreferenced": 3},
        {"referenced": {"low": 0, "high": 1, "middle": 0.5}},
        {"referenced": None},
        {"pool": "median"},
        {"pool": ["mean"]},
        {"pool": None},
    ],
    ids=str,
)
def test_a_card_with_another_normalisation(model, changes):
    change_card(model, normalisation=changes)
    with pytest.raises(InputError, match="its normalisation cannot be used") as raised:
        _ = open_ruber(model).normalisation
    assert raised.value.path == model


def test_a_card_without_normalisation(model):
    change_card(model, normalisation=None)
    with pytest.raises(InputError, match="has no 'normalisation'"):
        _ = open_ruber(model).normalisation

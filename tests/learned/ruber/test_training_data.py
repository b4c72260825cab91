from dataclasses import replace

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.encode.base import Encoder, Pooled, fully_covered
from dialogauge.errors import InputError
from dialogauge.learned.ruber.inputs import RuberShape
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.ruber.recipe import PAPER, TOWERS, RuberRecipe
from dialogauge.learned.ruber.train_networks import train
from dialogauge.learned.ruber.training_data import make_training_data, read_data, shape_of
from dialogauge.learned.training.loop import Loop
from tests.encode.models import build, open_model
from tests.learned.ruber.conversations import dialogues, quick, quick_towers, training_data_for, turns


def codes(data):
    return [caveat.code for caveat in data.caveats]


def test_a_share_is_held_back():
    data = read_data(turns(dialogues(40)), None, PAPER, share=0.25)
    assert (len(data.train), len(data.held)) == (60, 20)
    assert codes(data) == ["few_held", "held_seen"]
    assert "only 20 pairs of 10 dialogues to validate with" in data.caveats[0].message
    assert "20 of 20 pairs to validate with are also learned from" in data.caveats[1].message
    again, other = (read_data(turns(dialogues(40)), None, RuberRecipe(seed=seed), share=0.25) for seed in (0, 1))
    np.testing.assert_array_equal(again.held.dialogues, data.held.dialogues)
    assert other.held.dialogues.tolist() != data.held.dialogues.tolist()


def test_enough_to_validate_with_is_no_caveat():
    different = [[f"ask{n}", f"say{n}", f"go{n}"] for n in range(100)]
    assert codes(read_data(turns(different), None, PAPER, share=0.5)) == []
    repeated = [*different, *different[:6]]
    assert codes(read_data(turns(different[:50]), turns(repeated[50:]), PAPER)) == ["held_seen"]
    assert codes(read_data(turns(different[:50]), turns(repeated[50:102]), PAPER)) == []


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_no_share(share):
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        read_data(turns(dialogues(4)), None, PAPER, share=share)


def test_others_to_validate_with():
    other = [["ask0", "say0"], ["ask1", ""], ["who", "me"]]
    data = read_data(turns(dialogues(10)), turns(other), PAPER, {bare("Who ?")})
    assert len(data.held) == 1
    assert [data.texts[row] for row in (*data.held.queries, *data.held.responses)] == ["ask0", "say0"]
    assert len(data.train) == 20
    assert codes(data) == ["empty_pairs", "left_out", "few_held"]


def test_every_text_has_its_row(training_data, encoder):
    found = training_data("mean")
    assert len(found.inputs) == len(found.data.texts)
    np.testing.assert_allclose(found.inputs.numpy(), encoder.pooled(found.data.texts).vectors)
    assert found.shape == RuberShape(encoder.dim)
    np.testing.assert_allclose(np.linalg.norm(found.sampler.vectors, axis=1), 1, atol=1e-5)


def test_negatives_to_validate_with_stay_the_same(training_data, encoder):
    held = training_data("mean").held
    assert held.negatives.shape == (len(held.pairs), 5)
    data = training_data("mean").data
    again, other = (make_training_data(data, encoder, quick(seed=seed)).held.negatives for seed in (0, 1))
    np.testing.assert_array_equal(again, held.negatives)
    assert (other != held.negatives).any()


def test_one_pair_to_validate_with_is_said_to_be_too_few(encoder):
    """A dozen conversations of two utterances: the share to validate with is a single pair."""
    said = turns([[f"ask{k % 3}", f"say{k % 3}"] for k in range(12)])
    data = read_data(said, None, PAPER)
    with pytest.raises(
        InputError, match=r"only one response to validate with \(1 of 12 pairs are held back\): give more"
    ):
        make_training_data(data, encoder, PAPER)


def test_all_responses_the_same(encoder):
    same = turns([["ask0", "say0"], ["ask1", "SAY0 !"], ["ask2", "say0"]])
    with pytest.raises(InputError, match="all responses are the same text"):
        make_training_data(read_data(same, turns(dialogues(6)), PAPER), encoder, PAPER)
    with pytest.raises(InputError, match="only one response to validate with"):
        make_training_data(read_data(turns(dialogues(6)), same, PAPER), encoder, PAPER)


class WholeTexts(Encoder):
    """Has vectors for texts and none for words, like the Universal Sentence Encoder."""

    identity = "whole@00000000"

    def recipe(self):
        return {"enc": self.identity}

    def pooled(self, texts, *_):
        vectors = [np.random.default_rng(len(text)).normal(size=4) for text in texts]
        return Pooled(np.array(vectors, np.float32), np.zeros(len(texts), np.int32), fully_covered(len(texts)))


def test_an_encoder_without_words_is_refused_before_anything_is_learned(monkeypatch):
    epochs = []
    learn = Loop._learn
    monkeypatch.setattr(Loop, "_learn", lambda *arguments: epochs.append(1) or learn(*arguments))
    data = read_data(turns(dialogues(20)), None, PAPER, share=0.3)
    with pytest.raises(InputError, match="has no vectors for single words"):
        train(make_training_data(data, WholeTexts(), PAPER), quick())
    assert not epochs


def test_turns_without_a_dialogue_stay_with_their_context():
    said = [Turn(f"{k}", f"say{k}", (f"ask{k % 3}",)) for k in range(9)]
    data = read_data(said, None, PAPER, share=0.3)
    assert not set(data.train.queries.tolist()) & set(data.held.queries.tolist())


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Of three layers, 32 wide."""
    return open_model(build("bert", tmp_path_factory.mktemp("models") / "bert"))


def test_towers_look_at_the_last_layer_and_the_one_half_way_to_it(bert, encoder):
    assert shape_of(TOWERS, bert) == RuberShape(32, "towers", "mean", (3, 1), 0.4)
    assert shape_of(replace(TOWERS, layers=(2, 0, 1)), bert).layers == (2, 0, 1)
    assert shape_of(PAPER, bert) == RuberShape(32)
    assert shape_of(replace(PAPER, layers=(0, 2)), bert).layers == (0, 2)
    assert shape_of(TOWERS, encoder) == RuberShape(8, "towers", "mean", (), 0.4)


def test_a_model_of_one_layer_also_gives_its_input(tmp_path):
    one = open_model(build("bert", tmp_path / "one", num_hidden_layers=1))
    assert shape_of(TOWERS, one).layers == (1, 0)


@pytest.mark.parametrize("recipe", [TOWERS, PAPER])
def test_layers_of_word_vectors_are_refused(encoder, recipe):
    with pytest.raises(InputError, match=f"layers: the encoder {encoder.identity} has none"):
        training_data_for(encoder, replace(recipe, layers=(3, 1)))


def test_layers_that_are_not_there(bert):
    with pytest.raises(InputError, match=r"layers 0 \(its input\) to 3; found layer 7"):
        training_data_for(bert, replace(TOWERS, layers=(3, 7)))


def test_every_text_goes_through_the_transformer_once(bert):
    before = bert.encoded
    found = training_data_for(bert, quick_towers())
    # Beside them: the sentence that shows whether words have vectors, and the empty text that shows their width.
    assert bert.encoded - before <= len(found.data.texts) + 2
    texts = [bert.spelled(text) for text in found.data.texts]
    expected = [bert.pooled(texts, "mean", layer).vectors for layer in (3, 1)]
    np.testing.assert_array_equal(found.inputs, np.concatenate(expected, axis=1))


def test_what_was_said_before_the_query_is_among_the_texts():
    data = read_data(turns([["a", "b", "c"], ["d", "e"]]), turns([["x", "y", "z"]]), TOWERS)
    named = [
        [data.texts[row] if row >= 0 else None for row in rows] for rows in (data.train.previous, data.held.previous)
    ]
    assert named == [[None, "a", None], [None, "x"]]
    assert read_data(turns([["a", "b", "c"]]), turns([["x", "y"]]), PAPER).train.previous.tolist() == [-1, -1]


def test_the_digest_is_of_these_texts_and_pairs():
    said = dialogues(20)
    data = read_data(turns(said), None, TOWERS, share=0.3)
    assert read_data(turns(said), None, TOWERS, share=0.3).digest() == data.digest()
    others = [
        read_data(turns(said), None, TOWERS, share=0.4),
        read_data(turns(said), None, replace(TOWERS, seed=1), share=0.3),
        read_data(turns(said), None, replace(TOWERS, context=1), share=0.3),
        read_data(turns([[f"{text} ?" for text in texts] for texts in said]), None, TOWERS, share=0.3),
        read_data(turns(said[::-1]), None, TOWERS, share=0.3),
    ]
    assert len({data.digest(), *(other.digest() for other in others)}) == 6

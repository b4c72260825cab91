import numpy as np
import pytest

from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.learned.ruber import inputs
from dialogauge.learned.ruber.inputs import WIDEST, RuberShape, make_inputs, width_of
from tests.encode.models import build, open_model
from tests.learned.small import WIDTH, torch


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentence": "meen"}, "unknown sentence representation 'meen'; did you mean mean"),
        ({"sentence": "mean+max"}, "unknown sentence representation 'mean\\+max'"),
        ({"network": "tower"}, "unknown network 'tower'; did you mean towers\\?"),
        ({"network": None}, "unknown network 'None'"),
        ({"width": 0}, "width: expected a whole number from 1 to 65536, found 0"),
        ({"width": "5"}, "width: expected a whole number from 1 to 65536, found '5'"),
        ({"width": WIDEST + 1}, "width"),
        ({"dropout": 1}, "dropout: expected a number from 0 to below 1, found 1"),
        ({"dropout": -0.1}, "dropout"),
        ({"dropout": "0"}, "dropout"),
        ({"dropout": float("nan")}, "dropout"),
        ({"layers": (3, -1)}, "layers: expected whole numbers of at least 0, found .*3, -1"),
        ({"layers": (1.5,)}, "layers"),
        ({"layers": ("6",)}, "layers"),
        ({"sentence": "rnn", "network": "towers"}, "sentence rnn: expected the network ruber on the last layer alone"),
        ({"sentence": "rnn", "layers": (1,)}, "sentence rnn"),
    ],
)
def test_bad_values(options, message):
    with pytest.raises(InputError, match=message):
        RuberShape(**{"width": 5, **options})


def test_widths_by_hand():
    assert RuberShape(5).sentence_width == 5
    assert RuberShape(5, "towers").sentence_width == 5
    # Vectors of three layers stand side by side.
    assert RuberShape(5, layers=(0, 2, 3)).sentence_width == 15
    assert RuberShape(5, "towers", "max", (2,)).sentence_width == 5
    # 128 units each way, whatever the words' width.
    assert RuberShape(5, sentence="rnn").sentence_width == 256
    assert RuberShape(WIDEST).sentence_width == WIDEST


CPU = torch.device("cpu")
TEXTS = ["tea milk", "unheard-of", "", " rain ", "cat"]
TALK = ["Hello , how are you today ?", "", "tea " * 60]


@pytest.fixture
def static(vectors):
    return open_static(vectors.removeprefix("static:"))


@pytest.fixture
def bert(tmp_path):
    """Of three layers, 32 wide."""
    return open_model(build("bert", tmp_path / "bert"))


def test_pooled(static):
    tea, milk = (static.vector(word) for word in ("tea", "milk"))
    assert width_of(static) == WIDTH
    for sentence, expected in (("mean", (tea + milk) / 2), ("max", np.maximum(tea, milk))):
        encoded = make_inputs(static, TEXTS, RuberShape(WIDTH, sentence=sentence), CPU)
        np.testing.assert_allclose(encoded.inputs[torch.tensor([0])][0], expected, atol=1e-6)
        assert encoded.silent.tolist() == [False, True, True, False, False]
        assert not encoded.cut.any()


def test_words(static, monkeypatch):
    monkeypatch.setattr(inputs, "AT_ONCE", 2)
    encoded = make_inputs(static, TEXTS, RuberShape(WIDTH, sentence="rnn"), CPU)
    batch = encoded.inputs[torch.arange(5)]
    assert batch.lengths.tolist() == [2, 1, 1, 1, 1]
    np.testing.assert_array_equal(batch.states[0], [static.vector("tea"), static.vector("milk")])
    np.testing.assert_array_equal(batch.states[1, 0], np.zeros(WIDTH))
    np.testing.assert_array_equal(batch.states[3, 0], static.vector("rain"))
    assert encoded.silent.tolist() == [False, True, True, False, False]


@pytest.mark.parametrize(
    "shape", [RuberShape(32, layers=(3, 1)), RuberShape(32, sentence="rnn")], ids=lambda shape: shape.sentence
)
def test_texts_in_blocks(bert, monkeypatch, shape):
    whole = make_inputs(bert, TALK, shape, CPU, means=True)
    monkeypatch.setattr(inputs, "AT_ONCE", 2)
    parts = make_inputs(bert, TALK, shape, CPU, means=True)
    for found in (whole, parts):
        np.testing.assert_array_equal(found.means, bert.pooled([text.strip() for text in TALK], "mean").vectors)
        assert found.cut.tolist() == [False, False, True]
    for rows in (torch.tensor([2]), torch.arange(3)):
        left, right = (getattr(found.inputs[rows], "states", found.inputs[rows]) for found in (whole, parts))
        assert torch.equal(left, right)
    assert make_inputs(bert, TALK, shape, CPU).means is None
    assert bert.encoded == 3


@pytest.mark.parametrize("sentence", ["mean", "rnn"])
def test_32_bits_unless_told_otherwise(static, sentence):
    shape = RuberShape(WIDTH, sentence=sentence)
    plain, wide = (make_inputs(static, TEXTS, shape, CPU, dtype).inputs for dtype in (None, torch.float64))
    plain, wide = (getattr(found, "states", found) for found in (plain, wide))
    assert (plain.dtype, wide.dtype) == (torch.float32, torch.float64)
    np.testing.assert_array_equal(plain.double(), wide)


@pytest.mark.parametrize(
    "shape",
    [
        RuberShape(32, sentence="rnn"),
        RuberShape(32, layers=(3, 1)),
        RuberShape(32, "towers", "max", (3, 1, 0)),
        RuberShape(32),
    ],
    ids=lambda shape: f"{shape.sentence}{shape.layers}",
)
def test_a_transformer_in_one_pass(bert, shape):
    encoded = make_inputs(bert, TALK, shape, CPU)
    assert encoded.silent.tolist() == [False, True, False]
    assert encoded.cut.tolist() == [False, False, True]
    assert bert.encoded == 3
    if shape.sentence == "rnn":
        words = bert.tokens([TALK[0]])[0].words
        np.testing.assert_array_equal(encoded.inputs[torch.tensor([0])].states[0], words)


def test_layers_stand_side_by_side_in_the_order_given(bert):
    found = make_inputs(bert, TALK, RuberShape(32, layers=(3, 0, 1)), CPU).inputs
    expected = np.concatenate([bert.pooled(TALK, "mean", layer).vectors for layer in (3, 0, 1)], axis=1)
    np.testing.assert_array_equal(found, expected)
    last = make_inputs(bert, TALK, RuberShape(32), CPU).inputs
    np.testing.assert_array_equal(found[:, :32], last)
    assert (found[:, 32:64] - found[:, 64:]).abs().max() > 0.01


def test_a_layer_that_is_not_there(bert, static):
    with pytest.raises(InputError, match=r"layers 0 \(its input\) to 3; found layer 4"):
        make_inputs(bert, TALK, RuberShape(32, layers=(4,)), CPU)
    with pytest.raises(InputError, match="has no layers, found layer=1"):
        make_inputs(static, TALK, RuberShape(WIDTH, layers=(1,)), CPU)

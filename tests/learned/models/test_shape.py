import pytest

from dialogauge.errors import InputError
from dialogauge.learned.ruber.inputs import WIDEST, RuberShape


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

import numpy as np
import pytest
from tests.learned.models.small import change_card

from dialogauge.errors import InputError
from dialogauge.learned.ruber.model import Normalisation, Range, open_ruber


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

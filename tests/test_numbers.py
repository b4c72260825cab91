"""Numbers that a user gives, from Python: refused where they lie outside of what anybody means."""

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError, check_number, check_share, check_whole
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.options import Settings
from dialogauge.learned.entailment.recipe import EntailmentRecipe
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.learned.synthesis import Options
from dialogauge.metrics.registry import parse_requests

HUGE = 999999999999
ODD = [10**400, -1, 2.5, float("nan"), float("inf"), "7", None, True, [1], 1j]


@pytest.mark.parametrize("value", ODD)
def test_what_is_no_whole_number_in_bounds(value):
    with pytest.raises(InputError, match=r"^batch: expected a whole number from 1 to 1,000, found "):
        check_whole("batch", value, 1, 1000)


@pytest.mark.parametrize("value", [1, 1000, np.int32(7), np.uint8(255)])
def test_whole_numbers_in_bounds(value):
    check_whole("batch", value, 1, 1000)


@pytest.mark.parametrize("value", [10**400, -0.01, float("nan"), float("inf"), "0.5", None, True, 1j])
def test_what_is_no_number_in_bounds(value):
    with pytest.raises(InputError, match=r"^ratio: expected a number from 0 to 1, found "):
        check_number("ratio", value, 0, 1)
    with pytest.raises(InputError, match=r"^share: expected a number between 0 and 1, found "):
        check_share("share", value)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25)])
def test_numbers_in_bounds(value):
    check_number("ratio", value, 0, 1)


def test_a_long_number_is_shown_in_short():
    with pytest.raises(InputError) as raised:
        check_whole("seed", 10**4000, 0, 2**63 - 1)
    assert len(str(raised.value)) < 120


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((Settings, name) for name in ("resamples", "confidence")),
        *(
            (RuberRecipe, name)
            for name in ("batch", "epochs", "stop", "patience", "members", "context", "seed", "rate")
        ),
        *((EntailmentRecipe, name) for name in ("batch", "epochs", "stop", "accumulate", "rank", "units", "seed")),
        *((Options, name) for name in ("neutral", "contradiction", "generic", "salad_length", "with_facts")),
    ],
)
def test_every_number_of_the_api_has_bounds(make, name):
    for value in (HUGE, 10**30, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"^{name}: "):
            make(**{name: value})


def test_lists_of_numbers():
    for options in ({"history": (10**30,)}, {"salad_words": (1e308, 1e308, 1e308)}, {"splits": (1e308, 1, 1)}):
        with pytest.raises(InputError):
            Options(**options)


@pytest.mark.parametrize(
    "metric", ["mmd[bandwidth=inf]", "meteor[alpha=nan]", "meteor[beta=1e300]", f"prd[seed={10**30}]"]
)
def test_options_of_metrics(metric):
    with pytest.raises(InputError, match="expected a number from -9e[+]18 to 9e[+]18"):
        parse_requests(metric)


def test_resamples_that_would_never_end():
    with pytest.raises(InputError, match="resamples: expected a whole number from 1 to 1,000,000, found 999999999999"):
        evaluate(Corpus([Turn("1", "hello")]), "length", resamples=HUGE)

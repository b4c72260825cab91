import json
from dataclasses import replace

import pytest

from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.learned.entailment.model import EntailmentShape
from dialogauge.learned.entailment.recipe import ADAPTER, ESIM, RECIPES, TRANSFORMER, EntailmentRecipe


def test_recipes_by_name():
    assert list(RECIPES) == ["adapter", "transformer", "esim"]
    assert (ADAPTER.network, TRANSFORMER.network, ESIM.network) == ("transformer", "transformer", "esim")
    assert (TRANSFORMER.rank, ESIM.rank) == (0, 0)
    assert ADAPTER.rank > 0
    assert EntailmentRecipe() == TRANSFORMER


WRONG = {
    "network": "bert",
    "pool": "cls2",
    "rank": -1,
    "units": 0,
    "dropout": 1.0,
    "batch": 0,
    "accumulate": 0,
    "rate": 0.0,
    "warm_up": 1.0,
    "weight_decay": -0.1,
    "epochs": 0,
    "stop": 0,
    "seed": -1,
}


@pytest.mark.parametrize(("name", "value"), [*WRONG.items(), ("rate", float("nan")), ("rate", 2.0), ("seed", 2**70)])
def test_what_makes_no_sense_is_refused(name, value):
    with pytest.raises(InputError, match=name):
        replace(ADAPTER, **{name: value})


def test_esim_has_no_rank():
    with pytest.raises(InputError, match="rank: ESIM leaves its encoder as it is; found 4"):
        replace(ESIM, rank=4)


def test_the_shape_has_all_that_the_recipe_says_of_it(vectors):
    encoder = open_static(vectors.removeprefix("static:"))
    made = replace(ESIM, units=7, dropout=0.25, hypothesis_only=True, pool="max")
    assert made.shape(encoder) == EntailmentShape("esim", encoder.dim, 0, "max", 7, 0.25, True)


def test_the_record_is_the_recipe():
    assert EntailmentRecipe(**json.loads(json.dumps(ESIM.record()))) == ESIM

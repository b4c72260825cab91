import json
from dataclasses import fields, replace

import pytest

from dialogauge.errors import InputError
from dialogauge.learned.ruber.recipe import RECIPES, TOWERS, RuberRecipe


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentence": "maxx"}, "unknown sentence 'maxx'; did you mean max"),
        ({"loss": "rank"}, "unknown loss 'rank'; did you mean ranking\\?"),
        ({"network": "towerz"}, "unknown network 'towerz'; did you mean towers\\?"),
        ({"schedule": "linaer"}, "unknown schedule 'linaer'; did you mean linear\\?"),
        ({"loss": "softmax"}, "loss softmax: expected the network towers and in_batch negatives"),
        ({"loss": "softmax", "network": "towers"}, "loss softmax"),
        ({"loss": "softmax", "negatives": ("in_batch",)}, "loss softmax"),
        ({"loss": "softmax", "network": "towers", "negatives": ("in_batch", "hard")}, "loss softmax"),
        ({"network": "towers", "context": 3}, "context: towers look at 1 or 2 utterances, found 3"),
        ({"negatives": ("random", "hart")}, "unknown kind of negatives 'hart'; did you mean hard\\?"),
        ({"negatives": ("same length",)}, "did you mean same_length\\?"),
        ({"negatives": ()}, "negatives: expected at least one kind of random, same_length, in_batch, hard"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 4,294,967,294, found -1"),
        ({"seed": 2**70}, "seed: expected"),
        ({"seed": 2**32 - 1}, "seed: expected"),
        ({"seed": 2**32 - 5, "members": 9}, "seed: expected"),
        ({"rate": 0}, "rate: expected a number above 0 and at most 1, found 0"),
        ({"rate": float("nan")}, "rate"),
        ({"rate": 2}, "rate"),
        ({"margin": 1.5}, "margin: expected a number above 0 and at most 1, found 1.5"),
        ({"decay": 0}, "decay"),
        ({"dropout": 1.0}, "dropout: expected a number from 0 to below 1"),
        ({"dropout": float("nan")}, "dropout"),
        *(
            ({name: 0}, f"{name}: expected a whole number from 1 to 1,000,?[0]*, found 0")
            for name in ("context", "batch", "patience", "stop", "epochs", "members")
        ),
    ],
)
def test_bad_values(options, message):
    with pytest.raises(InputError, match=message):
        RuberRecipe(**options)


def again(record):
    record = json.loads(json.dumps(record))
    return RuberRecipe(**{**record, "negatives": tuple(record["negatives"]), "layers": tuple(record["layers"])})


@pytest.mark.parametrize(
    "recipe",
    [
        RuberRecipe(sentence="rnn", loss="ranking", negatives=("hard", "random"), margin=0.25, seed=7),
        replace(TOWERS, layers=(6, 3), sentence="max", context=1, seed=2**32 - 2),
        *RECIPES.values(),
    ],
)
def test_the_record_builds_the_recipe_again(recipe):
    assert again(recipe.record()) == recipe
    assert recipe.record().keys() == {field.name for field in fields(RuberRecipe)}


def test_the_defaults_are_those_of_the_paper():
    recipe = RuberRecipe()
    assert (recipe.rate, recipe.decay, recipe.patience, recipe.stop) == (1e-4, 0.5, 5, 20)
    assert (recipe.network, recipe.loss, recipe.negatives, recipe.context, recipe.schedule, recipe.layers) == (
        "ruber",
        "cross_entropy",
        ("random",),
        1,
        "plateau",
        (),
    )
    assert {"towers": TOWERS, "paper": recipe} == RECIPES


def test_ours():
    assert (TOWERS.network, TOWERS.loss, TOWERS.negatives, TOWERS.context, TOWERS.schedule) == (
        "towers",
        "softmax",
        ("in_batch",),
        2,
        "linear",
    )

"""What takes the part of the paper's language models."""

import pytest

from dialogauge.errors import InputError
from dialogauge.papers import side_by_side
from dialogauge.papers.side_by_side import encoder_for, parse_models, stand_in_caveats


@pytest.fixture
def there(monkeypatch):
    found = set()
    monkeypatch.setattr(side_by_side, "_is_there", found.__contains__)
    return found


def test_the_model_itself_comes_first(there):
    there |= {"roberta-base", "mpnet"}
    assert encoder_for("roberta-base", {}) == "roberta-base"


def test_then_what_stands_in_for_it(there):
    there.add("mpnet")
    assert encoder_for("roberta-base", {}) == "mpnet"


def test_then_nothing(there):
    assert encoder_for("roberta-base", {}) is None
    there |= {"minilm", "mpnet"}
    assert encoder_for("roberta-large", {}) is None


def test_what_is_given_is_not_looked_for(there):
    assert encoder_for("roberta-base", {"roberta-base": "mine"}) == "mine"


def test_parsing():
    assert parse_models("roberta-base=a, bert-large-uncased=static:x") == {
        "roberta-base": "a",
        "bert-large-uncased": "static:x",
    }
    assert parse_models(None) == {}
    for text in ("roberta-base", "roberta=x", "roberta-base="):
        with pytest.raises(InputError, match="expected MODEL=ENCODER with one of bert-base-uncased"):
            parse_models(text)


def test_caveats_say_what_was_replaced_and_what_is_left_out():
    found = stand_in_caveats({"bert-base-uncased": "bert-base-uncased", "roberta-base": "mpnet", "roberta-large": None})
    assert [caveat.code for caveat in found] == ["stand_in_model", "no_model"]
    assert "mpnet stands in for roberta-base" in found[0].message
    assert "roberta-large is not to be had" in found[1].message

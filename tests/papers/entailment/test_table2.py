"""Accuracy of predicted classes, on small corpora with a model that no one trained."""

import json

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.metrics.learned.entailment import CLASSES, Entailment
from dialogauge.papers.entailment.classes import Thresholds, parse_thresholds, predict, true_responses
from dialogauge.papers.entailment.inputs import NamedModel, find_models, parse_entailment_models, read_corpora
from dialogauge.papers.entailment.table2 import reproduce_entailment_table2
from dialogauge.tables import FORMATS
from tests.papers.entailment.world import small_world, without_shipped, write_model


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return small_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def model(world):
    return world.parent / "model"


@pytest.fixture(scope="module")
def table(world, model):
    with without_shipped():
        return reproduce_entailment_table2(world, {"tiny": str(model)}, cache=False)


def test_classes_of_ratings():
    # From 0 to 2, the mean of 4/3 is two thirds: the border belongs to neutral.
    means = np.array([0.0, 0.6, 2 / 3, 1.0, 4 / 3, 1.4, 2.0])
    assert Thresholds().classes(means / 2).tolist() == [2, 2, 1, 1, 1, 0, 0]
    assert Thresholds(0.5, 0.5).classes(np.array([0.49, 0.5, 0.51])).tolist() == [2, 1, 0]


@pytest.mark.parametrize("text", ["0.5", "a,b", "0.7,0.3", "-0.1,0.5", "0.2,1.1", "nan,0.5", "1,2,3"])
def test_wrong_thresholds(text):
    with pytest.raises(InputError, match="thresholds: expected"):
        parse_thresholds(text)


def test_thresholds_of_a_call():
    assert parse_thresholds(None) == Thresholds(1 / 3, 2 / 3)
    assert parse_thresholds("0.4, 0.6") == Thresholds(0.4, 0.6)


def test_models_of_a_call():
    assert parse_entailment_models(["ESIM=a/b, tuned=c", "x=d=e"]) == {"ESIM": "a/b", "tuned": "c", "x": "d=e"}
    for wrong in ("ESIM", "=a", "ESIM="):
        with pytest.raises(InputError, match="--entailment-models: expected NAME=DIR"):
            parse_entailment_models([wrong])
    for twice in ("a=1,a=2", "entailment-minilm=1"):
        with pytest.raises(InputError, match="two models are called"):
            parse_entailment_models([twice])


def test_models_that_are_there(model, tmp_path):
    with without_shipped():
        found, caveats = find_models({"tiny": str(model)})
        assert found == [NamedModel("tiny", str(model))]
        assert [caveat.code for caveat in caveats] == ["no_model"]
        with pytest.raises(InputError, match="no entailment model: .* name one with --entailment-models NAME=DIR"):
            find_models({})
        with pytest.raises(InputError, match="no model here"):
            find_models({"tiny": str(tmp_path / "none")})


def test_predictions_are_the_metrics(world, model):
    rated = read_corpora(world)[0][0]
    metric = Entailment(model=str(model)).prepare(rated.corpus)
    likeliest = metric.measure(rated.turns)[:, 1:4].argmax(axis=1)
    found = predict(NamedModel("tiny", str(model)), rated.turns, Encoders())
    assert found.classes.tolist() == likeliest.tolist()
    assert min(found.counts()) > 0
    assert sum(found.counts()) == len(rated.turns)


def test_a_turn_without_context_has_no_class(model):
    turns = [Turn("0", "tea"), Turn("1", "tea", ("rain",))]
    found = predict(NamedModel("tiny", str(model)), turns, Encoders())
    assert found.known.tolist() == [False, True]
    assert sum(found.counts()) == 1
    assert [caveat.code for caveat in found.caveats] == ["missing_input"]


def test_true_responses_come_once_for_each_context(world):
    rated = read_corpora(world)[0][0]
    found = true_responses(rated)
    assert len(found) == len(rated.turns) / 2
    assert {turn.response for turn in found} == {turn.references[0] for turn in rated.turns}


def test_numbers(world, table):
    rated = {each.title: each for each in read_corpora(world)[0]}
    rows = [row for row in table.rows if not row.published]
    assert [row.corpus for row in rows] == list(rated)
    for row in rows:
        confusion = np.array(row.confusion)
        people = Thresholds().classes(rated[row.corpus].scaled)
        assert confusion.sum() == row.n == len(people)
        assert confusion.sum(axis=1).tolist() == row.people == np.bincount(people, minlength=3).tolist()
        assert confusion.sum(axis=0).tolist() == row.predicted
        assert row.accuracy == pytest.approx(np.trace(confusion) / row.n)
        assert row.low < row.accuracy < row.high
        assert row.commonest == CLASSES[int(np.argmax(row.people))]
        assert row.commonest_share == pytest.approx(max(row.people) / row.n)


def test_the_papers_rows_come_first(table):
    assert [(row.method, row.corpus, row.accuracy) for row in table.rows if row.published] == [
        ("ESIM + ELMo", "Reddit", 0.526),
        ("ESIM + ELMo", "OpenSubtitles", 0.455),
        ("BERT", "Reddit", 0.553),
        ("BERT", "OpenSubtitles", 0.498),
    ]


def test_thresholds_matter(world, model, table):
    with without_shipped():
        other = reproduce_entailment_table2(world, {"tiny": str(model)}, Thresholds(0, 0), ["fed"], cache=False)
    (row,) = [row for row in other.rows if not row.published]
    before = next(old for old in table.rows if old.corpus == "FED")
    assert row.people[2] == 0
    assert row.people[0] > before.people[0]
    assert row.predicted == before.predicted


def test_several_models(world, model, tmp_path):
    write_model(tmp_path / "other", f"static:{world.parent / 'vectors.txt'}", 8)
    with without_shipped():
        found = reproduce_entailment_table2(
            world, {"tiny": str(model), "other": str(tmp_path / "other")}, only=["conture"], cache=False
        )
    one, two = (row for row in found.rows if not row.published)
    assert (one.method, two.method) == ("tiny", "other")
    assert one.people == two.people
    assert one.predicted != two.predicted


def test_forms(table):
    assert all(table.render(form) for form in FORMATS)
    found = json.loads(table.to_json())
    assert found["thresholds"] == {"low": pytest.approx(1 / 3), "high": pytest.approx(2 / 3)}
    for text in (str(table), " ".join(found["notes"]), found["warnings"][0]["message"]):
        assert "Reddit and OpenSubtitles are no longer to be had" in text
    assert "FED: Relevant, 0 to 2; ConTurE: overall impression, 0 to 2" in str(table)
    assert table.to_csv().startswith("method,corpus,published,accuracy")

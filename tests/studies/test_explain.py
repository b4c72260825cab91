"""The responses that push a distance most."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.metrics.distance.frechet import frechet_distance
from dialogauge.metrics.overlap.bleu import Bleu
from dialogauge.metrics.registry import parse_requests
from dialogauge.studies.explain import check_explained, explain
from tests.encode.models import build

WORDS = ("soup", "bread", "park", "dog", "walk")
ODD = "? ? ? ! ! ! 25 25 25 ? ? ? ! ! ! 25 25 25"
UNKNOWN = "influences are known of fbd alone, and gauge alone is explained by its parts"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert", hidden_size=8, num_attention_heads=2))


def answers(system, count, seed):
    """Much alike, as the references are: they differ by a word."""
    rng = np.random.default_rng(seed)

    def wish():
        return f"i would like the {rng.choice(WORDS)} today , please ."

    return [Turn(str(i), wish(), (f"what would you like to eat , {i} ?",), (wish(),), system) for i in range(count)]


@pytest.fixture(scope="module")
def corpus():
    """Two systems on 40 contexts; answer 17 of the first is not like any other."""
    turns = [*answers("bot", 40, 0), *answers("other", 40, 1)]
    turns[17] = replace(turns[17], response=ODD)
    return Corpus(turns)


@pytest.fixture(scope="module")
def result(corpus, model):
    return evaluate(corpus, "fbd,mmd,fbd[cov=shrunk],fbd[est=extrapolated]", encoder=model)


@pytest.fixture(scope="module")
def explanation(result, corpus):
    return explain(result, corpus, result.columns[0])


def test_the_planted_response_comes_first_with_its_texts(explanation, corpus):
    first, planted = explanation.replies[0], corpus.turns[17]
    assert (first.system, first.id, first.response) == ("bot", "17", ODD)
    assert first.context == planted.context
    assert first.references[0] == planted.references[0]
    assert first.value > 2 * explanation.replies[1].value


def test_ten_of_each_system_worst_first(explanation, corpus):
    assert [push.system for push in explanation.replies] == ["bot"] * 10 + ["other"] * 10
    turns = {(turn.system, turn.id): turn for turn in corpus}
    for system in ("bot", "other"):
        mine = [push for push in explanation.replies if push.system == system]
        assert [push.value for push in mine] == sorted((push.value for push in mine), reverse=True)
        assert len({push.id for push in mine}) == 10
        for push in mine:
            turn = turns[push.system, push.id]
            assert (push.response, push.context, push.references[0]) == (
                turn.response,
                turn.context,
                turn.references[0],
            )


def test_a_push_is_by_how_much_the_score_would_fall_to_first_order(result, corpus, explanation):
    (sample,) = [sample for sample in result.samples if (sample.label, sample.system) == (result.columns[0], "other")]
    real, generated = sample.rows.real_vectors, sample.rows.generated_vectors
    whole = frechet_distance(real, generated)
    fallen = [whole - frechet_distance(real, np.delete(generated, place, axis=0)) for place in range(len(generated))]
    every = {push.id: push.value for push in explain(result, corpus, result.columns[0], worst=40).replies[40:]}
    pushes = [every[name] for name in sample.ids]
    assert len(pushes) == 40
    assert np.corrcoef(pushes, fallen)[0, 1] > 0.95
    assert np.polyfit(pushes, fallen, 1)[0] == pytest.approx(1, abs=0.3)


def test_as_many_as_asked_for_or_as_there_are(result, corpus):
    assert len(explain(result, corpus, result.columns[0], worst=3).replies) == 6
    assert len(explain(result, corpus, result.columns[0], worst=100).replies) == 80


def test_turns_without_references_keep_ids_and_texts_together(corpus, model):
    """Turns that are left out shift places; ids must not follow places in the corpus."""
    turns = [replace(turn, references=()) if int(turn.id) % 3 == 0 else turn for turn in corpus]
    result = evaluate(Corpus(turns), "fbd", encoder=model)
    first = explain(result, Corpus(turns), result.columns[0]).replies[0]
    assert (first.id, first.response) == ("17", ODD)


def test_against_real_conversations_there_is_no_reference(corpus, model):
    result = evaluate(corpus, "fbd", encoder=model, real=Corpus(answers("people", 60, 2)))
    pushes = explain(result, corpus, result.columns[0]).replies
    assert (pushes[0].id, pushes[0].response, pushes[0].references) == ("17", ODD, ())
    assert {push.references for push in pushes} == {()}
    assert len(pushes) == 20


def test_forms(explanation, result):
    document = json.loads(explanation.to_json())
    assert document["schema"] == "dialogauge.explanation/1"
    assert document["metric"] == result.columns[0]
    assert len(document["pushes"]) == 20
    first = document["pushes"][0]
    assert list(first) == ["system", "id", "push", "context", "response", "reference"]
    assert (first["id"], first["response"]) == ("17", ODD)
    assert first["push"] == explanation.replies[0].value
    lines = str(explanation).split("\n")
    assert lines[0].split() == ["system", "id", "push", "after", "response"]
    assert lines[2].split()[:2] == ["bot", "17"]
    assert lines[2].endswith(ODD)
    assert f"push: by how much {result.columns[0]} would fall without the response" in lines[-1]
    assert explanation.to_frame()["id"].tolist()[0] == "17"


def test_long_texts_are_cut_where_they_matter_least(model):
    """Of what came before, the end is what the response answers; of the response, the beginning is shown."""
    turns = [
        Turn(
            str(i), f"first words {i} " + "and more " * 20 + "last", ("start " + "on " * 30 + f"end {i}",), (f"b {i}",)
        )
        for i in range(5)
    ]
    result = evaluate(Corpus(turns), "fbd", encoder=model)
    found = explain(result, Corpus(turns), result.columns[0])
    line = str(found).split("\n")[2]
    assert f"on end {found.replies[0].id} " in line
    assert "start" not in line
    assert f"first words {found.replies[0].id} and" in line
    assert "last" not in line
    assert line.count("…") == 2
    assert found.replies[0].response == next(turn.response for turn in turns if turn.id == found.replies[0].id)


def test_extrapolated_distances_are_pushed_by_the_same(result, corpus, explanation):
    found = explain(result, corpus, result.columns[3])
    assert [push.id for push in found.replies] == [push.id for push in explanation.replies]


def test_a_system_of_one_turn_has_nothing_to_explain(corpus, model):
    turns = [*corpus.turns, replace(corpus.turns[0], system="lone")]
    result = evaluate(Corpus(turns), "fbd", encoder=model)
    assert {push.system for push in explain(result, Corpus(turns), result.columns[0]).replies} == {"bot", "other"}


def test_what_cannot_be_explained(result, corpus):
    plain, mmd, shrunk = result.columns[:3]
    with pytest.raises(InputError, match=r"cannot explain bleu: the result has fbd\[encoder=bert\], mmd"):
        explain(result, corpus, "bleu")
    with pytest.raises(InputError, match="cannot explain mmd.*: influences are known of fbd alone, and gauge alone is"):
        explain(result, corpus, mmd)
    with pytest.raises(InputError, match="cannot explain fbd.*: influences are known with cov=plain alone"):
        explain(result, corpus, shrunk)
    with pytest.raises(InputError, match="cannot explain fbd.*: the result has"):
        explain(result, corpus, f"{plain}.mean")
    with pytest.raises(InputError, match=rf"which metric is to be explained\? Name one of {re.escape(plain)}, fbd"):
        explain(result, corpus)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("bleu", f"cannot explain bleu: {UNKNOWN}"),
        ("prd", f"cannot explain prd: {UNKNOWN}"),
        ("fbd.mean", "cannot explain fbd.mean: ask for fbd, which its parts add up to"),
        ("fbd[cov=shrunk]", r"cannot explain fbd\[cov=shrunk\]: influences are known with cov=plain alone"),
    ],
)
def test_requests_are_refused_before_any_work(metric, message):
    (request,) = parse_requests(metric)
    with pytest.raises(InputError, match=f"^{message}$"):
        check_explained(request)
    (fine,) = parse_requests("fbd[mean=norm]")
    check_explained(fine)


def test_influences_are_known_where_they_are_defined():
    class Known(Bleu):
        def influences(self, summary, measures):
            return summary - measures

    assert Known().no_influences is None
    with pytest.raises(InputError, match=f"^bleu: {UNKNOWN}$"):
        Bleu().influences(None, None)


def test_a_stream_keeps_nothing_to_explain(corpus, model, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 20)
    result = evaluate(corpus, "fbd", encoder=model)
    with pytest.raises(InputError, match="there are too many turns to keep what was noted of each"):
        explain(result, corpus, result.columns[0])

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.units import Units
from dialogauge.metrics.overlap.bleu import Bleu, sentence_bleu


def turn(number, response, system="s", **more):
    return Turn(str(number), response, context=more.pop("context", (f"question {number}",)), system=system, **more)


def numbers(system, values, **more):
    return [turn(i, "x", system, extra={"v": value}, **more) for i, value in enumerate(values)]


def codes(result):
    return [caveat.code for caveat in result.caveats]


VALUES = np.random.default_rng(0).normal(size=40).tolist()


def test_differences_between_systems_are_paired():
    # b is a plus one in every context, so with the same resamples every bound is too.
    corpus = Corpus([*numbers("a", VALUES), *numbers("b", [v + 1 for v in VALUES])])
    a, b = evaluate(corpus, "column[name=v]").scores
    assert b.low == pytest.approx(a.low + 1)
    assert b.high == pytest.approx(a.high + 1)


def test_pairing_follows_contexts_not_positions():
    shuffled = numbers("b", [v + 1 for v in VALUES])[::-1]
    a, b = evaluate(Corpus([*numbers("a", VALUES), *shuffled]), "column[name=v]").scores
    assert b.low == pytest.approx(a.low + 1)


def test_a_score_does_not_depend_on_its_neighbours():
    corpus = Corpus([turn(i, f"a b w{i % 7} c{i % 3}", references=("a b w1 c2",)) for i in range(30)])
    alone = evaluate(corpus, "distinct").scores + evaluate(corpus, "bleu").scores
    together = evaluate(corpus, "bleu,length,distinct")
    for score in alone:
        assert together.score("s", score.metric) == score


def test_same_seed_same_numbers_and_another_seed_other_intervals():
    corpus = Corpus(numbers("a", VALUES))
    first, again, other = (evaluate(corpus, "column[name=v]", seed=seed).scores[0] for seed in (1, 1, 2))
    assert first == again
    assert first.value == other.value
    assert first.low != other.low


def test_dialogues_are_drawn_whole():
    # Four dialogues of ten equal turns hold four observations, not forty: the interval is much wider.
    values = [float(d) for d in range(4) for _ in range(10)]
    loose = Corpus([turn(i, "x", extra={"v": v}) for i, v in enumerate(values)])
    whole = Corpus([turn(i, "x", extra={"v": v}, dialogue=str(i // 10)) for i, v in enumerate(values)])
    apart, together = (evaluate(corpus, "column[name=v]").scores[0] for corpus in (loose, whole))
    assert together.units == 4
    assert together.high - together.low > 2 * (apart.high - apart.low)


@pytest.mark.parametrize(
    ("more", "kind"),
    [({"dialogue": "d"}, "dialogues"), ({"context": ("a",)}, "contexts"), ({"context": ()}, "turns")],
)
def test_what_is_resampled_is_named(more, kind):
    units = Units()
    units.keys([turn(0, "x", **more)])
    assert units.kind == kind


def test_turns_without_a_context_are_paired_by_id():
    a, b = (Units().keys([Turn(str(i), "x", system=s) for i in range(3)]) for s in "ab")
    assert a.tolist() == b.tolist()
    assert len(set(a.tolist())) == 3


def test_per_turn_scores_include_sentence_bleu():
    corpus = Corpus([turn(i, f"hello there w{i}", references=("hello there you",)) for i in range(3)])
    frame = evaluate(corpus, "bleu,distinct").turns_to_frame()
    assert list(frame.columns) == ["id", "system", "metric", "value"]
    assert frame["metric"].tolist() == ["bleu"] * 3
    assert frame["value"].tolist() == pytest.approx([sentence_bleu(t.response, t.references) for t in corpus])


def test_batches_do_not_change_scores(monkeypatch):
    corpus = Corpus([turn(i, f"a b w{i % 7}", references=("a b w1",)) for i in range(50)])
    whole = evaluate(corpus, "bleu,rouge_l,distinct,length")
    monkeypatch.setattr("dialogauge.evaluation.sample.BATCH", 7)
    assert evaluate(corpus, "bleu,rouge_l,distinct,length").scores == whole.scores


def test_parts_are_reported_and_a_single_part_can_be_asked_for():
    corpus = Corpus([turn(i, f"a b{i}") for i in range(5)])
    assert [score.metric for score in evaluate(corpus, "distinct").scores] == ["distinct", "distinct.1"]
    result = evaluate(corpus, "distinct.1")
    assert [score.metric for score in result.scores] == result.columns == ["distinct.1"]
    assert len(evaluate(corpus, "distinct,distinct.1").scores) == 2


def test_a_metric_that_needs_references_on_a_corpus_without_any():
    with pytest.raises(InputError, match="bleu needs references, and none of the corpus's 2 turns has any"):
        evaluate(Corpus([turn(0, "x"), turn(1, "y")]), "length,bleu")


def test_turns_without_references_are_left_out_and_counted():
    corpus = Corpus([turn(0, "a b"), turn(1, "a b", references=("a b",)), turn(0, "a b", system="t")])
    result = evaluate(corpus, "rouge_l")
    assert (result.score("s", "rouge_l").value, result.score("s", "rouge_l").n) == (1.0, 1)
    assert (result.score("t", "rouge_l").value, result.score("t", "rouge_l").n) == (None, 0)
    assert "2 of 3 turns have no references" in next(c.message for c in result.caveats if c.code == "missing_input")


def test_caveats_and_n_follow_the_turns_that_a_metric_used():
    rows = [
        turn(i, "a b c d", system, references=("a b c d",) if i in places else ())
        for system, places in (("s", range(0, 3)), ("t", range(97, 100)))
        for i in range(100)
    ]
    result = evaluate(Corpus(rows), "bleu,length")
    messages = {caveat.code: caveat.message for caveat in result.caveats}
    assert messages["few_samples"].startswith("bleu: a score stands on only 3 contexts")
    assert messages["unpaired"].startswith("bleu: the systems are scored on different contexts")
    assert "n=3" in str(result)
    assert result.score("s", "bleu").units == 3


def test_rows_keep_their_contexts_when_turns_are_left_out():
    # b is a plus one on the contexts both have, and both lack the number on every third context.
    values = [None if i % 3 == 0 else v for i, v in enumerate(VALUES)]
    shifted = [None if v is None else v + 1 for v in values]
    lacking = [t for t in numbers("a", values) if t.extra["v"] is not None]
    a, b = evaluate(Corpus([*lacking, *numbers("b", shifted)]), "column[name=v]").scores
    assert (a.n, b.n) == (26, 26)
    assert b.low == pytest.approx(a.low + 1)
    assert b.high == pytest.approx(a.high + 1)


def test_two_recipes_of_one_name_are_refused():
    corpus = Corpus([turn(0, "a b", references=("a b",))])
    with pytest.raises(InputError, match="two different metrics are called bleu"):
        evaluate(corpus, [Bleu(), "bleu"], compat="fbd-paper")


def test_metrics_without_a_recipe_of_the_paper_are_named():
    corpus = Corpus([turn(i, "a b", references=("a b",)) for i in range(25)])
    result = evaluate(corpus, "bleu,length", compat="fbd-paper")
    assert codes(result) == ["own_recipe"]
    assert "length" in result.caveats[0].message
    assert "compat:fbd-paper" in result.score("s", "bleu").signature
    assert codes(evaluate(corpus, "bleu,length")) == []


def test_empty_responses_are_scored_and_counted():
    corpus = Corpus([turn(0, " ", references=("a",)), turn(1, "a", references=("a",))])
    result = evaluate(corpus, "rouge_l,length")
    assert result.score("s", "rouge_l").value == 0.5
    assert result.score("s", "length").value == 0.5
    assert "empty_responses" in codes(result)


def test_undefined_values_are_left_out_and_counted():
    result = evaluate(Corpus(numbers("a", [1.0, None, 3.0])), "column[name=v]")
    assert (result.scores[0].value, result.scores[0].n) == (2.0, 2)
    assert "undefined_scores" in codes(result)


def test_few_contexts_different_contexts_and_different_sizes_are_said():
    few = Corpus([turn(i, "x") for i in range(19)])
    assert codes(evaluate(few, "length")) == ["few_samples"]
    enough = [turn(i, "x") for i in range(20)]
    assert codes(evaluate(Corpus(enough), "length")) == []
    others = [turn(i + 1, "x", system="t") for i in range(20)]
    assert codes(evaluate(Corpus([*enough, *others]), "length,distinct")) == ["unpaired"]
    assert codes(evaluate(Corpus([*enough, *others[:-1], *others[:19]]), "length")) == [
        "few_samples",
        "unpaired",
    ]
    twice = [turn(i, "x", system="t") for i in range(20) for _ in range(2)]
    assert codes(evaluate(Corpus([*enough, *twice]), "length,distinct")) == ["different_sizes"]


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"confidence": 0.0}, {"resamples": 0}])
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(InputError):
        evaluate(Corpus([turn(0, "x")]), "length", **wrong)


def test_a_system_that_cannot_be_scored_is_named():
    turns = [
        Turn(str(i), "a b c", (f"q {i}",), references=("a b c",) if system == "x" else (), system=system)
        for system in "xyz"
        for i in range(30)
    ]
    found = {caveat.code: caveat.message for caveat in evaluate(Corpus(turns), "rouge_l,length").caveats}
    assert found["no_score"] == "rouge_l: no turn of y, z can be scored"
    assert "few_samples" not in found

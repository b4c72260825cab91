"""Metrics against people, on small corpora and on published numbers."""

import json
from dataclasses import asdict, dataclass, replace

import numpy as np
import pytest
from scipy import stats

from dialogauge.corpus import Corpus, load
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation import evaluate
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.overlap.rouge_l import rouge_l
from dialogauge.stats.correlations import pairwise_accuracy, uncentred_correlation
from dialogauge.stats.reliability import reliability
from dialogauge.stats.resampling import IntervalEstimate, mean_of_estimates
from tests.agreement.corpora import (
    COST,
    GOOD,
    POOR,
    codes,
    column,
    in_dialogues,
    message,
    numbers,
    people,
    quick,
    rated,
    shuffled,
    turn,
)
from tests.shared import annotation, shared

FIVE = ("a", "b", "c", "d", "e")


def expected(x, y):
    return [
        stats.pearsonr(x, y).statistic,
        stats.spearmanr(x, y).statistic,
        stats.kendalltau(x, y).statistic,
        uncentred_correlation(x, y),
        pairwise_accuracy(x, y),
    ]


def by_system(corpus, values):
    return np.array(
        [np.mean([v for t, v in zip(corpus, values, strict=True) if t.system == s]) for s in corpus.systems]
    )


def uncosined(row):
    return [row.pearson, row.spearman, row.kendall]


def own(row):
    """All of a row but what depends on other metrics."""
    return {name: value for name, value in asdict(row).items() if not name.endswith("_top")}


# Levels


@pytest.mark.parametrize("raters", [1, 3])
def test_turns(raters):
    corpus = rated(raters=raters, whole=True)
    result = quick(corpus, level="turn")
    (row,) = result.rows
    assert (row.corpus, row.dimension, row.level, row.system) == ("corpus", "overall", "turn", None)
    assert (row.metric, row.n, row.higher_is_better) == (GOOD, 30, True)
    assert numbers(row) == pytest.approx(expected(column(corpus, "good"), people(corpus)), abs=1e-9)
    assert row.kendall_p == pytest.approx(stats.kendalltau(column(corpus, "good"), people(corpus)).pvalue, abs=1e-9)
    for name in ("pearson", "spearman", "kendall"):
        low, value, high, p = (getattr(row, name + end) for end in ("_low", "", "_high", "_p"))
        assert -1 <= low < value < high <= 1
        assert 0 < p <= 0.05
    assert "name:good" in row.signature
    (points,) = result.points
    assert points.names == [f"{i:03}" for i in range(30)]
    assert points.column(GOOD).tolist() == column(corpus, "good").tolist()


def test_turns_of_several_systems_are_all_points():
    corpus = rated(12, FIVE)
    row = quick(corpus, level="turn").row(GOOD)
    assert row.n == 60
    assert numbers(row) == pytest.approx(expected(column(corpus, "good"), people(corpus)), abs=1e-9)


def test_metrics_of_which_less_is_better_are_turned_round():
    corpus = rated()
    right, wrong = "column[name=cost,higher_is_better=false]", "column[name=cost]"
    result = quick(corpus, [right, wrong], level="turn")
    assert result.row(right).cosine is None
    assert uncosined(result.row(right)) == pytest.approx(
        expected(-column(corpus, "cost"), people(corpus))[:3], abs=1e-9
    )
    assert result.row(right).pearson > 0.3
    assert result.row(wrong).pearson == pytest.approx(-result.row(right).pearson, abs=1e-9)
    assert result.row(wrong).pearson_high == pytest.approx(-result.row(right).pearson_low, abs=1e-9)
    assert result.row(wrong).pearson_p == result.row(right).pearson_p
    assert (result.row(right).higher_is_better, result.row(wrong).higher_is_better) == (False, True)
    # Figures show what the metric gave.
    assert result.points[0].column(right).tolist() == column(corpus, "cost").tolist()


def test_systems():
    corpus = rated(12, FIVE)
    result = quick(corpus, [GOOD, COST], level="system")
    mean_people = by_system(corpus, people(corpus))
    for name, sign, metric in (("good", 1, GOOD), ("cost", -1, COST)):
        row = result.row(metric)
        assert (row.level, row.n) == ("system", 5)
        means = sign * by_system(corpus, column(corpus, name))
        assert uncosined(row) == pytest.approx(expected(means, mean_people)[:3], abs=1e-9)
        assert row.pairwise_accuracy == pytest.approx(pairwise_accuracy(means, mean_people), abs=1e-9)
        # No narrower than Fisher's.
        reach = stats.norm.ppf(0.975) / np.sqrt(2)
        z = np.arctanh(row.pearson)
        assert row.pearson_low <= np.tanh(z - reach) + 1e-12
        assert row.pearson_high >= np.tanh(z + reach) - 1e-12
    (points,) = result.points
    assert points.names == points.systems == list(FIVE)
    assert points.people.tolist() == pytest.approx(mean_people.tolist())
    for place in range(5):
        low, high = points.people_intervals[place]
        assert low < points.people[place] < high
        low, high = points.value_intervals[place, 0]
        assert low < points.values[place, 0] < high


def test_four_systems_in_peoples_order_prove_nothing():
    # They are so far apart that no resample of contexts orders them otherwise; Fisher's interval holds 0 even so.
    turns = [turn(i, 5.0 * s + i % 3, f"s{s}", good=9.0 * s + i % 2) for s in range(4) for i in range(10)]
    row = quick(Corpus(turns), level="system").rows[0]
    assert row.spearman == row.kendall == pytest.approx(1, abs=1e-9)
    assert row.spearman_low < 0
    assert row.spearman_high == pytest.approx(1, abs=1e-9)
    assert (row.kendall_low, row.kendall_high) == (-1, 1)
    assert row.spearman_p == pytest.approx(2 / 24)


def test_systems_in_dimensions_that_lack_different_ratings():
    corpus = rated(12, FIVE)
    turns = []
    for place, t in enumerate(corpus):
        given = {"x": t.ratings["overall"], "y": (float(t.extra["poor"]),), "z": t.ratings["overall"]}
        turns.append(replace(t, ratings={n: r for n, r in given.items() if n == "z" or (place + (n == "x")) % 3}))
    result = quick(Corpus(turns), [GOOD, "length", "distinct"], level="system", dimension="all")
    for name in "xyz":
        kept = Corpus([t for t in turns if name in t.ratings])
        assert (len(kept) == 60) == (name == "z")
        alone = quick(kept, [GOOD, "length", "distinct"], level="system", dimension=name)
        means = by_system(kept, column(kept, "good")), by_system(kept, people(kept, name))
        assert numbers(result.row(GOOD, dimension=name)) == pytest.approx(expected(*means), abs=1e-9)
        for metric in (GOOD, "length", "distinct"):
            assert own(result.row(metric, dimension=name)) == pytest.approx(own(alone.row(metric)), abs=1e-9)


def test_systems_with_different_numbers_of_turns_count_alike():
    corpus = rated(12, FIVE)
    fewer = Corpus([t for t in corpus if t.system != "a" or int(t.id) < 4])
    means = by_system(fewer, column(fewer, "good")), by_system(fewer, people(fewer))
    assert numbers(quick(fewer, level="system").row(GOOD)) == pytest.approx(expected(*means), abs=1e-9)


def test_the_score_of_a_system_is_that_of_evaluate():
    corpus = rated(12, FIVE)
    (points,) = quick(corpus, "distinct,length", level="system").points
    scores = evaluate(corpus, "distinct,length", resamples=10)
    for metric in ("distinct", "length"):
        assert points.column(metric).tolist() == pytest.approx([scores.score(s, metric).value for s in FIVE])


@pytest.mark.parametrize("contexts", ["shared", "own"])
@pytest.mark.parametrize("turns", [60, 260])
def test_scores_of_systems_vary_as_evaluate_says(turns, contexts):
    # Distinct has its interval from the jackknife, one by one up to 200 contexts and in groups above; good from the
    # bootstrap. Percentiles of 400 draws are within a fifth or so, also where systems answer contexts of their own.
    rng = np.random.default_rng(0)
    corpus = Corpus(
        [
            replace(t, response=" ".join(rng.choice(list("abcdefghijklmno"), 4)), context=(f"{t.id} {where}",))
            for t in rated(turns, ("a", "b", "c"))
            for where in [t.system if contexts == "own" else "all"]
        ]
    )
    (points,) = quick(corpus, ["distinct", GOOD], level="system", resamples=400).points
    scores = evaluate(corpus, ["distinct", GOOD], resamples=400)
    for place, metric in enumerate(("distinct", GOOD)):
        for system, (low, high) in zip("abc", points.value_intervals[:, place], strict=True):
            score = scores.score(system, metric)
            assert high - low == pytest.approx(score.high - score.low, rel=0.3)
            assert low < score.value < high


def test_dialogues_are_the_means_over_their_turns():
    corpus = in_dialogues(rated(40, ("a", "b"), whole=True), 4)
    result = quick(corpus, level="dialogue")
    (row,) = result.rows
    assert (row.level, row.n) == ("dialogue", 20)
    means = [values.reshape(20, 4).mean(1) for values in (column(corpus, "good"), people(corpus))]
    assert numbers(row) == pytest.approx(expected(*means), abs=1e-9)
    assert result.points[0].names[:2] == ["a-0", "a-1"]
    assert result.points[0].systems == ["a"] * 10 + ["b"] * 10
    assert result.unit == "dialogues"


def test_two_systems_in_dialogues_of_one_name_are_two():
    corpus = rated(40, ("a", "b"))
    corpus = Corpus([replace(t, dialogue=str(int(t.id) // 4)) for t in corpus])
    result = quick(corpus, level="dialogue")
    assert result.row(GOOD).n == 20
    # They are drawn together: what they were about may make them alike.
    assert result.points[0].units.tolist() == [*range(10), *range(10)]


def test_dialogues_that_were_rated_as_a_whole():
    # As in FED: the dialogue's ratings stand with each of its turns, apart from the turn's own.
    corpus = in_dialogues(rated(36), 4)
    whole = {f"s-{i}": {"overall": [float(7 * i % 9), None, 2.0], "depth": [float(i % 4)]} for i in range(9)}
    corpus = Corpus([replace(t, extra={**t.extra, "dialogue_ratings": whole[t.dialogue]}) for t in corpus])
    result = quick(corpus, level=["turn", "dialogue"])
    means = column(corpus, "good").reshape(9, 4).mean(1)
    given = [(7 * i % 9 + 2) / 2 for i in range(9)]
    assert numbers(result.row(GOOD, level="dialogue")) == pytest.approx(expected(means, given), abs=1e-9)
    turns = expected(column(corpus, "good"), people(corpus))
    assert numbers(result.row(GOOD, level="turn")) == pytest.approx(turns, abs=1e-9)
    # A dialogue rated by two, whatever the number of its turns.
    (ceiling,) = result.ceilings
    assert (ceiling.level, ceiling.n, ceiling.fewest_raters, ceiling.most_raters) == ("dialogue", 9, 2, 2)
    depth = quick(corpus, level="dialogue", dimension="depth").row(GOOD)
    assert depth.pearson == pytest.approx(stats.pearsonr(means, [i % 4 for i in range(9)]).statistic, abs=1e-9)


def test_turns_outside_a_dialogue_do_not_count_at_its_level():
    corpus = in_dialogues(rated(40), 4)
    loose = [replace(t, id=f"x{t.id}", dialogue=None) for t in rated(5, seed=1)]
    whole = quick(corpus, level="dialogue").rows[0]
    found = quick(Corpus([*corpus, *loose]), level="dialogue").rows[0]
    assert found.n == 10
    assert numbers(found) == pytest.approx(numbers(whole), abs=1e-9)


def test_dialogues_where_there_are_none():
    with pytest.raises(InputError, match="the dialogue level needs turns with a `dialogue`"):
        quick(rated(), level="dialogue")


def test_default_levels():
    assert {row.level for row in quick(rated(20, ("a", "b"))).rows} == {"turn"}
    assert [row.level for row in quick(rated(20, ("a", "b", "c"))).rows] == ["turn", "system"]
    assert [row.level for row in quick(rated(20, ("a", "b", "c")), level="system,turn").rows] == ["turn", "system"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"level": "system"}, "the system level needs 3 rated systems or more, found 2"),
        ({"level": "sistem"}, "unknown level 'sistem'; did you mean system?"),
        ({"level": "turn,word"}, "unknown level 'word'"),
        ({"level": []}, "expected a name, found none"),
        ({"dimension": " , "}, "expected a name, found none"),
        ({"dimension": "overal"}, "unknown dimension 'overal'; did you mean overall?"),
        ({"systems": ["z"]}, "unknown system 'z'"),
        ({"resamples": 0}, "resamples: expected a whole number from 1"),
        ({"confidence": 1.0}, "confidence: expected a number between 0 and 1"),
        ({"metrics": "blue"}, "unknown metric 'blue'"),
        ({"metrics": "bleu"}, "bleu needs references"),
        ({"metrics": "distinct", "level": "turn"}, "distinct: no value for a single turn; ask for the system level"),
    ],
)
def test_wrong_calls(more, words):
    with pytest.raises(InputError) as caught:
        quick(rated(10, ("a", "b")), **more)
    assert words in str(caught.value)


def test_nothing_to_correlate():
    unrated = Corpus([replace(t, ratings={}) for t in rated()])
    with pytest.raises(InputError, match="no turn has ratings; give them with --ratings"):
        quick(unrated)
    with pytest.raises(InputError, match="expected at least one corpus, found none"):
        quick([])
    with pytest.raises(InputError, match="^second: no turn has ratings"):
        quick({"first": rated(), "second": unrated})


def test_a_table_is_never_empty():
    # Two systems only, and a metric that has no value of a turn: there is nothing to show, which must be said.
    with pytest.raises(InputError, match="distinct"):
        quick(rated(10, ("a", "b")), "distinct")


# Which ratings


def test_turns_without_a_rating_are_left_out_and_counted():
    corpus = rated()
    some = [replace(t, ratings={"overall": (None, None)} if int(t.id) % 5 == 0 else t.ratings) for t in corpus]
    result = quick(Corpus(some), level="turn")
    kept = Corpus([t for t in corpus if int(t.id) % 5])
    assert result.rows[0].n == 24
    assert numbers(result.rows[0]) == pytest.approx(expected(column(kept, "good"), people(kept)), abs=1e-9)
    assert "6 of 30 turns have no rating" in message(result, "missing_ratings")
    assert "missing_ratings" not in codes(quick(kept, level="turn"))


@pytest.mark.parametrize("other", [{}, {"grammar": (3.0,)}])
def test_so_are_turns_without_any_or_with_others(other):
    corpus = rated()
    some = Corpus([replace(t, ratings=other if int(t.id) % 5 == 0 else t.ratings) for t in corpus])
    kept = Corpus([t for t in corpus if int(t.id) % 5])
    result = quick(some, level="turn", dimension="overall")
    assert numbers(result.rows[0]) == pytest.approx(numbers(quick(kept, level="turn").rows[0]), abs=1e-9)
    assert "6 of 30 turns have no rating" in message(result, "missing_ratings")


def test_a_rater_who_gave_none_does_not_count():
    corpus = rated(raters=3)
    gaps = [replace(t, ratings={"overall": (*t.ratings["overall"][:2], None)}) for t in corpus]
    two = [replace(t, ratings={"overall": t.ratings["overall"][:2]}) for t in corpus]
    with_gaps, without = (quick(Corpus(turns), level="turn") for turns in (gaps, two))
    assert with_gaps.rows == without.rows
    assert with_gaps.ceilings == without.ceilings


def test_turns_without_a_value_are_left_out_and_counted():
    corpus = rated()
    some = Corpus(
        [replace(t, extra={**t.extra, "good": None if int(t.id) % 3 == 0 else t.extra["good"]}) for t in corpus]
    )
    kept = Corpus([t for t in corpus if int(t.id) % 3])
    result = quick(some, [GOOD, POOR], level="turn")
    assert "10 of 30 rated turns are left out" in message(result, "missing_scores")
    # All metrics are held against the same ratings.
    for metric, name in ((GOOD, "good"), (POOR, "poor")):
        assert result.row(metric).n == 20
        assert numbers(result.row(metric)) == pytest.approx(expected(column(kept, name), people(kept)), abs=1e-9)
    assert quick(some, POOR, level="turn").rows[0].n == 30


def test_metrics_that_have_no_turn_in_common():
    corpus = rated()
    halves = Corpus([replace(t, extra={"good": 1.0 * int(t.id)} if int(t.id) < 15 else {"poor": 1.0}) for t in corpus])
    with pytest.raises(InputError) as caught:
        quick(halves, [GOOD, POOR], level="turn")
    assert "no value for a single turn" not in str(caught.value)


def several_dimensions():
    first, second = rated(), rated(seed=1)
    return Corpus(
        [
            replace(t, ratings={"Fluency": other.ratings["overall"], "Overall": t.ratings["overall"]})
            for t, other in zip(first, second, strict=True)
        ]
    )


def test_the_overall_rating_unless_others_are_asked_for():
    corpus = several_dimensions()

    def chosen(**more):
        return [row.dimension for row in quick(corpus, level="turn", **more).rows]

    assert chosen() == ["Overall"]
    assert chosen(dimension="fluency") == ["Fluency"]
    assert chosen(dimension="OVERALL,fluency,Fluency") == ["Overall", "Fluency"]
    assert chosen(dimension=["Fluency", "overall"]) == ["Fluency", "Overall"]
    assert chosen(dimension="all") == ["Fluency", "Overall"]
    fluency = quick(corpus, level="turn", dimension="fluency").rows[0]
    assert fluency.pearson == pytest.approx(
        stats.pearsonr(column(corpus, "good"), people(corpus, "Fluency")).statistic, abs=1e-9
    )
    with pytest.raises(InputError, match="unknown dimension 'fluent'; did you mean Fluency"):
        quick(corpus, dimension="fluent")


def test_all_dimensions_where_none_is_overall():
    corpus = Corpus([replace(t, ratings={"b": t.ratings["overall"], "a": t.ratings["overall"]}) for t in rated()])
    assert [row.dimension for row in quick(corpus).rows] == ["b", "a"]


def test_systems_chosen_and_systems_by_themselves():
    corpus = rated(15, ("a", "b", "c"))
    alone = quick(corpus, level="turn", systems=["b"])
    assert alone.rows[0].n == 15
    result = quick(corpus, level="turn", per_system=True)
    assert [(row.system, row.n) for row in result.rows] == [(None, 45), ("a", 15), ("b", 15), ("c", 15)]
    assert {**own(result.row(GOOD, system="b")), "system": None} == own(alone.rows[0])
    assert [points.scope.system for points in result.points] == [None, "a", "b", "c"]
    assert [row.system for row in quick(rated(), per_system=True).rows] == [None]


def test_a_system_with_too_few_turns_is_named():
    corpus = Corpus([*rated(15, ("a",)), *rated(2, ("b",))])
    result = quick(corpus, level="turn", per_system=True)
    assert [row.system for row in result.rows] == [None, "a"]
    assert "b: 2 turns are too few to correlate" in message(result, "too_few")


# Kinds of metrics


def test_a_metric_without_values_of_turns_is_there_for_systems():
    result = quick(rated(12, FIVE), ["distinct", GOOD])
    assert [(row.level, row.metric) for row in result.rows] == [
        ("turn", GOOD),
        ("system", "distinct"),
        ("system", GOOD),
    ]
    assert message(result, "no_turn_values").startswith("distinct: no value for a single turn")
    assert "no_turn_values" not in codes(quick(rated(12, FIVE), ["distinct", GOOD], level="system"))
    # The score is no mean over turns, so whole systems change places.
    assert [c.test for c in result.contrasts] == ["PERM-SYS", "PERM-SYS"]


def test_parts_have_values_of_turns():
    words = "a b c d e f g h".split()
    rng = np.random.default_rng(0)
    turns = [
        turn(i, float(rng.normal()), response=" ".join(rng.choice(words, 1 + i % 6)), references=("a b c d", "e f g"))
        for i in range(30)
    ]
    corpus = Corpus(turns)
    result = quick(corpus, "rouge_l.precision,rouge_l,rouge_l.recall,length.characters", level="turn")
    scores = [rouge_l(t.response, t.references) for t in corpus]
    for name, values in {
        "rouge_l": [score.f for score in scores],
        "rouge_l.precision": [score.precision for score in scores],
        "rouge_l.recall": [score.recall for score in scores],
        "length.characters": [len(t.response) for t in corpus],
    }.items():
        assert numbers(result.row(name)) == pytest.approx(expected(values, people(corpus)), abs=1e-9)
    assert len({result.row(name).pearson for name in result.metrics}) == 4


@pytest.mark.parametrize("level", ["turn", "system"])
def test_a_metric_that_never_differs(level):
    corpus = Corpus([replace(t, extra={**t.extra, "flat": 0.1}) for t in rated(12, FIVE)])
    flat = "column[name=flat]"
    result = quick(corpus, [GOOD, flat, POOR], level=level)
    row = result.row(flat)
    fields = [f"{name}{end}" for name in ("pearson", "spearman", "kendall") for end in ("", "_low", "_high", "_p")]
    assert [getattr(row, field) for field in fields] == [None] * 12
    assert (row.pearson_top, row.spearman_top) == (False, False)
    assert f"{flat} or the ratings never differ" in message(result, "constant_scores")
    assert own(result.row(GOOD)) == pytest.approx(own(quick(corpus, [GOOD], level=level).rows[0]), abs=1e-9)
    for contrast in result.contrasts:
        tested = flat not in (contrast.first, contrast.second)
        assert (contrast.p is not None) == (contrast.p_holm is not None) == (contrast.difference is not None) == tested
        assert tested or (contrast.better, contrast.needed, contrast.test) == (None, None, None)


def test_people_who_never_differ():
    corpus = Corpus([replace(t, ratings={"overall": (4.0, 4.0)}) for t in rated(12, FIVE)])
    result = quick(corpus)
    assert [row.pearson for row in result.rows] == [None, None]
    assert codes(result).count("constant_scores") in (1, 2)
    assert json.loads(result.to_json())["rows"][0]["pearson"] is None


def test_a_score_that_one_system_does_not_have():
    # Responses of one word have no bigram, and their system has no score under distinct.
    corpus = Corpus([replace(t, response="yes") if t.system == "b" else t for t in rated(12, FIVE)])
    row = quick(corpus, "distinct", level="system").rows[0]
    assert numbers(row) == [None] * 5


# Equal but for rounding


def test_systems_with_the_same_mean_are_tied():
    # Sums of the same numbers in another order differ by rounding: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
    given = {"a": (0.1, 0.2, 0.3), "b": (0.3, 0.2, 0.1), "c": (0.5, 0.9, 0.7), "d": (0.9, 0.8, 0.8)}
    scores = {"a": 4.0, "b": 3.0, "c": 1.0, "d": 2.0}
    corpus = Corpus([turn(i, r, s, good=scores[s] + i) for s, ratings in given.items() for i, r in enumerate(ratings)])
    means = [0.2, 0.2, 0.7, 2.5 / 3]
    row = quick(corpus, level="system").rows[0]
    assert numbers(row) == pytest.approx(expected([5, 4, 2, 3], means), abs=1e-9)


def test_ratings_with_the_same_mean_are_tied():
    given = [(0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.5, 0.5, 0.5), (0.9, 0.8, 0.7), (0.7, 0.8, 0.9)]
    corpus = Corpus(
        [
            turn(i, ratings, good=float(value))
            for i, (ratings, value) in enumerate(zip(given, (3, 1, 2, 5, 4), strict=True))
        ]
    )
    row = quick(corpus, level="turn").rows[0]
    assert numbers(row) == pytest.approx(expected([3, 1, 2, 5, 4], [0.2, 0.2, 0.5, 0.8, 0.8]), abs=1e-9)


def test_dialogues_with_the_same_mean_are_tied():
    # Dialogues rated 0.1, with three, one and six turns: their means must be equal.
    sizes, given, scores = (3, 1, 6, 2, 2), (0.1, 0.1, 0.1, 0.7, 0.4), (1.0, 5.0, 3.0, 4.0, 2.0)
    turns = [
        turn(f"{d}-{i}", given[d], dialogue=str(d), good=scores[d]) for d, size in enumerate(sizes) for i in range(size)
    ]
    row = quick(Corpus(turns), level="dialogue").rows[0]
    assert numbers(row) == pytest.approx(expected(scores, given), abs=1e-9)


def test_conture_dialogues_are_ranked_with_their_ties():
    corpus = load(shared("corpora/conture/data.json"))
    result = quick(corpus, "length", level="dialogue", dimension="human (overall)")
    (points,) = result.points
    x, y = (np.round(values, 9) for values in (points.column("length"), points.people))
    assert result.rows[0].spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


# Several corpora


def test_several_corpora_and_their_mean():
    corpora = {"one": rated(12, FIVE), "two": rated(15, FIVE, seed=1), "three": rated(9, ("a", "b"), seed=2)}
    result = quick(corpora, [GOOD, POOR])
    assert [row.corpus for row in result.rows if row.metric == GOOD] == [
        *("one", "one", "two", "two", "three"),
        *("mean", "mean"),
    ]
    for level, names in {"turn": ["one", "two", "three"], "system": ["one", "two"]}.items():
        for metric in (GOOD, POOR):
            mean = result.row(metric, corpus="mean", level=level)
            members = [result.row(metric, corpus=name, level=level) for name in names]
            assert (mean.n, mean.dimension, mean.pearson_p, mean.pearson_top) == (len(names), "overall", None, False)
            for name in ("pearson", "spearman", "kendall"):
                fields = (name, f"{name}_low", f"{name}_high")
                single = [IntervalEstimate(*(getattr(row, field) for field in fields)) for row in members]
                bounds = mean_of_estimates(single)
                assert [getattr(mean, field) for field in fields] == pytest.approx(list(bounds), abs=1e-9)
            assert mean.cosine == pytest.approx(np.mean([row.cosine for row in members]), abs=1e-9)
    assert own(result.row(GOOD, corpus="two")) == {**own(quick(corpora["two"], [GOOD, POOR]).rows[0]), "corpus": "two"}


def test_a_corpus_where_a_metric_never_differs_has_no_part_in_the_mean():
    flat = Corpus([replace(t, extra={"good": 1.0}) for t in rated(seed=1)])
    assert quick({"one": rated(), "flat": flat, "two": rated(seed=2)}).row(GOOD, corpus="mean").n == 2
    assert [row.corpus for row in quick({"one": rated(), "flat": flat}).rows] == ["one", "flat"]


def test_corpora_that_call_their_one_dimension_differently():
    others = [
        Corpus([replace(t, ratings={name: t.ratings["overall"]}) for t in rated(seed=seed)])
        for seed, name in enumerate(("Overall", "quality", "overall"))
    ]
    result = quick(dict(zip("abc", others, strict=True)), level="turn")
    mean = result.row(GOOD, corpus="mean")
    assert mean.n == 3
    assert mean.dimension == "Overall, quality"


def test_dimensions_of_one_name_are_averaged_together():
    first = several_dimensions()
    second = Corpus([replace(t, ratings={"fluency": t.ratings["overall"]}) for t in rated(seed=3)])
    result = quick({"a": first, "b": second}, level="turn", dimension="all")
    (mean,) = (row for row in result.rows if row.corpus == "mean")
    assert (mean.dimension.casefold(), mean.n) == ("fluency", 2)


def test_names_of_corpora():
    file = SourceFile("/somewhere/daily.json.gz", "0" * 64, "jsonl")
    one, two = Corpus(rated().turns, (file,)), Corpus(rated(seed=1).turns, (file,))
    assert [row.corpus for row in quick([one, two, rated(seed=2)]).rows] == ["daily", "daily (2)", "corpus", "mean"]
    assert quick([one, two]).files == (file,)


def test_caveats_name_their_corpus_where_there_are_several():
    fault = Caveat("known_fault", "file.json is x: half is missing")
    other = Caveat("skipped_lines", "two lines")
    faulty = Corpus(rated().turns, (), (fault, other))
    assert {fault, other} <= set(quick(faulty).caveats)
    assert {fault, Caveat("skipped_lines", "b: two lines")} <= set(quick({"a": rated(), "b": faulty}).caveats)


# Caveats


def test_no_caveats_where_all_is_well():
    assert codes(quick(rated(20, tuple("abcdefgh"), raters=2))) == []


def test_few_systems_few_points_and_one_rater():
    result = quick({"x": rated(19, FIVE), "y": rated(20, tuple("abcdefgh"), raters=2)}, level="system")
    assert message(result, "few_systems").startswith("fewer than 8 systems (x 5)")
    assert message(result, "no_single_ratings").endswith("x (overall)")
    result = quick({"x": rated(19, raters=2), "y": rated(20, raters=2)})
    assert any(c.code == "few_samples" and "x, overall: 19" in c.message for c in result.caveats)
    assert not any("y, overall" in c.message for c in result.caveats if c.code == "few_samples")
    assert "no_single_ratings" not in codes(result)
    assert "few_systems" not in codes(result)


def test_items_that_stand_in_twice():
    corpus = rated()
    again = [replace(t, id=f"again {t.id}", system="other") for t in corpus.turns[:4]]
    assert "4 of 34 turns repeat another one's" in message(quick(Corpus([*corpus, *again])), "duplicated_items")
    rerated = [replace(t, id=f"again {t.id}", ratings={"overall": (9.0,)}) for t in corpus.turns[:4]]
    assert "duplicated_items" not in codes(quick(Corpus([*corpus, *rerated])))


def test_turns_of_one_id_are_not_mixed_up():
    # Such a corpus cannot come from a file, where the second is refused; made by hand, it is refused here.
    corpus = rated()
    twice = Corpus([replace(t, id=str(int(t.id) % 20)) for t in corpus])
    with pytest.raises(InputError, match="id '0' of system 's'"):
        quick(twice, level="turn")


def test_known_faults_of_published_files_are_told():
    result = quick(load(annotation("convai2")), "length", level="system")
    assert "known_fault" in codes(result)
    assert result.rows[0].corpus == "fbd-convai2"


# People among themselves


def test_ceilings_are_the_raters_reliability():
    corpus = rated(12, FIVE, raters=3, whole=True)
    result = quick(corpus, per_system=True, seed=4)
    assert [(c.level, c.system) for c in result.ceilings] == [
        *(("turn", system) for system in (None, *FIVE)),
        ("system", None),
    ]
    ratings = [t.ratings["overall"] for t in corpus]
    for ceiling, known in (
        (result.ceilings[0], reliability(ratings, None, 4)),
        (result.ceilings[2], reliability(ratings[12:24], None, 4)),
        (result.ceilings[-1], reliability(ratings, np.repeat(np.arange(5), 12), 4)),
    ):
        assert (ceiling.n, ceiling.fewest_raters, ceiling.most_raters) == (known.n, 3, 3)
        assert (ceiling.alpha, ceiling.split_half) == (known.alpha, known.split_half)
        assert (ceiling.pearson, ceiling.spearman) == (known.pearson, known.spearman)
        assert result.ceiling(ceiling.scope) is ceiling


def test_ceilings_of_dialogues_are_of_their_means():
    corpus = in_dialogues(rated(40, raters=2), 4)
    (ceiling,) = quick(corpus, level="dialogue").ceilings
    known = reliability([t.ratings["overall"] for t in corpus], np.repeat(np.arange(10), 4), 0)
    assert (ceiling.n, ceiling.pearson, ceiling.split_half) == (40, known.pearson, known.split_half)


def test_no_ceiling_from_one_rater():
    result = quick(rated())
    assert result.ceilings == []
    assert result.ceiling(result.rows[0].scope) is None


# Metrics against each other


def test_the_better_metric_is_named():
    corpus = rated(100)
    noise = np.random.default_rng(5).normal(size=100)
    corpus = Corpus([replace(t, extra={**t.extra, "noise": noise[i]}) for i, t in enumerate(corpus)])
    result = quick(corpus, ["column[name=noise]", GOOD], level="turn", resamples=200)
    pearson, spearman = result.contrasts
    assert (pearson.coefficient, spearman.coefficient) == ("pearson", "spearman")
    for contrast in (pearson, spearman):
        assert (contrast.first, contrast.second, contrast.better) == ("column[name=noise]", GOOD, GOOD)
        assert contrast.test == "PERM-BOTH"
        assert contrast.p == contrast.p_holm == pytest.approx(1 / 201)
        assert contrast.difference < contrast.high < 0
        assert contrast.williams_t < -3
        assert contrast.williams_p < 0.01
        assert 4 < contrast.needed < 100
    noisy, good = result.row("column[name=noise]"), result.row(GOOD)
    assert pearson.difference == pytest.approx(noisy.pearson - good.pearson, abs=1e-9)
    assert (good.pearson_top, good.spearman_top) == (True, True)
    assert (noisy.pearson_top, noisy.spearman_top) == (False, False)


def test_metrics_that_cannot_be_told_apart():
    corpus = rated(25)
    rng = np.random.default_rng(1)
    near = Corpus([replace(t, extra={**t.extra, "near": t.extra["good"] + 0.05 * rng.normal()}) for t in corpus])
    result = quick(near, [GOOD, "column[name=near]"], level="turn")
    for contrast in result.contrasts:
        assert contrast.better is None
        assert contrast.p_holm > 0.05
        assert contrast.needed > 25
    assert all(row.pearson_top and row.spearman_top for row in result.rows)


def test_a_metric_and_a_multiple_of_it_are_the_same():
    corpus = rated()
    for times in (0.3, 0.7, 3.3, 9.7):
        both = Corpus([replace(t, extra={**t.extra, "more": times * t.extra["good"] + 3}) for t in corpus])
        for contrast in quick(both, [GOOD, "column[name=more]"], level="turn").contrasts:
            assert contrast.difference == pytest.approx(0, abs=1e-9)
            assert (contrast.p, contrast.better, contrast.needed) == (1.0, None, None)
            assert contrast.williams_p == pytest.approx(1, abs=1e-6)


def test_contrasts_are_corrected_for_all_pairs():
    result = quick(rated(40), [GOOD, POOR, COST], level="turn", resamples=200)
    for coefficient in ("pearson", "spearman"):
        mine = [c for c in result.contrasts if c.coefficient == coefficient]
        assert [(c.first, c.second) for c in mine] == [(GOOD, POOR), (GOOD, COST), (POOR, COST)]
        # Three pairs need at least three hundred swaps, so that 1/301 is the least.
        least = min(mine, key=lambda c: c.p)
        assert least.p_holm == pytest.approx(min(1, 3 * least.p))
        assert all(c.p_holm >= c.p >= 1 / 301 for c in mine)


def test_a_metric_is_better_only_after_the_correction():
    undecided = 0
    for seed in range(8):
        for contrast in quick(rated(25, seed=seed), [GOOD, POOR, COST], level="turn").contrasts:
            assert (contrast.better is not None) == (contrast.p_holm < 0.05)
            undecided += contrast.p < 0.05 <= contrast.p_holm
    assert undecided


def test_systems_are_compared_by_swapping_turns_where_scores_are_means():
    corpus = rated(12, FIVE)
    result = quick(corpus, [GOOD, POOR, "distinct"], level="system")
    tests = {(c.first, c.second): c.test for c in result.contrasts}
    assert tests == {(GOOD, POOR): "PERM-BOTH", (GOOD, "distinct"): "PERM-SYS", (POOR, "distinct"): "PERM-SYS"}


@dataclass(frozen=True)
class Squared(Column):
    """A metric whose score of a system is no mean over its turns, though turns have values."""

    name = "squared"

    def conclude(self, summary):
        return {"": super().conclude(summary)[""] ** 2}


@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_the_size_of_scores_does_not_decide_how_systems_are_compared(size):
    corpus = Corpus([replace(t, extra={"good": size * t.extra["good"]}) for t in rated(12, FIVE)])
    result = quick(corpus, [Squared("good"), Column("good")], level="system")
    assert [contrast.test for contrast in result.contrasts] == ["PERM-SYS", "PERM-SYS"]
    means = by_system(corpus, column(corpus, "good")) / size
    y = by_system(corpus, people(corpus))
    assert numbers(result.rows[0])[:3] == pytest.approx(expected(means**2, y)[:3], abs=1e-9)
    assert numbers(result.rows[1])[:3] == pytest.approx(expected(means, y)[:3], abs=1e-9)


# The same again


def test_same_seed_same_result():
    corpus = rated(12, FIVE, raters=2)
    first, again, other = (quick(corpus, [GOOD, POOR], seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == again
    assert first["rows"] != other["rows"]
    for one, two in zip(first["rows"], other["rows"], strict=True):
        assert one["pearson"] == two["pearson"]


@pytest.mark.parametrize("level", ["turn", "system", "dialogue"])
def test_a_row_does_not_depend_on_other_metrics(level):
    corpus = in_dialogues(rated(12, FIVE), 3)
    together = quick(corpus, ["length", GOOD, POOR, COST], level=level)
    for metric in ("length", POOR, COST):
        alone = own(quick(corpus, metric, level=level).rows[0])
        assert own(together.row(metric)) == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("level", ["turn", "system", "dialogue"])
@pytest.mark.parametrize("seed", range(2))
def test_coefficients_do_not_depend_on_the_order_of_turns(level, seed):
    corpus = in_dialogues(rated(12, FIVE, raters=3, whole=True), 3)
    rows = [quick(c, [GOOD, COST], level=level).rows for c in (corpus, shuffled(corpus, seed))]
    for one, other in zip(*rows, strict=True):
        assert numbers(other) == pytest.approx(numbers(one), abs=1e-9)


@pytest.mark.parametrize("level", ["turn", "system", "dialogue"])
def test_nor_do_intervals_and_p_values(level):
    corpus = in_dialogues(rated(12, FIVE), 3)
    mixed = shuffled(corpus, within_systems=True)
    one, other = (own(quick(c, GOOD, level=level).rows[0]) for c in (corpus, mixed))
    assert other == pytest.approx(one, abs=1e-9)


def test_turns_of_one_dialogue_are_drawn_together():
    # Ten dialogues of six turns with the same rating and score are ten observations, not sixty.
    rng = np.random.default_rng(3)
    scores = rng.normal(size=10)
    ratings = scores + 1.5 * rng.normal(size=10)
    turns = [turn(i, float(ratings[i // 6]), good=float(scores[i // 6])) for i in range(60)]
    loose = quick(Corpus(turns), level="turn", resamples=400).rows[0]
    whole = quick(in_dialogues(Corpus(turns), 6), level="turn", resamples=400).rows[0]
    assert numbers(whole) == numbers(loose)
    for name in ("pearson", "spearman", "kendall"):
        width, before = (getattr(r, f"{name}_high") - getattr(r, f"{name}_low") for r in (whole, loose))
        assert width > 1.7 * before
        assert getattr(whole, f"{name}_p") > 3 * getattr(loose, f"{name}_p")


def test_one_dialogue_alone_has_no_interval():
    # There is nothing to draw from; an interval of no width would say that the correlation is known exactly.
    row = quick(in_dialogues(rated(), 1000), level="turn").rows[0]
    assert row.n == 30
    for name in ("pearson", "spearman", "kendall"):
        assert getattr(row, name) is not None
        assert (getattr(row, f"{name}_low"), getattr(row, f"{name}_high")) == (None, None)


def test_intervals_hold_what_they_should():
    # 60 corpora of 40 turns with a correlation of 0.6: 95 % is 57, and four standard errors below is 50.
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(60):
        x, e = rng.normal(size=(2, 40))
        y = 0.6 * x + 0.8 * e
        corpus = Corpus([turn(i, float(y[i]), good=float(x[i])) for i in range(40)])
        row = quick(corpus, level="turn", resamples=200).rows[0]
        held += row.pearson_low <= 0.6 <= row.pearson_high
    assert held >= 50


# Forms


def test_json():
    corpus = Corpus([replace(t, extra={**t.extra, "flat": 1.0}) for t in rated(12, FIVE, raters=2)])
    result = quick(corpus, [GOOD, "column[name=flat]"], seed=3)
    document = result.to_dict()
    assert document["schema"] == "dialogauge.agreement/1"
    assert list(document) == ["schema", "files", "settings", "rows", "ceilings", "contrasts", "warnings"]
    assert document["settings"] == {"seed": 3, "resamples": 60, "confidence": 0.95, "unit": "contexts"}
    text = result.to_json()
    assert json.loads(text) == document
    # Python's own writer, told to refuse NaN, has nothing to refuse.
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    (flat,) = (row for row in document["rows"] if row["metric"] == "column[name=flat]" and row["level"] == "turn")
    assert flat["pearson"] is None
    assert flat["pearson_low"] is None


def test_rows_are_found_by_their_scope():
    result = quick({"x": rated(12, FIVE), "y": rated(12, seed=1)})
    assert result.row(GOOD, level="system").corpus == "x"
    assert result.row(GOOD, corpus="y").level == "turn"
    with pytest.raises(InputError, match="found no row with all of .*, corpus 'y', level 'system'"):
        result.row(GOOD, corpus="y", level="system")
    with pytest.raises(InputError, match="unknown field 'levle'; did you mean level?"):
        result.row(GOOD, levle="turn")
    with pytest.raises(InputError, match="unknown corpus 'X'; did you mean x?"):
        result.row(GOOD, corpus="X")


# Published numbers


@pytest.fixture(scope="module")
def bert_ruber():
    return load(shared("corpora/bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv"))


CTX, RUBER = "column[name=CTX_Unref_Score]", "column[name=Ruber_Unref_Score]"


def test_bert_ruber_on_generated_replies(bert_ruber):
    result = quick(bert_ruber, [CTX, RUBER], systems=["generated"], resamples=100)
    generated = bert_ruber.select(["generated"])
    y = people(generated, "appropriateness")
    for metric, name in ((CTX, "CTX_Unref_Score"), (RUBER, "Ruber_Unref_Score")):
        assert numbers(result.row(metric)) == pytest.approx(expected(column(generated, name), y), abs=1e-9)
    assert [round(v, 3) for v in numbers(result.row(CTX))[:2]] == [0.547, 0.449]
    assert [round(v, 3) for v in numbers(result.row(RUBER))[:2]] == [0.284, 0.304]
    assert round(result.row(CTX).cosine, 3) == 0.715
    assert round(result.row(RUBER).cosine, 3) == 0.656
    assert result.row(CTX).n == 300
    assert [c.better for c in result.contrasts] == [CTX, CTX]
    assert result.rows[0].corpus == "bert-ruber"
    assert result.rows[0].dimension == "appropriateness"


def test_bert_ruber_on_all_replies(bert_ruber):
    result = quick(bert_ruber, [CTX, RUBER])
    assert result.row(CTX).n == 600
    assert [round(v, 3) for v in numbers(result.row(CTX))[:2]] == [0.540, 0.547]
    assert [round(v, 3) for v in numbers(result.row(RUBER))[:2]] == [0.237, 0.302]


def test_fed_dialogues():
    corpus = load(shared("corpora/fed/fed_data.json"))
    result = quick(corpus, "length", level="dialogue")
    row = result.rows[0]
    assert (row.dimension, row.n) == ("Overall", 125)
    dialogues = {}
    for t in corpus:
        dialogues.setdefault((t.system, t.dialogue), []).append(t)
    lengths = dict(zip(result.points[0].names, result.points[0].column("length"), strict=True))
    given = {
        name: np.mean([r for r in turns[0].extra["dialogue_ratings"]["Overall"] if r is not None])
        for (_, name), turns in dialogues.items()
    }
    pairs = [(lengths[name], given[name]) for name in given]
    assert row.spearman == pytest.approx(stats.spearmanr(*zip(*pairs, strict=True)).statistic, abs=1e-9)

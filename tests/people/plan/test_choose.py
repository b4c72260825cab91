"""Which turns to ask about next, with which probability."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dialogauge import Corpus, InputError, Turn, choose
from dialogauge.people.plan.strata import allocate, by_score, spread_by_stratum

SCORE = "column[name=score]"


def responses(contexts: int = 60, systems: int = 2, scores: dict[int, float] | None = None) -> Corpus:
    """The score is the context's number, with the system's beside it."""
    return Corpus(
        [
            Turn(
                f"{c:03d}",
                f"reply {s}",
                context=[f"context {c}"],
                system=f"s{s}",
                extra={"score": (scores or {}).get(c, c) + s / 10, "kept": [1]},
            )
            for c in range(contexts)
            for s in range(systems)
        ]
    )


def rated(turns, values=None) -> Corpus:
    return Corpus([replace(turn, ratings={"overall": values(turn) if values else [3, 4]}) for turn in turns])


def joined(corpus: Corpus, study: Corpus) -> Corpus:
    """The corpus with what a study found."""
    known = {(turn.system, turn.id): turn for turn in study}
    return Corpus([known.get((turn.system, turn.id), turn) for turn in corpus])


def contexts(chosen) -> set[str]:
    return {turn.id for turn in chosen.corpus}


def test_systems_stay_together_and_turns_stay_what_they_were():
    corpus = responses()
    chosen = choose(corpus, 20, SCORE)
    assert len(contexts(chosen)) == 20
    assert Counter(turn.system for turn in chosen.corpus) == {"s0": 20, "s1": 20}
    known = {(turn.system, turn.id): turn for turn in corpus}
    for turn in chosen.corpus:
        before = known[turn.system, turn.id]
        extra = {**before.extra, "probability": 20 / 60, "stratum": turn.extra["stratum"]}
        assert turn == replace(before, extra=extra)


def test_strata_go_from_low_scores_to_high_ones():
    chosen = choose(responses(), 20, SCORE)
    assert [(s.stratum, s.low, s.high, s.contexts, s.chosen) for s in chosen.strata][::2] == [
        ("1/5", 0.05, 11.05, 12, 4),
        ("3/5", 24.05, 35.05, 12, 4),
        ("5/5", 48.05, 59.05, 12, 4),
    ]
    for turn in chosen.corpus:
        assert turn.extra["stratum"] == f"{int(turn.id) // 12 + 1}/5"


def test_each_context_is_chosen_as_often_as_it_says():
    """Of 13 contexts 5 in two strata of 7 and 6: 3 of 7 and 2 of 6 (or so), over 400 seeds."""
    corpus = responses(13)
    often: Counter[str] = Counter()
    said: dict[str, float] = {}
    for seed in range(400):
        for turn in choose(corpus, 5, SCORE, strata=2, seed=seed).corpus:
            if turn.system == "s0":
                often[turn.id] += 1
                said[turn.id] = turn.extra["probability"]
    assert len(said) == 13
    for name, probability in said.items():
        assert often[name] / 400 == pytest.approx(probability, abs=4 * (probability * (1 - probability) / 400) ** 0.5)


def test_equal_scores_at_a_border_are_chosen_as_often_as_others():
    """Scores 0, 1 and seven times 2: the border of the two strata, five and four, lies among equals."""
    corpus = responses(9, systems=1, scores={c: min(c, 2) for c in range(9)})
    often = Counter(turn.id for seed in range(600) for turn in choose(corpus, 4, SCORE, strata=2, seed=seed).corpus)
    # 2 of 5 in the first stratum; an equal is in it three times of seven, else in the second, where it is 2 of 4.
    expected = {f"{c:03d}": 2 / 5 if c < 2 else 3 / 7 * 2 / 5 + 4 / 7 * 2 / 4 for c in range(9)}
    for name, probability in expected.items():
        assert often[name] / 600 == pytest.approx(probability, abs=0.075)


def test_one_context_without_a_score_does_not_undo_the_strata():
    corpus = responses(40)
    turns = [replace(turn, extra={}) if turn.id == "000" else turn for turn in corpus]
    assert [s.contexts for s in choose(Corpus(turns), 16, SCORE, strata=4).strata] == [10, 10, 10, 10]


def test_weights_add_up_to_the_contexts_of_every_stratum():
    chosen = choose(responses(97), 31, SCORE)
    for stratum in chosen.strata:
        weights = [
            1 / turn.extra["probability"]
            for turn in chosen.corpus
            if turn.system == "s0" and turn.extra["stratum"] == stratum.stratum
        ]
        assert sum(weights) == pytest.approx(stratum.contexts)


def test_one_seed_one_choice_whatever_the_order_of_the_file():
    corpus = responses()
    turned = Corpus(corpus.turns[::-1])
    assert contexts(choose(corpus, 10, SCORE, seed=4)) == contexts(choose(turned, 10, SCORE, seed=4))
    assert contexts(choose(corpus, 10, SCORE, seed=4)) != contexts(choose(corpus, 10, SCORE, seed=5))


def test_without_a_metric_there_is_one_stratum():
    chosen = choose(responses(), 15)
    assert [(s.stratum, s.low, s.chosen, s.probability) for s in chosen.strata] == [("1/1", None, 15, 0.25)]


def test_what_was_rated_without_a_probability_stands_for_itself():
    """Ten of sixty contexts are rated: the new ones speak for the other fifty."""
    corpus = responses()
    before = {turn.id for turn in corpus.turns[:20]}
    some = Corpus([*rated(corpus.turns[:20]).turns, *corpus.turns[20:]])
    chosen = choose(some, 10, SCORE, strata=1)
    assert not contexts(chosen) & before
    assert {turn.extra["probability"] for turn in chosen.corpus} == {10 / 50}
    assert chosen.strata[0].rated == 10


def test_one_rated_turn_is_enough_for_its_context():
    corpus = responses(12)
    some = Corpus([*rated(corpus.turns[:1]).turns, *corpus.turns[1:]])
    assert "000" not in contexts(choose(some, 11))


def test_a_study_that_grows_has_weights_of_one_scale():
    corpus = responses(100)
    first = choose(corpus, 40, SCORE)
    study = rated(first.corpus)
    second = choose(joined(corpus, study), 10, SCORE, seed=1)
    assert not contexts(first) & contexts(second)
    assert {round(turn.extra["probability"], 9) for turn in second.corpus} == {0.4}


def test_rounds_from_other_strata_are_refused():
    corpus = responses(100)
    study = joined(corpus, rated(choose(corpus, 40, SCORE).corpus))
    for metric, strata in ((SCORE, 4), (None, 5)):
        with pytest.raises(InputError, match="rounds whose strata differ cannot be weighted together"):
            choose(study, 10, metric, strata=strata)
    bare = joined(corpus, rated([replace(t, extra={**t.extra, "probability": 0.4}) for t in corpus.turns[:20]]))
    assert choose(bare, 10).strata[0].rated == 10
    with pytest.raises(InputError, match="id '000' was drawn before from no stratum, and is in stratum 1/5 now"):
        choose(bare, 10, SCORE)


def test_a_further_draw_beside_certain_and_drawn_turns_is_refused():
    corpus = responses(100)
    some = joined(corpus, rated(corpus.turns[:20]))
    drawn = rated(choose(some, 30).corpus)
    with pytest.raises(InputError, match=r"10 have no probability below 1 .* and 30 were drawn by chance"):
        choose(joined(some, drawn), 10)


@pytest.mark.parametrize(("certain", "first_strata", "then_strata"), [(0, 2, 4), (6, 1, 1)])
def test_rounds_that_are_refused_are_right_once_all_before_is_certain(certain, first_strata, then_strata):
    """What the messages advise: 200 draws of two waves, the first given probability 1; the truth is the mean."""
    corpus = responses(60, systems=1)
    values = {f"{c:03d}": (c / 10) ** 2 for c in range(60)}
    start = joined(corpus, rated(corpus.turns[60 - certain :]))
    means = []
    for seed in range(200):
        first = rated(choose(start, 12, SCORE, strata=first_strata, seed=seed).corpus)
        with pytest.raises(InputError, match="cannot be weighted together"):
            choose(joined(start, first), 12, SCORE, strata=then_strata, seed=seed)
        known = Corpus([replace(turn, extra={**turn.extra, "probability": 1}) for turn in first])
        grown = joined(start, known)
        more = choose(grown, 12, SCORE, strata=then_strata, seed=seed).corpus
        turns = [*(turn for turn in grown if turn.ratings), *more]
        weights = np.array([1 / turn.extra.get("probability", 1) for turn in turns])
        means.append(weights @ np.array([values[turn.id] for turn in turns]) / weights.sum())
    error = np.std(means) / 200**0.5
    assert np.mean(means) == pytest.approx(np.mean(list(values.values())), abs=3.5 * error)


@pytest.mark.parametrize("allocation", ["proportional", "neyman"])
def test_means_over_a_study_that_grew_are_right_on_average(allocation):
    """Weighted by 1 / probability, over 200 draws of two waves; the truth is the mean of all. Unweighted, the Neyman
    allocation, which asks more about high scores, would be off by many standard errors."""
    rng = np.random.default_rng(0)
    corpus = responses(60, systems=1, scores={c: float(c) for c in range(60)})
    truth = {f"{c:03d}": c / 10 + rng.normal() * (0.1 if c < 30 else 2.0) for c in range(60)}
    means, plain = [], []
    for seed in range(200):
        first = rated(choose(corpus, 16, SCORE, strata=2, seed=seed).corpus, lambda turn: [truth[turn.id]])
        more = choose(joined(corpus, first), 10, SCORE, strata=2, seed=seed + 1, allocation=allocation)
        turns = [*first, *rated(more.corpus, lambda turn: [truth[turn.id]])]
        weights = np.array([1 / turn.extra["probability"] for turn in turns])
        values = np.array([truth[turn.id] for turn in turns])
        means.append(weights @ values / weights.sum())
        plain.append(values.mean())
    expected, error = np.mean(list(truth.values())), np.std(means) / 200**0.5
    assert np.mean(means) == pytest.approx(expected, abs=3.5 * error)
    if allocation == "neyman":
        assert np.mean(plain) > expected + 4 * error


def test_neyman_asks_more_where_ratings_differed():
    corpus = responses(100)
    study = rated(
        choose(corpus, 40, SCORE, strata=2).corpus,
        lambda turn: [3 + (int(turn.id) % 3 if int(turn.id) >= 50 else 0)],
    )
    chosen = choose(joined(corpus, study), 20, SCORE, strata=2, allocation="neyman")
    low, high = chosen.strata
    assert high.chosen > 2 * low.chosen
    with pytest.raises(InputError, match="needs ratings"):
        choose(corpus, 20, SCORE, allocation="neyman")


def test_contexts_without_a_score_are_a_stratum_of_their_own():
    corpus = responses(40)
    turns = [replace(turn, extra={}) if int(turn.id) < 10 else turn for turn in corpus]
    chosen = choose(Corpus(turns), 16, SCORE, strata=3)
    assert [(s.contexts, s.low) for s in chosen.strata] == [(10, 10.05), (10, 20.05), (10, 30.05), (10, None)]
    assert sum(s.chosen for s in chosen.strata) == 16


def test_fewer_strata_where_contexts_are_few():
    chosen = choose(responses(), 5, SCORE)
    assert [s.chosen for s in chosen.strata] == [3, 2] or [s.chosen for s in chosen.strata] == [2, 3]
    assert [caveat.code for caveat in chosen.caveats] == ["fewer_strata"]


def test_errors():
    corpus = responses(10)
    with pytest.raises(InputError, match="no more than the 10 contexts that nobody has rated, found 11"):
        choose(corpus, 11)
    with pytest.raises(InputError, match="expected one to choose by, found length and column"):
        choose(corpus, 2, f"length,{SCORE}")
    with pytest.raises(InputError, match="has none"):
        choose(corpus, 2, "distinct")
    with pytest.raises(InputError, match="probability of turn '000'"):
        choose(joined(corpus, rated([replace(corpus.turns[0], extra={"probability": 0})])), 2)


def test_pairs_that_people_chose_between_are_not_asked_about_again(tmp_path):
    corpus = responses(12)
    asked = {"id": "003", "context": ["context 3"], "probability": 0.5}
    sides = {side: {"system": f"s{s}", "response": f"reply {s}"} for s, side in enumerate("ab")}
    path = tmp_path / "study.jsonl"
    unanswered = {**asked, "id": "004", "context": ["context 4"], **sides, "preferences": {"overall": [None]}}
    lines = [{**asked, **sides, "preferences": {"overall": ["a"]}}, unanswered]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert contexts(choose(corpus, 11, rated=path)) == {turn.id for turn in corpus} - {"003"}


def test_equal_scores_are_parted_by_chance():
    order = np.array([3, 1, 2, 0])
    assert by_score(np.zeros(4), 2, order).tolist() == [1, 0, 1, 0]
    assert by_score(np.array([0, np.nan, 0, 1]), 2, order).tolist() == [0, 2, 0, 1]


def test_allocation_by_hand():
    # Sizes 30 and 10 with spreads 1 and 3: equal shares. Of the second only 4 can be had.
    sizes, spreads = np.array([30, 10]), np.array([1.0, 3.0])
    assert allocate(12, sizes, spreads, sizes, 2).tolist() == [6, 6]
    assert allocate(12, sizes, spreads, np.array([30, 4]), 2).tolist() == [8, 4]
    assert allocate(12, sizes, np.ones(2), sizes, 2).tolist() == [9, 3]
    assert allocate(4, sizes, np.array([1.0, 0.0]), sizes, 2).tolist() == [2, 2]
    assert allocate(3, sizes, spreads, sizes, 2) is None
    assert allocate(41, sizes, spreads, sizes, 2) is None


def test_spread_by_hand():
    # Stratum 0 has 1 and 3 (squares 2, one degree), stratum 1 none; over all: variance 2 with four more observations.
    people, strata = np.array([1.0, 3.0, np.nan]), np.array([0, 0, 1])
    found = spread_by_stratum(people, np.zeros(3, dtype=np.int64), strata, 2)
    assert found.tolist() == pytest.approx([(2 + 4 * 2) ** 0.5 / 5**0.5, 2**0.5])

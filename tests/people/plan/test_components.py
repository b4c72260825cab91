"""Variance components from ratings."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge import Corpus, InputError, Turn
from dialogauge.people.plan.components import Components, GivenRatings, components, rater_names
from tests.people.plan.made_up import rated_corpus


def found(corpus: Corpus) -> Components:
    return components(GivenRatings.from_turns(corpus, "overall"))


def rated(values: dict[tuple[str, str], list[float]]) -> Corpus:
    """By system and context."""
    turns = [Turn(c, "yes", context=[c], system=s, ratings={"overall": given}) for (s, c), given in values.items()]
    return Corpus(turns)


def test_a_value_by_hand():
    # One system, two contexts, two ratings each: 1, 3 and 5, 7. Same turn: half the mean squared difference is
    # ((1 - 3)² + (5 - 7)²) / 2 / 2 = 2. Different contexts: (16 + 36 + 4 + 16) / 4 / 2 = 9 in all; so contexts have 7.
    parts = found(rated({("a", "1"): [1, 3], ("a", "2"): [5, 7]}))
    assert parts.rating == pytest.approx(2)
    assert parts.system_context == pytest.approx(7)
    assert (parts.context, parts.rater, parts.turn, parts.turns) == (None, None, 0, 1)


def test_a_balanced_study_gives_what_analysis_of_variance_gives():
    """Systems × contexts with ratings within turns: the expected mean squares of a two-way layout, solved."""
    corpus = rated_corpus(3, systems=3, contexts=40, raters=4, context=1, system_context=0.5, named=False)
    table = np.array([turn.ratings["overall"] for turn in corpus]).reshape(40, 3, 4)
    n, s, k = table.shape
    turn_means, context_means, system_means = table.mean(2), table.mean((1, 2)), table.mean((0, 2))
    within = ((table - turn_means[:, :, None]) ** 2).sum() / (n * s * (k - 1))
    cells = turn_means - context_means[:, None] - system_means[None] + table.mean()
    interaction = k * (cells**2).sum() / ((n - 1) * (s - 1))
    contexts = s * k * ((context_means - table.mean()) ** 2).sum() / (n - 1)
    parts = found(corpus)
    assert parts.rating == pytest.approx(within)
    assert parts.system_context == pytest.approx((interaction - within) / k)
    assert parts.context == pytest.approx((contexts - interaction) / (s * k))


def test_known_variances_come_back():
    truth = {
        "context": 0.5,
        "system_context": 0.4,
        "rater": 0.3,
        "system_rater": 0.2,
        "context_rater": 0.25,
        "rating": 0.6,
    }
    corpora = [rated_corpus(seed, systems=4, contexts=120, raters=4, people=40, **truth) for seed in range(24)]
    fits = [found(corpus) for corpus in corpora]
    for part, value in truth.items():
        assert np.mean([getattr(fit, part) for fit in fits]) == pytest.approx(value, rel=0.2), part


def test_the_variance_of_a_difference_is_that_of_the_data():
    corpus = rated_corpus(
        5, contexts=300, raters=3, people=300, context=1, system_context=0.3, rater=0.5, context_rater=0.2
    )
    means = np.array([np.mean(turn.ratings["overall"]) for turn in corpus]).reshape(-1, 2)
    assert found(corpus).of_difference(3) == pytest.approx((means[:, 0] - means[:, 1]).var(ddof=1), rel=0.03)


def test_raters_apart_cost_their_leniency():
    parts = found(rated_corpus(1, contexts=200, people=20, rater=1.0, rating=0.5))
    assert parts.of_difference(1, apart=True) - parts.of_difference(1) == pytest.approx(2, rel=0.4)


def test_without_names_raters_are_in_the_rest():
    corpus = rated_corpus(2, contexts=100, people=30, rater=0.5, context_rater=0.5, system_context=1)
    named, unnamed = found(corpus), found(Corpus([replace(turn, extra={}) for turn in corpus]))
    assert (unnamed.rater, unnamed.system_rater, unnamed.context_rater) == (None, None, None)
    assert unnamed.rating == pytest.approx(named.between_raters, rel=0.1)


def test_turns_of_a_dialogue_are_told_from_dialogues():
    rng = np.random.default_rng(0)
    turns = []
    for d in range(300):
        own = rng.normal(0, 1)
        for t in range(3):
            values = (own + rng.normal(0, 0.7) + rng.normal(0, 0.5, 4)).tolist()
            turns.append(Turn(f"{d}.{t}", "yes", dialogue=str(d), ratings={"overall": values}))
    parts = found(Corpus(turns))
    assert parts.turns == 3
    assert parts.system_context == pytest.approx(1, rel=0.2)
    assert parts.turn == pytest.approx(0.49, rel=0.2)
    assert parts.rating == pytest.approx(0.25, rel=0.1)
    assert parts.of_difference(2) == 2 * (parts.system_context + (parts.turn + parts.rating / 2) / 3)


def test_one_rating_a_turn_says_nothing_of_raters():
    parts = found(rated_corpus(1, raters=1, named=False, context=1, system_context=0.5, rating=0.5))
    assert not parts.several
    assert parts.rating == 0
    assert parts.of_difference(5) == parts.of_difference(1) == pytest.approx(2, rel=0.3)


@pytest.mark.parametrize("extra", [{}, {"raters": ["a"]}, {"raters": {"other": ["a", "b"]}}, {"raters": ["a", "a"]}])
def test_names_that_do_not_fit_are_no_names(extra):
    assert rater_names(Turn("1", "yes", ratings={"overall": [1, 2]}, extra=extra), "overall") is None


@pytest.mark.parametrize(
    "extra", [{"raters": {"overall": ["a", "b"]}}, {"raters": ["a", "b"]}, {"annotators": ["a", "b"]}]
)
def test_names_of_raters(extra):
    assert rater_names(Turn("1", "yes", ratings={"overall": [1, 2]}, extra=extra), "overall") == ["a", "b"]


def test_missing_ratings_count_nowhere():
    corpus = rated({("a", "1"): [1, 3], ("a", "2"): [5, 7]})
    holes = Corpus([replace(turn, ratings={"overall": (None, *turn.ratings["overall"], None)}) for turn in corpus])
    assert found(holes) == found(corpus)


def test_too_little_to_vary():
    with pytest.raises(InputError, match="two contexts or more"):
        found(rated({("a", "1"): [1, 3], ("b", "1"): [5, 7]}))
    with pytest.raises(InputError, match="found none"):
        GivenRatings.from_turns([Turn("1", "yes")], "overall")


def test_systems_that_are_good_where_the_other_is_bad():
    """Their difference varies more than systems of contexts of their own would: twice 1 + 1, not twice 1."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=500)
    values = {
        (system, str(c)): (sign * quality[c] + rng.normal(0, 0.3, 2)).tolist()
        for c in range(500)
        for system, sign in (("a", 1), ("b", -1))
    }
    parts = found(rated(values))
    assert parts.context == 0
    assert parts.of_difference(1) == pytest.approx(2 * (2 + 0.09), rel=0.1)

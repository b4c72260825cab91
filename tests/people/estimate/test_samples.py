"""Turns and pairs on their way to an estimate: units, weights, metrics as one."""

import numpy as np
import pytest

from dialogauge import InputError, Turn
from dialogauge.corpus.rated_pairs import RatedPair
from dialogauge.people.estimate.combine import combine
from dialogauge.people.estimate.samples import RatedSample, pair_samples, rated_share, turn_samples


def turn(id, system="s", rating=None, context="hi", **fields):
    ratings = {} if rating is None else {"overall": rating}
    return Turn(str(id), f"{system} {id}", context=(f"{context} {id}",), system=system, ratings=ratings, **fields)


def one(turns, values=None):
    values = np.zeros((len(turns), 1)) if values is None else np.asarray(values, float)
    return turn_samples(turns, values, "overall", "turn")


def test_ratings_are_means_over_raters_and_absent_ones_are_nan():
    samples, caveats = one([turn(1, rating=[4, None, 5]), turn(2), turn(1, "t", rating=3), turn(2, "t")])
    assert samples["s"].ratings[0] == 4.5
    assert np.isnan(samples["s"].ratings[1])
    assert samples["s"].units.tolist() == samples["t"].units.tolist() == [0, 1]
    assert samples["s"].weights is None
    assert caveats == []


def test_a_system_without_ratings_is_left_out_and_named():
    samples, caveats = one([turn(1, rating=4), turn(1, "t")])
    assert list(samples) == ["s"]
    assert "t: no turn has a rating of overall" in caveats[0].message


def test_a_missing_value_is_the_metrics_mean():
    turns = [turn(1, rating=4), turn(2), turn(3)]
    samples, caveats = one(turns, [[1.0, 5.0], [3.0, np.nan], [np.nan, 7.0]])
    assert samples["s"].values.tolist() == [[1, 5], [3, 6], [2, 7]]
    assert caveats[0].message.startswith("s: 2 values of metrics missing")


def test_weights_are_one_over_the_probability():
    turns = [turn(1, rating=4, extra={"probability": 0.5}), turn(2, rating=2, extra={"probability": 0.1}), turn(3)]
    sample = one(turns)[0]["s"]
    assert sample.weights.tolist() == [2, 10, 0]
    # Scaled so that the weights add up to the three turns: 12 c = 3, and 1 / c / weight = 2, cut off at 1, and 0.4.
    assert sample.shares == pytest.approx([1.0, 0.4])
    assert rated_share([sample]) == pytest.approx((1 + 0.4 / 0.16) / (1 + 1 / 0.16))
    same = [turn(n, rating=n, extra={"probability": 0.3}) for n in range(1, 4)]
    assert one(same)[0]["s"].weights is None


@pytest.mark.parametrize("wrong", [0, 1.5, -0.1, "half", True])
def test_what_is_no_probability(wrong):
    turns = [turn(1, rating=4, extra={"probability": wrong}), turn(2, rating=2, extra={"probability": 0.5})]
    with pytest.raises(InputError, match="turn '1' of 's': probability: expected a number above 0, up to 1, found"):
        one(turns)


def test_a_probability_for_all_rated_turns_or_for_none():
    with pytest.raises(InputError, match="1 of 2 rated turns say their probability .* turn '2' of 's' does not"):
        one([turn(1, rating=4, extra={"probability": 0.5}), turn(2, rating=2)])


def test_whole_dialogues():
    rated = {"extra": {"dialogue_ratings": {"overall": [5, 4]}}, "dialogue": "d1"}
    turns = [turn(1, **rated), turn(2, **rated), turn(3, dialogue="d2"), turn(4, dialogue="d2")]
    samples, _ = turn_samples(turns, np.array([[1.0], [3.0], [5.0], [9.0]]), "overall", "dialogue")
    assert samples["s"].ratings[0] == 4.5
    assert np.isnan(samples["s"].ratings[1])
    assert samples["s"].values.tolist() == [[2], [7]]
    with pytest.raises(InputError, match="2 turns have none: '1' and '2'"):
        turn_samples([turn(1, rating=3), turn(2)], np.zeros((2, 1)), "overall", "dialogue")


def test_pairs_are_turned_to_the_order_of_the_corpus():
    turns = [turn(n, system) for system in ("a", "b", "c") for n in (1, 2, 3)]
    first = RatedPair(turns[3], turns[0], {"overall": ("a", "tie", None)})  # b before a, which lost
    again = RatedPair(turns[0], turns[3], {"overall": ("a",)})
    other = RatedPair(turns[4], turns[7], {"overall": ("tie",), "fun": ("a",)})
    values = np.arange(9.0)[:, None]
    found = pair_samples(turns, values, [first, again, other], "overall")
    assert list(found) == [("a", "b"), ("b", "c")]
    pair = found["a", "b"]
    assert pair.ratings[0] == pytest.approx((0 + 0.5 + 1) / 3)
    assert pair.ties[0] == pytest.approx(1 / 3)
    assert np.isnan(pair.ratings[1:]).all()
    assert pair.values.tolist() == [[-3], [-3], [-3]]
    assert list(pair_samples(turns, values, [first, other], "fun")) == [("b", "c")]


def made_up(seed=0, units=60, metrics=3):
    rng = np.random.default_rng(seed)
    places = np.repeat(np.arange(units), 2)
    values = rng.normal(size=(2 * units, metrics))
    ratings = values @ np.arange(1.0, metrics + 1) + rng.normal(size=2 * units)
    return RatedSample(("s",), places, np.where(places < units // 2, ratings, np.nan), values)


def test_one_metric_is_taken_as_it_is():
    sample = made_up(metrics=1)
    (found,) = combine([sample], 0)
    assert found.everywhere.tolist() == sample.values[:, 0].tolist()
    assert found.rated is None


def test_several_metrics_predict_the_rating():
    sample = made_up()
    (found,) = combine([sample], 0)
    truth = sample.values @ np.array([1.0, 2.0, 3.0])
    assert np.corrcoef(found.everywhere, truth)[0, 1] > 0.98
    assert np.corrcoef(found.rated[sample.rated], sample.ratings[sample.rated])[0, 1] > 0.9


def test_no_rating_has_a_say_in_the_prediction_of_its_own_unit():
    sample = made_up()
    changed = sample.ratings.copy()
    changed[4] += 100  # of unit 2, to which place 5 belongs, too
    before, after = (
        combine([RatedSample(("s",), sample.units, ratings, sample.values)], 0)[0].rated
        for ratings in (sample.ratings, changed)
    )
    assert after[[4, 5]].tolist() == before[[4, 5]].tolist()
    assert not np.allclose(after[:4], before[:4])


def test_a_metric_that_never_changes_does_no_harm():
    sample = made_up()
    constant = RatedSample(("s",), sample.units, sample.ratings, np.hstack([sample.values, np.ones((120, 1))]))
    assert np.isfinite(combine([constant], 0)[0].everywhere).all()

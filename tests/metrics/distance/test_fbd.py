"""FBD: its values by hand, what it encodes, and what it says of itself."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.metrics.distance.distribution import OUT, TO_GENERATED, TO_REAL
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.frechet import Gaussian, frechet_distance, frechet_of_covariances, influences
from dialogauge.metrics.fbd_paper.vectors import PaperFbd
from tests.encode.models import build
from tests.metrics.distance.rows import apart, line, noise, placed, side_rows, value

REAL, GENERATED = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[2.0, 1.0], [6.0, 1.0]])


@pytest.mark.parametrize(
    ("options", "mean", "covariance"),
    [
        # Means (1, 0) and (4, 1), variances 2 and 8 along the first axis (unbiased), none along the second:
        # 9 + 1, and 2 + 8 - 2 · sqrt(16).
        pytest.param({}, 10, 2, id="squared"),
        pytest.param({"mean": "norm"}, math.sqrt(10), 2, id="norm"),
        pytest.param({"estimate": "extrapolated"}, 10, 2, id="extrapolated"),
    ],
)
def test_derived_by_hand(options, mean, covariance):
    found = value(Fbd(**options), side_rows(REAL, GENERATED))
    assert found == pytest.approx({"": mean + covariance, "mean": mean, "covariance": covariance})


def test_derived_by_hand_with_more_vectors_than_are_kept():
    # Each vector three times: squares 6 · 1 and 6 · 4, divided by 5, so 1.2 + 4.8 - 2 · sqrt(1.2 · 4.8) = 1.2.
    rows = side_rows(REAL, GENERATED)[np.repeat([0, 1], 3)]
    assert Fbd().summarise(rows).real.rows is None
    assert value(Fbd(), rows) == pytest.approx({"": 11.2, "mean": 10, "covariance": 1.2})


def test_shrunk_by_hand():
    # In one dimension nothing is shrunk, but variances are divided by n: 1 and 4, so 3² + (2 - 1)².
    found = value(Fbd(covariance="shrunk"), side_rows(line(0, 2), line(2, 6)))
    assert found == pytest.approx({"": 10, "mean": 9, "covariance": 1})


@pytest.mark.parametrize("n", [10, 100])
def test_shrunk_covariances_of_scikit_learn(n):
    estimate = pytest.importorskip("sklearn.covariance", reason="needs scikit-learn").ledoit_wolf
    real, generated = noise(0, n, 20), noise(1, n, 20, shift=0.2)
    expected = frechet_of_covariances(
        real.mean(axis=0), estimate(real)[0], generated.mean(axis=0), estimate(generated)[0]
    )
    assert value(Fbd(covariance="shrunk"), side_rows(real, generated))[""] == pytest.approx(expected, rel=1e-9)
    assert value(Fbd(), side_rows(real, generated))[""] != pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(("n", "m", "d"), [(10, 10, 16), (16, 17, 16), (90, 40, 16), (90, 4, 16)])
@pytest.mark.parametrize("mean", ["squared", "norm"])
def test_equals_the_function_and_its_parts_add_up(n, m, d, mean):
    real, generated = noise(2, n, d), noise(3, m, d, shift=0.5)
    found = value(Fbd(mean=mean), apart(real, generated))
    assert found[""] == pytest.approx(frechet_distance(real, generated, mean), rel=1e-10)
    assert found["mean"] + found["covariance"] == pytest.approx(found[""], rel=1e-12)
    gap = np.linalg.norm(real.mean(axis=0) - generated.mean(axis=0))
    assert found["mean"] == pytest.approx(gap if mean == "norm" else gap**2)
    assert value(Fbd(), side_rows(real, real))[""] == pytest.approx(0, abs=1e-9)


def test_fewer_than_two_vectors():
    vectors = noise(0, 5, 3)
    for rows in (side_rows(vectors[:1], vectors[:1]), apart(vectors[:1], vectors), apart(vectors, vectors[:1])):
        found = value(Fbd(), rows)
        assert list(found) == ["", "mean", "covariance"]
        assert all(map(math.isnan, found.values()))
    assert math.isnan(value(Fbd(covariance="shrunk"), side_rows(vectors[:0], vectors[:0]))[""])


def test_an_extrapolated_interval_needs_more_independent_vectors_than_dimensions():
    def told(metric, n, m, units):
        return metric.has_interval(metric.summarise(apart(noise(0, n, 4), noise(1, m, 4))), units)

    metric = Fbd(estimate="extrapolated")
    assert told(metric, 5, 5, 5)
    assert told(metric, 30, 5, 9)
    for few in ((4, 5, 5), (5, 4, 5), (30, 30, 4)):
        assert not told(metric, *few)
    assert told(Fbd(), 2, 2, 2)


@pytest.mark.parametrize(
    ("options", "n", "units", "message"),
    [
        ({}, 11, 99, "11 independent vectors on a side in 4 dimensions: most of the score comes from the size"),
        ({}, 50, 11, "11 independent vectors on a side in 4 dimensions: most of the score comes from the size"),
        ({}, 12, 12, None),
        ({"estimate": "extrapolated"}, 11, 99, "below 12 the interval can miss the population distance"),
        ({"estimate": "extrapolated"}, 50, 5, "5 independent vectors on a side in 4 dimensions: below 12"),
        ({"estimate": "extrapolated"}, 4, 99, "no more vectors than dimensions"),
        ({"estimate": "extrapolated"}, 50, 4, "no more vectors than dimensions"),
        ({"estimate": "extrapolated"}, 12, 12, None),
    ],
)
def test_few_vectors_are_told(options, n, units, message):
    metric = Fbd(**options)
    many = metric.summarise(side_rows(noise(0, 40, 4), noise(1, 40, 4)))
    few = metric.summarise(apart(noise(2, n, 4), noise(3, 50, 4)))
    found = metric.caveats_of_systems({"many": many, "few": few}, {"many": 40, "few": units})
    assert [caveat.code for caveat in found] == ([] if message is None else ["few_vectors"])
    assert all(message in caveat.message and metric.label in caveat.message for caveat in found)
    assert metric.caveats_of_systems({"many": many}, {"many": 40}) == []


def test_cut_texts_are_told():
    rows = side_rows(noise(0, 4, 3), noise(1, 4, 3), cut=[True, False, True, False])
    ready, _ = placed(Fbd(), {"s": (noise(0, 4, 3), noise(1, 4, 3))})
    metric = ready.metric
    (caveat,) = ready.caveats(metric.summarise(rows) + metric.summarise(rows[1:2]))
    assert caveat.code == "cut_text"
    assert "2 of 5 turns" in caveat.message
    assert ready.caveats(metric.summarise(rows[1::2])) == []


def test_what_scores_and_intervals_are_about():
    plain, extrapolated = Fbd(), Fbd(estimate="extrapolated")
    assert (plain.interval_of, extrapolated.interval_of) == ("another_sample", "population")
    assert (plain.extrapolates, extrapolated.extrapolates) == (False, True)
    assert plain.limits("") == plain.limits("mean") == (0, math.inf)
    assert extrapolated.limits("") == (-math.inf, math.inf)
    assert plain.judged == ("", "mean", "covariance")
    # Halfway from log2(nearer) to 1, within reason.
    assert [plain.rate(nearer) for nearer in (1, math.sqrt(2), 2, 64, 0, -1)] == pytest.approx(
        [0.5, 0.75, 1, 1.5, 1, 1]
    )


UNITS = [3, 1, 1, 4, 3, 3, 2]


@pytest.mark.parametrize("copies", [1, 6], ids=["vectors", "moments"])
def test_summaries_left_out(copies):
    n = 7 * copies
    real, generated = noise(4, n, 8), noise(5, n, 8, shift=1)
    groups = [np.flatnonzero(np.tile(UNITS, copies) == unit) for unit in (1, 2, 3, 4)]
    metric, rows = Fbd(), side_rows(real, generated)
    for group, left in zip(
        groups, metric.leave_one_out([metric.summarise(rows[part]) for part in groups]), strict=True
    ):
        rest = np.setdiff1d(np.arange(n), group)
        assert left[""] == pytest.approx(frechet_distance(real[rest], generated[rest]), rel=1e-10)


STAY, SWAP = (TO_REAL, TO_GENERATED), (TO_GENERATED, TO_REAL)
PLANS = [
    pytest.param([STAY, STAY, STAY, STAY], id="as they are"),
    pytest.param([SWAP, STAY, STAY, SWAP], id="some exchanged"),
    pytest.param([SWAP, SWAP, SWAP, SWAP], id="all exchanged"),
    pytest.param([STAY, SWAP, (OUT, TO_GENERATED), (TO_REAL, TO_REAL)], id="some left out"),
    pytest.param([(TO_REAL, TO_REAL), STAY, (TO_REAL, TO_REAL), STAY], id="most are real"),
    pytest.param([(TO_GENERATED, TO_GENERATED), STAY, (TO_GENERATED, TO_GENERATED), STAY], id="most are generated"),
    pytest.param([(TO_REAL, OUT), (TO_GENERATED, OUT), (TO_REAL, OUT), (TO_GENERATED, OUT)], id="real ones apart"),
]


@pytest.mark.parametrize("copies", [1, 6], ids=["vectors", "moments"])
@pytest.mark.parametrize("plan", PLANS)
def test_summaries_recombined(copies, plan):
    n = 7 * copies
    real, generated = noise(4, n, 8), noise(5, n, 8, shift=1)
    groups = [np.flatnonzero(np.tile(UNITS, copies) == unit) for unit in (1, 2, 3, 4)]
    metric, rows = Fbd(), side_rows(real, generated)
    summaries = [metric.summarise(rows[group]) for group in groups]
    (found,) = metric.recombine(summaries, [np.array(plan, dtype=np.int8)])
    sides = [
        np.concatenate(
            [side[of] for of, to in zip(groups, plan, strict=True) for side in _sent(to, where, real, generated)]
        )
        for where in (TO_REAL, TO_GENERATED)
    ]
    sent = metric.sent(summaries, np.array(plan))
    assert (sent.real.n, sent.generated.n, sent.n) == (len(sides[0]), len(sides[1]), len(sides[1]))
    assert metric.conclude(sent) == pytest.approx(found, rel=1e-10)
    assert found[""] == pytest.approx(frechet_distance(*sides), rel=1e-10)


def _sent(to, where, real, generated):
    return [side for side, goes in zip((real, generated), to, strict=True) if goes == where]


def test_a_side_to_which_nothing_is_sent():
    metric, rows = Fbd(), side_rows(noise(6, 6, 8), noise(7, 6, 8))
    summaries = [metric.summarise(rows[:3]), metric.summarise(rows[3:])]
    plan = np.full((2, 2), TO_GENERATED, dtype=np.int8)
    (found,), sent = metric.recombine(summaries, [plan]), metric.sent(summaries, plan)
    assert (sent.real.n, sent.generated.n) == (0, 12)
    assert math.isnan(found[""])
    assert math.isnan(metric.conclude(sent)[""])


@pytest.mark.parametrize("mean", ["squared", "norm"])
@pytest.mark.parametrize("n", [8, 90])
def test_influences_by_row(mean, n):
    real, generated = noise(10, n, 12), noise(11, n, 12, shift=1)
    metric, rows = Fbd(mean=mean), side_rows(real, generated)
    expected = influences(Gaussian.from_rows(real), Gaussian.from_rows(generated), generated, mean) / (n - 1)
    summary = metric.summarise(rows)
    np.testing.assert_allclose(metric.influences(summary, rows), expected, atol=1e-9)
    # Of the rows asked for alone, against the whole summary.
    np.testing.assert_allclose(metric.influences(summary, rows[[5, 2]]), expected[[5, 2]], atol=1e-9)


@pytest.mark.parametrize(
    ("context", "pair"),
    [
        (None, ("one two  three", "well")),
        (2, ("two  three", "well")),
        (1, ("three", "well")),
        (9, ("one two  three", "well")),
        (0, "well"),
    ],
)
def test_what_is_encoded(context, pair):
    turn = Turn("1", "unused", context=(" one", "two ", "three "))
    assert Fbd(context=context).text(turn, " well\n") == pair
    assert Fbd().text(turn, "well") == Fbd(context=1).text(turn, "well")


def test_a_turn_without_a_context():
    assert Fbd().text(Turn("1", ""), "well ") == ("", "well")
    assert Fbd(context=0).text(Turn("1", ""), "") == ""


TURNS = [
    Turn("1", "i 'm fine .", ("hello ,", "how are you ?"), ("thank you .", "fine , and you ?"), dialogue="a"),
    Turn("2", "the soup .", ("what would you like ?",), ("some bread , please .",), dialogue="a"),
    Turn("3", "no .", (), ("yes , it is .", "it is nice .", "the weather is nice ."), dialogue="b"),
    Turn("4", "let 's walk .", ("what now ?",), ("let 's go .",)),
]
TALKS = [
    Turn("1", "my dog did not bark .", ("what of your dog ?",), dialogue="a"),
    Turn("2", "25 dollars , please .", ("that costs ?", "how do you pay ?"), dialogue="a"),
    Turn("3", "yes .", ("is it nice ?",), dialogue="c"),
]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    known, folder = Encoders(), build("bert", tmp_path_factory.mktemp("fbd") / "bert")
    known.get(str(folder)).tokens(["loaded"])
    return known, str(folder)


@pytest.fixture
def ready(encoders):
    """Prepares a metric for the turns, with the small model."""
    known, folder = encoders

    def prepare(metric, real=None, turns=TURNS):
        return replace(metric, encoder=folder).prepare(Corpus(list(turns)), real and Corpus(list(real)), known)

    return prepare


@pytest.mark.parametrize(
    ("options", "pool", "layer"),
    [
        ({"context": None}, "cls", None),
        ({"context": None, "pool": "mean", "layer": 1}, "mean", 1),
        ({"context": 0}, "cls", None),
    ],
)
def test_vectors_of_responses_and_first_references(ready, options, pool, layer):
    metric = ready(Fbd(**options))
    rows = metric.measure(TURNS)
    contexts = ["hello , how are you ?", "what would you like ?", "", "what now ?"]
    for found, said in (
        (rows.real_vectors, ["thank you .", "some bread , please .", "yes , it is .", "let 's go ."]),
        (rows.generated_vectors, ["i 'm fine .", "the soup .", "no .", "let 's walk ."]),
    ):
        texts = said if options["context"] == 0 else list(zip(contexts, said, strict=True))
        np.testing.assert_array_equal(found, metric.encoder.pooled(texts, pool, layer).vectors)
    # Two turns are of one dialogue; the last is known by its context alone.
    assert len(set(rows.unit.tolist())) == 3
    assert rows.unit[0] == rows.unit[1]
    expected = frechet_distance(rows.real_vectors, rows.generated_vectors)
    assert value(metric, rows)[""] == pytest.approx(expected, rel=1e-10)


def test_all_references(ready):
    metric = ready(Fbd(refs="all"))
    rows = metric.measure(TURNS)
    assert rows.counts.tolist() == [2, 1, 3, 1]
    texts = [metric.asked.text(turn, reference) for turn in TURNS for reference in turn.references]
    np.testing.assert_array_equal(rows.real_vectors, metric.encode(texts).vectors)
    np.testing.assert_array_equal(rows.generated_vectors, ready(Fbd()).measure(TURNS).generated_vectors)
    assert value(metric, rows)[""] != pytest.approx(value(metric, ready(Fbd()).measure(TURNS))[""], rel=1e-3)
    assert "|real:references-all|" in metric.signature
    assert "|real:references-first|" in ready(Fbd()).signature


def test_a_reference_that_is_too_long_makes_its_row_a_cut_one(ready):
    long = Turn("5", "no .", (), ("yes .", "bread " * 60))
    assert ready(Fbd(refs="all")).measure([TURNS[0], long]).cut.tolist() == [False, True]
    assert ready(Fbd()).measure([TURNS[0], long]).cut.tolist() == [False, False]
    answer = replace(long, response="bread " * 60)
    assert ready(Fbd()).measure([answer, TURNS[0]]).cut.tolist() == [True, False]


@pytest.mark.parametrize("at_once", [2, 4096])
def test_real_conversations(ready, monkeypatch, at_once):
    monkeypatch.setattr("dialogauge.metrics.distance.distribution.AT_ONCE", at_once)
    metric = ready(Fbd(), TALKS)
    beside = metric.real_rows("system")
    expected = metric.encode([metric.asked.text(turn, turn.response) for turn in TALKS]).vectors
    np.testing.assert_array_equal(beside.real_vectors, expected)
    assert beside.generated_vectors.shape == (0, expected.shape[1])
    # The corpus's own references do not count any more, and turns need none.
    rows = metric.measure(TURNS)
    assert len(rows.real_vectors) == 0
    assert metric.usable(Turn("9", "no reference"))
    assert not ready(Fbd()).usable(Turn("9", "no reference"))
    whole = metric.metric.join([rows, beside])
    assert metric.metric.summarise(whole).n == 4
    distance = frechet_distance(expected, rows.generated_vectors)
    assert value(metric, whole)[""] == pytest.approx(distance, rel=1e-10)
    # Dialogue "a" of theirs is not the corpus's own.
    assert beside.unit[0] == beside.unit[1] != beside.unit[2]
    assert not set(beside.unit.tolist()) & set(rows.unit.tolist())
    assert ready(Fbd()).real_rows("system") is None


def test_real_conversations_that_are_cut(ready):
    metric = ready(Fbd(), [TALKS[0], replace(TALKS[1], response="bread " * 60)])
    assert metric.real_rows("system").cut.tolist() == [False, True]


def test_signatures_know_the_real_texts_but_not_their_order(ready):
    def signed(real, **options):
        return ready(Fbd(**options), real).signature

    base = signed(TALKS)
    assert "|real:@" in base
    assert signed(TALKS[::-1]) == base
    assert signed([TALKS[2], TALKS[0], TALKS[1]]) == base
    # Dialogues and ids are no texts.
    assert signed([replace(turn, id=f"x{turn.id}") for turn in TALKS]) == base
    others = [
        signed(TALKS[:2]),
        signed([*TALKS, TALKS[0]]),
        signed([*TALKS[:2], replace(TALKS[2], response="no .")]),
        signed([*TALKS[:2], replace(TALKS[2], context=("is it ?",))]),
        ready(Fbd()).signature,
    ]
    assert len({base, *others}) == 6
    # Contexts that do not count do not sign.
    without = [*TALKS[:2], replace(TALKS[2], context=("is it ?",))]
    assert signed(TALKS, context=0) == signed(without, context=0) != signed(TALKS, context=1)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({}, "|pool:cls|layer:3|pair:last1|"),
        ({"context": None}, "|pair:all|"),
        ({"pool": "max", "layer": 1, "context": 2}, "|pool:max|layer:1|pair:last2|"),
        ({"context": 0}, "|pair:no|"),
        ({"mean": "norm"}, "|mean:norm|cov:plain|est:plain|"),
        ({"covariance": "shrunk", "estimate": "extrapolated"}, "|mean:squared|cov:shrunk|est:extrapolated|"),
    ],
)
def test_signatures_spell_the_recipe(ready, options, part):
    assert part in ready(Fbd(**options)).signature


def test_the_authors_recipe_is_ours_under_their_name(ready):
    paper = ready(PaperFbd())
    assert paper.signature.startswith("fbd|compat:fbd-paper|")
    whole = ready(Fbd(context=None))
    assert value(paper, paper.measure(TURNS)) == value(whole, whole.measure(TURNS))


def test_errors_say_what_was_found(ready):
    with pytest.raises(InputError, match="context is -1; expected a number of utterances"):
        ready(Fbd(context=-1))

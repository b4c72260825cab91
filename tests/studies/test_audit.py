"""What a metric rewards and notices."""

import json
import re

import numpy as np
import pytest

import dialogauge
from dialogauge.errors import InputError
from dialogauge.studies.audit import audit
from dialogauge.studies.audit_result import QUESTIONS
from dialogauge.studies.length_bias import length_bias
from dialogauge.studies.own_family import family
from dialogauge.studies.single_answers import AnswersOfTurn, first_preferred, flips_of_repeats, spread_of_repeats
from tests.serving.scripted import Scripted, chat

WORDS = dialogauge.metric("words", lambda turn: len(turn.response.split()), higher_is_better=True)
FEWER = dialogauge.metric("fewer", lambda turn: len(turn.response.split()), higher_is_better=False)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))


def judge(server, **options):
    more = "".join(f",{name}={value}" for name, value in options.items())
    return f"judge[model=scripted,url={server.url}{more}]"


def test_length_and_agreement_are_those_of_the_studies_that_they_come_from():
    found = audit("examples/rated.jsonl", "rouge_l", questions="length,agreement", resamples=100)
    agreement = dialogauge.correlate("examples/rated.jsonl", "rouge_l,length", level="turn", resamples=100)
    (bias,) = length_bias(agreement)
    slope, agrees = found.finding("rouge_l", "length"), found.finding("rouge_l", "agreement")
    assert (slope.value, slope.low, slope.high) == tuple(bias.given_rating)
    assert slope.beside == bias.people.value
    assert agrees.value == agreement.row("rouge_l").spearman
    assert agrees.beside == agreement.ceilings[0].reachable


def test_a_metric_that_counts_words_rewards_length_and_its_opposite_punishes_it():
    found = audit("examples/everyday.jsonl", [WORDS, FEWER], questions="length", resamples=100)
    assert found.finding("words", "length").what == "quality not held"
    assert found.finding("words", "length").verdict == "rewards length"
    assert found.finding("fewer", "length").verdict == "punishes length"
    assert found.finding("fewer", "length").value == pytest.approx(-found.finding("words", "length").value)


def test_damage_counts_the_replies_that_score_lower():
    # Cut to half their words, all replies are shorter; with words shuffled they are as long as before.
    found = audit("examples/everyday.jsonl", [WORDS, FEWER], questions="damage", kinds="truncate,permute", resamples=50)
    assert found.finding("words", "damage", "truncate").value == 1.0
    assert found.finding("words", "damage", "truncate").verdict == "notices"
    assert found.finding("fewer", "damage", "truncate").value == 0.0
    assert found.finding("fewer", "damage", "truncate").verdict == "prefers what is damaged"
    assert found.finding("words", "damage", "permute").value == 0.5
    assert found.finding("words", "damage", "permute").verdict == "does not notice"


def test_the_curve_is_how_far_the_mean_falls():
    """Of 64 replies cut to half their words, a quarter and all: by hand, from the words before and after."""
    corpus = dialogauge.load("examples/everyday.jsonl").select(["good"])
    found = audit(corpus, [WORDS, FEWER], questions="curve", kinds="truncate,permute", ratios=[0.25, 1], resamples=50)
    before = np.array([len(turn.response.split()) for turn in corpus])
    for ratio, what in ((0.25, "truncate, 25 %"), (1.0, "truncate, 100 %")):
        after = np.array([len(turn.response.split()) for turn in dialogauge.perturb(corpus, "truncate", ratio)])
        falls = found.finding("words", "curve", what)
        assert falls.value == pytest.approx((after - before).mean() / before.std())
        assert (falls.verdict, falls.n, falls.beside) == ("falls", 64, 0)
        assert found.finding("fewer", "curve", what).value == pytest.approx(-falls.value)
        assert found.finding("fewer", "curve", what).verdict == "rises"
    assert [each.what for each in found.findings[:4]] == [
        "truncate, 25 %",
        "truncate, 100 %",
        "permute, 25 %",
        "permute, 100 %",
    ]
    unmoved = found.finding("words", "curve", "permute, 100 %")
    assert (unmoved.value, unmoved.verdict) == (0, "no change shown")


def test_a_metric_without_a_spread_has_no_curve():
    same = dialogauge.metric("same", lambda _: 1.0, higher_is_better=True)
    found = audit("examples/everyday.jsonl", same, questions="curve", kinds="repeat", resamples=50)
    assert found.left_out == ["curve of same: it gives every reply the same score"]
    with pytest.raises(InputError, match="ratio"):
        audit("examples/everyday.jsonl", same, questions="curve", ratios=[2])


def test_the_curve_asks_a_judge_no_more_than_the_damage_does():
    """A reply is damaged in one way, whatever the share: what is asked about all of them is all there is to ask."""
    with Scripted(lambda asked: chat(str(1 + asked.text.count("e") % 5))) as server:
        options = {"kinds": "truncate", "systems": ["good"], "resamples": 50}
        audit("examples/everyday.jsonl", judge(server), questions="damage", **options)
        sent = len(server.requests)
        found = audit("examples/everyday.jsonl", judge(server), questions="damage,curve", **options)
        assert len(server.requests) == sent
    assert [each.what for each in found.findings] == [
        "truncate",
        "truncate, 25 %",
        "truncate, 50 %",
        "truncate, 100 %",
    ]


def test_the_system_that_others_are_compared_with_is_not_damaged():
    """By a judge that prefers the longer reply: cut to half, the others lose to replies that are whole."""

    def longer(asked):
        shown = json.loads(asked.body["messages"][1]["content"])
        return chat("A" if len(shown["A"]) > len(shown["B"]) else "B")

    with Scripted(longer) as server:
        metric = judge(server, prompt="pairwise", against="good")
        found = audit(
            "examples/everyday.jsonl",
            metric,
            questions="damage",
            kinds="truncate",
            systems=["good", "dull"],
            resamples=50,
        )
        shown = {json.loads(body["messages"][1]["content"])["A"] for body in server.bodies[1:]}
    (damage,) = found.findings
    assert damage.n == 64  # those of dull alone
    corpus = dialogauge.load("examples/everyday.jsonl").select(["good"])
    assert shown >= {turn.response for turn in corpus}
    cut = {turn.response for turn in dialogauge.perturb(corpus, "truncate", 1.0)}
    assert shown & cut == {"Good luck"}  # which is dull's, cut


def test_references_can_be_damaged():
    found = audit(
        "examples/everyday.jsonl", "rouge_l", questions="damage", kinds="permute", of="reference", resamples=50
    )
    # A reference scores 1 against itself, and less once its words are shuffled.
    assert found.finding("rouge_l", "damage", "permute").value > 0.95


def test_what_cannot_be_asked_is_named_with_the_reason():
    found = audit("examples/everyday.jsonl", "distinct,question_rate", resamples=50, kinds="repeat")
    assert not found.findings
    assert "length of distinct: the metric has no values of single turns" in found.left_out
    assert "position, repeats and flips of distinct: only a judge answers more than once" in found.left_out
    assert "length, damage, curve and family of question_rate: neither more nor less of it is better" in found.left_out
    assert "agreement of distinct: no turn is rated that it has a value for" in found.left_out


def test_the_same_seed_gives_the_same_bytes():
    first, second = (audit("examples/rated.jsonl", "rouge_l", kinds="noise", resamples=50).to_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_forms(form):
    found = audit("examples/rated.jsonl", "rouge_l", questions="agreement", resamples=50)
    assert "agrees with people" in found.render(form)


def test_unknown_questions_and_texts_are_refused():
    with pytest.raises(InputError, match="unknown question 'lenght'.*length"):
        audit("examples/rated.jsonl", "rouge_l", questions="lenght")
    with pytest.raises(InputError, match="unknown text to damage 'responses'"):
        audit("examples/rated.jsonl", "rouge_l", of="responses")
    with pytest.raises(InputError, match="expected a metric to audit, found length alone"):
        audit("examples/rated.jsonl", "length")


def test_a_judge_that_always_chooses_the_first_prefers_the_first():
    with Scripted(chat("A")) as server:
        found = audit(
            "examples/everyday.jsonl", judge(server, prompt="pairwise/overall"), questions="position", resamples=50
        )
    position = next(each for each in found.findings if each.question == "position")
    assert (position.value, position.verdict, position.n) == (1.0, "prefers the first", 192)


def test_repeated_answers_that_differ_show():
    # 2, 4, 2, 4, … whatever is asked: of two answers about one reply the standard deviation is √2, or 0 where a race
    # gave both the same.
    with Scripted(lambda asked: chat("2" if asked.number % 2 else "4")) as server:
        metric = judge(server, samples=2, temperature=1, logprobs="false")
        found = audit(
            "examples/everyday.jsonl", metric, questions="repeats,flips", systems=["good"], resamples=50, concurrency=1
        )
        sent = len(server.requests)
        audit("examples/everyday.jsonl", metric, questions="repeats", systems=["good"], resamples=50)
        assert len(server.requests) == sent
    repeats, flips = found.findings
    assert (flips.question, flips.verdict) == ("flips", "answers differ")
    assert flips.value == pytest.approx(repeats.value / np.sqrt(2))  # 0 or √2 of each pair
    assert repeats.verdict == "answers differ"
    assert 0 < repeats.value <= np.sqrt(2) + 1e-9


def test_values_of_single_answers_by_hand():
    # Shown first, the reply is chosen with 0.8, shown second the other one with 0.6: (0.8 + 0.6) / 2.
    assert first_preferred(AnswersOfTurn(True, {b"1": [0.8], b"2": [0.6]})) == pytest.approx(0.7)
    assert first_preferred(AnswersOfTurn(True, {b"1": [0.8]})) is None
    assert first_preferred(AnswersOfTurn(False, {b"1": [3.0], b"2": [4.0]})) is None
    # 1 and 3: mean 2, variance (1 + 1) / 1
    assert spread_of_repeats(AnswersOfTurn(False, {b"1": [1.0, 3.0], b"2": [2.0]})) == pytest.approx(np.sqrt(2))
    assert spread_of_repeats(AnswersOfTurn(False, {b"1": [4.0]})) is None
    # Of 1, 1, 3 two pairs of three differ; of 2, 2 none does: (2/3 + 0) / 2.
    assert flips_of_repeats(AnswersOfTurn(False, {b"1": [1.0, 1.0, 3.0], b"2": [2.0, 2.0]})) == pytest.approx(1 / 3)
    assert flips_of_repeats(AnswersOfTurn(False, {b"1": [4.0]})) is None


def test_a_judge_that_favours_its_own_family_is_found(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for item in range(40):
        for system in ("smollm2-ft", "other"):
            rating = int(rng.integers(1, 6))
            reply = f"reply {system} {rating}"
            lines.append({"id": str(item), "context": [f"question {item}"], "response": reply, "system": system})
            lines[-1]["ratings"] = {"overall": [rating, rating]}
    path = tmp_path / "rated.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def own(asked):
        """What people say, less one for systems of other families."""
        found = re.search(r"reply (smollm2-ft|other) (\d)", asked.text)
        if not found:  # how the endpoint can be asked at all is tried first
            return chat("3", model="smollm2")
        return chat(str(max(1, int(found[2]) - (found[1] == "other"))), model="smollm2")

    with Scripted(own) as server:
        metric = f"judge[model=smollm2,url={server.url}]"
        found = audit(str(path), metric, questions="family", resamples=100)
    (each,) = found.findings
    assert (each.what, each.verdict) == ("smollm", "prefers its own family")
    assert each.value > 0.3


@pytest.mark.parametrize(
    ("name", "expected"),
    [("HuggingFaceTB/SmolLM2-135M-Instruct", "smollm"), ("gpt-4o-mini", "gpt"), ("s0", "s"), ("7b", "7b")],
)
def test_families(name, expected):
    assert family(name) == expected


def test_every_question_says_what_its_number_is():
    assert all(text.split() for text in QUESTIONS.values())

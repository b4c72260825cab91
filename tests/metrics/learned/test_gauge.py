"""The gauge, by models with random weights."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import correlate, evaluate, worst_replies
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.network import EncoderNetwork
from dialogauge.learned.gauge.model import PARTS, Calibration, open_gauge
from dialogauge.metrics.learned.gauge import ALONE, CUT, SILENT, Gauge, percent, with_likeness
from dialogauge.metrics.registry import parse_request, parse_requests
from dialogauge.studies.explain import explain
from tests.encode.models import build
from tests.learned.small import write_gauge
from tests.metrics.learned.conftest import OPENED, TURNS, check_contract, ready, turns

WIDE = (-9 + 0.2 * np.arange(99)).tolist()
"""Knots so far apart that random logits lie between them."""
SAID = [
    Turn("0", "the weather is nice", ("how are you ?",), ("it is nice today",)),
    Turn("1", "my dog did not bark", ("what would you like ?", "to eat ?"), ("the dog", "my brother")),
    Turn("2", "not at all", ("hello",)),
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("bert") / "bert"))


@pytest.fixture(scope="module", params=["adapter", "transformer"])
def directory(request, bert, tmp_path_factory):
    rank = {"adapter": 2, "transformer": 0}[request.param]
    target = tmp_path_factory.mktemp("each") / request.param
    return write_gauge(target, bert, opened=OPENED.get(bert), rank=rank, knots=dict.fromkeys(PARTS, WIDE))


@pytest.fixture(scope="module")
def model(bert, tmp_path_factory):
    target = tmp_path_factory.mktemp("models") / "my-gauge"
    return write_gauge(target, bert, opened=OPENED.get(bert), knots=dict.fromkeys(PARTS, WIDE))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(said=TURNS, data=st.data())
def test_the_contract(directory, said, data):
    metric = ready(Gauge, directory)
    rows, values = check_contract(metric, said, data)
    assert rows.shape == (len(said), 10)
    known = rows[metric.metric.defined(rows)]
    assert ((known[:, :4] >= 0) & (known[:, :4] <= 100)).all()
    assert list(values) == ["", "relevance", "fluency", "specificity"]


def test_no_turns(directory):
    assert ready(Gauge, directory).measure([]).shape == (0, 10)


def test_scores_by_hand():
    """A logit that lies above half of real replies, a cosine one deviation above the mean of two people's replies, and
    the weight 0.4: log odds of 0.4 * 1.702 = 0.6808, of which the share is 1 / (1 + e^-0.6808) = 66.4 %."""
    calibration = Calibration(dict.fromkeys(PARTS, np.linspace(-4.9, 4.9, 99).tolist()), (0.3, 0.2), 0.4)
    odds = calibration.log_odds("overall", np.array([0.0, 0.0]))
    both = with_likeness(odds, calibration.likeness_odds(np.array([0.5, np.nan])), calibration.weight)
    assert percent(both).tolist() == pytest.approx([66.392, 50], abs=0.001)
    assert percent(np.array([np.log(3)])).tolist() == pytest.approx([75])


def test_a_row_is_what_the_model_and_its_calibration_say(directory):
    gauge = open_gauge(directory).ready(OPENED)
    logits = gauge.gauged([turn.context for turn in SAID], [turn.response for turn in SAID]).logits
    cosines = gauge.likeness([turn.response for turn in SAID], [turn.references for turn in SAID])
    calibration = gauge.model.calibration
    odds = np.column_stack([calibration.log_odds(part, logits[:, place]) for place, part in enumerate(PARTS)])
    plain, blended = ready(Gauge, directory, with_references=False).measure(SAID), ready(Gauge, directory).measure(SAID)
    np.testing.assert_allclose(plain[:, :4], 100 / (1 + np.exp(-odds)))
    np.testing.assert_array_equal(blended[:, 1:4], plain[:, 1:4])  # parts are of the context alone
    assert blended[2, 0] == plain[2, 0]
    mixed = 0.6 * odds[:2, 0] + 0.4 * 1.702 * (cosines[:2] - 0.3) / 0.2
    np.testing.assert_allclose(blended[:2, 0], 100 / (1 + np.exp(-mixed)))
    assert (blended[:2, 0] != plain[:2, 0]).all()
    assert blended[:, ALONE].tolist() == [0, 0, 1]


def test_the_last_utterances_as_people_write_them(model):
    metric = ready(Gauge, model)
    told = metric.measure(
        turns(
            ["it is n't nice .", "hello", "what ?", "how are you ?", "the weather"],
            ["it isn't nice.", "what?", "how are you?", "the   weather"],
            ["it isn't nice.", "hello", "how are you?", "the weather"],
        )
    )
    assert told[0, :4].tolist() == told[1, :4].tolist() != told[2, :4].tolist()


@pytest.mark.parametrize("silence", ["", "  ", "\u200b", "\x07\n"])
def test_a_reply_that_says_nothing_scores_0_and_is_counted(model, silence):
    metric = ready(Gauge, model)
    rows = metric.measure([replace(turn, response=silence) for turn in SAID[:2]] + SAID[2:])
    assert rows[:2, :4].tolist() == [[0] * 4] * 2
    assert rows[:, SILENT].tolist() == [1, 1, 0]
    (caveat,) = metric.caveats(metric.metric.summarise(rows))
    assert (caveat.code, caveat.message) == (
        "no_vectors",
        "gauge[model=my-gauge]: 2 of 3 replies say nothing, and score 0",
    )


def test_a_reply_that_cannot_be_read_has_no_score(model):
    result = evaluate(Corpus([*SAID, Turn("3", "😀", ("hello",))]), f"gauge[model={model}]", cache=False)
    assert result.scores[0].n == 3
    assert "illegible_text" in {caveat.code for caveat in result.caveats}


def test_a_turn_of_whose_context_nothing_is_left_has_no_score(model):
    rows = ready(Gauge, model).measure([*SAID, Turn("3", "nice", ("", " ")), Turn("4", "nice")])
    assert np.isnan(rows[:, 0]).tolist() == [False, False, False, True, True]
    np.testing.assert_array_equal(rows[:3], ready(Gauge, model).measure(SAID))


def test_long_texts_are_cut_and_counted(model):
    """The small encoder takes 48 tokens; of a reply 128 words are looked at."""
    metric = ready(Gauge, model)
    rows = metric.measure(turns(["nice " * 129, "hello"], ["nice", "hello " * 60], ["nice", "hello"]))
    assert rows[:, CUT].tolist() == [1, 1, 0]
    (caveat,) = metric.caveats(metric.metric.summarise(rows))
    assert caveat.code == "cut_text"
    assert "2 of 3 turns have a reply of more than 128 words, or more than the encoder takes" in caveat.message


@pytest.mark.parametrize(
    ("references", "told"),
    [
        ([("a",), ("a",), ("a",)], None),
        ([(), (), ()], None),
        ([("a",), (), (" ",)], "2 of 3 turns have no reference that can be read"),
        ([("a",), ("😀",), ("a",)], "1 of 3 turns have no reference that can be read"),
    ],
)
def test_it_is_said_where_only_some_turns_have_references(model, references, told):
    said = [replace(turn, references=each) for turn, each in zip(SAID, references, strict=True)]
    result = evaluate(Corpus(said), f"gauge[model={model}]", cache=False)
    messages = [caveat.message for caveat in result.caveats if caveat.code == "some_references"]
    assert len(messages) == (told is not None)
    assert not messages or told in messages[0]
    plain = evaluate(Corpus(said), f"gauge[model={model},references=false]", cache=False)
    assert "some_references" not in {caveat.code for caveat in plain.caveats}


@pytest.mark.parametrize(
    ("of_a", "of_b", "told"),
    [
        (("a",), ("a",), None),
        ((), (), None),
        (("a",), (), "100 % of a, 0 % of b. Differences between these systems come of that, too"),
    ],
)
def test_it_is_said_where_systems_differ_in_their_references(model, of_a, of_b, told):
    said = [
        replace(turn, references=references, system=system)
        for system, references in (("a", of_a), ("b", of_b))
        for turn in SAID
    ]
    result = evaluate(Corpus(said), f"gauge[model={model}]", cache=False)
    messages = [caveat.message for caveat in result.caveats if caveat.code == "unequal_references"]
    assert len(messages) == (told is not None)
    assert not messages or told in messages[0]
    plain = evaluate(Corpus(said), f"gauge[model={model},references=false]", cache=False)
    assert "unequal_references" not in {caveat.code for caveat in plain.caveats}


def test_signatures_say_whether_references_count(model):
    assert "|refs:0.4|" in ready(Gauge, model).signature
    assert "|refs:no|" in ready(Gauge, model, with_references=False).signature
    assert parse_request("gauge[references=no]").metric == Gauge(with_references=False)


def test_the_name_of_a_system_changes_nothing(model):
    """The same replies twice, and beside others."""
    copied = [replace(turn, system=system) for system in ("a", "b") for turn in SAID]
    other = [replace(turn, system="c", response="hello today") for turn in SAID]
    result = evaluate(Corpus([*copied, *other]), f"gauge[model={model}]", cache=False)
    values = {score.system: score.value for score in result.scores if score.metric == "gauge[model=my-gauge]"}
    assert values["a"] == values["b"] != values["c"]
    (alone,) = evaluate(Corpus(copied[:3]), f"gauge[model={model}]", cache=False).scores[:1]
    assert alone.value == values["a"]


def test_the_encoder_of_a_run_is_not_that_of_the_model(model, bert):
    """The model names its own; where it is found can be said for the metric alone."""
    (gauge, fbd) = (request.metric for request in parse_requests("gauge,fbd", defaults={"encoder": "mpnet"}))
    assert (gauge.encoder, fbd.encoder) == (None, "mpnet")
    result = evaluate(Corpus(SAID), f"gauge[model={model}]", encoder="static:none.txt", cache=False)
    assert result.columns[0] == "gauge[model=my-gauge]"
    assert parse_request("gauge[encoder=somewhere]").metric.encoder == "somewhere"


def test_worst_replies_and_what_is_wrong_with_them(model):
    said = [replace(turn, system=system, id=str(place)) for system in "ab" for place, turn in enumerate(SAID * 4)]
    said = [replace(turn, response=f"{turn.response} {'and you ? ' * int(turn.id)}") for turn in said]
    corpus = Corpus(said)
    result = evaluate(corpus, f"gauge[model={model}]", cache=False)
    ranked = worst_replies(result, corpus, "gauge[model=my-gauge]", 10)
    found = explain(result, corpus, worst=10)
    assert [(reply.id, reply.value) for reply in found.replies] == [(reply.id, reply.value) for reply in ranked.replies]
    rows = {turn.id: row for turn, row in zip(said[:12], ready(Gauge, model).measure(said[:12]), strict=True)}
    for reply, parts in zip(found.replies, found.parts, strict=True):
        assert list(parts.values()) == rows[reply.id][1:4].tolist()
    lines = str(found).split("\n")
    assert lines[0].split() == [
        "system", "id", "gauge[model=my-gauge]", "↑", "relevance", "↑", "fluency", "↑", "specificity", "↑",
        "after", "response",
    ]  # fmt: skip
    assert lines[2].split()[:2] == ["a", found.replies[0].id]
    document = json.loads(found.to_json())
    assert (document["schema"], document["order"]) == ("dialogauge.explanation/1", "worst")
    first = document["replies"][0]
    assert list(first) == ["system", "id", "value", "context", "response", "references", "parts"]
    assert list(first["parts"]) == ["relevance", "fluency", "specificity"]


def test_agreement_with_people_turn_by_turn(model):
    said = [
        replace(SAID[place % 3], id=str(place), response=f"nice {'today ' * place}", ratings={"overall": [place % 4]})
        for place in range(20)
    ]
    found = correlate(Corpus(said), f"gauge[model={model}]", cache=False, resamples=20)
    assert {row.level for row in found.rows} >= {"turn"}
    (turn_level,) = (row for row in found.rows if row.level == "turn" and row.metric == "gauge[model=my-gauge]")
    assert turn_level.n == 20


def test_each_distinct_pair_goes_through_the_encoder_once(model, monkeypatch):
    seen = []
    forward = EncoderNetwork.__call__

    def counting(self, batch, outputs):
        seen.extend((id(self), tuple(one.ids.tolist())) for one in batch)
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", counting)
    said = [replace(turn, system=system) for system in "abc" for turn in SAID]
    asked = f"gauge[model={model}],gauge[model={model},references=false]"
    evaluate(Corpus(said), asked, cache=False, resamples=20)
    networks = list(dict.fromkeys(network for network, _ in seen))
    tuned, plain = ([ids for network, ids in seen if network == wanted] for wanted in networks)
    assert len(tuned) == len(set(tuned)) == 3
    # The two replies that have references, and three references.
    assert len(plain) == len(set(plain)) == 5


SCORE = """
import sys
from dialogauge.cli.main import main
code = main(sys.argv[1:])
print(*(name for name in ("torch", "transformers") if name in sys.modules), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.slow
def test_warm_runs_need_neither_torch_nor_transformers(model, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "said.jsonl"
    rows = (
        {"context": list(turn.context), "response": turn.response, "references": list(turn.references)} for turn in SAID
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def score():
        call = ["score", str(path), "--explain", f"gauge[model={model}]", "--format", "json"]
        done = subprocess.run([sys.executable, "-c", SCORE, *call], capture_output=True, text=True, check=True)
        return json.loads(done.stdout), done.stderr.splitlines()[-1].split()

    cold, loaded = score()
    assert "torch" in loaded
    warm, loaded = score()
    assert loaded == []
    assert warm == cold

"""Replies judged beside those of another system."""

import json
import math
import pickle

import pytest

import dialogauge
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.evaluation.measuring.plan_asking import plan_asking
from dialogauge.evaluation.options import RunOptions
from dialogauge.metrics.judge.other_replies import OtherReplies
from dialogauge.metrics.registry import parse_request
from tests.serving.scripted import Scripted, chat


def turn(system, name, reply, context=None):
    return Turn(name, reply, (context or f"and {name}?",), system=system)


OLD = [turn("old", str(i), "x" * i) for i in range(1, 7)]
NEW = [turn("new", str(i), "x" * (i + 1 if i < 6 else i - 1)) for i in range(1, 7)]
SAME = [turn("same", str(i), "x" * i) for i in range(1, 7)]


def longer(asked):
    """Which reply is longer, by a judge that does not mind the order."""
    shown = json.loads(asked.body["messages"][1]["content"])
    return chat("A" if len(shown["A"]) > len(shown["B"]) else "B")


def wanted(server, options=",against=old"):
    return f"judge[prompt=pairwise,model=scripted,url={server.url}{options}]"


def test_the_share_of_pairs_that_a_system_wins():
    """`new` has the longer reply in five contexts of six; `old` beside itself is a half, for which nothing is asked,
    and so is `same`, which says the same. Asked are six pairs in two orders, and once to find the way."""
    with Scripted(longer) as server:
        result = dialogauge.evaluate([*OLD, *NEW, *SAME], wanted(server), cache=False)
        assert {score.system: score.value for score in result.scores} == {"old": 0.5, "new": 5 / 6, "same": 0.5}
        assert len(server.requests) == 13
        pairs = {
            tuple(len(json.loads(body["messages"][1]["content"])[place]) for place in "AB")
            for body in server.bodies[1:]
        }
    assert pairs == {pair for i in range(1, 6) for pair in ((i, i + 1), (i + 1, i))} | {(5, 6), (6, 5)}
    (signature,) = {score.signature for score in result.scores}
    assert "|scale:pair|against:old|" in signature
    assert result.columns == ["judge[prompt=pairwise,model=scripted,against=old]"]


def test_beside_references_the_signature_says_so():
    turns = [Turn(str(i), "x" * i, ("hi",), ("x",)) for i in range(1, 4)]
    with Scripted(longer) as server:
        result = dialogauge.evaluate(turns, wanted(server, ""), cache=False)
    assert result.scores[0].value == 5 / 6  # a tie, and two that are longer
    assert "|against:first-reference|" in result.scores[0].signature


def test_systems_are_compared_by_it():
    turns = [turn(system, str(i), "x" * (1 + (system == "new"))) for system in ("old", "new") for i in range(40)]
    with Scripted(longer) as server:
        pair = dialogauge.compare(turns, wanted(server), cache=False).pairs[0]
    assert (pair.first, pair.second, pair.difference) == ("old", "new", -0.5)
    assert pair.p < 0.01


def test_a_dry_run_counts_what_is_then_asked():
    with Scripted(longer) as server:
        run = RunOptions(cache=False)
        plan = plan_asking(Corpus([*OLD, *NEW, *SAME]), run.requests(wanted(server)), run)
        assert not server.requests
    assert plan.to_send == 13


def test_a_turn_that_the_other_system_lacks_has_no_value_and_is_counted():
    with Scripted(longer) as server:
        result = dialogauge.evaluate([*OLD, *NEW, turn("new", "9", "yes")], wanted(server), cache=False)
    assert {score.system: score.n for score in result.scores} == {"old": 6, "new": 6}
    (said,) = [caveat.message for caveat in result.caveats if caveat.code == "undefined_scores"]
    assert "no value for 1 of 13 turns" in said
    assert "old has no reply to its context" in said


@pytest.mark.parametrize(
    ("turns", "options", "message"),
    [
        (NEW, ",against=old", "unknown system in option against of judge 'old'; did you mean|known: new"),
        (OLD, ",against=old", "there is no system beside old"),
        ([*OLD, turn("new", "1", "x", "else")], ",against=old", "old has no reply to any context that the others"),
        (
            [*OLD, *NEW],
            ",against=old,prompt=coherence",
            "prompt=coherence looks at one reply alone; choose prompt=pairw",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_asked(turns, options, message):
    with Scripted(longer) as server, pytest.raises(InputError, match=message):
        dialogauge.evaluate(turns, wanted(server, options), cache=False)
    assert not server.requests


def test_a_system_that_is_not_measured_is_not_there():
    with Scripted(longer) as server, pytest.raises(InputError, match="unknown system in option against"):
        dialogauge.evaluate([*OLD, *NEW], wanted(server), systems=["new"], cache=False)


def test_the_id_tells_apart_replies_to_one_context():
    replies = OtherReplies.noted("old", [turn("old", "1", "one", "hi"), turn("old", "2", "two", "hi"), *OLD[2:4]])
    assert [replies.to(turn("new", name, "", "hi")) for name in ("1", "2", "3")] == ["one", "two", None]
    assert replies.to(turn("new", "another name", "", "and 3?")) == "xxx"
    assert replies.to(turn("new", "3", "", "and 5?")) is None


def test_parts_add_up_in_any_order():
    turns = [*OLD, *NEW, turn("old", "1", "another")]
    whole = OtherReplies.noted("old", turns)
    for split in (0, 3, 7, 13):
        first, second = OtherReplies.noted("old", turns[:split]), OtherReplies.noted("old", turns[split:])
        assert first + second == second + first == whole


def test_a_process_that_opens_it_has_the_replies():
    with Scripted(longer) as server:
        ready = parse_request(wanted(server)).metric.prepare(Corpus([*OLD, *NEW]), encoders=Encoders())
        there = pickle.loads(pickle.dumps(ready.learned)).open(Encoders())
        assert there.measure(NEW)[:, 0].tolist() == [1, 1, 1, 1, 1, 0]
        assert there.signature == ready.signature


def test_a_kept_run_is_verified_with_its_texts(tmp_path):
    with Scripted(longer) as server:
        result = dialogauge.evaluate([*OLD, *NEW, *SAME], wanted(server), cache=False)
    result.save(tmp_path / "run")
    found = dialogauge.verify_run(tmp_path / "run")
    assert found.agrees
    assert not found.underived
    judged = {check.system: check for check in found.checks if check.kind == "judgements"}
    assert judged.keys() == {"old", "new", "same"}
    assert not any(math.isnan(score.value) for score in result.scores)

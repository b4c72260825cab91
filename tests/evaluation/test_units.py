"""Which units of two systems are the same: by content and name, never by position."""

import json

import numpy as np
import pytest

from dialogauge import compare, compare_runs, evaluate
from dialogauge.corpus import Corpus, Turn, load
from dialogauge.evaluation.units import Answered, Units, enough, same_units


def answered(turns):
    return Answered.noted(Units().keys(turns), Units().messages(turns))


def shared(first, second):
    """How many units of the two are the same."""
    return len(same_units(answered(first), answered(second))[0])


def talk(dialogue, *asked, numbered=False):
    """A dialogue in which these messages are answered; replies differ from system to system."""
    said, turns = [], []
    for place, text in enumerate(asked):
        said.append(text)
        reply = f"reply {np.random.default_rng().integers(10**9)}"
        turns.append(Turn(f"{dialogue}:{place}", reply, tuple(said), dialogue=dialogue, numbered=numbered))
        said.append(reply)
    return turns


def test_one_name_and_the_same_messages():
    assert shared(talk("1", "hi", "how are you?"), talk("1", "hi", "how are you?")) == 1
    assert shared(talk("1", "hi", "how are you?"), talk("2", "hi", "how are you?")) == 0


def test_one_name_does_not_make_other_messages_the_same():
    assert shared(talk("1", "where is my train?"), talk("1", "a table for two")) == 0
    # Both begin with "hi", and go on about other things.
    assert shared(talk("1", "hi", "where is my train?"), talk("1", "hi", "a table for two")) == 0


def test_a_turn_that_one_system_did_not_answer():
    assert shared(talk("1", "a", "b", "c"), [*talk("1", "a", "b"), *talk("1", "x")]) == 1
    assert shared(talk("1", "a", "b", "c"), talk("1", "b")) == 1


def test_dialogues_without_names_are_known_by_what_is_said():
    ours = [*talk("prod#0", "a", "b", numbered=True), *talk("prod#1", "c", numbered=True)]
    theirs = [*talk("prod#0", "c", numbered=True), *talk("prod#1", "a", "b", numbered=True)]
    first, second = same_units(answered(ours), answered(theirs))
    keys = {name: Units().keys(talk(name, "x"))[0] for name in ("prod#0", "prod#1")}
    assert {(a, b) for a, b in zip(first, second, strict=True)} == {
        (keys["prod#0"], keys["prod#1"]),
        (keys["prod#1"], keys["prod#0"]),
    }
    assert shared(ours, talk("prod#0", "a", numbered=True)) == 0


def test_a_dialogue_without_a_name_is_known_by_what_is_said_beside_one_that_has_a_name():
    ours = [*talk("prod#0", "a", "b", numbered=True), *talk("prod#1", "c", numbered=True)]
    theirs = [*talk("x", "c"), *talk("y", "a", "b"), *talk("z", "d")]
    assert shared(ours, theirs) == shared(theirs, ours) == 2
    assert shared(ours, talk("prod#0", "a")) == 0
    assert shared(talk("x", "a", "b"), talk("y", "a", "b")) == 0  # two names are two dialogues


def test_of_dialogues_that_say_the_same_each_stands_beside_one():
    ours = [turn for place in range(3) for turn in talk(f"a#{place}", "hi", numbered=True)]
    theirs = [turn for place in range(2) for turn in talk(f"b#{place}", "hi", numbered=True)]
    first, second = same_units(answered(ours), answered(theirs))
    assert len(set(first.tolist())) == len(set(second.tolist())) == 2


def test_turns_without_contexts():
    def turns(references=None, **more):
        said = references or [()] * 4
        return [Turn(str(i), "x", references=said[i], **more) for i in range(4)]

    assert shared(turns(), turns()) == 4  # ids that were given
    assert shared(turns(numbered=True), turns(numbered=True)) == 0  # positions
    given = [("a",), ("b",), ("b",), ("c",)]
    assert shared(turns(given, numbered=True), turns(given, numbered=True)) == 4
    others = [("a",), ("b",), ("d",), ("e",)]
    assert shared(turns(given, numbered=True), turns(others, numbered=True)) == 2
    assert shared(turns(given), turns(others)) == 2


def test_equal_contexts_are_the_same_whatever_the_ids():
    first = [Turn("1", "x", ("hi", "you?")), Turn("2", "x", ("so",), numbered=True)]
    second = [Turn("7", "y", ("hi", "you?")), Turn("1", "y", ("so",))]
    assert shared(first, second) == 2


def test_enough_is_a_third_of_the_fewer():
    assert [enough(shared, 30) for shared in (9, 10, 30)] == [False, True, True]
    assert [enough(shared, 2) for shared in (1, 2)] == [False, True]


@pytest.mark.parametrize(
    ("record", "numbered"),
    [
        ({"response": "x"}, True),
        ({"response": "x", "id": 4}, False),
        ({"response": "x", "dialogue": "d"}, False),
        ({"utterances": ["a", "b"]}, True),
        ({"utterances": ["a", "b"], "dialogue": 7}, False),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "id": "q"}, False),
    ],
)
def test_readers_say_what_has_no_name(tmp_path, record, numbered):
    (tmp_path / "log.jsonl").write_text(json.dumps(record) + "\n")
    assert [turn.numbered for turn in load(tmp_path / "log.jsonl")] == [numbered]


def values(system, contents, rng, shift=0.0, **more):
    return [
        Turn(str(i), "x", system=system, references=(text,), extra={"v": float(rng.normal(shift))}, **more)
        for i, text in enumerate(contents)
    ]


def test_rows_without_names_are_not_paired_by_their_place():
    rng = np.random.default_rng(0)
    texts = [f"reference {i}" for i in range(40)]
    same = compare(Corpus(values("a", texts, rng) + values("b", texts, rng)), "column[name=v]").pairs[0]
    assert (same.paired, same.units, same.test) == (True, 40, "randomisation")
    other = [f"another {i}" for i in range(40)]
    apart = compare(Corpus(values("a", texts, rng) + values("b", other, rng)), "column[name=v]").pairs[0]
    assert (apart.paired, apart.units, apart.test) == (False, 0, "permutation")
    assert (apart.first_units, apart.second_units) == (40, 40)


def test_the_same_rows_in_another_order_are_paired_as_before():
    """Whatever their keys, what counts is which rows stand together."""
    rng = np.random.default_rng(1)
    texts = [f"reference {i}" for i in range(40)]
    ours, theirs = values("a", texts, rng, numbered=True), values("b", texts, rng, 0.5, numbered=True)
    turned = [
        Turn(str(place), turn.response, (), turn.references, "b", extra=turn.extra, numbered=True)
        for place, turn in enumerate(reversed(theirs))
    ]
    one, other = (compare(Corpus([*ours, *rows]), "column[name=v]").pairs[0] for rows in (theirs, turned))
    assert (one.units, other.units) == (40, 40)
    assert other.difference == pytest.approx(one.difference)
    assert other.p == one.p
    assert (other.low, other.high) == pytest.approx((one.low, one.high))


def test_kept_runs_and_streams_match_as_turns_do(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)

    def logs(system, week):
        return [
            Turn(
                f"{d}:{k}",
                "x",
                (f"{week} asks {d} {k}",),
                system=system,
                dialogue=f"log#{d}",
                extra={"v": rng.normal()},
            )
            for d in range(60)
            for k in range(3)
        ]

    weeks = logs("a", "one"), logs("b", "two")
    runs = [
        evaluate(Corpus(turns), "column[name=v]").save(tmp_path / name) for turns, name in zip(weeks, "ab", strict=True)
    ]
    (direct,) = compare(Corpus([*weeks[0], *weeks[1]]), "column[name=v]").pairs
    (kept,) = compare_runs(runs).pairs
    assert kept == direct
    assert (kept.test, kept.units, kept.first_units) == ("permutation", 0, 60)
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    (streamed,) = compare(Corpus([*weeks[0], *weeks[1]]), "column[name=v]").pairs
    assert (streamed.test, streamed.units, streamed.paired) == ("welch", 0, False)
    assert streamed.difference == pytest.approx(direct.difference)
    same = [Turn(t.id, "y", t.context, system="b", dialogue=t.dialogue, extra={"v": 0.0}) for t in weeks[0]]
    (paired,) = compare(Corpus([*weeks[0], *same]), "column[name=v]").pairs
    assert (paired.test, paired.units, paired.paired) == ("jackknife", 60, True)


def test_a_run_that_does_not_say_what_was_answered(tmp_path):
    from dialogauge.errors import InputError

    turns = [Turn(str(i), "x", (f"q{i}",), system="s", extra={"v": float(i)}) for i in range(5)]
    run = evaluate(Corpus(turns), "column[name=v]").save(tmp_path / "run")
    with np.load(run / "measures.npz") as arrays:
        kept = {name: arrays[name] for name in arrays if not name.endswith(".answered")}
    np.savez(run / "measures.npz", **kept)
    with pytest.raises(InputError, match="nothing says which dialogues these are; score the files again"):
        compare_runs([run])

"""Chat logs of two weeks, through the command line: nothing pairs them but what was said."""

import json
import random

import pytest

TOPICS = ("train", "pizza", "garden", "laptop", "coffee", "music", "flight", "bank")


def write_log(path, week, dialogues, helpful, names=None):
    """Chats without names, in which the bot helps with this probability and else knows nothing."""
    rng = random.Random(week)
    path.parent.mkdir(exist_ok=True)
    lines = []
    for number in range(dialogues):
        topic, messages = rng.choice(TOPICS), []
        for _ in range(rng.randint(1, 4)):
            messages.append({"role": "user", "content": f"week {week}: what about my {topic} {rng.randint(0, 9999)}?"})
            known = f"your {topic} is {rng.choice(('late', 'new', 'fine'))} and number {rng.randint(0, 99)} is free"
            reply = known if rng.random() < helpful else "i do not know"
            messages.append({"role": "assistant", "content": reply})
        lines.append(json.dumps({"messages": messages, **({"dialogue": f"{number}"} if names else {})}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def logs(tmp_path):
    """The same file name in three directories: two like weeks, and a bad one."""
    return [
        write_log(tmp_path / folder / "prod.jsonl", week, dialogues, helpful)
        for folder, week, dialogues, helpful in (("lw", 1, 55, 0.9), ("tw", 2, 60, 0.9), ("bad", 3, 60, 0.3))
    ]


@pytest.fixture
def runs(dialogauge, logs, tmp_path):
    """A run of each log."""
    for log in logs:
        out = tmp_path / "runs" / log.parent.name
        assert dialogauge("score", log, "--metrics", "distinct,length", "--out", out).code == 0
    return [tmp_path / "runs" / log.parent.name for log in logs]


def test_logs_of_one_name_are_not_taken_for_the_same_dialogues(dialogauge, runs):
    done = dialogauge("compare", *runs[:2], "--fail-if-worse", "distinct", "--wide")
    assert done.code == 0
    assert "two-sample test over dialogues" in done.out
    assert "not paired since they share none" in done.out
    assert "the systems are scored on different dialogues" in done.err
    pairs = json.loads(dialogauge("compare", *runs[:2], "--format", "json").out)["pairs"]
    assert [(pair["metric"], pair["test"], pair["paired"], pair["units"]) for pair in pairs] == [
        ("distinct", "welch", False, 0),
        ("length", "permutation", False, 0),
    ]
    assert (pairs[1]["first_units"], pairs[1]["second_units"]) == (55, 60)


def test_the_same_log_in_two_runs_is_paired(dialogauge, logs, runs, tmp_path):
    again = tmp_path / "again" / "prod.jsonl"
    again.parent.mkdir()
    again.write_text("".join(reversed(logs[0].read_text().splitlines(keepends=True))))
    out = tmp_path / "runs" / "again"
    assert dialogauge("score", again, "--metrics", "distinct,length", "--out", out).code == 0
    pairs = json.loads(dialogauge("compare", runs[0], out, "--format", "json").out)["pairs"]
    assert {(pair["paired"], pair["units"], pair["difference"]) for pair in pairs} == {(True, 55, 0.0)}


def test_names_that_every_log_counts_from_0_do_not_pair(dialogauge, tmp_path):
    files = [write_log(tmp_path / f"{name}.jsonl", week, 40, 0.9, names=True) for week, name in enumerate("ab")]
    done = dialogauge("compare", *files, "--metrics", "length", "--format", "json")
    (pair,) = json.loads(done.out)["pairs"]
    assert (pair["paired"], pair["units"], pair["test"]) == (False, 0, "permutation")


def test_a_worse_week_is_found_and_a_like_one_passes(dialogauge, logs):
    last, this, bad = logs
    weeks = [last.rename(last.with_name("last_week.jsonl")), this.rename(this.with_name("this_week.jsonl"))]
    bad = bad.rename(bad.with_name("bad_week.jsonl"))
    metric = "semantic_similarity[encoder=static:minilm]"
    more = ("--metrics", metric, "--fail-if-worse", metric, "--no-cache")
    done = dialogauge("compare", *weeks, *more)
    assert (done.code, "cannot be tested" in done.err) == (0, False)
    done = dialogauge("compare", weeks[0], bad, *more)
    assert done.code == 1
    assert f"bad_week is worse than last_week under {metric}\n" in done.err


def test_one_system_stands_against_another(dialogauge, logs, runs, tmp_path):
    both = tmp_path / "both.jsonl"
    renamed = [json.dumps({**json.loads(line), "system": "prod-v2"}) for line in logs[2].read_text().splitlines()]
    more = [json.dumps({**json.loads(line), "system": "other"}) for line in logs[1].read_text().splitlines()]
    both.write_text("\n".join([*renamed, *more]) + "\n")
    out = tmp_path / "runs" / "both"
    call = ("score", both, "--metrics", "length,distinct.1", "--out", out)
    assert dialogauge(*call).code == 0
    done = dialogauge("compare", runs[0], out, "--metrics", "length", "--system", "prod=prod-v2", "--format", "json")
    (pair,) = json.loads(done.out)["pairs"]
    assert (pair["first"], pair["second"]) == ("prod", "prod-v2")
    assert pair["p"] == pair["p_holm"] < 0.01
    call = ("compare", *runs[:2], "--metrics", "length", "--format", "json", "--system", "prod")
    (pair,) = json.loads(dialogauge(*call).out)["pairs"]
    assert (pair["first"], pair["second"]) == ("lw/prod", "tw/prod")


def test_a_gate_holds_the_system_that_was_named(dialogauge, tmp_path):
    rows = {"good": "a b c d e", "fair": "a b c d x", "bad": "v w x y z"}
    path = tmp_path / "three.jsonl"
    lines = [
        json.dumps(
            {"context": [f"q{i}"], "response": f"{text} {i % 5}", "references": [f"a b c d e {i}"], "system": name}
        )
        for i in range(30)
        for name, text in rows.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    call = ("compare", path, "--fail-if-worse", "bleu")
    assert dialogauge(*call).code == 1
    assert dialogauge(*call, "--system", "fair=good").code == 0
    assert dialogauge(*call, "--system", "fair=good", "--system", "fair=bad").code == 1


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("prod=prd", "--system prod=prd: expected NAME of both inputs, or A=B with A of the first and B of another"),
        ("none", "--system none: expected NAME of both inputs"),
    ],
)
def test_systems_that_are_not_there(dialogauge, runs, system, message):
    done = dialogauge("compare", *runs[:2], "--system", system)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_a_system_of_a_file_does_not_stand_against_itself(dialogauge, responses):
    done = dialogauge("compare", responses, "--metrics", "bleu", "--system", "a")
    assert (done.code, done.err) == (2, "--system a: a system cannot stand against itself; say a=OTHER\n")


def test_logs_that_overlap_are_judged_by_all_their_dialogues(dialogauge, logs, tmp_path):
    kept, bad = (log.read_text().splitlines(keepends=True)[:30] for log in (logs[0], logs[2]))
    rolling = tmp_path / "rolling.jsonl"
    rolling.write_text("".join(kept + bad))
    asked = ("compare", logs[0], rolling, "--metrics", "length", "--wide")
    assert "not paired where the dialogues they share score the same" in dialogauge(*asked).out
    (pair,) = json.loads(dialogauge(*asked, "--format", "json").out)["pairs"]
    assert (pair["paired"], pair["units"], pair["first_units"], pair["second_units"]) == (False, 30, 55, 60)
    assert pair["difference"] > 1
    assert pair["p"] < 0.05

"""What makes a command end with exit status 1: --fail-if-worse and --fail-below, once or repeated."""

import json

import pytest

from dialogauge.evaluation.pairs import Pair


@pytest.fixture
def runs(dialogauge, tmp_path):
    """Yesterday's replies and today's, which are shorter: worse by meteor, and their BLEU falls by some 30 points."""
    found = []
    for day, words in (("yesterday", 6), ("today", 3)):
        rows = [
            {"context": [f"q{i}"], "response": " ".join(f"w{i + k}" for k in range(words)), "system": "bot"}
            | {"references": [" ".join(f"w{i + k}" for k in range(7))]}
            for i in range(30)
        ]
        (tmp_path / f"{day}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        call = ("score", tmp_path / f"{day}.jsonl", "--metrics", "meteor", "--metrics", "bleu,distinct")
        assert dialogauge(*call, "--out", tmp_path / day).code == 0
        found.append(tmp_path / day)
    return found


def failures(done):
    return [line for line in done.err.splitlines() if not line.startswith("warning")]


METEOR = "today/bot is worse than yesterday/bot under meteor"
BLEU = "today/bot is worse than yesterday/bot under bleu"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--fail-if-worse", "meteor", "--fail-if-worse", "bleu"], [METEOR, BLEU]),
        (["--fail-if-worse", "meteor,bleu"], [METEOR, BLEU]),
        (["--fail-if-worse", "meteor", "--fail-if-worse", "distinct"], [METEOR]),
        (["--fail-if-worse", "distinct", "--fail-if-worse", "meteor"], [METEOR]),
        (["--fail-if-worse", "bleu:0.5"], ["today/bot is worse than yesterday/bot by more than 0.5 under bleu"]),
        (["--fail-if-worse", "bleu:99"], []),
        (["--fail-if-worse", "bleu:99,meteor"], [METEOR]),
    ],
)
def test_every_gate_is_looked_at(dialogauge, runs, arguments, expected):
    done = dialogauge("compare", *runs, *arguments)
    assert (done.code, failures(done)) == (1 if expected else 0, expected)


def test_a_system_that_no_other_input_has_is_named(dialogauge, runs, tmp_path):
    rows = [{"context": [f"q{i}"], "response": "w1 w2", "system": "lone", "references": ["w1"]} for i in range(30)]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = (tmp_path / "today.jsonl", tmp_path / "more.jsonl")
    assert dialogauge("score", *files, "--metrics", "meteor", "--out", tmp_path / "both").code == 0
    done = dialogauge("compare", tmp_path / "both", runs[1], "--fail-if-worse", "meteor")
    assert done.code == 0
    told = "--fail-if-worse says nothing of both/lone: no other input has a system of that name; see --system"
    assert told in done.err
    assert "says nothing of" not in dialogauge("compare", tmp_path / "both", runs[1]).err


def test_repeated_metrics_add_up(dialogauge, responses, runs):
    twice = ("--metrics", "bleu", "--metrics", "rouge_l,meteor", "--format", "json")
    for verb in ("score", "compare"):
        document = json.loads(dialogauge(verb, responses, *twice).out)
        assert {score["metric"] for score in document["scores"]} >= {"bleu", "rouge_l", "meteor"}
    twice = ("--metrics", "bleu", "--metrics", "meteor", "--format", "json")
    document = json.loads(dialogauge("compare", *runs, *twice).out)
    assert [pair["metric"] for pair in document["pairs"]] == ["bleu", "meteor"]


@pytest.mark.parametrize("verb", ["score", "compare", "correlate", "sensitivity", "reproduce table3 --corpora"])
def test_every_verb_adds_metrics_up(verb):
    from dialogauge.cli.main import build_parser

    call = [*verb.split(), "file", "--metrics", "bleu[lowercase=true]", "--metrics", "meteor,length"]
    assert build_parser().parse_args(call).metrics == "bleu[lowercase=true],meteor,length"


def test_a_margin_is_held_against_the_nearer_end_of_the_interval():
    from dialogauge.evaluation.gates import _least

    higher, lower = Pair("m", "a", "b", 3.0, 1.0, 5.0), Pair("m", "a", "b", -3.0, -5.0, -1.0)
    assert (_least(higher), _least(lower)) == (1.0, 1.0)
    assert _least(Pair("m", "a", "b", 3.0, -1.0, 7.0)) == -1.0
    assert _least(Pair("m", "a", "b", -3.0)) == 3.0


@pytest.mark.parametrize(
    ("text", "metric", "number"),
    [
        ("bleu:0.5", "bleu", 0.5),
        ("distinct.1:2e-2", "distinct.1", 0.02),
        ("embedding_average[encoder=static:minilm]", "embedding_average[encoder=static:minilm]", None),
        ("embedding_average[encoder=static:minilm]:0.1", "embedding_average[encoder=static:minilm]", 0.1),
        ("bertscore[encoder=static:minilm,idf=true].recall:0", "bertscore[encoder=static:minilm,idf=true].recall", 0),
    ],
)
def test_where_a_margin_begins(text, metric, number):
    from dialogauge.evaluation.gates import IF_WORSE, _split

    assert _split(IF_WORSE, text) == (metric, number)


@pytest.mark.parametrize(
    ("text", "metric", "number"),
    [
        ("bleu=20", "bleu", 20),
        ("distinct.1=.5", "distinct.1", 0.5),
        ("bleu[lowercase=true]=20", "bleu[lowercase=true]", 20),
        ("column[name=x]=-1", "column[name=x]", -1),
    ],
)
def test_where_a_limit_begins(text, metric, number):
    from dialogauge.evaluation.gates import BELOW, _split

    assert _split(BELOW, text) == (metric, number)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--fail-if-worse", "bleu:", "expected METRIC:MARGIN with a margin of 0 or more"),
        ("--fail-if-worse", "bleu:-1", "expected METRIC:MARGIN with a margin of 0 or more"),
        ("--fail-if-worse", "bleu:nan", "expected METRIC:MARGIN with a margin of 0 or more"),
        ("--fail-below", "bleu", "expected METRIC=VALUE"),
        ("--fail-below", "bleu=high", "expected METRIC=VALUE"),
        ("--fail-below", "bleu[lowercase=true]", "expected METRIC=VALUE"),
        ("--fail-below", "length=3", "this metric has no better or worse"),
    ],
)
def test_wrong_calls(dialogauge, responses, option, text, message):
    done = dialogauge("compare", responses, "--metrics", "bleu", option, text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{option} {text.split('=3')[0]}: {message}")


def test_scores_below_a_limit(dialogauge, responses):
    """System a is near its references, b far from them."""
    done = dialogauge("score", responses, "--metrics", "length", "--fail-below", "meteor=0.5", "--fail-below", "bleu=1")
    assert done.code == 1
    assert [line.split(" scores ")[0] for line in failures(done)] == ["b", "b"]
    assert failures(done)[0].endswith(" under meteor, below 0.5")
    assert dialogauge("score", responses, "--systems", "a", "--fail-below", "meteor=0.5,bleu=1").code == 0
    done = dialogauge("compare", responses, "--fail-below", "rouge_l=0.5")
    assert (done.code, failures(done)[0].split(" scores ")[0]) == (1, "b")


def test_limits_are_of_metrics_in_the_language_of_the_run(dialogauge, responses):
    for command in ("score", "compare"):
        arguments = (command, responses, "--metrics", "bleu", "--language", "zh", "--fail-below", "bleu=0.001")
        done = dialogauge(*arguments)
        assert done.code in (0, 1), done.err
        assert "tok:zh" in done.out


def test_lower_is_better_and_missing_scores(dialogauge, tmp_path):
    path = tmp_path / "cost.jsonl"
    rows = [
        {"context": [f"q{i}"], "response": "x", "system": s, "cost": c}
        for i in range(5)
        for s, c in (("a", 1), ("b", 3))
    ]
    rows += [{"context": [f"q{i}"], "response": "x", "system": "c"} for i in range(5)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric = "column[name=cost,higher_is_better=false]"
    done = dialogauge("score", path, "--fail-below", f"{metric}=2")
    assert done.code == 1
    assert failures(done) == [
        f"b scores 3 under {metric}, above 2",
        f"c has no score under {metric}, where 2 is asked for",
    ]


def test_the_run_is_kept_though_the_gate_is_shut(dialogauge, responses, tmp_path):
    assert dialogauge("score", responses, "--fail-below", "bleu=99", "--out", tmp_path / "run").code == 1
    assert (tmp_path / "run" / "run.json").is_file()

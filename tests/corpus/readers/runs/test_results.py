"""Logs and results of Inspect, the LM Evaluation Harness, promptfoo and DeepEval."""

import json
import sys
import zipfile

import pytest

from dialogauge.corpus import Turn, load
from dialogauge.errors import MissingPackage
from tests.corpus.files import refusal, write, write_lines
from tests.corpus.samples_of_tools import INSPECT, eval_log, texts

TEXTS = texts()
KNOWN = ("Be kind.", "21 degrees")


@pytest.mark.parametrize("form", ["indented", "one line", "deflated", "zstandard"])
def test_inspect(tmp_path, form):
    """A tool's result is a fact, its call and reasoning nobody's words; NaN is no score; letters are numbers."""
    if form in ("indented", "one line"):
        path = write(tmp_path / "log.json", TEXTS["inspect"] if form == "indented" else json.dumps(INSPECT))
    else:
        path = write(tmp_path / "log.eval", eval_log(zipfile.ZIP_DEFLATED if form == "deflated" else 93))
    corpus = load(path)
    assert corpus.files[0].reader == "inspect"
    assert corpus.turns == [
        Turn(
            "manners/1:1",
            "yes, 21 degrees",
            ("is it warm?",),
            ("yes",),
            "openai/m1",
            dialogue="manners/1",
            facts=KNOWN,
            extra={"match": 1.0},
        ),
        Turn(
            "manners/two/2:1",
            "hello é",
            ("hé",),
            ("hello", "hi"),
            "openai/m1",
            dialogue="manners/two/2",
            extra={"rubric.fluent": 4.0, "rubric.polite": 0.0},
        ),
    ]


def test_inspect_without_zstandard(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[logs\]'"):
        load(write(tmp_path / "log.eval", eval_log(93)))


def test_inspect_samples_that_failed(tmp_path):
    failed = {"id": 3, "epoch": 1, "input": "hi", "target": "", "messages": [], "output": {}, "error": {"message": "x"}}
    path = write(tmp_path / "log.json", json.dumps({**INSPECT, "samples": [*INSPECT["samples"], failed]}))
    corpus = load(path)
    assert len(corpus) == 2
    assert "1 sample without a reply left out" in str(corpus.caveats)
    path = write(tmp_path / "log.json", json.dumps({**INSPECT, "samples": [*INSPECT["samples"], {"id": 4}]}))
    assert refusal(path) == ":1: item 3: expected messages or an input, found null"
    assert len(load(path, skip_invalid=True)) == 2


def test_a_zip_of_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("b.txt", "c")
    assert refusal(tmp_path / "a.zip", reader="inspect").startswith(": expected a log of Inspect")


def test_a_zip_bomb(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {"task": "t", "model": "m"}}))
        with file.open("samples/1_epoch_1.json", "w") as member:
            for _ in range(101):
                member.write(b" " * 1_000_000)
    assert "unpacks to more than 100,000,000 bytes" in refusal(path)


def test_lm_eval(tmp_path):
    corpus = load(write(tmp_path / "samples_math_2026.jsonl", TEXTS["lm_eval"]))
    asked, system = ("Q: 2 + 2?\nA:",), "samples_math_2026"
    assert corpus.turns == [
        Turn("0", "It is 4.", asked, ("4",), system, extra={"exact_match": 1.0}),
        Turn("0#2", "Four é.", asked, ("4",), system, extra={"exact_match": 1.0}),
        Turn("1", "hello", ("hi",), (), system),
    ]
    assert "1 line left out that hold the replies once more" in corpus.caveats[0].message


@pytest.mark.parametrize(
    ("target", "references"),
    [
        ("['4', \"it's 4\"]", ("4", "it's 4")),
        ("['é', '']", ("é",)),
        ("[4, 5]", ("[4, 5]",)),
        ("[", ("[",)),
        ("[]", ("[]",)),
        ("", ()),
    ],
)
def test_lm_eval_of_several_right_answers(tmp_path, target, references):
    sample = {**json.loads(texts()["lm_eval"].splitlines()[0]), "target": target}
    turn = load(write_lines(tmp_path / "samples_x.jsonl", sample)).turns[0]
    assert turn.references == references


def test_lm_eval_of_a_chat_endpoint(tmp_path):
    said = [{"role": role, "content": text, "type": "text"} for role, text in (("system", "Be kind."), ("user", "hi"))]
    asked = {"gen_args_0": {"arg_0": [json.dumps(said)], "arg_1": {"until": []}}}
    sample = {**json.loads(texts()["lm_eval"].splitlines()[0]), "arguments": asked}
    turn = load(write_lines(tmp_path / "samples_x.jsonl", sample)).turns[0]
    assert (turn.context, turn.facts) == (("hi",), ("Be kind.",))


def test_lm_eval_of_likelihoods(tmp_path):
    sample = json.loads(TEXTS["lm_eval"].splitlines()[0])
    path = write_lines(tmp_path / "samples.jsonl", {**sample, "resps": [[["-1.5", "True"]], [["-2.5", "False"]]]})
    assert refusal(path).startswith(":1: resps: expected texts that were generated")


@pytest.mark.parametrize("form", ["document", "lines"])
def test_promptfoo(tmp_path, form):
    """A second prompt of one provider is a system of its own; a result without output is counted."""
    path = write(tmp_path / "results.json", TEXTS["promptfoo"])
    if form == "lines":
        path = write_lines(tmp_path / "results.jsonl", *json.loads(TEXTS["promptfoo"])["results"]["results"])
    corpus = load(path)
    scores = {"score": 1.0, "latencyMs": 120.0, "polite": 0.5}
    assert corpus.files[0].reader == "promptfoo"
    assert corpus.turns == [
        Turn("0", "hello Ann é", ("greet Ann",), ("hi Ann",), "openai:m1", extra=scores),
        Turn(
            "0",
            '{"greeting": "hi"}',
            ("Ann",),
            (),
            "openai:m1:2",
            dialogue="c1",
            facts=("Be short.",),
            extra={"score": 1.0},
        ),
    ]
    assert "1 result without a reply left out" in str(corpus.caveats)


@pytest.mark.parametrize("form", ["run", "latest", "snake"])
def test_deepeval(tmp_path, form):
    run = json.loads(TEXTS["deepeval"])
    if form == "latest":
        run = {"testRunData": run, "testRunLink": None}
    if form == "snake":
        cases = [
            {"name": "test_case_0", "actual_output": "behind é house", "expected_output": "behind the house"},
            {"name": "test_case_1", "input": "hi", "actual_output": None},
        ]
        cases[0] |= {"input": "where is it?", "retrieval_context": ["The well is behind the house."]}
        cases[0]["metrics_data"] = [{"name": "Faithfulness", "score": 0.9}]
        chat = {**run["conversationalTestCases"][0], "metrics_data": [{"name": "Knowledge Retention", "score": 1.0}]}
        run = {"test_results": [*cases, chat], "hyperparameters": {"model": "m1"}}
    corpus = load(write(tmp_path / "run.json", json.dumps(run)))
    assert corpus.files[0].reader == "deepeval"
    well = ("The well is behind the house.",)
    assert corpus.select(["m1"]).turns == [
        Turn(
            "test_case_0",
            "behind é house",
            ("where is it?",),
            ("behind the house",),
            "m1",
            facts=well,
            extra={"Faithfulness": 0.9},
        ),
        Turn("chat:1", "hello", ("hi",), system="m1", dialogue="chat"),
        Turn(
            "chat:3",
            "Ann",
            ("hi", "hello", "who is it?"),
            system="m1",
            dialogue="chat",
            facts=("Ann lives here.",),
            extra={"Knowledge Retention": 1.0},
        ),
    ]
    assert corpus.users == {"m1:user"}
    assert "1 test case without a reply left out" in str(corpus.caveats)

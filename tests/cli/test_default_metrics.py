"""`score`, `compare` and `correlate` without --metrics, and with groups."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dialogauge import compare, correlate, evaluate
from dialogauge.encode import find
from dialogauge.metrics import registry

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EVERYDAY, RATED, LOGS, PEOPLE = (
    EXAMPLES / f"{name}.jsonl" for name in ("everyday", "rated", "bot-logs", "conversations")
)
WITHOUT_REAL = "fbd and mmd (no --real)"


@pytest.fixture(autouse=True)
def default_set(monkeypatch):
    """With a learned metric that is quick in place of the one that takes its time."""
    monkeypatch.setattr(
        registry, "DEFAULT_SET", ("ruber_unreferenced", "bertscore", "distinct", "length", "fbd", "mmd")
    )


def columns(done):
    document = json.loads(done.out)
    return list(dict.fromkeys(score["metric"].partition(".")[0] for score in document["scores"]))


def test_a_file_alone_is_enough(dialogauge):
    done = dialogauge("score", EVERYDAY, "--format", "json")
    assert done.code == 0
    assert columns(done) == ["ruber_unreferenced", "bertscore", "distinct", "length"]
    assert done.err == f"not measured: {WITHOUT_REAL}\n"
    warnings = json.loads(done.out)["warnings"]
    assert warnings[0] == {"code": "not_measured", "message": f"not measured: {WITHOUT_REAL}"}


def test_scores_are_those_of_the_metrics_by_name(dialogauge):
    named = dialogauge("score", EVERYDAY, "--metrics", "bertscore,distinct", "--format", "json")
    found = json.loads(dialogauge("score", EVERYDAY, "--format", "json").out)["scores"]
    for score in json.loads(named.out)["scores"]:
        assert score in found


def test_responses_alone_from_stdin(responses):
    lines = [json.loads(line) for line in responses.read_text().splitlines()]
    text = "".join(json.dumps({"response": line["response"]}) + "\n" for line in lines)
    call = [sys.executable, "-m", "dialogauge", "score", "-"]
    done = subprocess.run(call, input=text, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0].split() == ["system", "turns", "distinct", "↑", "length"]
    assert "bertscore (no references)" in done.stderr
    assert WITHOUT_REAL in done.stderr


def test_real_conversations_bring_distances(dialogauge):
    done = dialogauge("score", LOGS, "--real", PEOPLE, "--format", "json")
    assert columns(done) == ["ruber_unreferenced", "distinct", "length", "fbd", "mmd"]
    assert "not measured: bertscore (no references)\n" in done.err


def test_ratings_are_pointed_at(dialogauge):
    done = dialogauge("score", RATED)
    assert "people rated these turns: `dialogauge correlate` says how far metrics agree with them\n" in done.err
    assert "people rated" not in dialogauge("score", RATED, "--metrics", "overlap").err


def test_compare_and_its_gates(dialogauge, tmp_path):
    done = dialogauge("compare", EVERYDAY, "--format", "json")
    assert columns(done) == ["ruber_unreferenced", "bertscore", "distinct", "length"]
    gated = dialogauge("compare", EVERYDAY, "--fail-if-worse", "distinct", "--format", "json")
    assert columns(gated) == ["distinct"]


def test_kept_runs_keep_their_metrics(dialogauge, responses, tmp_path):
    for name in ("a", "b"):
        call = ("score", responses, "--metrics", "bleu,meteor,length", "--systems", name, "--out", tmp_path / name)
        assert dialogauge(*call).code == 0
    runs = [tmp_path / "a", tmp_path / "b"]
    assert columns(dialogauge("compare", *runs, "--format", "json")) == ["bleu", "meteor", "length"]
    assert columns(dialogauge("compare", *runs, "--metrics", "overlap", "--format", "json")) == ["bleu", "meteor"]


def test_a_run_says_what_was_measured(dialogauge, tmp_path):
    assert dialogauge("score", EVERYDAY, "--out", tmp_path / "run").code == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["metrics"] == ["ruber_unreferenced", "bertscore", "distinct", "length"]


def test_correlate_leaves_out_what_has_no_value_at_its_level(dialogauge):
    both = dialogauge("correlate", RATED, "--format", "json")
    rows = json.loads(both.out)["rows"]
    levels = {level: [row["metric"] for row in rows if row["level"] == level] for level in ("turn", "system")}
    assert levels["turn"] == ["ruber_unreferenced", "bertscore", "length"]
    assert levels["system"] == ["ruber_unreferenced", "bertscore", "distinct", "length"]
    turns = dialogauge("correlate", RATED, "--level", "turn", "--real", PEOPLE)
    assert turns.code == 0
    assert turns.err == "not measured: distinct, fbd and mmd (no value for a single turn)\n"
    assert "people rated" not in both.err


def test_corpora_are_correlated_by_what_each_has(dialogauge, tmp_path):
    bare = tmp_path / "bare.jsonl"
    turns = [json.loads(line) for line in RATED.read_text().splitlines()]
    bare.write_text("".join(json.dumps({**turn, "references": []}) + "\n" for turn in turns))
    done = dialogauge("correlate", RATED, bare, "--level", "turn", "--format", "json")
    rows = json.loads(done.out)["rows"]
    found = {name: [row["metric"] for row in rows if row["corpus"] == name] for name in ("rated", "bare", "mean")}
    assert found == {
        "rated": ["ruber_unreferenced", "bertscore", "length"],
        "bare": ["ruber_unreferenced", "length"],
        "mean": ["ruber_unreferenced", "length"],
    }
    assert "bare: not measured: bertscore (no references)\n" in done.err


def test_from_python():
    names = ["ruber_unreferenced", "bertscore", "distinct", "length"]
    assert evaluate(EVERYDAY).columns == names
    assert evaluate(EVERYDAY, "default,bleu").columns == [*names, "bleu"]
    assert compare(EVERYDAY).columns == names
    assert correlate(RATED).metrics == names
    assert str(evaluate(EVERYDAY)).endswith(f"\nnot measured: {WITHOUT_REAL}")


def test_a_group_leaves_out_and_a_name_does_not(dialogauge):
    done = dialogauge("score", LOGS, "--metrics", "overlap,length")
    assert done.code == 0
    assert "not measured: bleu, chrf, rouge_l and meteor (no references)\n" in done.err
    assert dialogauge("score", LOGS, "--metrics", "overlap").code == 2
    named = dialogauge("score", LOGS, "--metrics", "bleu,overlap,length")
    assert (named.code, named.out) == (2, "")
    assert "bleu needs references" in named.err


def test_replies_are_ranked_by_what_was_measured(dialogauge):
    done = dialogauge("score", LOGS, "--worst", 1)
    assert "the worst by ruber_unreferenced" in done.out
    assert "bertscore (it" not in done.err
    done = dialogauge("score", LOGS, "--metrics", "default,overlap", "--best", 1)
    assert "best by bleu" not in done.out
    assert done.code == 0


def test_the_list_shows_groups(dialogauge):
    shown = dialogauge("metrics").out
    assert "group overlap: bleu, chrf, rouge_l, meteor\n" in shown
    document = json.loads(dialogauge("metrics", "--format", "json").out)
    assert document["groups"]["overlap"] == ["bleu", "chrf", "rouge_l", "meteor"]
    of_bleu = next(record for record in document["metrics"] if record["name"] == "bleu")
    assert of_bleu["groups"] == "all, overlap"


def test_an_encoder_that_cannot_do_what_a_default_asks_for(dialogauge, tmp_path):
    (tmp_path / "words.txt").write_text("i 1 0\nyou 0 1\n")
    done = dialogauge("score", EVERYDAY, "--real", PEOPLE, "--encoder", f"static:{tmp_path / 'words.txt'}")
    assert done.code == 0
    assert "ruber_unreferenced (was trained with the encoder minilm" in done.err
    assert "bertscore (bertscore needs an encoder that reads tokens in context" in done.err
    assert "fbd and mmd (the encoder words@" in done.err
    assert dialogauge("score", EVERYDAY, "--encoder", "no-such-encoder").code == 2


def test_weights_that_are_nowhere_to_be_found(dialogauge, monkeypatch):
    minilm = find.KNOWN["minilm"]
    monkeypatch.setitem(find.KNOWN, "minilm", replace(minilm, package=lambda: None, hub="no/such-model"))
    monkeypatch.delenv("DIALOGAUGE_MODELS", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = dialogauge("score", EVERYDAY, "--format", "json")
    assert (done.code, columns(done)) == (0, ["distinct", "length"])
    assert "bertscore (no encoder 'minilm': looked for it" in done.err
    assert dialogauge("score", EVERYDAY, "--metrics", "bertscore").code == 2


def test_texts_in_another_language(dialogauge, tmp_path):
    german = tmp_path / "deutsch.jsonl"
    reply = "das ist nicht so gut, wie ich es haben will"
    record = {"context": ["was ist das und wie geht es dir?"], "response": reply, "references": [reply]}
    german.write_text("".join(json.dumps({**record, "id": str(number)}) + "\n" for number in range(20)))
    done = dialogauge("score", german, "--format", "json")
    assert columns(done) == ["distinct", "length"]
    assert "(made for English, and most texts are in another language)" in done.err


def test_a_stream_is_looked_at_as_far_as_it_is_kept(dialogauge, tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 40)
    path = tmp_path / "long.jsonl"
    lines = [{"response": f"well {number}"} for number in range(100)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"response": "so", "references": ["so"]}]))
    done = dialogauge("score", path, "--format", "json")
    assert columns(done) == ["distinct", "length"]
    assert "bertscore (no references in the first 41 turns)" in done.err

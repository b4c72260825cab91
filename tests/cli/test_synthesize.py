"""dialogauge synthesize: every option, every wrong call."""

import json
import re

import pytest

from dialogauge.corpus.inference import read_inference
from dialogauge.learned.synthesis.options import Options
from tests.corpus.files import write, write_lines
from tests.learned.synthesis.test_synthesize import conversations

FACTS = ["i have a dog .", "i am old ."]


@pytest.fixture
def source(tmp_path):
    return conversations(tmp_path / "in.jsonl", 30)


@pytest.fixture
def make(dialogauge, source, tmp_path):
    """Makes pairs with the options given, all of one split unless they say otherwise."""

    def run(*options, file=None):
        out = tmp_path / "out.jsonl"
        done = dialogauge(
            "synthesize", "entailment", file or source, "--out", out, "--overwrite", "--splits", "1,0,0", *options
        )
        assert done.code == 0, done.err
        return done, list(read_inference(out))

    return run


def sources(pairs):
    return {pair.source for pair in pairs}


def test_the_summary_on_stdout(make):
    done, pairs = make()
    assert done.err == ""
    rows = {line.partition("  ")[0]: line.split() for line in done.out.splitlines()}
    # 30 dialogues of 5 turns: 150 of entailment, 398.4 neutral, 180.04 contradictory.
    assert rows["entailment"][1:] == ["150", "20.6%", "150", "20.6%", "20.6%"]
    assert rows["neutral"][1:] == ["398", "54.7%", "398", "54.7%", "54.7%"]
    assert rows["contradiction"][1:] == ["180", "24.7%", "180", "24.7%", "24.7%"]
    assert rows["total"][1:] == ["728", "100.0%", "728", "100.0%"]
    assert rows["neutral: generic"][2] == "40"
    assert len(pairs) == 728
    assert "paper: Dziri et al. 2019, table 1" in done.out


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_formats(make, form):
    shown = make("--format", form)[0].out
    starts = {"json": "{", "csv": "split,label,source", "markdown": "| pairs", "latex": "% needs"}
    assert shown.startswith(starts[form])
    assert json.loads(shown)["pairs"] == 728 if form == "json" else "728" in shown or form == "csv"


def test_history_pairs_and_seed(make):
    assert {len(pair.premise) for pair in make("--history", "1,3")[1]} == {1, 2, 3}
    assert len(make("--pairs", 100)[1]) == 100
    assert make("--seed", 1)[1] != make("--seed", 2)[1] == make("--seed", 2)[1]


def test_numbers_and_shares(make):
    counts = [pair.label for pair in make("--neutral", 1, "--contradiction", 2)[1]]
    assert [counts.count(label) for label in ("entailment", "neutral", "contradiction")] == [150, 150, 300]
    assert sources(make("--generic-share", 0)[1]) == {"next", "random", "salad"}
    exact = make("--salad-length", 0, "--salad-words", "1,0,0")[1]
    true = {(pair.dialogue, pair.premise): pair.hypothesis.split() for pair in exact if pair.source == "next"}
    for pair in exact:
        if pair.source == "salad":
            words = pair.hypothesis.split()
            assert len(words) == len(true[pair.dialogue, pair.premise])
            assert set(words) <= set(true[pair.dialogue, pair.premise])


def test_splits(dialogauge, source, tmp_path):
    done = dialogauge("synthesize", "entailment", source, "--out", tmp_path / "{split}.tsv", "--splits", "1,1,0")
    assert done.code == 0
    assert sorted(path.name for path in tmp_path.glob("*.tsv")) == ["train.tsv", "validation.tsv"]


def test_replies_of_ones_own(make, tmp_path):
    replies = write(tmp_path / "replies.txt", "aha\nquite so\n")
    found = {pair.hypothesis for pair in make("--generic", replies)[1] if pair.source == "generic"}
    assert found == {"aha", "quite so"}


def test_files_of_contradictions(make, tmp_path):
    table = "".join(f"p{place}\th{place}\tcontradiction\n" for place in range(200))
    nli = write(tmp_path / "nli.tsv", f"premise\thypothesis\tlabel\n{table}")
    pairs = make("--nli", nli)[1]
    assert sum(pair.source == "nli" for pair in pairs) == 90
    pairs = make("--nli", nli, "--nli-share", 0.1)[1]
    assert sum(pair.source == "nli" for pair in pairs) == 18


def test_facts(make, tmp_path):
    said = [{"utterances": [f"a{place}", f"b{place}", f"c{place} d"], "facts": FACTS} for place in range(20)]
    file = write_lines(tmp_path / "facts.jsonl", *said)
    against = write(tmp_path / "dnli.txt", "i have a dog .</s>i have no pets .</s>negative\n")
    pairs = make("--dialogue-nli", against, "--facts-share", 0.5, file=file)[1]
    found = [pair for pair in pairs if pair.source == "facts"]
    assert {pair.hypothesis for pair in found} == {"i have no pets ."}
    for share, shown in ((0, {False}), (1, {True})):
        premises = [pair.premise for pair in make("--with-facts", share, file=file)[1]]
        assert {list(premise[:2]) == FACTS for premise in premises} == shown


def test_statements(make, tmp_path):
    said = [{"utterances": [f"hi {place}", f"i like tea {place} .", "ok"]} for place in range(20)]
    file = write_lines(tmp_path / "said.jsonl", *said)
    assert {"negation", "restated"} <= sources(make("--negation-share", 0.3, "--restated-share", 0.3, file=file)[1])


def test_readers_and_invalid_lines(dialogauge, make, tmp_path):
    broken = write_lines(tmp_path / "x.jsonl", "{", *({"utterances": [f"a{i}", f"b{i}"]} for i in range(3)))
    done = dialogauge("synthesize", "entailment", broken, "--out", tmp_path / "y.jsonl")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{broken}:1: not valid JSON")
    done, _ = make("--skip-invalid", "--reader", "conversations", file=broken)
    assert "1 line left out" in done.err


def test_an_unknown_corpus(dialogauge):
    done = dialogauge("synthesize", "entailement", "x", "--out", "y")
    assert (done.code, done.err) == (2, "unknown corpus to synthesize 'entailement'; did you mean entailment?\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--history", "two"], "--history: expected numbers, as 1,2,3, found 'two'"),
        (["--history", "1.5"], "--history: expected whole numbers, as 1,2,3, found '1.5'"),
        (["--history", "0"], "history: expected a whole number from 1 to 1,000,000, found 0"),
        (["--splits", "1,0"], "splits: expected three shares"),
        (["--salad-words", "1,x,1"], "--salad-words: expected numbers"),
        (["--generic-share", "2"], "generic: expected a number from 0 to 1, found 2"),
        (["--nli-share", "0.5"], "--nli-share: no files to take them from; name some with --nli"),
        (["--facts-share", "0.5"], "--facts-share: no files to take them from; name some with --dialogue-nli"),
        (["--pairs", "0"], "pairs: expected a whole number from 1 to 1,000,000,000, found 0"),
        (["--out", ""], ".: is there and is not a plain file"),
        (["--out", "-"], "-: expected the name of a file"),
        (["--seed", "-1"], "seed: expected a whole number from 0"),
        (["--neutral", "much"], "usage: dialogauge synthesize"),
        ([], "nowhere.jsonl: no such file"),
    ],
)
def test_wrong_calls(dialogauge, tmp_path, options, message):
    done = dialogauge("synthesize", "entailment", "nowhere.jsonl", "--out", tmp_path / "x", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


@pytest.mark.parametrize(
    ("conversations", "message"),
    [
        ([], "expected"),
        ([{"utterances": ["alone"]}], "utterances left out; pairs are made from conversations of at least two"),
        (
            [{"utterances": ["a", "b", "c"]}],
            "would have 1 of 1 dialogue to make pairs from, expected at least 2",
        ),
    ],
)
def test_too_little_is_refused(dialogauge, tmp_path, conversations, message):
    file = write_lines(tmp_path / "in.jsonl", *conversations)
    done = dialogauge("synthesize", "entailment", file, "--out", tmp_path / "x", "--splits", "1,0,0")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not (tmp_path / "x").exists()


def test_help_says_the_defaults(dialogauge):
    shown = " ".join(dialogauge("synthesize", "--help").out.split())
    options = Options()
    assert "(default: 0.9,0.05,0.05)" in shown
    assert f"(default: {options.neutral:.3f})" in shown
    assert f"(default: {options.contradiction:.4f})" in shown
    for name, option in (("generic", "generic"), ("nli", "nli"), ("facts", "facts"), ("negation", "negation")):
        (default,) = re.findall(rf"--{option}-share S the share [^()]*\(default: ([0-9.]+)\)", shown)
        assert float(default) == getattr(options, name)

"""dialogauge reproduce ruber-table3 and ruber-table4."""

import json
from dataclasses import replace

import pytest

from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.papers.ruber import tables
from tests.papers.ruber.test_tables import QUICK, small_world


@pytest.fixture
def world(tmp_path):
    return small_world(tmp_path)


@pytest.fixture
def call(dialogauge, world):
    def run(what, *arguments, without=()):
        given = {
            "--corpora": world.folder,
            "--conversations": world.conversations[0],
            "--validation": world.validation[0],
            "--vectors": world.vectors,
            "--keep": world.keep,
        }
        usual = [part for option, value in given.items() if option not in without for part in (option, value)]
        return dialogauge("reproduce", what, *usual, *arguments)

    return run


def test_both_tables(call, world, monkeypatch):
    real = tables.RuberInputs.__init__

    def quick(self, *given, **named):
        real(self, *given, **named)
        assert self.base == RuberRecipe()
        object.__setattr__(self, "base", QUICK)

    monkeypatch.setattr(tables.RuberInputs, "__init__", quick)
    only = ("--only", "word2vec/rnn/ranking", "--seeds", 1)
    done = call("ruber-table3", *only, "--format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [(row["embedding"], row["authors_scores"]) for row in found["rows"]] == [
        ("word2vec", None),
        ("word2vec", "Ruber_Unref_Score"),
        ("bert", "CTX_Unref_Score"),
    ]
    before = (world.keep / "word2vec-rnn-ranking-0" / "card.json").stat().st_mtime_ns
    done = call("ruber-table4", *only, "--no-cache")
    assert done.code == 0, done.err
    assert "table 4 of Ghazarian et al. 2019" in done.out
    assert (world.keep / "word2vec-rnn-ranking-0" / "card.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("what", "arguments", "without", "message"),
    [
        ("ruber-table3", ["--only", "word2vec/rnn/rankin"], [], "did you mean word2vec/rnn/ranking"),
        ("ruber-table4", ["--only", "word2vec/max/ranking"], [], "unknown row of the BERT-RUBER paper's table 4"),
        ("ruber-table3", ["--only", ","], [], "--only: expected a name, found none"),
        ("ruber-table3", ["--seeds", "0"], [], "seeds: expected a whole number from 1 to 1,000, found 0"),
        ("ruber-table3", [], ["--conversations"], "--conversations: ruber-table3 needs DailyDialog's training file"),
        ("ruber-table4", [], ["--validation"], "--validation: ruber-table4 needs DailyDialog's validation file"),
        (
            "ruber-table3",
            ["--only", "word2vec/rnn/ranking"],
            ["--vectors"],
            "--vectors: expected a file of word vectors",
        ),
        ("ruber-table3", ["--vectors", "none.txt"], [], "no word vectors"),
        ("ruber-table3", ["--conversations", "none.txt"], [], "none.txt: no such file"),
        ("ruber-table3", ["--corpora", "none"], [], "none: no such folder"),
        ("ruber-table3", ["--keep", __file__], [], "networks cannot be kept here"),
        ("ruber-table3", ["--metrics", "bleu"], [], "--metrics: ruber-table3 has no use for it"),
        ("ruber-table3", ["--resamples", "7"], [], "--resamples: ruber-table3 has no use for it"),
        ("ruber-table3", ["--models", "minilm"], [], "--models: expected MODEL=ENCODER with one of bert-base-uncased"),
        ("ruber-table3", ["--models", "roberta-base=minilm"], [], "roberta-base"),
        ("table3", [], ["--conversations", "--validation"], "--keep: table3 has no use for it"),
        ("table3", ["--seeds", "3"], ["--conversations", "--validation", "--keep"], "--seeds: table3 has no use"),
        ("ruber-table5", [], [], "unknown table or figure 'ruber-table5'; did you mean ruber-table"),
    ],
)
def test_wrong_calls(call, world, what, arguments, without, message):
    only = ["--only", "word2vec/max/ranking"] if what == "ruber-table3" and "--only" not in arguments else []
    done = call(what, *only, *arguments, without=without)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not world.keep.exists()


def test_inputs_are_those_of_the_call(call, world, monkeypatch):
    seen = []
    monkeypatch.setattr(tables, "reproduce_ruber_table3", lambda inputs, **_: seen.append(inputs) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call("ruber-table3", "--only", " word2vec/max/ranking , word2vec/mean/cross_entropy", "--seeds", 2)
    with pytest.raises(ZeroDivisionError):
        call("ruber-table3", "--models", "bert-base-uncased=mpnet")
    assert seen[1].models == {"bert-base-uncased": "mpnet"}
    assert seen[1].names["bert"] == "mpnet"
    assert replace(seen[0], vectors=world.vectors, only=tuple(seen[0].only), base=QUICK) == world

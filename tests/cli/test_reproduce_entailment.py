"""dialogauge reproduce entailment-table1 and so on."""

import json

import pytest

from dialogauge.cli.reproduce import WHAT
from tests.encode.elmo.small import write_elmo
from tests.papers.entailment.world import small_world, without_shipped


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return small_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def call(dialogauge, world):
    def run(what, *arguments):
        with without_shipped():
            return dialogauge("reproduce", what, "--corpora", world, *arguments)

    return run


@pytest.fixture
def tiny(world):
    return ("--entailment-models", f"tiny={world.parent / 'model'}")


@pytest.fixture
def static(world):
    return ("--models", f"bert-base-uncased=static:{world.parent / 'vectors.txt'}")


def test_table_1(dialogauge, tmp_path):
    talk = tmp_path / "talk.jsonl"
    lines = [{"dialogue": f"d{i}", "utterances": [f"word{i} a{k} b{i * k}" for k in range(4)]} for i in range(100)]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = dialogauge("reproduce", "entailment-table1", "--conversations", talk, "--format", "json", "--seed", 5)
    assert done.code == 0, done.err
    assert json.loads(done.out)["options"]["seed"] == 5
    assert [path.name for path in tmp_path.iterdir()] == ["talk.jsonl"]


def test_table_2(call, tiny):
    done = call("entailment-table2", *tiny, "--thresholds", "0.4,0.6", "--only", "fed, grade-convai2")
    assert done.code == 0, done.err
    assert "above 0.6 entailment, below 0.4 contradiction" in done.out
    assert "GRADE ConvAI2" in done.out
    assert "overall impression, 0 to 2" not in done.out
    assert "warning: the paper's judgements of Reddit and OpenSubtitles are no longer to be had" in done.err


def test_table_3(call, tiny, static, world):
    vectors = world.parent / "vectors.txt"
    chosen = ("--only", "average/word2vec,entailment/tiny", "--vectors", vectors, "--resamples", 20, "--format", "csv")
    done = call("entailment-table3", *tiny, *static, *chosen)
    assert done.code == 0, done.err
    assert {line.split(",")[0] for line in done.out.splitlines()} == {"row", "average/word2vec", "entailment/tiny"}


def test_table_3_with_elmo(call, static, tmp_path):
    elmo = write_elmo(tmp_path / "elmo")
    chosen = ("--only", "ss_h1/elmo,average/elmo", "--elmo", elmo, "--resamples", 20)
    done = call("entailment-table3", *static, *chosen, "--format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {row["row"] for row in found["rows"] if row["pearson"] is not None} == {"ss_h1/elmo", "average/elmo"}
    assert all("enc:elmo:elmo@" in row["signature"] for row in found["rows"])
    assert "rows of ELMo: the mean of the layers of elmo@" in done.err
    (elmo / "weights.hdf5").unlink()
    done = call("entailment-table3", *static, *chosen)
    assert (done.code, done.out) == (2, "")
    assert f"{elmo / 'weights.hdf5'}: is not there" in done.err


def test_figure_1(call, tiny, tmp_path):
    done = call("entailment-figure1", *tiny, "--plot", tmp_path / "figure.png")
    assert done.code == 0, done.err
    assert "Hedges' g" in done.out
    assert (tmp_path / "figure.png").stat().st_size > 20_000


def test_figure_2(call, static, tmp_path):
    plot = tmp_path / "figure.svg"
    done = call("entailment-figure2", *static, "--only", "grade-convai2", "--plot", plot, "--resamples", 20)
    assert done.code == 0, done.err
    assert "Extrema (static:vectors.txt)" in done.out
    assert plot.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("what", "arguments", "message"),
    [
        ("entailment-table1", [], "--corpora: entailment-table1 has no use for it"),
        ("entailment-table2", [], "no entailment model"),
        ("entailment-table2", ["--entailment-models", "tiny"], "--entailment-models: expected NAME=DIR, found 'tiny'"),
        ("entailment-table2", ["--entailment-models", "a=none"], "none: no model here"),
        ("entailment-table2", ["--thresholds", "1"], "--thresholds: expected LOW,HIGH"),
        ("entailment-table2", ["--resamples", "7"], "--resamples: entailment-table2 has no use for it"),
        ("entailment-table2", ["--plot", "x.png"], "--plot: entailment-table2 has no use for it"),
        ("entailment-table3", ["--only", "ss_h3"], "unknown row of table 3 'ss_h3'; did you mean ss_h"),
        ("entailment-table3", ["--models", "roberta-base=minilm"], "--models: this paper has bert-base-uncased alone"),
        ("entailment-table3", ["--thresholds", "0,1"], "--thresholds: entailment-table3 has no use for it"),
        ("entailment-figure1", ["--only", ","], "--only: expected a name, found none"),
        ("entailment-figure1", ["--only", "usr"], "unknown rated corpus 'usr'"),
        ("entailment-figure1", ["--plot", "x.txt"], "cannot draw into this kind of file"),
        ("entailment-figure2", ["--only", "fed"], "unknown corpus of GRADE's 'fed'"),
        ("entailment-figure2", ["--vectors", "x"], "--vectors: entailment-figure2 has no use for it"),
        ("entailment-figure2", ["--corpora", "none"], "none: no such folder"),
        ("entailment-tabel3", [], "unknown table or figure 'entailment-tabel3'; did you mean entailment-table3"),
    ],
)
def test_wrong_calls(call, what, arguments, message):
    done = call(what, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize("what", ["entailment-table2", "table3", "ruber-table3"])
def test_the_folder_is_asked_for(dialogauge, what):
    done = dialogauge("reproduce", what)
    assert (done.code, done.out) == (2, "")
    assert f"--corpora: {what} needs the folder of rated files, found none" in done.err


def test_conversations_are_asked_for(dialogauge):
    done = dialogauge("reproduce", "entailment-table1")
    assert (done.code, done.out) == (2, "")
    assert "--conversations: entailment-table1 needs files of conversations" in done.err


def test_help_names_all(dialogauge):
    done = dialogauge("reproduce", "--help")
    assert done.code == 0
    for what in WHAT:
        assert f"  {what} " in done.out
    assert "--entailment-models ESIM=models/esim" in done.out

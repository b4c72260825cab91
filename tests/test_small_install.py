"""Without any extra: lexical metrics and word vectors work, and the rest says what to install."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dialogauge
from dialogauge.errors import NEURAL_PACKAGES, MissingPackage

EXAMPLES = str(Path(__file__).resolve().parents[1] / "examples" / "everyday.jsonl")
LEXICAL = ("score", EXAMPLES, "--metrics", "bleu,rouge_l,meteor,distinct,length", "--format", "json")
WORKS = {
    "lexical": LEXICAL,
    "compare": ("compare", EXAMPLES, "--metrics", "bleu", "--quiet"),
    "default": ("score", EXAMPLES, "--real", EXAMPLES),
    "groups": ("score", EXAMPLES, "--metrics", "overlap,embedding,learned"),
    "vectors": ("score", EXAMPLES, "--metrics", "embedding_average", "--encoder", "static:words.txt"),
    "metrics": ("metrics",),
    "encoders": ("encoders",),
    "doctor": ("doctor",),
}
NEEDS = {
    "bertscore": ("score", EXAMPLES, "--metrics", "bleu,bertscore"),
    "static:minilm": ("score", EXAMPLES, "--metrics", "embedding_average", "--encoder", "static:minilm"),
    "ruber": ("score", EXAMPLES, "--metrics", "ruber"),
    "entailment": ("score", EXAMPLES, "--metrics", "entailment"),
    "gauge": ("score", EXAMPLES, "--metrics", "gauge"),
    "train ruber": ("train", "ruber", EXAMPLES, "--out", "model"),
    "train entailment": ("train", "entailment", EXAMPLES, "--out", "model"),
    "train gauge": ("train", "gauge", EXAMPLES, "--out", "model"),
    "ruber-table3": ("reproduce", "ruber-table3", "--corpora", "."),
}
PARQUET = {
    "out": ("score", EXAMPLES, "--metrics", "bleu", "--out", "run"),
    "shard": ("score", EXAMPLES, "--metrics", "bleu", "--shard", "1/2", "--out", "run"),
    "correlate": ("correlate", EXAMPLES, "--metrics", "bleu", "--out", "run"),
    "file": ("score", "turns.parquet"),
    "store": ("score", "s3://bucket/turns.jsonl"),
    "report": ("report", "kept", "--out", "report.html"),
}
PROGRAM = f"""
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
sys.modules.update(dict.fromkeys({(*NEURAL_PACKAGES, "pyarrow")!r}))  # None: as if it were not installed
from dialogauge.cli.main import main
done = {{}}
for name, call in json.load(sys.stdin).items():
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(call)
    done[name] = code, out.getvalue(), err.getvalue()
json.dump(done, sys.stdout)
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """What each call gives in a process that has none of the packages: code, stdout and stderr."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "words.txt").write_text("".join(f"{word} {i} 1 {i * i}\n" for i, word in enumerate(["i", "the", "you"])))
    pq.write_table(pa.table({"response": ["fine, and you?"]}), folder / "turns.parquet")
    dialogauge.evaluate(EXAMPLES, "bleu").save(folder / "kept")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(WORKS | NEEDS | PARQUET),
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", WORKS)
def test_what_works(without, name):
    code, out, _ = without[name]
    assert code == 0
    assert out


def test_groups_and_the_default_set_leave_out_what_is_missing_and_say_what_to_install(without):
    hint = "(without the package torch: pip install 'dialogauge[neural]')"
    _, out, err = without["default"]
    assert out.split("\n")[0].split() == ["system", "turns", "distinct", "↑", "length"]
    assert err.startswith("not measured: ")
    assert f"bertscore, fbd and mmd {hint}\n" in err
    _, out, err = without["groups"]
    assert out.split()[2::2][:4] == ["bleu", "chrf", "rouge_l", "meteor"]
    assert f"entailment {hint}\n" in err


def test_lexical_scores_are_the_same(without, capsys):
    from dialogauge.cli.main import main

    assert main(LEXICAL) == 0
    assert without["lexical"][1] == capsys.readouterr().out


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_the_extra_says_so_in_a_line(without, name):
    code, out, err = without[name]
    assert (code, out) == (1, "")
    assert err.endswith(" needs the package torch: pip install 'dialogauge[neural]'\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", PARQUET)
def test_what_needs_pyarrow_says_so_in_a_line(without, name):
    code, out, err = without[name]
    assert (code, out) == (1, "")
    assert err.endswith(" needs the package pyarrow: pip install 'dialogauge[parquet]'\n")
    assert err.count("\n") == 1


def test_who_needs_it_is_named(without):
    assert without["bertscore"][2].startswith("the encoder 'minilm' needs")
    assert without["ruber"][2].startswith("a trained model (ruber) needs")
    assert without["train ruber"][2].startswith("dialogauge train ruber needs")


def test_training_from_python(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackage, match=r"^dialogauge\.train_ruber needs the package torch"):
        _ = dialogauge.train_ruber

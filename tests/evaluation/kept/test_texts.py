"""The texts that a kept run holds beside its numbers."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

import dialogauge
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import compare_runs, evaluate
from dialogauge.evaluation.kept.saved import kept_texts
from dialogauge.evaluation.kept.texts import ROWS, TextsOfParts

TURNS = [
    Turn("1", "fine", ("hi", "how are you?"), ("great", "so so"), "a", {"overall": (4.0, None), "fun": (1.5,)}, "d1"),
    Turn("1", "", (), (), "b", facts=("it rains",)),
    Turn("2", "</script> \u2028 שלום 😀 [1]", ('["not a list"]',), (), "a"),
]


def written(path, turns):
    fields = ("id", "system", "response", "context", "references")
    lines = [json.dumps({name: getattr(turn, name) for name in fields}) + "\n" for turn in turns]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_every_turn_comes_back_in_the_order_of_the_corpus(tmp_path):
    run = evaluate(Corpus(TURNS), "length").save(tmp_path / "run")
    assert list(kept_texts(run)) == TURNS
    assert json.loads((run / "run.json").read_text())["texts"] is True
    columns = ["id", "system", "dialogue", "context", "response", "references", "facts", "ratings"]
    assert list(pd.read_parquet(run / "texts.parquet")) == columns


def test_the_file_is_a_corpus_by_itself(tmp_path):
    run = evaluate(Corpus(TURNS), "length").save(tmp_path / "run")
    assert dialogauge.load(run / "texts.parquet").turns == TURNS


def test_only_what_was_scored(tmp_path):
    result = evaluate(Corpus(TURNS), "length", systems=["b"])
    assert list(result.texts) == [TURNS[1]]
    assert list(kept_texts(result.save(tmp_path / "run"))) == [TURNS[1]]


def test_users_of_chat_logs_are_context_only(tmp_path):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    result = evaluate(tmp_path / "log.jsonl", "length")
    assert [(turn.context, turn.response) for turn in result.texts] == [(("hi",), "hello")]


def test_left_out(tmp_path):
    run = evaluate(Corpus(TURNS), "length").save(tmp_path / "run", texts=False)
    assert not (run / "texts.parquet").exists()
    assert json.loads((run / "run.json").read_text())["texts"] is False
    assert kept_texts(run) is None


def test_a_run_from_before_there_were_texts(tmp_path):
    turns = [Turn(str(i), f"hello {i}", (f"q{i}",)) for i in range(12)]
    new, old = (evaluate(Corpus(turns), "length").save(tmp_path / name) for name in ("new", "old"))
    record = json.loads((old / "run.json").read_text())
    del record["texts"]
    (old / "run.json").write_text(json.dumps(record))
    (old / "texts.parquet").unlink()
    assert kept_texts(old) is None
    assert compare_runs([old, new], resamples=5).pairs
    evaluate(Corpus(turns), "length").save(old, overwrite=True)
    assert list(kept_texts(old)) == turns


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")])
def test_texts_that_are_not_whole(tmp_path, spoil):
    run = evaluate(Corpus(TURNS), "length").save(tmp_path / "run")
    spoil(run / "texts.parquet")
    with pytest.raises(InputError, match=r"run: is not a whole run: texts\.parquet: "):
        list(kept_texts(run))
    with pytest.raises(InputError, match="is not a whole run"):
        kept_texts(tmp_path / "nowhere")


def test_half_of_a_surrogate_pair(tmp_path):
    turns = [replace(TURNS[0], response="a \ud83d b"), TURNS[1]]
    run = evaluate(Corpus(turns), "length").save(tmp_path / "run")
    assert list(kept_texts(run)) == [replace(TURNS[0], response="a \ufffd b"), TURNS[1]]


def test_a_long_stream_writes_its_texts_as_they_pass(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    turns = [Turn(str(i), f"reply {i}", (f"q{i}",), (), "ab"[i % 2]) for i in range(2 * ROWS + 50)]
    path = written(tmp_path / "turns.jsonl", turns)
    result = evaluate(dialogauge.stream(path), "length", keep_texts=True)
    assert isinstance(result.texts, TextsOfParts)
    for name in ("first", "second"):
        assert list(kept_texts(result.save(tmp_path / name))) == turns
    assert list(result.texts) == turns
    # The systems that are not asked for never reach the file, though the one asked for comes late.
    late = written(tmp_path / "late.jsonl", sorted(turns, key=lambda turn: turn.system))
    chosen = evaluate(dialogauge.stream(late), "length", keep_texts=True, systems=["b"])
    assert list(chosen.texts) == turns[1::2]


def test_a_long_stream_keeps_none_unless_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 1)
    result = evaluate(dialogauge.stream(written(tmp_path / "turns.jsonl", TURNS)), "length")
    assert result.texts is None
    run = result.save(tmp_path / "run")
    assert json.loads((run / "run.json").read_text())["texts"] is False
    # A corpus in memory has its texts at hand, however large it is.
    assert list(evaluate(Corpus(TURNS), "length").texts) == TURNS


KILLED_IN_A_STREAM = """
import os, signal, sys
import dialogauge
from dialogauge.evaluation import measure

measure.ROWS_FIT = 100
from dialogauge.evaluation.measuring import stream; stream.STREAM_BATCH = 5000

@dialogauge.metric("deadly")
def deadly(turn):
    if turn.response == "reply 9000":
        print("killed", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0

dialogauge.evaluate(dialogauge.stream(sys.argv[1]), [deadly], keep_texts=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open cannot be without a name")
def test_killed_in_a_stream_nothing_is_left(tmp_path):
    path = written(tmp_path / "turns.jsonl", [Turn(str(i), f"reply {i}", (f"q{i}",)) for i in range(10_000)])
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-c", KILLED_IN_A_STREAM, str(path)]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "killed\n")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_names_to_show_change_no_texts():
    result = evaluate(Corpus(TURNS), "length")
    assert result.renamed({"a": "Ours"}).texts is result.texts

"""Files in, files out: what was made is what is read back, whole or not at all."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dialogauge.corpus.inference import read_inference
from dialogauge.errors import InputError
from dialogauge.learned.synthesis import Options, synthesize_entailment
from dialogauge.learned.synthesis.synthesize import write_pairs
from tests.corpus.files import write, write_lines
from tests.learned.synthesis.synthesis_dialogues import pairs, turns

ONE = Options(splits=(1, 0, 0))
THREE = Options(splits=(2, 1, 1))
PROGRAM = [sys.executable, "-m", "dialogauge", "synthesize", "entailment"]


def conversations(path, count=40, utterances=6):
    by_name = {turn.dialogue: [*turn.context, turn.response] for turn in turns(count, utterances)}
    return write_lines(path, *({"dialogue": name, "utterances": said} for name, said in by_name.items()))


@pytest.fixture
def source(tmp_path):
    return conversations(tmp_path / "in.jsonl")


def read(path):
    return list(read_inference(path))


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.tsv", "x.txt.gz", "x"])
def test_what_is_read_back_is_what_was_made(source, tmp_path, name):
    out = tmp_path / "new" / name
    result = synthesize_entailment(source, out, THREE)
    expected = pairs(turns(40, 6), THREE)
    assert read(out) == expected
    assert result.pairs == len(expected)
    assert list(out.parent.iterdir()) == [out]
    content = gzip.decompress(out.read_bytes()) if name.endswith(".gz") else out.read_bytes()
    assert not name.endswith(".gz") or out.read_bytes()[4:8] == bytes(4)  # no time
    assert content.startswith(b"index\tpromptID\t" if "t" in name.partition(".")[2][:1] else b'{"premise": ')


def test_texts_that_a_table_cannot_hold(tmp_path):
    odd = [["one\ttwo  three", "four\nfive\u2028six\x85", " \u202eseven "], ["eight", "nine\r\nten"]]
    source = write_lines(tmp_path / "in.jsonl", *({"utterances": said} for said in odd))
    for name in ("x.jsonl", "x.tsv"):
        synthesize_entailment(source, tmp_path / name, ONE)
    exact, flat = read(tmp_path / "x.jsonl"), read(tmp_path / "x.tsv")
    assert ("one\ttwo  three", "four\nfive\u2028six") in {pair.premise for pair in exact}
    assert ("one two  three", "four five six") in {pair.premise for pair in flat}
    assert len(exact) == len(flat)
    # What could harm a terminal is an escape in JSON, and itself when read.
    assert "\\u202eseven" in (tmp_path / "x.jsonl").read_text()
    assert any(pair.hypothesis == "\u202eseven" for pair in exact)


def test_a_file_for_each_split(source, tmp_path):
    result = synthesize_entailment(source, tmp_path / "{split}.tsv", THREE)
    found = {split: read(tmp_path / f"{split}.tsv") for split in ("train", "validation", "test")}
    expected = pairs(turns(40, 6), THREE)
    for split, listed in found.items():
        assert listed == [pair for pair in expected if pair.split == split]
    assert result.files == {split: tmp_path / f"{split}.tsv" for split in found}
    synthesize_entailment(source, tmp_path / "{split}" / "x.tsv", THREE)
    assert (tmp_path / "test" / "x.tsv").read_bytes() == (tmp_path / "test.tsv").read_bytes()
    with pytest.raises(InputError, match=r"expected no braces in the name, but for \{split\}; found \{spilt\}"):
        synthesize_entailment(source, tmp_path / "{spilt}.tsv")


def test_files_of_contradictions(source, tmp_path):
    nli = write(tmp_path / "nli.tsv", "premise\thypothesis\tlabel\na\tb\tcontradiction\na\tc\tentailment\n")
    result = synthesize_entailment(source, tmp_path / "x.jsonl", ONE, nli=nli)
    assert [(p.premise, p.hypothesis) for p in read(tmp_path / "x.jsonl") if p.source == "nli"] == [(("a",), "b")]
    assert [caveat.code for caveat in result.caveats] == ["few_of_source"]
    write(nli, "premise\thypothesis\tlabel\na\tc\tentailment\n")
    with pytest.raises(InputError, match="expected contradictions, found none"):
        synthesize_entailment(source, tmp_path / "y.jsonl", ONE, nli=nli)


def test_nothing_is_overwritten_unasked(source, tmp_path):
    out = tmp_path / "train.jsonl"
    out.write_text("mine")
    with pytest.raises(InputError, match="is there already and was left as it is"):
        synthesize_entailment(tmp_path / "nowhere.jsonl", tmp_path / "{split}.jsonl", THREE)
    assert out.read_text() == "mine"
    synthesize_entailment(source, tmp_path / "{split}.jsonl", THREE, overwrite=True)
    assert read(out)
    given = source.read_bytes()
    with pytest.raises(InputError, match="is what is read, and is not overwritten"):
        synthesize_entailment(source, source, THREE, overwrite=True)
    assert source.read_bytes() == given
    (tmp_path / "link").symlink_to(source)
    for name in ("link", ".", "in.jsonl/x"):
        with pytest.raises(InputError, match="not a plain file|part of its path is a file"):
            synthesize_entailment(source, tmp_path / name, THREE, overwrite=True)


def test_a_file_that_comes_up_meanwhile_is_left(tmp_path):
    def meanwhile():
        yield from pairs(turns(3))
        (tmp_path / "x.jsonl").write_text("mine")

    with pytest.raises(InputError, match="is there already and was left as it is"):
        write_pairs(meanwhile(), {"train": tmp_path / "x.jsonl"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.jsonl", "mine")]


def test_where_writing_fails_nothing_is_left(source, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        synthesize_entailment(source, tmp_path / "new" / "{split}.jsonl", THREE)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_killed_process_leaves_no_half_file(tmp_path):
    source, out = conversations(tmp_path / "in.jsonl", 300, 30), tmp_path / "new" / "x.jsonl"
    more = ["--history", "1,2,3,4,5,6,7,8", "--splits", "1,0,0", "--out", str(out)]
    with subprocess.Popen([*PROGRAM, str(source), *more], stdout=subprocess.DEVNULL) as process:
        for _ in range(2000):
            started = [file for file in out.parent.rglob("*") if file.is_file() and file.stat().st_size > 100_000]
            if started or process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -9
    assert started
    assert not [file for file in out.parent.iterdir() if not file.name.startswith(".")]


def test_same_bytes_whatever_python_hashes(source, tmp_path):
    made = {}
    for name, seed, hashes in (("a", "3", "1"), ("b", "3", "2"), ("c", "4", "1")):
        out = tmp_path / f"{name}.jsonl.gz"
        call = [*PROGRAM, str(source), "--out", str(out), "--seed", seed, "--splits", "2,1,1"]
        subprocess.run(call, env={**os.environ, "PYTHONHASHSEED": hashes}, check=True, capture_output=True)
        made[name] = out.read_bytes()
    assert made["a"] == made["b"]
    assert made["a"] != made["c"]


@pytest.mark.slow
def test_pairs_are_not_held_in_memory(tmp_path):
    """The larger file has 75 MB; held as pairs it would take more."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to measure the peak of one process")
    source = conversations(tmp_path / "in.jsonl", 100, 30)
    program = """
import sys
from pathlib import Path
from dialogauge.learned.synthesis import Options, synthesize_entailment
def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
source, out = sys.argv[1:]
peaks = []
for pairs in (1_000, 40_000):
    options = Options(splits=(1, 0, 0), history=(26, 27, 28), neutral=10, pairs=pairs)
    assert synthesize_entailment(source, out, options, overwrite=True).pairs == pairs
    peaks.append(peak())
print(peaks[1] - peaks[0])
"""
    out = tmp_path / "x.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", program, str(source), str(out)], check=True, capture_output=True, text=True
    )
    assert out.stat().st_size > 20e6
    assert float(done.stdout) < 4


def test_the_summary_counts_what_was_written(source, tmp_path):
    result = synthesize_entailment(source, tmp_path / "x.jsonl", THREE)
    found = read(tmp_path / "x.jsonl")
    document = json.loads(result.render("json"))
    assert document["schema"] == "dialogauge.synthesis/1"
    assert document["pairs"] == len(found)
    assert document["inputs"][0]["path"] == str(source)
    assert document["options"]["seed"] == 0
    for row in document["counts"]:
        of_split = [pair for pair in found if pair.split == row["split"]]
        of_row = [pair for pair in of_split if pair.label == row["label"] and row["source"] in ("", pair.source)]
        assert row["pairs"] == len(of_row)
        assert row["share"] == len(of_row) / len(of_split)
    train = {row["label"]: row["paper_share"] for row in document["counts"][:3]}
    assert {label: round(share, 3) for label, share in train.items()} == {
        "entailment": 0.206,
        "neutral": 0.547,
        "contradiction": 0.247,
    }
    lines = result.render("csv").splitlines()
    assert lines[0] == "split,label,source,pairs,share,paper_share"
    assert len(lines) == 1 + 3 * 7

"""Names on the command line that lead to no plain file, that are no UTF-8, or that a terminal would obey."""

import os
import shutil
from pathlib import Path

import pytest

from dialogauge.tables import printable

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u200b\U000e0041"
JUDGE = "judge[prompt=./{odd},model=m,url=http://127.0.0.1:1/v1]"
SCORE = ("score", "{turns}", "--metrics", "length", "--resamples", "5")
PLAIN = "is there and is not a plain file"


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("score", "{odd}", "--metrics", "length"), "is not a regular file"),
        (("score", "{turns}", "--metrics", "length,{odd}.py:asks"), "not a plain file"),
        (("score", "{turns}", "--metrics", "fbd", "--real", "{odd}"), "is not a regular file"),
        (("score", "{turns}", "--metrics", JUDGE), "no such prompt"),
        ((*SCORE, "--plot", "{odd}.svg"), PLAIN),
        ((*SCORE, "--html", "{odd}"), PLAIN),
        ((*SCORE, "--out", "{odd}", "--overwrite"), "is there and is not a directory"),
        (("perturb", "{turns}", "--kind", "noise", "--ratio", "0.5", "--out", "{odd}", "--overwrite"), PLAIN),
        (("correlate", "{turns}", "--metrics", "length", "--ratings", "{odd}"), "is not a regular file"),
        (("rate", "{turns}", "--study", "study", "--instructions", "{odd}"), "not a plain file"),
        (("verify", "{odd}"), "expected a directory"),
        (("merge", "{odd}"), "is no shard"),
    ],
)
def test_what_is_no_plain_file_is_neither_waited_for_nor_read(
    dialogauge, responses, tmp_path, monkeypatch, kind, call, said
):
    monkeypatch.chdir(tmp_path)
    for name in ("odd", "odd.py", "odd.svg"):
        if kind == "pipe":
            os.mkfifo(name)
        else:
            Path(name).symlink_to("/dev/zero")
    before = set(tmp_path.iterdir())
    done = dialogauge(*(part.format(turns=responses, odd="odd") for part in call))
    assert done.code in (1, 2)
    assert "odd" in done.err
    assert said in done.err
    assert done.err.count("\n") == 1
    assert set(tmp_path.iterdir()) == before


def test_names_of_files_that_a_terminal_would_obey(dialogauge, responses, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(responses, f"{EVIL}.jsonl")
    (tmp_path / f"bad{EVIL}.jsonl").write_text('{"response": 3}\n{"response": "a"}\n')
    out = ("--out", f"run{EVIL}", "--html", f"page{EVIL}.html", "--plot", f"plot{EVIL}.svg")
    calls = [
        (0, "score", f"{EVIL}.jsonl", "--metrics", "length", *out),
        (2, "score", f"{EVIL}.jsonl", "--metrics", "length", *out),
        (2, "score", f"missing{EVIL}.jsonl", "--metrics", "length"),
        (2, "score", f"bad{EVIL}.jsonl", "--metrics", "length"),
        (0, "score", f"bad{EVIL}.jsonl", "--metrics", "length", "--skip-invalid"),
        (2, "score", f"{EVIL}.jsonl", "--metrics", f"length,{EVIL}.py:asks"),
        (2, "score", f"{EVIL}.jsonl", "--metrics", f"embedding_average[encoder=static:{EVIL}]"),
        (0, "score", f"{EVIL}.jsonl", "--metrics", "length", "--shard", "1/2", "--out", f"shard{EVIL}"),
        (0, "verify", f"run{EVIL}"),
        (2, "verify", f"none{EVIL}"),
        (0, "report", f"run{EVIL}", "--out", f"again{EVIL}.html"),
    ]
    for code, *call in calls:
        done = dialogauge(*call)
        assert done.code == code, done.err
        assert printable(done.out + done.err, keep="\n") == done.out + done.err


def test_names_that_are_no_utf8(dialogauge, responses, tmp_path, monkeypatch):
    """Linux lets them be any bytes."""
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"n\xff")
    try:
        shutil.copy(responses, f"{name}.jsonl")
    except OSError:
        pytest.skip("needs a file system that takes any bytes")
    call = ("score", f"{name}.jsonl", "--metrics", "length", "--resamples", "5")
    call = (*call, "--out", name, "--plot", f"{name}.svg", "--html", f"{name}.html")
    assert dialogauge(*call).code == 0
    written = {tmp_path / f"{name}{suffix}" for suffix in ("", ".jsonl", ".svg", ".html")}
    assert set(tmp_path.iterdir()) == {responses, *written}
    again = dialogauge(*call)
    assert again.code == 2
    assert again.err.startswith("n\\udcff: is there already")
    assert dialogauge(*call, "--overwrite").code == 0
    assert dialogauge("verify", name).code == 0
    assert set(tmp_path.iterdir()) == {responses, *written}

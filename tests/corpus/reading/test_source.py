import gzip
import hashlib
import os

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.reading.source import decode, raw_lines
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write, write_lines


def lines(path):
    return [(number, decode(raw, path, number)) for number, raw in raw_lines(path)]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_only_a_line_feed_ends_a_line(tmp_path, name):
    # U+2028, U+0085 and a lone carriage return end a line for str.splitlines, not for JSON lines.
    path = write(tmp_path / name, "\ufeffa\u2028b\x85c\rd\x0ce\r\n\nlast")
    assert lines(path) == [(1, "a\u2028b\x85c\rd\x0ce"), (2, ""), (3, "last")]


def test_a_byte_order_mark_inside_the_text_is_text(tmp_path):
    assert lines(write(tmp_path / "a", "a\n\ufeffb\n")) == [(1, "a"), (2, "\ufeffb")]


def test_a_very_long_line_is_a_line(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"response": "x" * 1_000_000, "note": "z" * 3_000_000}, {"response": "y"})
    assert [len(turn.response) for turn in load(path)] == [1_000_000, 1]


def test_gzip_is_recognised_by_its_bytes(tmp_path):
    path = tmp_path / "named.jsonl"
    path.write_bytes(gzip.compress(b'{"response": "a"}\n'))
    assert [turn.response for turn in load(path)] == ["a"]


def test_the_hash_is_of_the_bytes_on_disk(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", '{"response": "a"}\n')
    (file,) = load(path).files
    assert file.path == str(path)
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file.reader == "jsonl"


def test_missing_file(tmp_path):
    assert refusal(tmp_path / "none.jsonl") == ": no such file"
    assert refusal(tmp_path / "none.jsonl", reader="csv") == ": no such file"
    path = write(tmp_path / "responses.jsonl", '{"response": "a"}\n')
    assert refusal(tmp_path / "response.json") == f": no such file; did you mean {path}?"
    assert refusal(tmp_path / "x" / "a.json") == f": no such file; there is no directory {tmp_path / 'x'}"


@pytest.mark.parametrize("reader", [None, "csv"])
def test_a_path_that_cannot_be_looked_up(tmp_path, reader):
    assert refusal(tmp_path / ("x" * 5000), reader=reader) == ": cannot be read: File name too long"


def test_directory(tmp_path):
    assert refusal(tmp_path).startswith(": is a directory; expected a file, or ")
    assert refusal(tmp_path, reader="jsonl") == ": is a directory; expected a file"


def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert (
        refusal(tmp_path / "pipe") == ": is not a regular file; write its content to a file, or pipe it in and give -"
    )


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")], ids=str)
def test_unreadable_file(tmp_path, monkeypatch, error):
    # Simulated, since the superuser may read everything.
    path = write(tmp_path / "a.jsonl", "{}")

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(type(path), "open", fail)
    assert refusal(path) == f": cannot be read: {error.strerror}"


@pytest.mark.parametrize("content", ["", "\n", " \n\t\r\n", "\ufeff"])
def test_empty_file(tmp_path, content):
    assert refusal(write(tmp_path / "a.jsonl", content)) == ": expected turns, found an empty file"
    assert refusal(write(tmp_path / "a.jsonl.gz", content)) == ": expected turns, found an empty file"


@pytest.mark.parametrize("cut", [4, 20, 200])
def test_truncated_gzip(tmp_path, cut):
    path = write(tmp_path / "a.jsonl.gz", os.urandom(1000).hex() + "\n")
    path.write_bytes(path.read_bytes()[:-cut])
    assert refusal(path).startswith(": broken gzip file: ")


def test_gzip_that_breaks_after_the_head(tmp_path):
    # Stored without compression, so that the first 64 KiB can be read and only later bytes are bad.
    content = "".join('{"response": "%s"}\n' % ("x" * 990) for _ in range(300))
    raw = bytearray(gzip.compress(content.encode(), compresslevel=0))
    raw[200_000:200_010] = b"9999999999"
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(raw)
    assert refusal(path).startswith(": broken gzip file: CRC check failed")
    assert refusal(path, skip_invalid=True).startswith(": broken gzip file: CRC check failed")


def test_not_utf8(tmp_path):
    path = write(tmp_path / "a.jsonl", b'{"response": "a"}\n{"response": "caf\xe9"}\n')
    assert refusal(path) == ":2: expected UTF-8 text, found byte 0xe9 at position 18 of the line"


def test_utf16(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"response": "a"}\n'.encode("utf-16"))
    assert refusal(path).endswith("byte 0xff at position 1 of the line; it looks like UTF-16")


def test_no_file_at_all():
    with pytest.raises(InputError, match="expected at least one file"):
        load([])

"""Readers of other packages, whole and broken."""

import pytest

from dialogauge.cli.main import main
from dialogauge.corpus import load
from dialogauge.errors import InputError
from tests.corpus.files import write
from tests.installed import install

READERS = """
from dialogauge.corpus import Reader, Turn

def sniff(head):
    return head.first_line.startswith("Q: ")

def read(reading):
    question = ""
    for line, text in reading.lines():
        with reading.record(line):
            kind, _, said = text.partition(": ")
            if kind == "Q":
                question = said
            else:
                yield line, Turn(str(line), said, question, system=reading.system)

def fail(anything):
    raise KeyError("boom")

def yield_text(reading):
    yield "a turn"

qa = Reader("qa", "questions and answers", sniff, read)
moody = Reader("moody", "nothing", fail, fail)
odd = Reader("odd", "nothing", lambda head: False, yield_text)
wrong = Reader("right", " ", True, None)
other = "a text"
jsonl = Reader("jsonl", "JSON lines, read otherwise", lambda head: True, read)
"""
NAMES = ("qa", "moody", "odd", "wrong", "other", "jsonl")
WRONG = "its name is 'right', not 'wrong'; title: expected a line on what it reads, found ' '; sniff is no function"
REFUSED = {
    "jsonl": "the name is taken by dialogauge itself",
    "other": "it is no dialogauge.corpus.Reader",
    "wrong": f"{WRONG}; read is no function",
}


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    points = {"dialogauge.readers": {name: f"chat_readers:{name}" for name in NAMES}}
    install(tmp_path / "site", "chat-readers", points, chat_readers=READERS)
    monkeypatch.syspath_prepend(tmp_path / "site")


def refusal(name):
    return (
        f"reader '{name}' of the package chat-readers (chat_readers:{name}) cannot be used: {REFUSED[name]}."
        " Update or uninstall the package; docs/plug-ins.md says what plug-ins need"
    )


def failure(name, what):
    return f"the reader {name!r} of another package failed: {what}"


def test_a_file_that_only_a_plug_in_recognises_is_read_by_it(tmp_path):
    path = write(tmp_path / "bot.txt", "Q: hi\nA: hello\nQ: bye\nA: see you\n")
    corpus = load([path, write(tmp_path / "more.txt", "Q: hi\nA: yes\n")])
    assert [(turn.context, turn.response) for turn in corpus][:2] == [(("hi",), "hello"), (("bye",), "see you")]
    assert {file.reader for file in corpus.files} == {"qa"}
    told = [caveat.message for caveat in corpus.caveats]
    assert [message for message in told if "failed" not in message] == [refusal(name) for name in REFUSED]
    boom = failure("moody", "KeyError: 'boom'")
    assert f"{path}: {boom}" in told


def test_what_we_read_ourselves_is_read_without_looking_for_packages(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.plugins.entry_points", lambda **_: pytest.fail("looked for packages"))
    corpus = load(write(tmp_path / "a.jsonl", '{"response": "hello"}\n'))
    assert (corpus.files[0].reader, corpus.caveats) == ("jsonl", ())


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        ("moody", failure("moody", "KeyError: 'boom'")),
        ("odd", failure("odd", "TypeError: expected it to yield (line, Turn), found 'a turn'")),
    ],
)
def test_a_plug_in_that_fails_is_named_with_the_file(tmp_path, reader, message):
    path = write(tmp_path / "bot.txt", "A: hello\n")
    with pytest.raises(InputError) as error:
        load(path, reader=reader)
    assert str(error.value) == f"{path}: {message}"


def test_a_reader_that_is_asked_for_by_name(tmp_path, capsys):
    path = write(tmp_path / "bot.txt", "A: hello you\n")
    assert main(["score", str(path), "--reader", "qa", "--metrics", "length", "--format", "csv"]) == 0
    assert ",length,2.0," in capsys.readouterr().out
    assert main(["score", str(path), "--reader", "wrong", "--metrics", "length"]) == 2
    assert capsys.readouterr().err == refusal("wrong") + "\n"
    assert main(["score", str(path), "--reader", "qe", "--metrics", "length"]) == 2
    assert "unknown reader 'qe'; did you mean qa?" in capsys.readouterr().err


def test_a_file_that_nobody_recognises_names_the_plug_ins_that_might_have(tmp_path):
    with pytest.raises(InputError) as error:
        load(write(tmp_path / "bot.txt", "B: hello\n"))
    assert ", csv, parallel, moody, odd, qa; reader 'jsonl' of the package" in str(error.value)
    assert refusal("wrong") in str(error.value)


def test_a_reader_that_two_packages_have_is_said(tmp_path):
    install(tmp_path / "site", "more-readers", {"dialogauge.readers": {"qa": "chat_readers:qa"}})
    corpus = load(write(tmp_path / "bot.txt", "A: hello\n"), reader="qa")
    (told,) = corpus.caveats
    assert told.message.startswith(
        "reader 'qa' of the package more-readers (chat_readers:qa) cannot be used: the name is"
    )


LEAVING = """
import sys
from dialogauge.corpus import Reader, Turn

def leave(anything):
    sys.exit("enough")

def read(reading):
    print("on stdout, where results go")
    yield 1, Turn("1", "hello")

leaving = Reader("leaving", "nothing", leave, leave)
loud = Reader("loud", "hello", lambda head: False, read)
"""


def test_a_reader_that_leaves_or_prints(tmp_path, capsys):
    points = {name: f"leaving_readers:{name}" for name in ("leaving", "loud")}
    install(tmp_path / "site", "leaving", {"dialogauge.readers": points}, leaving_readers=LEAVING)
    path = write(tmp_path / "bot.txt", "B: hello\n")
    with pytest.raises(InputError, match="reader 'leaving' of another package failed: SystemExit: enough"):
        load(path)
    with pytest.raises(InputError, match="reader 'leaving' of another package failed: SystemExit: enough"):
        load(path, reader="leaving")
    assert [turn.response for turn in load(path, reader="loud")] == ["hello"]
    assert capsys.readouterr() == ("", "on stdout, where results go\n")

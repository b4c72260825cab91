import pytest

from dialogauge.corpus import Turn, load
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write

CONTEXTS = "hi|||how are you ?\nwhere to ?\tnorth\n\n"


def test_systems_with_contexts_and_references(tmp_path):
    write(tmp_path / "contexts.txt", CONTEXTS)
    write(tmp_path / "responses.bot-2.txt", "fine\n\nyes\n")
    write(tmp_path / "responses.a.txt.gz", "good\nsouth\nno\n")
    write(tmp_path / "references.1.txt", "well\tgreat\nup\n\n")
    write(tmp_path / "references.2.txt", "so so\n\n\n")
    write(tmp_path / "README.txt", "not a part\n")
    corpus = load(tmp_path)
    hi, north = ("hi", "how are you ?"), ("where to ?", "north")
    assert corpus.turns == [
        Turn("0", "good", hi, ("well", "great", "so so"), "a"),
        Turn("1", "south", north, ("up",), "a"),
        Turn("2", "no", (), (), "a"),
        Turn("0", "fine", hi, ("well", "great", "so so"), "bot-2"),
        Turn("1", "", north, ("up",), "bot-2"),
        Turn("2", "yes", (), (), "bot-2"),
    ]
    assert [(file.path.rpartition("/")[2], file.reader) for file in corpus.files] == [
        (name, "text")
        for name in (
            "contexts.txt",
            "references.1.txt",
            "references.2.txt",
            "responses.a.txt.gz",
            "responses.bot-2.txt",
        )
    ]


def test_responses_alone(tmp_path, monkeypatch):
    folder = tmp_path / "nightly"
    folder.mkdir()
    write(folder / "responses.txt", "a\nb\n")
    assert load(folder).turns == [Turn("0", "a", system="nightly"), Turn("1", "b", system="nightly")]
    monkeypatch.chdir(folder)
    assert load(".").systems == ("nightly",)


def test_lines_missing(tmp_path):
    contexts = write(tmp_path / "contexts.txt", "a\n")
    write(tmp_path / "responses.txt", "a\nb\n")
    for skip in (False, True):
        with pytest.raises(InputError, match=r"expected as many lines as in 'responses\.txt', found 1$") as caught:
            load(tmp_path, skip_invalid=skip)
        assert str(caught.value).startswith(f"{contexts}: ")


def test_a_line_that_is_not_utf8(tmp_path):
    path = write(tmp_path / "responses.txt", b"a\n\xff\nc\n")
    with pytest.raises(InputError, match="expected UTF-8 text") as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{path}:2: ")
    corpus = load(tmp_path, skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0", "a"), ("2", "c")]
    assert "1 line left out (responses.txt line 2: " in corpus.caveats[0].message


def test_one_file_each(tmp_path):
    write(tmp_path / "responses.a.txt", "a\n")
    write(tmp_path / "responses-a.txt", "a\n")
    assert (
        refusal(tmp_path) == ": expected one file of responses a system, found 'responses-a.txt' and 'responses.a.txt'"
    )
    (tmp_path / "responses-a.txt").unlink()
    for name in ("contexts.txt", "contexts.txt.gz"):
        write(tmp_path / name, "a\n")
    assert refusal(tmp_path) == ": expected one file of contexts, found 'contexts.txt' and 'contexts.txt.gz'"


def test_no_responses(tmp_path):
    assert refusal(tmp_path, reader="text") == ": expected a directory with responses.txt or responses.SYSTEM.txt"

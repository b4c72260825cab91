import hashlib

import pytest

from dialogauge.corpus import Turn, load
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write

SOURCE, TARGET = "a\nc\ne\n", "b\nd\nf\n"
PERSONA = "i read</s>i run\ni read</s>i run\ni cook\n"

CONTEXTS = "hi|||how are you ?\nwhere to ?\tnorth\n\n"


@pytest.mark.parametrize(
    ("source", "target", "persona"),
    [
        ("src-x.txt", "tgt-x.txt", "per-x.txt"),
        ("src-x.txt.gz", "tgt-x.txt.gz", "per-x.txt.gz"),
        ("src-x.txt.gz", "tgt-x.txt", "per-x.txt"),
        ("src-x.txt", "tgt-x.txt.gz", "per-x.txt.gz"),
        ("x.src", "x.tgt", "x.per"),
    ],
)
def test_with_personas(tmp_path, source, target, persona):
    paths = [write(tmp_path / name, text) for name, text in ((source, SOURCE), (target, TARGET), (persona, PERSONA))]
    corpus = load(paths[0])
    facts = ("i read", "i run")
    name = corpus.systems[0]
    assert name in ("src-x", "x.src")
    assert corpus.turns == [
        Turn("0:1", "b", ("a",), system=name, dialogue=f"{name}#0", facts=facts),
        Turn("0:2", "c", ("a", "b"), system=name, dialogue=f"{name}#0"),
        Turn("0:3", "d", ("a", "b", "c"), system=name, dialogue=f"{name}#0", facts=facts),
        Turn("2:1", "f", ("e",), system=name, dialogue=f"{name}#2", facts=("i cook",)),
    ]
    assert [(file.path, file.reader) for file in corpus.files] == [(str(path), "parallel") for path in paths]
    assert [file.sha256 for file in corpus.files] == [hashlib.sha256(p.read_bytes()).hexdigest() for p in paths]


@pytest.mark.parametrize("persona", [None, "\n \n\n"])
def test_without_personas_each_pair_is_a_dialogue(tmp_path, persona):
    path = write(tmp_path / "src-x.txt", SOURCE)
    write(tmp_path / "tgt-x.txt", TARGET)
    if persona:
        write(tmp_path / "per-x.txt", persona)
    assert [(turn.id, turn.context, turn.response) for turn in load(path)] == [
        ("0:1", ("a",), "b"),
        ("1:1", ("c",), "d"),
        ("2:1", ("e",), "f"),
    ]


def test_the_source_file_is_to_be_given(tmp_path):
    for name in ("src-x.txt", "tgt-x.txt", "per-x.txt"):
        write(tmp_path / name, SOURCE)
    for name in ("tgt-x.txt", "per-x.txt"):
        assert refusal(tmp_path / name) == (
            ": expected the source file of parallel files: 'src-x.txt'; the others are found from it"
        )
    other = write(tmp_path / "other.txt", SOURCE)
    assert refusal(other, reader="parallel") == (
        ": expected the source file of parallel files, named src-*.txt; the others are found from it"
    )


def test_no_target(tmp_path):
    path = write(tmp_path / "src-x.txt", SOURCE)
    assert refusal(path, reader="parallel") == (
        ": expected the target file 'tgt-x.txt' beside this source file, found none"
    )


def test_line_counts_that_differ(tmp_path):
    path = write(tmp_path / "src-x.txt", SOURCE)
    short = write(tmp_path / "tgt-x.txt", "b\nd\n")
    for skip in (False, True):
        with pytest.raises(InputError, match=r"expected as many lines as in 'src-x\.txt', found 2$") as caught:
            load(path, skip_invalid=skip)
        assert str(caught.value).startswith(f"{short}: ")


def test_a_line_that_is_not_utf8(tmp_path):
    path = write(tmp_path / "src-x.txt", SOURCE)
    target = write(tmp_path / "tgt-x.txt", b"b\n\xff\nf\n")
    with pytest.raises(InputError, match="expected UTF-8 text") as caught:
        load(path)
    assert str(caught.value).startswith(f"{target}:2: ")
    corpus = load(path, skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0:1", "b"), ("2:1", "f")]


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


def test_a_line_of_a_directory_that_is_not_utf8(tmp_path):
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

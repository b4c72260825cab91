import json

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.load import Loading
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write, write_lines


def test_several_files(tmp_path):
    one = write_lines(tmp_path / "one.jsonl", {"response": "a"})
    two = write(tmp_path / "two.csv", "response\nb\n")
    corpus = load([str(one), two])
    assert [(turn.system, turn.id, turn.response) for turn in corpus] == [
        ("one", "0", "a"),
        ("two", "0", "b"),
    ]
    assert [(file.path, file.reader) for file in corpus.files] == [(str(one), "jsonl"), (str(two), "csv")]
    assert corpus.caveats == ()


def test_a_path_may_be_text(tmp_path):
    assert len(load(str(write_lines(tmp_path / "one.jsonl", {"response": "a"})))) == 1


def test_a_named_system_may_be_spread_over_files(tmp_path):
    parts = [write_lines(tmp_path / f"{n}.jsonl", {"response": "a", "system": "bot"}) for n in range(3)]
    assert [(turn.system, turn.id) for turn in load(parts)] == [("bot", "0"), ("bot", "1"), ("bot", "2")]


def test_files_of_the_same_name_do_not_merge(tmp_path):
    paths = [tmp_path / "x" / "out.jsonl", tmp_path / "y" / "out.jsonl"]
    for path in paths:
        path.parent.mkdir()
        write_lines(path, {"response": "a"})
    with pytest.raises(InputError) as caught:
        load(paths)
    assert str(caught.value) == (
        f"{paths[1]}:1: id '0' of system 'out' stands already at {paths[0]}:1; are these two systems? Then rename one"
        " of the files; for two versions of one system, `dialogauge score` each file with --out and `dialogauge"
        " compare` the two runs"
    )


def test_two_files_with_turns_of_one_system(tmp_path):
    first, second = (write_lines(tmp_path / name, {"response": "a", "id": "1", "system": "s"}) for name in ("a", "b"))
    with pytest.raises(InputError, match="Then give one another `system`; for two versions"):
        load([first, second])
    with pytest.raises(InputError, match="id '1' of system 's' stands already at .*:1; the file is given twice$"):
        load([first, tmp_path / "." / "a"])


def test_duplicate_turns(tmp_path):
    path = write_lines(
        tmp_path / "a.jsonl",
        {"response": "a", "id": "x"},
        {"response": "b", "id": "x", "system": "other"},
        "",
        {"response": "c", "id": "x"},
    )
    message = f"id 'x' of system 'a' stands already at {path}:1; ids must differ"
    assert refusal(path) == f":4: {message}"
    corpus = load(path, skip_invalid=True)
    assert [turn.response for turn in corpus] == ["a", "b"]
    assert [caveat.message for caveat in corpus.caveats] == [f"{path}: 1 line left out (line 4: {message})"]


def test_an_id_that_is_the_position_of_a_turn_without_one(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"response": "a", "id": "1"}, {"response": "b"}, {"response": "c"})
    message = f"has no id, and the one made of its position, '1', stands already at {path}:1"
    assert refusal(path) == f":2: {message}; give all turns of system 'a' an id, or none"
    assert [turn.id for turn in load(path, skip_invalid=True)] == ["1", "2"]
    path = write_lines(tmp_path / "b.jsonl", {"response": "a"}, {"response": "b", "id": "0"})
    hint = "ids must differ, and a turn without one goes by its position, from 0"
    assert refusal(path) == f":2: id '0' of system 'b' stands already at {path}:1; {hint}"


def test_a_duplicate_left_out_takes_no_second_position(tmp_path):
    first, second = {"response": "a", "id": "0"}, {"response": "b", "id": "0"}
    path = write_lines(tmp_path / "a.jsonl", first, second, {"response": "c"})
    assert [(turn.id, turn.response) for turn in load(path, skip_invalid=True)] == [("0", "a"), ("2", "c")]


def test_lines_left_out_are_counted_and_keep_files_aligned(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        b'{"response": "0"}\n{"response": \n{"response": "2", "ratings": {"d": "x"}}\n{"response": "\xff"}\n'
        b'{"response": "4"}\n',
    )
    corpus = load(path, skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0", "0"), ("4", "4")]
    (caveat,) = corpus.caveats
    assert caveat.code == "skipped_lines"
    assert caveat.message == (
        f"{path}: 3 lines left out (line 2: not valid JSON: Expecting value at column 14; found "
        "'{\"response\": '; line 3: rating 'd': expected a number, null or \"N/A\", found the text 'x'; …)"
    )


def test_a_line_left_out_counts_for_its_own_system(tmp_path):
    records = [{"response": text, "system": system} for text in (None, "b") for system in "xy"]
    path = write_lines(tmp_path / "a.jsonl", {"response": "a", "system": "x"}, *records[1:], records[0])
    # x: "a", "b" and one that is left out; y: one that is left out, "b".
    assert [(turn.system, turn.id) for turn in load(path, skip_invalid=True)] == [
        ("x", "0"),
        ("x", "1"),
        ("y", "1"),
    ]


def test_nothing_valid_is_left(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"response": None}, {"response": 3})
    assert refusal(path, skip_invalid=True) == (
        ": expected turns, found none: 2 lines left out (line 1: response: expected text, found null; "
        "line 2: response: expected text, found the number 3)"
    )


@pytest.mark.parametrize("reader", [None, "jsonl"])
def test_a_missing_file_is_told_before_any_is_read(tmp_path, reader):
    good = write_lines(tmp_path / "good.jsonl", {"response": "a"})
    broken = write(tmp_path / "broken.jsonl", "broken\n")
    missing = tmp_path / "none.jsonl"
    for paths in ([good, missing], [broken, missing], [broken, good, missing, tmp_path / "none either"]):
        loading = Loading(paths, reader)
        with pytest.raises(InputError) as caught:
            next(loading.turns())
        assert str(caught.value) == f"{missing}: no such file"
        assert loading.files == []


def test_unknown_reader(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"response": "a"})
    with pytest.raises(InputError, match=r"^unknown reader 'jsnl'; did you mean jsonl"):
        load(path, reader="jsnl")


def test_turns_are_streamed(tmp_path):
    good = json.dumps({"response": "a"}) + "\n"
    turns = Loading([write(tmp_path / "a.jsonl", good * 10 + "broken\n")]).turns()
    assert [next(turns).id for _ in range(10)] == [str(n) for n in range(10)]
    with pytest.raises(InputError, match=r"a.jsonl:11: not valid JSON"):
        next(turns)


def test_progress_goes_to_stderr(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    path = write_lines(tmp_path / "a.jsonl", {"response": "a"}, {"response": "b"})
    assert len(load(path, progress=True)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "turn" in err
    load(path)
    assert capsys.readouterr() == ("", "")


LONG = "x" * 1_000_001


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"response": LONG}, "expected texts of at most 1,000,000 characters, found one of 1,000,001"),
        ({"response": "a", "context": ["b", LONG]}, "expected texts of at most 1,000,000 characters"),
        ({"response": "a", "references": ["b"] * 10_001}, "expected at most 10,000 utterances or texts, found 10,002"),
        ({"utterances": ["a"] * 10_001}, "expected at most 10,000 utterances or texts, found 10,001"),
        ({"utterances": ["a", LONG]}, "expected texts of at most 1,000,000 characters"),
        ("a __eou__ " * 10_001, "expected at most 10,000 utterances or texts, found 10,001"),
        ({"response": "a", **dict.fromkeys(map(str, range(10_000)), 1)}, "expected at most 10,000 columns or fields"),
        (",".join(["response", *map(str, range(10_000))]), "expected at most 10,000 columns, found 10,001"),
        ({"response": "a", "ratings": dict.fromkeys(map(str, range(10_001)), 1)}, "expected at most 10,000 rated"),
    ],
    ids=range(9),
)
def test_sizes_that_nobody_means_are_refused_with_their_line(tmp_path, content, message):
    path = write(tmp_path / "a", (content if isinstance(content, str) else json.dumps(content)) + "\n")
    assert refusal(path).startswith(f":1: {message}")


def test_what_is_too_large_can_be_left_out(tmp_path):
    lines = [{"utterances": ["a"] * 10_001}, {"utterances": ["a", "b"]}, {"utterances": ["a", LONG]}]
    corpus = load(write_lines(tmp_path / "a.jsonl", *lines), skip_invalid=True)
    assert [turn.id for turn in corpus] == ["1:1"]
    assert "2 lines left out (line 1: expected at most 10,000 utterances" in corpus.caveats[0].message


def test_a_stream_is_read_once(tmp_path):
    stream = Loading([write_lines(tmp_path / "one.jsonl", {"response": "a"})])
    assert len(list(stream.turns())) == 1
    with pytest.raises(InputError, match="^this stream was read already, and is read once; open another, or load"):
        list(stream.turns())

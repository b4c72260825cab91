import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write_lines


def item(**changes):
    return {"src": " hi ", "refs": ["ref"], "hyps": ["a", "b"], "human_scores": [[1.0], [2]], **changes}


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_one_dimension(tmp_path, name):
    corpus = load(write_lines(tmp_path / name, item(), item(src="", refs=[], human_scores=[[None], [3]])))
    assert corpus.files[0].reader == "fbd"
    assert corpus.systems == ("s00", "s01")
    assert corpus.turns == [
        Turn("0", "a", (" hi ",), ("ref",), "s00", {"overall": (1.0,)}),
        Turn("0", "b", (" hi ",), ("ref",), "s01", {"overall": (2.0,)}),
        Turn("1", "a", ("",), (), "s00"),
        Turn("1", "b", ("",), (), "s01", {"overall": (3.0,)}),
    ]


def test_several_dimensions(tmp_path):
    corpus = load(write_lines(tmp_path / "a.json", item(human_scores=[[1, 2], [3, 4]], note="x")))
    assert [dict(turn.ratings) for turn in corpus] == [
        {"d0": (1.0,), "d1": (2.0,)},
        {"d0": (3.0,), "d1": (4.0,)},
    ]
    assert [dict(turn.extra) for turn in corpus] == [{"note": "x"}] * 2


def test_no_ratings(tmp_path):
    corpus = load(write_lines(tmp_path / "a.json", {"src": "a", "hyps": ["b"]}))
    assert corpus.turns == [Turn("0", "b", ("a",), system="s00")]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (item(hyps=["a"], human_scores=[[1]]), "hyps: expected 2 responses as in the lines before, found 1"),
        (
            item(hyps=["a", "b", "c"], human_scores=[[1]] * 3),
            "hyps: expected 2 responses as in the lines before, fo",
        ),
        (
            item(hyps=["a", None]),
            "hyps: expected a list of strings, one per system, found a list with null at pl",
        ),
        (item(hyps="a"), "hyps: expected a list of strings, one per system, found the text 'a'"),
        (item(hyps=[]), "hyps: expected a list of strings, one per system, found an empty list"),
        (
            item(human_scores=[1, 2]),
            "human_scores: expected 2 lists of numbers, one per response, found a list of 2",
        ),
        (
            item(human_scores=[[1]]),
            "human_scores: expected 2 lists of numbers, one per response, found 1 list",
        ),
        (
            item(human_scores=[[1], []]),
            "human_scores: expected 2 lists of numbers, one per response and all of on",
        ),
        (
            item(human_scores=[[], []]),
            "human_scores: expected 2 lists of numbers, one per response and all of one",
        ),
        (
            item(human_scores=[[1, 2], [3, 4]]),
            "human_scores: expected 1 dimension as in the lines before, found 2",
        ),
        (item(human_scores=None), "human_scores: expected 1 dimension as in the lines before, found 0"),
        (
            item(human_scores=[["good"], [1]]),
            "rating 'overall': expected a number, null or \"N/A\", found the text",
        ),
        (
            item(human_scores=[[[1, 2]], [[3]]]),
            "rating 'overall': expected a number, null or \"N/A\", found a lis",
        ),
        (item(src=None), "src: expected text, found null"),
        (
            item(refs=[["a"]]),
            "refs: expected a list of strings, found a list of 1 list (1 string in the first); give",
        ),
        ("{", "not valid JSON: "),
    ],
)
def test_bad_lines(tmp_path, record, message):
    path = write_lines(tmp_path / "a.json", item(), record, item())
    assert refusal(path).startswith(f":2: {message}")
    corpus = load(path, skip_invalid=True)
    assert [(turn.system, turn.id) for turn in corpus] == [
        ("s00", "0"),
        ("s01", "0"),
        ("s00", "2"),
        ("s01", "2"),
    ]

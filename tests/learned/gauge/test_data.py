"""Files that a gauge learns from; what is wrong with one is said with its path."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.learned.gauge.data import GaugeFiles, read_data
from dialogauge.learned.gauge.recipe import GaugeRecipe
from tests.learned.gauge.talk import TALK, rated, write_lines, write_talk

RECIPE = GaugeRecipe()


@pytest.fixture
def said(tmp_path):
    return write_talk(tmp_path / "talk.jsonl")


@pytest.fixture
def read(said, tmp_path):
    """The data with these rated turns."""

    def run(rows, **files):
        path = write_lines(tmp_path / "rated.jsonl", rows)
        return read_data(GaugeFiles([said], ratings=[path], **files), RECIPE)

    return run


def with_ratings(rows, *ratings):
    return [{**row, "ratings": each} for row, each in zip(rows, ratings, strict=True)]


BOTH = {"Overall": [3], "Overall quality": [4]}
BAD = {
    "none": ([{**row, "ratings": {}} for row in rated(30)], "expected turns with ratings, found none"),
    "too few": (rated(19), "expected at least 20 turns with a context and a rating of 'overall', found 19"),
    "no context": (
        [{**row, "context": [" "]} for row in rated(30)],
        "expected at least 20 turns with a context and a rating of 'overall', found 0",
    ),
    "all the same": (
        [{**row, "ratings": {"overall": [3, 4]}} for row in rated(30)],
        "all 30 ratings of 'overall' are the same: nothing to learn from",
    ),
    "one conversation": (
        [{**row, "dialogue": "d"} for row in rated(30)],
        "all rated turns are of one conversation: expected at least 2, one to hold back",
    ),
    "ambiguous": (
        with_ratings(rated(30), *[BOTH] * 30),
        "which rating is meant? Name one with --dimension: Overall, Overall quality",
    ),
    "none called so": (
        with_ratings(rated(30), *[{"fluency": [3], "relevance": [4]}] * 30),
        "which rating is meant? Name one with --dimension: fluency, relevance",
    ),
}


@pytest.mark.parametrize("rows", BAD.values(), ids=list(BAD))
def test_a_bad_file_of_ratings_is_named(read, tmp_path, rows):
    given, message = rows
    with pytest.raises(InputError) as raised:
        read(given)
    assert str(raised.value) == f"{tmp_path / 'rated.jsonl'}: {message}"


def test_a_rating_that_is_no_number_is_named_with_its_line(read, tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path / 'rated.jsonl'}:3: rating .overall.: expected a number"):
        read([*rated(2), {**rated(3)[2], "ratings": {"overall": ["good"]}}, *rated(30)])


@pytest.mark.parametrize(
    ("names", "wanted", "found"),
    [
        (["coherence"], None, "coherence"),
        (["fluency", "Overall"], None, "Overall"),
        (["fluency", "overall_score", "relevance"], None, "overall_score"),
        (["Overall", "Overall quality"], "overall", "Overall"),
        (["fluency", "overall"], "FLUENCY", "fluency"),
    ],
)
def test_which_rating(read, names, wanted, found):
    rows = with_ratings(rated(30), *({name: [place % 5] for name in names} for place in range(30)))
    assert read(rows, dimension=wanted).rated.dimensions == {"rated.jsonl": found}


def test_means_over_raters_are_ranked_and_turns_without_ratings_counted(read):
    rows = rated(40)
    rows[3]["ratings"] = {"overall": [None, 9]}
    rows[5]["ratings"] = {"overall": [None]}
    data = read(rows)
    assert len(data.rated.examples) == 39
    assert [caveat.message for caveat in data.caveats if caveat.code == "unrated_turns"] == [
        "rated.jsonl: 1 of 40 turns have no context or no rating of 'overall', and are not learned from"
    ]
    # Three answers of one word have the highest rating, a mean of (9 + 10) / 2; the single 9 of row 3 is below them.
    order = np.argsort(-data.rated.examples.targets[:, 0], kind="stable")
    best = [data.rated.examples.replies[row] for row in order]
    assert best[:3] == [answer.split()[0] for _, answer, _ in TALK.values()]


def test_a_tenth_of_rated_conversations_is_held_back(read):
    data = read(rated(60))
    assert (len(data.rated.train), len(data.rated.held)) == (54, 6)
    assert not {*data.rated.train} & {*data.rated.held}


def test_the_digest_follows_from_all_that_decides_weights(read, said):
    base = read(rated(40))
    others = [
        read(rated(41)),
        read(rated(40), share=0.5),
        read_data(GaugeFiles([said]), RECIPE),
        read_data(GaugeFiles([said], ratings=[said.parent / "rated.jsonl"]), replace(RECIPE, context=1)),
    ]
    assert read(rated(40)).digest() == base.digest()
    assert len({base.digest(), *(other.digest() for other in others)}) == 5


def test_nothing_of_people_held_back(said, tmp_path):
    """Machine-made replies to contexts of no conversation that is learned from."""
    made = [
        {"id": str(i), "dialogue": f"m{i}", "context": ["hello"], "response": "x", "system": "lm"} for i in range(2000)
    ]
    files = GaugeFiles([said], replies=[write_lines(tmp_path / "made.jsonl", made)], share=0.001)
    with pytest.raises(InputError, match="no reply of people among what is held back"):
        read_data(files, RECIPE)


def test_columns_of_ratings_are_those_of_the_rated_turns(read, said):
    def starred(row):
        return {**{name: value for name, value in row.items() if name != "ratings"}, "stars": len(row["response"])}

    data = read([starred(row) for row in rated(30)], mapping={"ratings.overall": "stars"})
    assert data.rated.dimensions == {"rated.jsonl": "overall"}
    with pytest.raises(InputError, match="talk.jsonl: --map ratings.overall=stars: expected such a field"):
        read_data(GaugeFiles([said], mapping={"ratings.overall": "stars"}), RECIPE)


def test_replies_drawn_with_several_seeds_count_once(said, tmp_path):
    """People's stand in every file under the same name, and what was drawn is of its own file."""

    def made(name, drawn):
        line = {"id": "m:1", "dialogue": "m", "context": ["hello"]}
        rows = [{**line, "response": "hi", "system": "human"}, {**line, "response": drawn, "system": "lm"}]
        return write_lines(tmp_path / name, rows)

    data = read_data(GaugeFiles([said], replies=[made("0.jsonl", "who?"), made("1.jsonl", "what?")]), RECIPE)
    assert data.examples.kinds[data.made :] == ["human", "lm", "lm"]
    assert [Path(file.path).name for file in data.sources["replies"]] == ["0.jsonl", "1.jsonl"]

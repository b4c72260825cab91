import json
from pathlib import Path

import pytest

from dialogauge.corpus import Turn, load
from dialogauge.errors import InputError
from tests.corpus.files import refusal

CONTEXTS = ["hi|||how are you ?", "where to ?|||north"]


def judged(system, context, response, scores, dataset="daily_EVAL"):
    return {"Dataset": dataset, "DialogModel": system, "Context": context, "Response": response, "HumanScores": scores}


def build(root, systems, judgements):
    """`systems`: {(corpus, system): [(context, response, reference, mean)]}."""
    for (corpus, system), rows in systems.items():
        folder, means = root / "eval_data" / corpus / system, root / "human_score" / corpus / system
        folder.mkdir(parents=True)
        means.mkdir(parents=True)
        for place, part in enumerate(("ctx", "hyp", "ref")):
            (folder / f"human_{part}.txt").write_text("".join(f"{row[place]}\n" for row in rows))
        (means / "human_score.txt").write_text("".join(f"{row[3]}\n" for row in rows))
    (root / "human_score" / "human_judgement.json").write_text(json.dumps(judgements, indent=1))
    return root


@pytest.fixture
def root(tmp_path):
    systems = {
        ("daily", "bot"): [(CONTEXTS[0], "fine", "good", "3.3333"), (CONTEXTS[1], "ok", "", "2")],
        ("daily", "ranker"): [(CONTEXTS[1], "south", "let us", "1.5"), ("new|||one", "ah", "oh", "5")],
        ("food", "bot"): [(CONTEXTS[0], "eggs", "ham", "4.0")],
    }
    judgements = [
        judged("bot", CONTEXTS[0], "fine", "[5, 4, 1]"),
        judged("bot", CONTEXTS[1], "ok", [2, None, 2]),
        judged("ranker", CONTEXTS[1], " south ", "[1, 2]"),
        judged("ranker", "new|||one", "ah", "[5]"),
        judged("bot", CONTEXTS[0], "eggs", "[4, 4]", "food"),
    ]
    return build(tmp_path, systems, judgements)


def test_one_corpus(root):
    corpus = load(root / "eval_data" / "daily")
    hi, north = tuple(CONTEXTS[0].split("|||")), tuple(CONTEXTS[1].split("|||"))
    assert corpus.turns == [
        Turn("0", "fine", hi, ("good",), "bot", {"coherence": (5.0, 4.0, 1.0)}),
        Turn("1", "ok", north, (), "bot", {"coherence": (2.0, None, 2.0)}),
        Turn("1", "south", north, ("let us",), "ranker", {"coherence": (1.0, 2.0)}),
        Turn("2", "ah", ("new", "one"), ("oh",), "ranker", {"coherence": (5.0,)}),
    ]
    assert corpus.caveats == ()
    assert {file.reader for file in corpus.files} == {"grade"}
    # Four files for each system, and the judgements.
    assert len({file.path for file in corpus.files}) == 9
    assert all(Path(file.path).is_file() for file in corpus.files)


@pytest.mark.parametrize("given", [".", "eval_data"])
def test_several_corpora(root, given):
    corpus = load(root / given)
    assert corpus.systems == ("daily/bot", "daily/ranker", "food/bot")
    assert [(turn.system, turn.id) for turn in corpus][-2:] == [("daily/ranker", "daily/2"), ("food/bot", "food/0")]
    assert corpus.turns[-1].ratings == {"coherence": (4.0, 4.0)}


def test_from_inside_the_directory(root, monkeypatch):
    monkeypatch.chdir(root / "eval_data" / "daily")
    corpus = load(".")
    assert corpus.systems == ("bot", "ranker")
    assert corpus.turns[0].ratings == {"coherence": (5.0, 4.0, 1.0)}


def test_a_context_twice(tmp_path):
    rows = [("a|||b", "x", "r", "2"), ("a|||b", "x", "r", "4"), ("c|||d", "y", "r", "1")]
    judgements = [
        judged("bot", "a|||b", "x", [2]),
        judged("bot", "a|||b", "x", [4, 4]),
        judged("bot", "c|||d", "y", [1]),
    ]
    corpus = load(build(tmp_path, {("daily", "bot"): rows, ("daily", "other"): rows[2:]}, judgements))
    # Rated twice: the first rating belongs to the one that stands first.
    assert [dict(turn.ratings) for turn in corpus][:2] == [{"coherence": (2.0,)}, {"coherence": (4.0, 4.0)}]
    assert [turn.id for turn in corpus] == ["daily/0", "daily/1", "daily/2", "daily/2"]


def test_what_cannot_be_joined_is_said(root):
    path = root / "human_score" / "human_judgement.json"
    path.write_text(json.dumps([judged("bot", "gone|||now", "fine", [1]), judged("bot", "x", "y", [1], "elsewhere")]))
    (root / "human_score" / "food" / "bot" / "human_score.txt").unlink()
    corpus = load(root)
    assert corpus.turns[0].ratings == {"coherence": (3.3333,)}
    assert corpus.turns[-1].ratings == {}
    assert [(caveat.code, caveat.message) for caveat in corpus.caveats] == [
        ("mean_ratings", f"{root}: 4 turns with the raters' mean only"),
        ("unrated_turns", f"{root}: 1 turn without ratings"),
        ("ratings_left_out", f"{root}: 1 judgement of responses that are not there, left out"),
    ]


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        load(path, **options)
    return str(caught.value)


def test_another_mean(root):
    means = root / "human_score" / "daily" / "bot" / "human_score.txt"
    means.write_text("3.3334\n2\n")
    assert refused(root) == f"{means}:1: expected 3.3333, the mean of 3 ratings in human_judgement.json; found 3.3334"
    means.write_text("3.3\nfine\n")
    assert refused(root) == f"{means}:2: expected a mean rating, found 'fine'"
    corpus = load(root / "eval_data" / "daily", skip_invalid=True)
    assert [turn.id for turn in corpus.by_system["bot"]] == ["0"]
    assert "1 line left out (human_score.txt line 2: expected a mean rating" in corpus.caveats[-1].message


def test_lines_missing(root):
    responses = root / "eval_data" / "daily" / "bot" / "human_hyp.txt"
    responses.write_text("fine\n")
    for skip in (False, True):
        message = refused(root, skip_invalid=skip)
        assert message == f"{responses}: expected as many lines as in 'human_ctx.txt', found 1"


def test_no_contexts(root):
    contexts = root / "eval_data" / "daily" / "bot" / "human_ctx.txt"
    contexts.unlink()
    assert refused(root) == f"{contexts}: no such file"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (judged("bot", "a", "b", "[1, 2"), "not valid JSON"),
        (judged("bot", "a", "b", "7"), "HumanScores: expected a list of numbers, found the text '7'"),
        (judged("bot", "a", "b", ["x"]), "rating 'coherence': expected a number"),
        (judged("bot", None, "b", [1]), "Context: expected text, found null"),
        (3, "expected a JSON object, found the number 3"),
    ],
)
def test_bad_judgements(root, record, message):
    path = root / "human_score" / "human_judgement.json"
    path.write_text(json.dumps([record]))
    assert refused(root).startswith(f"{path}:1: item 1: {message}")
    corpus = load(root, skip_invalid=True)
    assert len(corpus) == 5
    assert any("human_judgement.json line 1: item 1" in caveat.message for caveat in corpus.caveats)


def test_other_directories(tmp_path):
    wanted = "expected a file, or a directory that holds responses.txt or is laid out as GRADE's"
    assert refusal(tmp_path) == f": is a directory; {wanted}"
    assert refusal(tmp_path, reader="grade").startswith(": expected a directory laid out as GRADE's")

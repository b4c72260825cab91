"""What correlations do at their edges: perfect agreement, ties, shared contexts, dimensions, names, missing levels."""

from pathlib import Path

import numpy as np
import pytest

from dialogauge.agreement import correlate, correlate_corpora
from dialogauge.agreement.correlate_corpora import corpus_name, free_name, name_corpora
from dialogauge.corpus import Corpus
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import InputError
from tests.agreement.corpora import GOOD, POOR, codes, in_dialogues, message, quick, rated, turn


def shared_contexts(n=20, systems=("a", "b")):
    """Every system answers the same contexts, and `good` is just what people say."""
    rng = np.random.default_rng(1)
    ratings = {(s, i): float(rng.integers(1, 6)) for s in systems for i in range(n)}
    return Corpus([turn(f"{i:03}", r, s, good=r, poor=float(rng.normal())) for (s, i), r in ratings.items()])


def test_perfect_agreement_with_shared_contexts():
    row = quick(shared_contexts(), level="turn").row(GOOD)
    assert (row.pearson, row.spearman, row.kendall) == (pytest.approx(1), pytest.approx(1), pytest.approx(1))
    # One in 51: of 50 permutations none is as good.
    assert row.pearson_p == pytest.approx(1 / 51, abs=0.03)


@pytest.mark.parametrize("resamples", [1, 2])
def test_hardly_any_resamples(resamples):
    row = correlate(shared_contexts(), [GOOD, POOR], level="turn", resamples=resamples).row(POOR)
    assert 0 < row.pearson_p <= 1


def test_dialogues_with_equal_means_of_means_are_tied():
    # Turns rated (1, 1, 1) and (1, 2, 2), or twice (1, 1, 2): either way 8/6, which no rounding may tell apart.
    given = {"x": [(1, 1, 1), (1, 2, 2)], "y": [(1, 1, 2), (1, 1, 2)], "z": [(3, 3, 3)], "w": [(5, 5, 4)]}
    scores = {"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.0}
    turns = [
        turn(f"{name}{i}", r, dialogue=name, good=scores[name]) for name, rs in given.items() for i, r in enumerate(rs)
    ]
    result = quick(Corpus(turns), level="dialogue")
    people = dict(zip(result.points[0].names, result.points[0].people, strict=True))
    assert people["x"] == people["y"]
    # Ranks 1.5 1.5 3 4 against 1 2 3 4: covariance 4.5, variances 4.5 and 5.
    assert result.rows[0].spearman == pytest.approx(4.5 / np.sqrt(4.5 * 5), abs=1e-12)
    systems = Corpus([turn(t.id, t.ratings["overall"], t.dialogue, good=t.extra["good"]) for t in turns])
    points = quick(systems, level="system").points[0]
    people = dict(zip(points.names, points.people, strict=True))
    assert people["x"] == people["y"]


def test_turns_to_one_context_change_places_together():
    corpus = rated(12, ("a", "b", "c"))
    (contrast, _) = quick(corpus, [GOOD, POOR], level="turn").contrasts
    assert contrast.test == "PERM-INPUT"
    (contrast, _) = quick(rated(36), [GOOD, POOR], level="turn").contrasts
    assert contrast.test == "PERM-BOTH"
    (contrast, _) = quick(in_dialogues(rated(36), 6), [GOOD, POOR], level="turn").contrasts
    assert contrast.test == "PERM-INPUT"


@pytest.mark.parametrize("size", [30, 15, 8])
def test_of_few_dialogues_nothing_is_sure(size):
    corpus = in_dialogues(rated(30), size)
    result = quick(corpus, [GOOD, POOR], level="turn")
    row = result.row(GOOD)
    assert row.pearson > 0.3
    assert (row.pearson_low, row.pearson_p, row.spearman_p, row.kendall_p) == (None, None, None, None)
    assert (row.kendall_low, row.kendall_high) == (None, None)
    assert result.contrasts == []


def test_of_five_dialogues_something_is():
    row = quick(in_dialogues(rated(30), 6), level="turn").row(GOOD)
    assert None not in (
        row.pearson_low,
        row.pearson_p,
        row.spearman_low,
        row.spearman_p,
        row.kendall_low,
        row.kendall_p,
    )


def test_more_points_are_asked_for_only_where_there_are_too_few():
    result = quick(rated(12, ("a", "b", "c", "d")), [GOOD, POOR], level="turn,system", resamples=200)
    lines = [line for line in str(result).split("\n") if "to tell the two best" in line]
    for contrast in result.contrasts:
        if contrast.coefficient == "spearman":
            n = result.row(GOOD, level=contrast.level).n
            asked = contrast.better is None and contrast.needed > n
            assert any(f"{contrast.needed:,} {contrast.level}s" in line for line in lines) == asked


def test_dimensions_that_differ_by_case_alone():
    rng = np.random.default_rng(0)
    turns = [
        turn(i, {"fluent": (float(a),), "Fluent": (float(b),)}, good=float(a))
        for i, (a, b) in enumerate(rng.normal(size=(20, 2)))
    ]
    corpus = Corpus(turns)
    assert quick(corpus, level="turn", dimension="fluent").rows[0].pearson == pytest.approx(1)
    assert quick(corpus, level="turn", dimension="Fluent").rows[0].pearson < 0.9
    assert [row.dimension for row in quick(corpus, level="turn", dimension="FLUENT").rows] == ["fluent", "Fluent"]
    # Two dimensions of one corpus are not two corpora.
    assert {row.corpus for row in quick(corpus, level="turn").rows} == {"corpus"}
    means = [row for row in quick({"x": corpus, "y": corpus}, level="turn").rows if row.corpus == "mean"]
    assert {row.n for row in means} == {2}


def test_a_dimension_is_looked_for_before_anything_is_scored(monkeypatch):
    monkeypatch.setattr(correlate_corpora, "measure", None)
    with pytest.raises(InputError, match="unknown dimension 'overal'; did you mean overall"):
        quick({"x": rated(), "y": rated()}, dimension="overal")


def test_a_level_that_one_corpus_lacks_costs_no_other():
    result = quick({"x": rated(10, ("a", "b", "c")), "y": rated(10)}, level="turn,system")
    assert {(row.corpus, row.level) for row in result.rows if row.corpus != "mean"} == {
        ("x", "turn"),
        ("x", "system"),
        ("y", "turn"),
    }
    assert message(result, "nothing_there") == "y, overall: the system level needs 3 rated systems or more, found 1"
    with pytest.raises(InputError, match="x, overall: the system level needs 3 .* found 1; y, overall: the system"):
        quick({"x": rated(), "y": rated()}, level="system")


def test_a_dimension_that_one_level_lacks():
    whole = {"dialogue_ratings": {"whole": [1, 2]}}
    turns = [turn(i, {"single": (float(i % 5),)}, dialogue=str(i // 3), good=float(i), **whole) for i in range(30)]
    result = quick(Corpus(turns), level="turn,dialogue", dimension="single")
    assert {row.level for row in result.rows} == {"turn"}
    assert message(result, "nothing_there") == "corpus: no such ratings at dialogue level"


def test_turns_without_a_dialogue_are_counted():
    some = [turn(f"d{i}", float(i % 4), dialogue=str(i // 2), good=float(i)) for i in range(20)]
    none = [turn(f"n{i}", 1.0, "other", good=1.0) for i in range(5)]
    result = quick(Corpus([*some, *none]), level="dialogue", per_system=True)
    assert message(result, "no_dialogue") == "corpus, overall: 5 of 25 turns belong to no dialogue and are left out"
    assert result.rows[0].n == 10
    assert "too_few" in codes(result)


def test_resamples_without_a_correlation_are_said():
    turns = [turn(i, 5.0 if i else 1.0, good=float(i % 7)) for i in range(30)]
    assert "of resamples have no correlation" in message(quick(Corpus(turns), level="turn"), "undefined_resamples")
    assert "undefined_resamples" not in codes(quick(rated(), level="turn"))


def test_what_was_learned_from_turns_that_are_left_out():
    turns = [
        turn(i, {"a": (float(i % 3),)} | ({"b": (float(i % 4),)} if i % 2 else {}), s, references=(f"answer {i} of s",))
        for s in "xyz"
        for i in range(12)
    ]
    result = quick(Corpus(turns), "bertscore[idf=true]", level="turn", dimension="all")
    assert message(result, "learned_from_more").startswith(
        "corpus, b: bertscore[idf=true] learned from all rated turns"
    )


def from_file(path):
    return Corpus(rated(3).turns, (SourceFile(path, "0", "jsonl"),))


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/run.v1.jsonl", "run.v1"), ("b/x.json.gz", "x"), ("plain", "plain"), ("mean.jsonl", "corpus mean")],
)
def test_by_the_file(path, name):
    assert corpus_name(from_file(path)) == name


def test_a_directory_keeps_its_dots(tmp_path):
    folder = tmp_path / "grade.v2"
    folder.mkdir()
    assert corpus_name(Corpus([]), folder) == "grade.v2"
    assert corpus_name(Corpus([]), Path("x.csv")) == "x"


def test_no_name_is_taken_twice():
    assert free_name("a", {"a", "a (2)"}) == "a (3)"
    assert list(name_corpora([from_file("a (2).jsonl"), from_file("x/a.jsonl"), from_file("y/a.jsonl")])) == [
        "a (2)",
        "a",
        "a (3)",
    ]


def test_a_corpus_cannot_be_called_mean():
    with pytest.raises(InputError, match="no corpus can be called 'mean'"):
        name_corpora({"mean": rated()})

"""Which metrics notice worse responses: the values are those of perturb and evaluate, the verdicts follow the rule."""

import json
import sys
from dataclasses import asdict, replace

import pytest

import dialogauge
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation import RunOptions, evaluate
from dialogauge.studies.perturb import KINDS, perturb, references_as_system
from dialogauge.studies.sensitivity import merge_caveats, sensitivity

WORDS = "red green blue black white pink grey brown gold teal".split()
MODULE = sys.modules["dialogauge.studies.sensitivity"]
SAME = ("system", "metric", "value", "low", "high", "n", "higher_is_better", "signature")


def reply(number):
    """Eight words that no other reply has in this order."""
    return " ".join(WORDS[(number * step + step) % 10] for step in range(1, 9)) + f" end{number}"


def corpus(systems=("s",), size=24, **more):
    return Corpus(
        [
            Turn(str(i), reply(i + place), (f"question {i}",), references=(reply(i),), system=system, **more)
            for place, system in enumerate(systems)
            for i in range(size)
        ]
    )


@pytest.fixture(scope="module")
def result():
    return sensitivity(corpus(), "bleu,length,distinct.1", of="reference", resamples=50)


# Values


def test_every_point_is_that_of_perturb_and_evaluate():
    given = corpus(("a", "b", "c"))
    found = sensitivity(
        given,
        "rouge_l,distinct.1",
        kinds=("permute", "noise"),
        ratios=(0.3, 1),
        systems=["c", "a"],
        seed=3,
        resamples=60,
    )
    assert [(point.kind, point.ratio, point.system, point.metric) for point in found.points] == [
        (kind, ratio, system, metric)
        for kind in ("permute", "noise")
        for ratio in (0, 0.3, 1)
        for system in ("c", "a")
        for metric in ("rouge_l", "distinct.1")
    ]
    chosen = given.select(["c", "a"])
    for point in found.points:
        worse = perturb(chosen, point.kind, point.ratio, seed=3)
        score = evaluate(worse, "rouge_l,distinct.1", seed=3, resamples=60).score(point.system, point.metric)
        pairs = zip(chosen, worse, strict=True)
        changed = sum(a.response != b.response for a, b in pairs if a.system == point.system)
        assert asdict(point) == {
            "kind": point.kind,
            "ratio": point.ratio,
            **{name: getattr(score, name) for name in SAME},
            "changed": changed,
        }
    assert {point.changed for point in found.points} == {0, 7, 24}


def test_references_are_perturbed_where_asked_for():
    found = sensitivity(corpus(), "rouge_l", kinds="truncate", ratios=[1], of="reference", resamples=20)
    direct = evaluate(perturb(corpus(), "truncate", 1, of="reference"), "rouge_l", resamples=20)
    assert found.points[-1].value == direct.score("reference", "rouge_l").value < 1
    assert found.systems == {"reference": 24}


def test_the_unperturbed_corpus_is_scored_once(monkeypatch):
    seen = []

    def counted(corpus, requests, **options):
        seen.append((tuple(turn.response for turn in corpus), [type(request).__name__ for request in requests]))
        return evaluate(corpus, requests, **options)

    monkeypatch.setattr(MODULE, "evaluate", counted)
    found = sensitivity(corpus(), "length", ratios=(0, 0.5, 1), resamples=20)
    assert len(seen) == 1 + 2 * len(KINDS)
    assert [texts for texts, _ in seen].count(tuple(turn.response for turn in corpus())) == 1
    assert {tuple(kinds) for _, kinds in seen} == {("Request",)}
    starts = {replace(point, kind="") for point in found.points if point.ratio == 0}
    assert len(starts) == 1


def test_arguments_reach_evaluate(monkeypatch):
    seen = []

    def noted(corpus, requests, **options):
        seen.append((requests[0].metric, options))
        return evaluate(corpus, "length", resamples=20)

    monkeypatch.setattr(MODULE, "evaluate", noted)
    real = corpus(size=2)
    call = {"kinds": ["noise"], "ratios": [1], "seed": 2, "resamples": 7, "confidence": 0.8, "compat": "fbd-paper"}
    sensitivity(corpus(), "embedding_average", encoder="some", dtype="bfloat16", cache=False, real=real, **call)
    sensitivity(corpus(), "length", kinds=["noise"], ratios=[1])
    metric, options = seen[0]
    assert (metric.encoder, metric.dtype) == ("some", "bfloat16")
    given = {"seed": 2, "resamples": 7, "confidence": 0.8, "compat": "fbd-paper", "cache": False, "real": real}
    assert RunOptions(**options) == RunOptions(**given, encoder="some", dtype="bfloat16")
    assert seen[0][1] == seen[1][1]
    assert seen[2][1]["real"] is None


def test_same_seed_same_bytes():
    def text(seed):
        found = sensitivity(corpus(), "rouge_l", kinds="noise", ratios=[0.5], seed=seed, resamples=30)
        return json.dumps([found.to_records(), str(found)])

    assert text(1) == text(1)
    assert text(1) != text(2)


# Verdicts


def test_bleu_of_references_falls_from_100(result):
    trend = result.trend("mismatch", "reference", "bleu")
    start, *_, end = result.series("mismatch", "reference", "bleu")
    assert start.value == pytest.approx(100)
    assert trend.change == end.value - start.value < -50
    assert (trend.spearman, trend.quality, trend.verdict, trend.points) == (-1, "worse", "falls", 6)


def test_length_has_no_direction(result):
    # Nine words become four.
    trend = result.trend("truncate", "reference", "length")
    assert trend.change == pytest.approx(-5)
    assert (trend.spearman, trend.quality, trend.verdict) == (-1, None, "no direction")
    assert result.trend("noise", "reference", "length").spearman == 1
    assert result.trend("permute", "reference", "length").verdict == "constant"


def test_what_does_not_fall_is_named_once_per_metric(result):
    # The same words in another order or place are as different as before; length is not judged at all.
    (caveat,) = [caveat for caveat in result.caveats if caveat.code == "insensitive"]
    assert caveat.message.startswith("distinct.1 does not fall under ")
    assert "stays the same under mismatch, permute, though responses get worse" in caveat.message
    assert caveat.message in result.to_table().notes
    assert result.trend("permute", "reference", "distinct.1").quality == "same"


def test_systems_are_named_where_not_all_are_meant():
    turns = corpus(("a", "b")).turns
    for place, turn in enumerate(turns):
        turns[place] = replace(turn, extra={"v": 1.0}, references=(turn.response if turn.system == "a" else "x",))
    found = sensitivity(Corpus(turns), "rouge_l,column[name=v]", kinds="noise,permute", ratios=[0.5, 1], resamples=20)
    assert [caveat.message for caveat in found.caveats if caveat.code == "insensitive"] == [
        "rouge_l stays the same under noise (b), permute (b), though responses get worse",
        "column[name=v] stays the same under noise, permute, though responses get worse",
    ]


def test_a_kind_that_changes_nothing_is_not_held_against_a_metric():
    turns = [Turn(str(i), f"w{i}", references=(f"w{i}",)) for i in range(20)]
    found = sensitivity(Corpus(turns), "rouge_l", kinds="permute,repeat", ratios=[0.5, 1], resamples=20)
    assert [trend.verdict for trend in found.trends] == ["nothing changed", "falls"]
    assert [caveat.code for caveat in found.caveats] == ["not_perturbed"]
    assert "nothing changed: no response could be perturbed" in found.to_table().notes


# Caveats


def test_caveats_of_all_corpora_are_told_once():
    turns = [*corpus(size=40).turns, *(Turn(f"x{i}", "one", ("q",), references=("a",), system="s") for i in range(10))]
    found = sensitivity(Corpus(turns, caveats=(Caveat("mine", "of the corpus"),)), "rouge_l", resamples=20)
    others = sum(len(perturb(Corpus(turns), "truncate", ratio).caveats) for ratio in (0.1, 0.25, 0.5, 0.75))
    assert others > 1
    codes = [caveat.code for caveat in found.caveats if caveat.code != "insensitive"]
    assert codes == ["mine", "not_perturbed", "not_perturbed", "not_perturbed"]
    changed = [caveat.message for caveat in found.caveats if caveat.message.startswith("truncate")]
    assert changed == [
        "truncate: 10 of 50 chosen turns unchanged: the response has fewer than two words"
        f" (truncate at ratio 1; the like in {others} more of the perturbed corpora)"
    ]


# Forms


def test_json_has_the_documented_shape(result):
    document = json.loads(result.to_json())
    assert list(document) == ["schema", "corpus", "settings", "points", "trends", "warnings"]
    assert document["schema"] == "dialogauge.sensitivity/1"
    assert document["corpus"]["systems"] == ["reference"]
    assert document["settings"] == {
        "seed": 0,
        "resamples": 50,
        "confidence": 0.95,
        "unit": "contexts",
        "of": "reference",
        "kinds": list(KINDS),
        "ratios": [0, 0.1, 0.25, 0.5, 0.75, 1],
        "steady": -0.9,
    }
    assert len(document["points"]) == len(result.to_frame()) == 6 * 6 * 3
    assert len(document["trends"]) == 6 * 3
    assert list(document["trends"][0]) == [
        *("kind", "system", "metric", "points", "spearman", "change", "quality", "verdict")
    ]
    constant = [trend for trend in document["trends"] if trend["verdict"] == "constant"]
    assert constant
    assert all(trend["spearman"] is None for trend in constant)
    assert "insensitive" in {caveat["code"] for caveat in document["warnings"]}


def test_the_table_fits_a_terminal(result):
    header, rule, *lines = str(result).split("\n")
    assert header.split() == [*"metric kind ratio 0 0.1 0.25 0.5 0.75 1 Spearman verdict".split()]
    assert len(rule) <= 100
    rows = lines[: lines.index("")]
    assert len(rows) == 6 * 3
    assert [row.split()[1] for row in rows[:6]] == list(KINDS)
    first = dict(zip(["metric", "kind", *result.ratios, "spearman"], rows[1].split(), strict=False))
    assert (first["metric"], first["kind"], first["spearman"]) == ("bleu", "mismatch", "-1.00")
    for point in result.series("mismatch", "reference", "bleu"):
        shown = first[point.ratio]
        assert float(shown) == pytest.approx(point.value, abs=0.51 * 10 ** -len(shown.partition(".")[2]))


def test_the_table_names_several_systems():
    found = sensitivity(corpus(("a", "b")), "length", kinds="noise,repeat", ratios=[1], resamples=20)
    header, _, *rows = str(found).split("\n")
    assert header.split()[:3] == ["metric", "system", "kind"]
    assert [row.split()[1:3] for row in rows[:4]] == [["a", "noise"], ["a", "repeat"], ["b", "noise"], ["b", "repeat"]]


def test_notes_state_rule_signs_and_directions(result):
    notes = result.to_table().notes
    assert "higher is better: bleu, distinct.1" in notes
    assert "no better or worse: length" in notes
    assert any(note.startswith("Spearman: between ratio and value, over 6 points (too few") for note in notes)
    assert "falls: Spearman at most -0.9, and the value at 1 is worse than at 0" in notes
    assert not any("negated" in note for note in notes)
    turned = sensitivity(
        corpus(extra={"v": 1.0}),
        "column[name=v,higher_is_better=false]",
        kinds="noise",
        ratios=[0.5],
        resamples=20,
    )
    notes = turned.to_table().notes
    assert "lower is better: column[name=v,higher_is_better=false]" in notes
    assert any("negated" in note for note in notes)
    assert not any(note.startswith("falls:") for note in notes)


def test_only_what_is_asked_for_is_there(result):
    assert {point.metric for point in result.points} == {"bleu", "length", "distinct.1"}


def test_unknown_lines(result):
    with pytest.raises(InputError, match="unknown metric 'meteor'"):
        result.trend("noise", "reference", "meteor")
    with pytest.raises(InputError, match="unknown system 'nobody'"):
        result.series("noise", "nobody", "bleu")


# The call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": "nosie"}, "unknown perturbation 'nosie'; did you mean noise"),
        ({"kinds": ["noise", "x"]}, "unknown perturbation 'x'"),
        ({"kinds": " , "}, "no kind of perturbation named; known: noise, mismatch"),
        ({"ratios": [0.1, 1.5]}, "ratio: expected a number from 0 to 1, found 1.5"),
        ({"ratios": [float("nan")]}, "ratio: expected a number from 0 to 1, found nan"),
        ({"ratios": [0]}, "expected a ratio above 0, found none"),
        ({"ratios": []}, "expected a ratio above 0, found none"),
        ({"of": "facts"}, "unknown text to change 'facts'"),
        ({"systems": ["t"]}, "unknown system 't'"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"metrics": "blue"}, "unknown metric 'blue'; did you mean bleu"),
    ],
)
def test_wrong_calls_compute_nothing(monkeypatch, arguments, message):
    monkeypatch.setattr(MODULE, "evaluate", lambda *_, **__: pytest.fail("computed"))
    with pytest.raises(InputError, match=message):
        sensitivity(corpus(), **{"metrics": "length", **arguments})


def test_kinds_and_ratios_are_taken_once_and_in_order():
    found = sensitivity(corpus(), "length", kinds="repeat, noise,repeat", ratios=(1, 0.5, 1, 0), resamples=20)
    assert (found.kinds, found.ratios) == (["repeat", "noise"], [0, 0.5, 1])


def test_no_references():
    with pytest.raises(InputError, match="expected turns with references, found none"):
        sensitivity(Corpus([Turn("1", "a b")]), "length", of="reference")


def test_it_is_at_hand():
    assert dialogauge.sensitivity is sensitivity


def test_references_are_those_of_the_chosen_systems():
    turns = [replace(turn, references=(f"{turn.system} {turn.id}",)) for turn in corpus(("a", "b"), 20)]
    found = sensitivity(
        Corpus(turns), "distinct", kinds="noise", ratios=[1], of="reference", systems=["b"], resamples=20
    )
    expected = evaluate(references_as_system(Corpus(turns).select(["b"])), "distinct", resamples=20)
    assert found.points[0].value == expected.scores[0].value


def test_caveats_that_differ_in_numbers_alone_become_one():
    base = [Caveat("a", "7 of 8 turns"), Caveat("a", "7 of 8 turns")]
    found = {
        ("noise", 0.5): [Caveat("a", "7 of 8 turns"), Caveat("b", "1 turn of 2.5")],
        ("noise", 1.0): [Caveat("b", "3 turns of 4"), Caveat("c", "x.1: 3"), Caveat("c", "x.2: 3")],
        ("permute", 1.0): [Caveat("b", "9 turns of 4"), Caveat("d", "y[order=2]: 3"), Caveat("d", "y[order=3]: 3")],
    }
    assert merge_caveats(base, found) == [
        Caveat("a", "7 of 8 turns"),
        Caveat("b", "3 turns of 4 (noise at ratio 1; the like in 2 more of the perturbed corpora)"),
        Caveat("c", "x.1: 3 (noise at ratio 1)"),
        Caveat("c", "x.2: 3 (noise at ratio 1)"),
        Caveat("d", "y[order=2]: 3 (permute at ratio 1)"),
        Caveat("d", "y[order=3]: 3 (permute at ratio 1)"),
    ]

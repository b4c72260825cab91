"""`dialogauge.estimate` and `dialogauge estimate` on files."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dialogauge
from dialogauge import Corpus, InputError, Turn
from dialogauge.cli.main import main
from dialogauge.corpus.rated_pairs import RatedPair

ROOT = Path(__file__).resolve().parents[3]
TURNS, RATINGS = ROOT / "examples/everyday.jsonl", ROOT / "examples/everyday-ratings.csv"


@pytest.fixture(scope="module")
def found():
    return dialogauge.estimate(TURNS, "meteor", ratings=RATINGS)


def by_turn():
    """The mean of the ratings file, by id and system."""
    given = {}
    with RATINGS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            given.setdefault((row["id"], row["system"]), []).append(float(row["value"]))
    return {key: np.mean(values) for key, values in given.items()}


def test_the_classical_estimate_is_that_of_the_ratings(found):
    rated = by_turn()
    good, dull = ({id: value for (id, system), value in rated.items() if system == name} for name in ("good", "dull"))
    assert found.system("good").classical == pytest.approx(np.mean(list(good.values())))
    paired = np.array([good[id] - dull[id] for id in good])
    pair = found.pair("good", "dull")
    assert pair.classical == pytest.approx(paired.mean())
    reach = 2.0301079 * paired.std(ddof=1) / 6  # Student's quantile of 35 degrees of freedom
    assert (pair.classical_low, pair.classical_high) == pytest.approx((paired.mean() - reach, paired.mean() + reach))


def test_what_it_comes_to(found):
    row = found.system("offtopic")
    assert (row.rated, row.turns, row.units, row.method) == (36, 64, 36, "student")
    assert row.high - row.low < row.classical_high - row.classical_low
    assert row.worth > 1.2
    assert all(pair.better for pair in found.pairs)
    first, second = found.sentences()
    assert first.startswith(
        "People would prefer good: overall 3.91 [3.68, 4.15], ahead of dull by 1.10 [0.73, 1.46] (p <"
    )
    assert second == "With meteor, 108 rated turns are as good as 1.1 times as many."


def study_file(path, keep=None, **changed):
    """What a study might export: rated turns with the texts, in the usual lines."""
    rated = by_turn()
    lines = []
    for turn in dialogauge.load(TURNS):
        value = rated.get((turn.id, turn.system))
        if value is not None and (keep is None or keep(turn)):
            line = {"id": turn.id, "system": turn.system, "context": turn.context, "response": turn.response}
            lines.append({**line, "ratings": {"overall": value}, **changed})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_an_export_is_joined_as_a_list_of_ratings_is(found, tmp_path):
    again = dialogauge.estimate(TURNS, "meteor", ratings=study_file(tmp_path / "study.jsonl", probability=0.5))
    assert [replace(row) for row in again.by_system] == found.by_system
    assert again.pairs == found.pairs
    one_file = Corpus(
        [
            replace(
                turn,
                ratings={"overall": by_turn()[turn.id, turn.system]} if (turn.id, turn.system) in by_turn() else {},
            )
            for turn in dialogauge.load(TURNS)
        ]
    )
    assert dialogauge.estimate(one_file, "meteor").by_system == found.by_system


def test_a_study_of_other_responses_is_refused(tmp_path):
    path = study_file(tmp_path / "study.jsonl", response="something else")
    with pytest.raises(InputError, match="people rated the reply 'something else', the corpus has"):
        dialogauge.estimate(TURNS, "meteor", ratings=path)
    path = study_file(tmp_path / "other.jsonl", keep=lambda turn: turn.system == "good", system="unheard")
    with pytest.raises(InputError, match="of system 'unheard' was rated, and the corpus has no such turn"):
        dialogauge.estimate(TURNS, "meteor", ratings=path)


def test_unequal_probabilities_change_the_estimate(found, tmp_path):
    path = study_file(tmp_path / "study.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["probability"] = 0.9 if int(line["id"]) % 2 else 0.3
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    row = dialogauge.estimate(TURNS, "meteor", ratings=path).system("good")
    chosen = {id: value for (id, system), value in by_turn().items() if system == "good"}
    weights = [1 / (0.9 if int(id) % 2 else 0.3) for id in chosen]
    assert row.classical == pytest.approx(np.average(list(chosen.values()), weights=weights))
    assert row.classical != found.system("good").classical


def test_these_turns_alone_are_surer(found):
    row = dialogauge.estimate(TURNS, "meteor", ratings=RATINGS, these_turns=True).system("good")
    whole = found.system("good")
    share = (row.classical_high - row.classical_low) / (whole.classical_high - whole.classical_low)
    assert share == pytest.approx(np.sqrt(1 - 36 / 64))


def test_looking_again_and_again_takes_wider_intervals(found):
    row = dialogauge.estimate(TURNS, "meteor", ratings=RATINGS, anytime=50).system("good")
    assert row.method == "anytime"
    assert row.high - row.low > 1.3 * (found.system("good").high - found.system("good").low)


def test_several_metrics():
    found = dialogauge.estimate(TURNS, "meteor,length", ratings=RATINGS)
    assert [row.metric for row in found.worths] == ["meteor", "length", "all together"]
    assert found.worths[0].worth == pytest.approx(
        np.exp(np.mean([np.log(row.worth) for row in dialogauge.estimate(TURNS, "meteor", ratings=RATINGS).by_system]))
    )
    assert "all together" in str(found)


def preferred(n=120, rated=60):
    """Of three systems a is liked best; the metric (length) knows something of it."""
    rng = np.random.default_rng(5)
    turns, quality = [], {}
    for place, system in enumerate("abc"):
        for number in range(n):
            quality[system, number] = rng.normal(-0.5 * place)
            words = " ".join(["word"] * max(1, round(10 + 3 * quality[system, number] + rng.normal())))
            turns.append(Turn(str(number), words, context=(f"context {number}",), system=system))
    by_name = {(turn.system, turn.id): turn for turn in turns}
    pairs = []
    for first, second in (("a", "b"), ("c", "a"), ("b", "c")):
        for number in range(rated):
            seen = quality[first, number] - quality[second, number] + 0.5 * rng.normal(size=2)
            said = tuple("tie" if abs(each) < 0.4 else "a" if each > 0 else "b" for each in seen)
            pairs.append(RatedPair(by_name[first, str(number)], by_name[second, str(number)], {"overall": said}))
    return Corpus(turns), pairs


def test_win_rates():
    corpus, pairs = preferred()
    found = dialogauge.estimate(corpus, "length", pairs=pairs)
    assert [row.system for row in found.by_system] == ["a", "b", "c"]
    values = [row.value for row in found.by_system]
    assert sorted(values, reverse=True) == values
    assert sum(row.strength for row in found.by_system) == pytest.approx(0, abs=1e-9)
    assert all(0 < row.low < row.value < row.high < 1 for row in found.by_system)
    points = {"a": 1.0, "tie": 0.5, "b": 0.0}
    plain = [points[each] for pair in pairs[:60] for each in pair.preferences["overall"]]
    assert found.pair("a", "b").classical == pytest.approx(np.mean(plain))
    plain = [1 - points[each] for pair in pairs[60:120] for each in pair.preferences["overall"]]
    assert found.pair("a", "c").classical == pytest.approx(np.mean(plain))
    assert found.pair("a", "c").better == "a"
    assert found.worths[0].worth > 1.2
    assert found.sentences()[0].startswith("People would prefer a: they would choose it in ")
    assert found.sentences()[1].startswith("With length, 180 rated pairs are as good as ")


def test_win_rates_of_a_file(tmp_path, capsys):
    _, pairs = preferred(40, 40)
    lines = [
        {
            "id": pair.a.id,
            "context": pair.a.context,
            "a": {"system": pair.a.system, "response": pair.a.response},
            "b": {"system": pair.b.system, "response": pair.b.response},
            "preferences": pair.preferences,
        }
        for pair in pairs
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["estimate", str(path), "--metrics", "length", "--format", "json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["form"] for row in found["systems"]] == ["preference"] * 3
    assert {row["worth"] for row in found["systems"]} == {1.0}  # every context was compared


def test_the_formats(capsys):
    call = ["estimate", str(TURNS), "--ratings", str(RATINGS), "--metrics", "meteor", "--quiet"]
    outputs = {}
    for form in ("table", "json", "csv", "markdown", "latex"):
        assert main([*call, "--format", form]) == 0
        outputs[form] = capsys.readouterr().out
    assert main([*call, "--format", "json"]) == 0
    assert capsys.readouterr().out == outputs["json"]  # same seed, same bytes
    document = json.loads(outputs["json"])
    assert document["schema"] == "dialogauge.estimate/1"
    assert len(document["systems"]) == len(document["pairs"]) == 3
    assert document["answer"][0] in outputs["table"]
    assert outputs["csv"].startswith("dimension,form,system,value,low,high")
    assert "\\toprule" in outputs["latex"]
    assert main([*call, "--names", "good=Ours", "--cite"]) == 0
    named = capsys.readouterr().out
    assert "People would prefer Ours" in named
    assert "angelopoulos2023ppi" in named


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"dimension": "fun"}, "unknown dimension 'fun'"),
        ({"metrics": "fbd"}, "fbd: no value for a single turn"),
        ({"level": "system"}, "unknown level 'system'"),
        ({"anytime": 0}, "anytime"),
        ({"trusted": True}, "--trusted: expected ratings with the field `trusted`"),
        ({"ratings": None}, "no turn has ratings"),
    ],
)
def test_what_is_refused(how, message):
    with pytest.raises(InputError, match=message):
        dialogauge.estimate(TURNS, **{"metrics": "length", "ratings": RATINGS, **how})


def test_few_ratings_are_warned_of(tmp_path):
    path = study_file(tmp_path / "few.jsonl", keep=lambda turn: int(turn.id) < 30)
    found = dialogauge.estimate(TURNS, "meteor", ratings=path, resamples=100)
    assert {row.method for row in found.by_system} == {"bootstrap"}
    assert "few_ratings" in [caveat.code for caveat in found.caveats]
    path = study_file(tmp_path / "fewer.jsonl", keep=lambda turn: int(turn.id) < 5)
    found = dialogauge.estimate(TURNS, "meteor", ratings=path)
    assert found.by_system[0].low is None
    assert "no_interval" in [caveat.code for caveat in found.caveats]

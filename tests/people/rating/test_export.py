"""What comes out of a study: the turns as they came, with what people gave; and what --trusted leaves out."""

import json
from dataclasses import replace

import pytest

from dialogauge import Corpus, InputError, Turn, correlate, estimate, load
from dialogauge.corpus.rated_pairs import read_rated_pairs
from dialogauge.corpus.trusted import trusted_only, untrusted_turns
from tests.people.rating.studies import SYSTEMS, a_corpus, a_study, always, rate_all, raters_of


def exported(study):
    lines, caveats = study.export()
    return [json.loads(line) for line in lines], [caveat.code for caveat in caveats]


def load_export(study, folder):
    path = folder / "ratings.jsonl"
    path.write_text("".join(f"{line}\n" for line in study.export()[0]), encoding="utf-8")
    return load(path)


def is_check(screen):
    """What a careful rater sees: the reply has another number than the question, or is one of the practice items."""
    return len(screen.context) < 2 or screen.context[1].split()[-1] not in screen.responses[0].split()


def careful(rate):
    return lambda screen: {"coherence": 1 if is_check(screen) else rate(screen)}


def test_every_turn_comes_back_as_it_came_with_its_ratings(tmp_path):
    turns = [
        replace(
            turn,
            references=(f"reference {place // 3} it is",),
            facts=("a fact",),
            dialogue=f"d{place // 3}",
            ratings={"humour": (2.0, None)},
            extra={"probability": 0.25, "stratum": "2/5", "length": place, "raters": {"humour": ["x", "y"]}},
        )
        for place, turn in enumerate(a_corpus(4))
    ]
    with a_study(tmp_path / "study", Corpus(turns), raters=2, people=2) as study:
        for name, rater in raters_of(study).items():
            rate_all(study, rater, careful(lambda _, name=name: 4 if name == "r01" else 5))
        records, caveats = exported(study)
        back = load_export(study, tmp_path)
    assert caveats == []
    assert records[0]["probability"] == 0.25
    assert records[0]["stratum"] == "2/5"
    for turn, found in zip(turns, back, strict=True):
        assert found.ratings == {"humour": (2.0, None), "coherence": (4.0, 5.0)}
        assert found.extra["raters"] == {"humour": ["x", "y"], "coherence": ["r01", "r02"]}
        assert found.extra["trusted"] == {"coherence": [True, True]}
        assert replace(found, ratings={}, extra={}) == replace(turn, ratings={}, extra={})
        assert {name: found.extra[name] for name in ("probability", "stratum", "length")} == {
            name: turn.extra[name] for name in ("probability", "stratum", "length")
        }


def test_texts_of_any_kind_come_back(tmp_path):
    texts = [
        "<script>alert(1)</script>",
        "שלום \u202e עולם",
        "emoji 👩‍👩‍👧 \x1b[31m",
        "",
        "tab\tand\nlines",
    ]
    turns = [Turn(str(place), text, (f"say {place} please",)) for place, text in enumerate(texts)]
    with a_study(tmp_path / "study", Corpus(turns), raters=1, people=1) as study:
        rate_all(study, raters_of(study)["r01"], always(3))
        back = load_export(study, tmp_path)
    assert [turn.response for turn in back] == texts


def test_an_unfinished_study_says_so_and_has_all_turns(tmp_path):
    with a_study(tmp_path / "study", a_corpus(4), raters=2, people=2, practice=()) as study:
        rater = raters_of(study)["r02"]
        study.consent(rater)
        study.answer(rater, study.next_assignment(rater).public_id, {"coherence": 1}, 9)
        records, caveats = exported(study)
    assert len(records) == 12
    assert caveats == ["unfinished_study"]
    assert sum("ratings" in record for record in records) <= 1


def test_not_applicable_is_null(tmp_path):
    with a_study(tmp_path / "study", a_corpus(2), ask=("coherence 1-5 n/a",), raters=2, people=2) as study:
        for name, rater in raters_of(study).items():
            rate_all(study, rater, always(None if name == "r01" else 3))
        assert exported(study)[0][0]["ratings"] == {"coherence": [None, 3]}


def test_pairs_are_comparisons_with_sides_turned_back(tmp_path):
    turns = [replace(turn, extra={"probability": 0.5, "mark": turn.system}) for turn in a_corpus(4)]
    with a_study(tmp_path / "study", Corpus(turns), pairwise=True, ask=(), raters=2, people=2) as study:
        for name, rater in raters_of(study).items():
            rate_all(
                study,
                rater,
                lambda screen, name=name: {
                    "overall": "tie" if name == "r02" else "a" if screen.responses[0] > screen.responses[1] else "b"
                },
            )
        records, _ = exported(study)
        back = load_export(study, tmp_path)
    pairs, caveats = read_rated_pairs(tmp_path / "ratings.jsonl")
    assert caveats == []
    assert [pair.preferences for pair in pairs] == [{"overall": ("b", "tie")}] * 12
    assert [turn.extra for turn in back] == [turn.extra for turn in turns]  # what is no verb of pairs sees the turns
    assert len(records) == 12
    for record in records:
        assert record["a"]["response"] < record["b"]["response"]  # the greater one was preferred
        assert record["preferences"] == {"overall": ["b", "tie"]}
        assert record["raters"] == {"overall": ["r01", "r02"]}
        assert list(record["trusted"]) == ["overall"]
        assert record["probability"] == 0.5
        assert record["a"]["extra"] == {"mark": record["a"]["system"]}
    assert [(record["id"], record["a"]["system"], record["b"]["system"]) for record in records[:3]] == [
        ("turn-0", SYSTEMS[0], SYSTEMS[1]),
        ("turn-0", SYSTEMS[0], SYSTEMS[2]),
        ("turn-0", SYSTEMS[1], SYSTEMS[2]),
    ]


def test_pairs_that_no_one_chose_between_yet_are_pairs(tmp_path):
    with a_study(tmp_path / "study", a_corpus(2), pairwise=True, ask=(), raters=2, people=2) as study:
        assert len(load_export(study, tmp_path)) == 6
    pairs, _ = read_rated_pairs(tmp_path / "ratings.jsonl")
    assert [dict(pair.preferences) for pair in pairs] == [{}] * 6


def test_ratings_of_dialogues_stand_with_all_their_turns(tmp_path):
    turns = [
        Turn(
            f"{system}{d}{n}",
            f"{system} says {d} {n} in words",
            tuple(f"{d} {k}" for k in range(n + 1)),
            system=system,
            dialogue=f"{system}{d}",
        )
        for system in "xy"
        for d in range(3)
        for n in range(2)
    ]
    with a_study(tmp_path / "study", Corpus(turns), ask=("overall 1-5",), unit="dialogue", raters=1, people=1) as study:
        rate_all(
            study,
            raters_of(study)["r01"],
            lambda screen: {"overall": 1 + sum("y says" in said for said in screen.context)},
        )
        back = load_export(study, tmp_path)
    assert all(not turn.ratings for turn in back)
    found = {turn.dialogue: turn.extra["dialogue_ratings"]["overall"] for turn in back}
    assert found == {f"{system}{d}": [1 + 2 * (system == "y")] for system in "xy" for d in range(3)}
    rows = correlate(back, "length", level="dialogue").rows
    assert rows[0].n == 6


SCORES = [1, 2, 3, 4, 5, 6]


@pytest.fixture
def scored(tmp_path):
    """Six turns with a score, three raters: one follows the score, one turns it round and fails the checks, one is too
    fast at times."""
    turns = [
        Turn(f"t{n}", f"this is reply number {n}", ("well then", f"ask number {n}"), extra={"score": n}) for n in SCORES
    ]
    with a_study(
        tmp_path / "study", Corpus(turns), ask=("coherence 1-7",), raters=3, people=3, repeat_every=0
    ) as study:
        raters = raters_of(study)

        def number(screen):
            return int(screen.responses[0].split()[-1])

        def hasty(screen):
            return 6 if number(screen) == 1 else 1

        for name, rate in (("r01", careful(number)), ("r02", always(7)), ("r03", careful(hasty))):
            study.consent(raters[name])
            while screen := study.next_assignment(raters[name]):
                slow = name != "r03" or is_check(screen) or number(screen) > 1
                study.answer(raters[name], screen.public_id, rate(screen), 9 if slow else 0.2)
        path = tmp_path / "ratings.jsonl"
        path.write_text("".join(f"{line}\n" for line in study.export()[0]), encoding="utf-8")
        yield path, study


def test_what_failed_is_marked_and_nothing_is_deleted(scored):
    path, study = scored
    assert [caveat.code for caveat in study.export()[1]] == ["untrusted_ratings"]
    turns = load(path).turns
    assert [turn.ratings["coherence"] for turn in turns] == [(1, 7, 6), *((n, 7, 1) for n in SCORES[1:])]
    assert [turn.extra["trusted"]["coherence"] for turn in turns] == [
        [True, False, False],
        *([[True, False, True]] * 5),
    ]


def test_correlate_gives_what_can_be_computed_by_hand(scored):
    path, _ = scored
    # All three: means of (1,7,6), (2,7,1), (3,7,1), (4,7,1), (5,7,1), (6,7,1) are 14/3, 10/3, 11/3, 12/3, 13/3, 14/3.
    # Times 3, about their mean 74/6: 10/6 -14/6 -8/6 -2/6 4/6 10/6; scores about 3.5: -2.5 -1.5 -.5 .5 1.5 2.5.
    # Sxy = (10*-2.5 + 14*1.5 + 8*.5 - 2*.5 + 4*1.5 + 10*2.5) / 6 = 30/6 = 5; Sxx = 17.5; Syy = (100+196+64+4+16+100)/36
    # = 480/36 = 40/3. r = 5 / sqrt(17.5 * 40/3) = 0.3273.
    everything = correlate(path, "column[name=score]", level="turn").rows[0]
    assert everything.pearson == pytest.approx(5 / (17.5 * 40 / 3) ** 0.5, abs=1e-9)
    # Trusted: 1 alone for the first turn, else the mean of n and 1: 1, 1.5, 2, 2.5, 3, 3.5: a straight line.
    trusted = correlate(trusted_only(load(path)), "column[name=score]", level="turn").rows[0]
    assert trusted.pearson == pytest.approx(1, abs=1e-9)


def kept(caveats):
    return [caveat.message for caveat in caveats if caveat.code == "untrusted_kept"]


def test_ratings_that_failed_and_count_are_said(scored):
    path, _ = scored
    corpus = load(path)
    # Three raters of six turns; the second failed, and so did one answer of the third.
    said = "coherence: 7 of 18 ratings failed their study's checks and count here; --trusted leaves them out"
    assert kept(correlate(path, "column[name=score]", level="turn").caveats) == [f"ratings, {said}"]
    assert kept(estimate(path, "column[name=score]").caveats) == [said]
    assert not kept(correlate(trusted_only(corpus), "column[name=score]", level="turn").caveats)
    assert not kept(estimate(path, "column[name=score]", trusted=True).caveats)


def test_pairs_that_failed_and_count_are_said(tmp_path):
    turns = [Turn(f"{n}", f"{system} {n}", (f"ask {n}",), system=system) for n in range(6) for system in "xy"]
    lines = [
        {
            "id": f"{n}",
            "context": [f"ask {n}"],
            **{side: {"system": name, "response": f"{name} {n}"} for side, name in zip("ab", "xy", strict=True)},
            "preferences": {"overall": ["a", "b", None]},
            "trusted": {"overall": [True, n > 1, False]},
        }
        for n in range(4)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    said = "overall: 2 of 8 preferences failed their study's checks and count here; --trusted leaves them out"
    assert kept(estimate(Corpus(turns), "length", ratings=path).caveats) == [said]
    assert not kept(estimate(Corpus(turns), "length", ratings=path, trusted=True).caveats)


def test_a_dialogues_rating_counts_once_and_what_is_no_mark_is_none():
    extra = {"dialogue_ratings": {"overall": [5, 1]}, "dialogue_trusted": {"overall": [True, False]}}
    turns = [Turn(f"{n}", "hi", dialogue="d", ratings={"overall": [3]}, extra=extra) for n in range(3)]
    (found,) = untrusted_turns(turns, "overall", True, "mine")
    assert found.message.startswith("mine: 1 of 2 ratings failed")
    assert not untrusted_turns(turns, "overall", False, "mine")
    for marks in (False, "no", {"overall": False}, {"overall": [False, False]}, {"fluency": [False]}):
        other = Turn("1", "hi", ratings={"overall": [3]}, extra={"trusted": marks})
        assert not untrusted_turns([other], "overall", False, "mine")


def test_trusted_counts_what_it_leaves_out_and_what_it_knows_nothing_of(scored):
    path, _ = scored
    corpus = load(path)
    kept = trusted_only(corpus)
    assert [turn.ratings["coherence"] for turn in kept][:2] == [(1, None, None), (2, None, 1)]
    assert [caveat.message for caveat in kept.caveats] == ["7 ratings left out that failed the study's checks"]
    other = replace(corpus.turns[0], id="other", ratings={"coherence": (3.0, 4.0)}, extra={})
    mixed = trusted_only(Corpus([*corpus.turns, other]))
    assert mixed.turns[-1].ratings == {"coherence": (3.0, 4.0)}
    assert [caveat.code for caveat in mixed.caveats] == ["untrusted_left_out", "trust_unknown"]


def test_trusted_needs_marks_that_fit():
    turn = Turn("1", "hi", ratings={"overall": [3, 4]})
    with pytest.raises(InputError, match="rate --export"):
        trusted_only(Corpus([turn]))
    for marks in ({"overall": [True]}, {"overall": [1, 0]}, {"overall": True}):
        with pytest.raises(InputError, match="for each of the 2 ratings of 'overall'"):
            trusted_only(Corpus([replace(turn, extra={"trusted": marks})]))


def test_where_nothing_is_trusted_it_is_said():
    turn = Turn("1", "hi", ratings={"overall": [3, 4]}, extra={"trusted": {"overall": [False, False]}})
    with pytest.raises(InputError, match="none of the 2 ratings passed"):
        trusted_only(Corpus([turn]))


def test_dialogues_that_no_one_is_trusted_on_are_not_rated_by_their_turns():
    turn = Turn(
        "1",
        "hi",
        dialogue="d",
        ratings={"overall": [5]},
        extra={"dialogue_ratings": {"overall": [1, 2]}, "dialogue_trusted": {"overall": [False, False]}},
    )
    (kept,) = trusted_only(Corpus([turn])).turns
    assert kept.extra["dialogue_ratings"] == {"overall": (None, None)}
    assert kept.ratings == {"overall": (5.0,)}

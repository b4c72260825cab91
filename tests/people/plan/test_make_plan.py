"""Plans from pilots and from public corpora."""

import json
from dataclasses import replace

import pytest

from dialogauge import Corpus, InputError, load, plan
from dialogauge.corpus.known import corpora
from dialogauge.people.plan.basis import Basis, known_bases, known_basis
from tests.people.plan.made_up import rated_corpus
from tests.shared import shared


def test_a_plan_from_a_public_corpus():
    planned = plan(like="usr-persona", metrics="gauge", difference=0.3, raters=[1, 3])
    alone, helped = planned.size(raters=3), planned.size(raters=3, metric="gauge")
    assert alone.ratings == alone.contexts * 2 * 3
    assert helped.saved == pytest.approx(1 - helped.ratings / alone.ratings)
    assert 0.1 < helped.saved < 0.4
    assert planned.size(raters=1).contexts > alone.contexts
    assert planned.size(raters=1).ratings < alone.ratings


def test_a_plan_from_all_public_corpora():
    planned = plan(difference=0.3)
    assert [size.like for size in planned.sizes] == list(dict.fromkeys(basis.name for basis in known_bases()))
    assert {size.raters for size in planned.sizes} == {3}
    assert "unpaired" in [caveat.code for caveat in planned.caveats]
    named = plan(difference=0.3, dimension="engaging")
    assert [size.like for size in named.sizes] == ["usr-persona", "fed"]


def test_dialogues_with_several_turns():
    size = plan(like="fed", difference=0.3, raters=[1]).size(raters=1)
    assert size.contexts == 3 * size.units
    assert size.ratings == 2 * size.contexts


def test_a_pilot_gives_its_own_variances():
    pilot = rated_corpus(1, contexts=300, system_context=0.5, rating=0.5, context=2.0)
    size = plan(pilot, difference=0.3, raters=[1]).size(raters=1)
    # Twice .5 + .5 is the variance of a difference: (1.96 + .8416)² * 2 / .09 = 174.4, and two more for Student's t.
    assert size.contexts == pytest.approx(176, rel=0.2)


def test_a_pilot_within_a_larger_file_is_its_pool():
    pilot = rated_corpus(1, contexts=100, system_context=1, rating=0.2)
    most = [replace(turn, ratings={}) if int(turn.id) >= 40 else turn for turn in pilot]
    assert plan(pilot, difference=0.3).pool is None
    assert plan(Corpus(most), difference=0.3).pool == 100
    planned = plan(Corpus(most), difference=0.1)
    assert planned.size(raters=1).contexts is None
    assert "too many" in str(planned)


def test_a_metric_that_is_not_at_hand():
    planned = plan(like="usr-persona", difference=0.2, correlation=0.8, raters=[3])
    alone, helped = planned.size(raters=3).contexts, planned.size(raters=3, metric="r=0.8").contexts
    assert helped / alone == pytest.approx(1 - 0.8**2, abs=0.03)


def test_people_matter_where_raters_like_different_systems():
    pilot = rated_corpus(1, contexts=100, people=30, system_rater=0.3, rating=0.5)
    few, many = (plan(pilot, difference=0.5, people=people, raters=[3]).size(raters=3) for people in (8, 200))
    assert few.contexts is None or few.contexts > 2 * many.contexts
    unnamed = Corpus([replace(turn, extra={}) for turn in pilot])
    assert "raters_unnamed" in [caveat.code for caveat in plan(unnamed, difference=0.5, people=8).caveats]


def test_the_number_of_raters_that_makes_a_turn_reliable():
    basis = Basis("x", "overall", 2, 50, 3, 1, 5, 0.5, known_basis("fed", None).components)
    assert [basis.reliability(raters) for raters in (1, 2, 4)] == pytest.approx([0.5, 2 / 3, 0.8])
    assert basis.raters_for(0.8) == 4
    assert replace(basis, alpha=-0.1).raters_for(0.8) is None
    assert replace(basis, alpha=None).reliability(3) is None


def test_a_size_that_was_not_planned():
    with pytest.raises(InputError, match="found none with raters 7, metric 'gauge'"):
        plan(like="fed", difference=0.3).size(7, "gauge")


def test_the_forms():
    planned = plan(like="usr-persona", metrics="gauge", difference=0.3)
    document = json.loads(planned.to_json())
    assert document["schema"] == "dialogauge.plan/1"
    assert document["sizes"][0]["contexts"] == planned.size(raters=1).contexts
    assert document["from"][0]["components"]["system_rater"] == pytest.approx(0.0177, abs=0.01)
    assert len(planned.to_csv().strip().splitlines()) == 1 + 8
    assert "ratings with gauge" in planned.to_markdown()
    assert "systems × raters" in str(planned)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"like": "usr-person"}, "did you mean usr-persona"),
        ({"like": "usr-persona", "dimension": "natral"}, "did you mean Natural"),
        ({"like": "fed", "metrics": "bleu"}, "bleu: how far it agrees is not known of fed, only of gauge"),
        ({"like": "fed", "raters": [0]}, "raters: expected a whole number from 1"),
        ({"like": "fed", "raters": []}, "expected one number or more"),
        ({"like": "fed", "correlation": 2}, "correlation"),
        ({"like": "fed", "pool": 0}, "pool"),
        ({"pilot": "examples/everyday.jsonl"}, "expected ratings to plan from, found none"),
        ({"pilot": "examples/rated.jsonl", "dimension": "overal"}, "did you mean overall"),
        ({"pilot": "examples/rated.jsonl", "like": "fed"}, "found both"),
        ({"pilot": "examples/rated.jsonl", "metrics": "distinct"}, "has none"),
    ],
)
def test_errors(call, message):
    with pytest.raises(InputError, match=message):
        plan(**{"difference": 0.3, **call})


def test_what_a_reader_must_know():
    codes = {caveat.code for caveat in plan("examples/rated.jsonl", difference=0.3).caveats}
    assert codes == {"few_units"}
    single = rated_corpus(1, raters=1, named=False)
    assert "one_rating" in {caveat.code for caveat in plan(single, difference=0.3).caveats}


def test_the_known_corpora_are_known():
    names = {corpus.name for corpus in corpora()}
    for basis in known_bases():
        assert basis.name in names
        assert basis.low < basis.high
        assert basis.components.of_difference(1) > basis.components.of_difference(10) > 0


@pytest.mark.parametrize(
    ("name", "path"),
    [("usr-persona", "usr_persona/pc_usr_data.json"), ("grade-dailydialog", "grade/eval_data/dailydialog")],
)
def test_the_kept_numbers_are_those_of_the_corpora(name, path):
    from scripts.build_plan_table import SYSTEMS

    corpus = load(shared(f"corpora/{path}")).select(SYSTEMS.get(name))
    kept = known_basis(name, None)
    found = Basis.from_corpus(name, corpus, kept.dimension, {})
    assert found.components.of_difference(3) == pytest.approx(kept.components.of_difference(3), abs=2e-3)
    assert found.alpha == pytest.approx(kept.alpha, abs=1e-4)
    assert (found.units, found.systems) == (kept.units, kept.systems)


def test_grade_would_take_dozens_of_raters_for_one_reliable_turn():
    """Its alphas of .12, .084 and .034 mean so many raters for a reliability of .8, rounded up."""
    asked = [
        known_basis(f"grade-{name}", None).raters_for(0.8) for name in ("convai2", "dailydialog", "empatheticdialogues")
    ]
    assert asked == [30, 44, 114]

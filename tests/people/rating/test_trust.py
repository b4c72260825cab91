"""Who is trusted, and what the organiser and the readers of a paper are told."""

import math

import pytest

from dialogauge.people.rating.answers import read_state
from dialogauge.people.rating.overview import raters_needed
from tests.people.rating.studies import a_corpus, a_study, always, rate_all, raters_of


def summary(study, name="r01"):
    return next(rater for rater in study.organiser_view().raters if rater.name == name)


def kinds(study):
    """What is behind each public id: the kind of the item, and whether it is a repeat."""
    with study.store.reading() as db:
        query = "SELECT public_id, kind, repeat FROM assignment JOIN item ON item.id = item"
        return {row["public_id"]: (row["kind"], bool(row["repeat"])) for row in db.execute(query)}


def rate_by_kind(study, name, rated=4, checks=(), repeats=(), seconds=5.0):
    """Answers `rated`, but the first checks and repeats as told; attentively beyond that."""
    known, checks, repeats = kinds(study), list(checks), list(repeats)

    def choose(screen):
        kind, repeat = known[screen.public_id]
        if kind == "check":
            return {"coherence": checks.pop(0) if checks else 1}
        return {"coherence": repeats.pop(0) if repeat and repeats else rated}

    return rate_all(study, raters_of(study)[name], choose, seconds)


@pytest.fixture
def study(tmp_path):
    """24 items each, with four checks and three repeats."""
    corpus = a_corpus(8)
    with a_study(tmp_path / "study", corpus, raters=2, people=2, check_every=6, repeat_every=8) as made:
        yield made


def test_a_careful_rater_is_trusted(study):
    rate_by_kind(study, "r01")
    found = summary(study)
    assert (found.checks, found.failed, found.repeats, found.inconsistent, found.fast) == (4, 0, 3, 0, 0)
    assert found.trusted
    assert (found.done, found.total) == (31, 31)
    assert found.median_seconds == 5.0


@pytest.mark.parametrize(("given", "failed", "trusted"), [([5], 1, True), ([4, 5], 2, False), ([3, 3, 3, 3], 0, True)])
def test_two_failed_checks_are_too_many(study, given, failed, trusted):
    rate_by_kind(study, "r01", checks=given)
    assert summary(study).failed == failed
    assert summary(study).trusted is trusted
    assert bool(summary(study).reasons) is not trusted


def test_who_is_trusted_stays_so_when_the_rest_is_handed_on(study):
    """One failed check of four is not the only one there was, though the other three were never shown."""
    rater, known = raters_of(study)["r01"], kinds(study)
    study.consent(rater)
    while not summary(study).checks:
        screen = study.next_assignment(rater)
        value = 5 if known[screen.public_id][0] == "check" else 3
        study.answer(rater, screen.public_id, {"coherence": value}, 5.0)
    before = summary(study)
    assert (before.checks, before.failed, before.trusted) == (1, 1, True)
    study.release("r01")
    after = summary(study)
    assert (after.state, after.checks, after.failed, after.reasons) == ("released", 1, 1, ())


def test_the_only_check_must_hold(tmp_path):
    with a_study(tmp_path / "study", a_corpus(3), raters=1, people=1) as study:
        rate_by_kind(study, "r01", checks=[5])
        assert summary(study).reasons == ("failed 1 of 1 attention checks",)


def test_of_many_checks_a_quarter_must_fail(tmp_path):
    with a_study(tmp_path / "study", a_corpus(12), raters=1, people=1, check_every=3) as study:  # twelve checks
        rate_by_kind(study, "r01", checks=[5, 5])
        assert summary(study).checks == 12
        assert summary(study).trusted
    with a_study(tmp_path / "again", a_corpus(12), raters=1, people=1, check_every=3) as study:
        rate_by_kind(study, "r01", checks=[5, 5, 5])
        assert not summary(study).trusted


@pytest.mark.parametrize(("given", "changed", "trusted"), [([1, 5], 1, True), ([1, 1], 2, False), ([2, 2, 2], 0, True)])
def test_repeats_that_differ_by_more_than_half_the_scale(study, given, changed, trusted):
    rate_by_kind(study, "r01", rated=4, repeats=given)
    assert summary(study).inconsistent == changed
    assert summary(study).trusted is trusted


def test_a_hasty_rater_is_not_trusted(study):
    rate_by_kind(study, "r01", seconds=0.5)
    assert summary(study).fast == 31
    assert summary(study).reasons == ("31 of 31 answers came under the time floor",)


def test_long_replies_take_time(tmp_path):
    """40 words cannot be read in 1.5 seconds, though the floor is one."""
    from dialogauge import Corpus, Turn

    turns = [
        Turn("long", "word " * 40, ("say much please",)),
        Turn("short", "just a few words", ("say little please",)),
    ]
    with a_study(tmp_path / "study", Corpus(turns), raters=1, people=1, check_every=0) as study:
        rate_all(study, raters_of(study)["r01"], always(3), 1.5)
        answers = read_state(study.store).answers
        assert {answer.item.words: answer.fast for answer in answers} == {40: True, 4: False}
        assert summary(study).trusted  # half of them is not more than half


def test_the_organiser_excludes_and_includes(study):
    rate_by_kind(study, "r01")
    study.exclude("r01", "asked a bot")
    assert summary(study).reasons == ("excluded: asked a bot",)
    study.include("r01")
    assert summary(study).trusted
    with study.store.reading() as db:
        told = [row["what"] for row in db.execute("SELECT what FROM event ORDER BY id")]
    assert told[-2:] == ["excluded", "included"]


def test_a_preference_for_the_mismatched_reply_fails(tmp_path):
    with a_study(tmp_path / "study", a_corpus(8), ask=(), pairwise=True, raters=1, people=1, check_every=4) as study:
        known = kinds(study)

        def choose(screen):
            if known[screen.public_id][0] != "check":
                return {"overall": "tie"}
            right = screen.context[1].split()[-1]
            return {"overall": "b" if right in screen.responses[0].split() else "a"}

        rate_all(study, raters_of(study)["r01"], choose)
        assert summary(study).failed == summary(study).checks == 6
        assert not summary(study).trusted


def test_the_organiser_sees_progress_and_agreement(study):
    view = study.organiser_view()
    assert (view.done, view.planned, view.complete, view.items) == (0, 48, 0, 24)
    assert view.agreement[0].interval is None
    rate_by_kind(study, "r01", rated=4)
    rate_by_kind(study, "r02", rated=2)
    view = study.organiser_view()
    assert (view.done, view.complete, view.started, view.finished) == (48, 24, 2, 0)
    # Within every item (4, 2), over all as many 4s as 2s: alpha = 1 - 47/48 * (24 * 2 * 2) / 48 = 1 - 47/24.
    assert view.agreement[0].interval == pytest.approx(1 - 47 / 24)
    assert view.agreement[0].ordinal == pytest.approx(1 - 47 / 24)
    assert view.agreement[0].raters_needed is None
    study.exclude("r02")
    assert study.organiser_view().trusted_agreement[0].items == 0
    assert study.organiser_view().agreement[0].items == 24


def test_how_many_raters_it_takes():
    # Spearman-Brown: k = .8 (1 - a) / (a * .2), rounded up.
    assert raters_needed(0.5) == 4
    assert raters_needed(0.12) == 30
    assert raters_needed(0.9) == 1
    assert raters_needed(0.0) is None
    assert raters_needed(math.nan) is None


def test_the_datasheet_tells_what_a_paper_needs_and_no_more(tmp_path):
    settings = {"id_parameter": "PROLIFIC_PID", "instructions": "# Consent\n\nYes | no.", "title": "Replies | rated"}
    with a_study(tmp_path / "study", a_corpus(4), raters=2, people=2, **settings) as study:
        for external in ("secret-id-1", "secret-id-2"):
            rater = study.rater_by_token(study.join(study.links.join, {"PROLIFIC_PID": external}))
            rate_all(study, rater, always(5))
            study.finish(rater)
        sheet = study.datasheet()
    for told in (
        "12 replies of 3 systems",
        "alpha-bot (4)",
        "**coherence**: 1 (bad) to 5 (excellent)",
        "2 agreed to take part, 2 finished",
        "24 of 24 ratings are there; 12 of 12 items have all 2",
        "2 attention checks answered (mismatched replies), 2 failed",
        "2 of 2 raters not trusted",
        "r01: failed 1 of 1 attention checks",
        "## Agreement of trusted ratings alone",
        "> Yes | no.",
        "Median 5.0 s",
    ):
        assert told in sheet
    assert "secret-id" not in sheet
    assert "reply number" not in sheet


def test_a_study_without_answers_has_a_datasheet(tmp_path):
    with a_study(tmp_path / "study", raters=2) as study:
        assert "no answers yet" in study.datasheet()

"""People who come by one link, lists that are handed on, links that are made anew."""

import threading

import pytest

from dialogauge import InputError
from dialogauge.people.rating.answers import read_state
from dialogauge.people.rating.study import Full, NoId, Study
from tests.people.rating.studies import a_corpus, a_study, always, events, rate_all, raters_of, rows

PARAMETERS = {"PROLIFIC_PID": "5f0", "STUDY_ID": "st", "SESSION_ID": "se"}


@pytest.fixture
def crowd(tmp_path):
    with a_study(tmp_path / "crowd", a_corpus(4), raters=2, people=2, id_parameter="PROLIFIC_PID") as study:
        yield study


def test_there_is_one_link_for_all(crowd):
    assert crowd.links.raters == {}
    assert [name for name, _ in crowd.links.lines("http://localhost:1", "PROLIFIC_PID")] == ["organiser", "everyone"]


def test_the_same_id_is_the_same_rater_until_places_are_taken(crowd):
    first, again = (crowd.rater_by_token(crowd.join(crowd.links.join, PARAMETERS)) for _ in range(2))
    other = crowd.rater_by_token(crowd.join(crowd.links.join, {"PROLIFIC_PID": "x"}))
    assert (first.name, again.name, other.name) == ("r01", "r01", "r02")
    with pytest.raises(Full):
        crowd.join(crowd.links.join, {"PROLIFIC_PID": "y"})
    assert crowd.rater_by_token(crowd.join(crowd.links.join, PARAMETERS)).name == "r01"
    (known,) = [rater for rater in crowd.organiser_view().raters if rater.name == "r01"]
    assert known.rater.external == "5f0"
    assert known.rater.parameters == PARAMETERS


@pytest.mark.parametrize("parameters", [{}, {"STUDY_ID": "1"}, {"PROLIFIC_PID": "  "}, {"PROLIFIC_PID": "x" * 1000}])
def test_without_an_id_there_is_no_place(crowd, parameters):
    with pytest.raises(NoId, match="PROLIFIC_PID"):
        crowd.join(crowd.links.join, parameters)
    assert not events(crowd, "joined")


def test_two_who_come_at_once_get_two_places(crowd):
    names, barrier = [], threading.Barrier(2)

    def come(number):
        barrier.wait()
        names.append(crowd.rater_by_token(crowd.join(crowd.links.join, {"PROLIFIC_PID": str(number)})).name)

    threads = [threading.Thread(target=come, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == ["r01", "r02"]


def half_done(study, name):
    rater = raters_of(study)[name]
    study.consent(rater)
    for _ in range(8):
        study.answer(rater, study.next_assignment(rater).public_id, {"coherence": 2}, 5)
    return rater


def test_a_list_that_was_left_is_handed_on(tmp_path):
    with a_study(tmp_path / "study", a_corpus(6), raters=2, people=2, repeat_every=6) as study:
        left = half_done(study, "r01")
        name, token = study.release("r01")
        assert name == "r03"
        assert study.links.raters[name] == token
        assert study.rater_by_token(study.links.raters["r01"]).released
        assert study.next_assignment(left) is None
        for rater in (study.rater_by_token(token), raters_of(study)["r02"]):
            rate_all(study, rater, always(4))
            study.finish(rater)
        state = read_state(study.store)
        assert {len(answers) for answers in state.of_item.values()} == {2}
        for answers in state.of_item.values():
            assert len({answer.rater for answer in answers}) == 2
        new = [answer for answer in state.answers if answer.rater == 3]
        assert sum(answer.item.kind == "check" for answer in new) >= 1
        assert study.organiser_view().planned == 36 == study.organiser_view().done
        assert [rater.state for rater in study.organiser_view().raters] == ["released", "finished", "finished"]


def test_a_released_place_is_free_for_the_next_who_comes(crowd):
    rater = crowd.rater_by_token(crowd.join(crowd.links.join, PARAMETERS))
    crowd.consent(rater)
    crowd.join(crowd.links.join, {"PROLIFIC_PID": "x"})
    assert crowd.release("5f0") == ("r03", None)
    assert crowd.rater_by_token(crowd.join(crowd.links.join, PARAMETERS)).released  # not another place for the same one
    assert crowd.rater_by_token(crowd.join(crowd.links.join, {"PROLIFIC_PID": "y"})).name == "r03"


def test_nothing_is_released_that_is_done_or_not_begun(tmp_path):
    with a_study(tmp_path / "study", a_corpus(2), raters=1, people=2) as study:
        with pytest.raises(InputError, match="not begun"):
            study.release("r02")
        rate_all(study, raters_of(study)["r01"], always(3))
        with pytest.raises(InputError, match="nothing is left"):
            study.release("r01")
        study.finish(raters_of(study)["r01"])
        with pytest.raises(InputError, match="finished already"):
            study.release("r01")
        with pytest.raises(InputError, match="unknown rater 'r9'"):
            study.release("r9")
        assert rows(study, "SELECT count(*) FROM rater") == [(2,)]


def test_a_new_link_ends_the_old_one(tmp_path):
    with a_study(tmp_path / "study", a_corpus(2), raters=1, people=2) as study:
        old = study.links
        new = study.new_link("r02")
        assert study.rater_by_token(old.raters["r02"]) is None
        assert study.rater_by_token(new).name == "r02"
        assert study.links.raters == {"r01": old.raters["r01"], "r02": new}
        organiser = study.new_link("organiser")
        assert not study.organiser(old.organiser)
        assert study.organiser(organiser)
        with pytest.raises(InputError, match="links of their own"):
            study.new_link("join")


def test_links_can_be_deleted_and_are_kept_nowhere_else(tmp_path):
    with a_study(tmp_path / "study", a_corpus(2), raters=1, people=2) as study:
        token = study.links.raters["r01"]
        (study.directory / "links.txt").unlink()
        assert study.links is None
        assert study.rater_by_token(token).name == "r01"
        assert study.rater_by_token(study.new_link("r01")).name == "r01"
        assert not (study.directory / "links.txt").exists()
    with Study.open(tmp_path / "study") as again:
        assert again.links is None

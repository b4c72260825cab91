"""A study under way: blind screens, answers that stay, one rater's reach."""

import json
import sqlite3
import stat
import threading
from collections import Counter
from dataclasses import asdict

import pytest

from dialogauge import InputError
from dialogauge.people.rating.study import Finished, Incomplete, NotConsented, NotFound, Study
from tests.people.rating.studies import SYSTEMS, a_corpus, a_study, always, events, rate_all, raters_of, rows


@pytest.fixture
def study(tmp_path):
    with a_study(tmp_path / "study", a_corpus(6), raters=2, people=3, repeat_every=6) as made:
        yield made


@pytest.fixture
def rater(study):
    found = raters_of(study)["r01"]
    study.consent(found)
    return found


def test_a_new_study_is_for_its_owner_alone(study):
    assert stat.S_IMODE(study.directory.stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in study.directory.iterdir()}
    assert {"study.sqlite", "study.sqlite-wal", "links.txt"} <= set(files)
    assert set(files.values()) == {0o600}


def test_tokens_are_kept_as_hashes(study):
    kept = b"".join(path.read_bytes() for path in study.directory.iterdir() if path.name.startswith("study.sqlite"))
    tokens = [study.links.organiser, *study.links.raters.values()]
    assert len(set(tokens)) == 4
    assert all(len(token) == 32 and token.encode() not in kept for token in tokens)


def test_a_directory_that_holds_something_is_left_alone(study, tmp_path):
    with pytest.raises(InputError, match="is a study already"):
        a_study(study.directory)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="left as it is"):
        a_study(other)
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]
    assert {path.name for path in tmp_path.iterdir()} == {"study", "other"}


def test_an_empty_directory_is_taken_but_for_the_present_one(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    a_study(tmp_path / "empty").close()
    assert {path.name for path in (tmp_path / "empty").iterdir()} == {"study.sqlite", "links.txt"}
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="where you are"):
        a_study(".")


def test_what_is_no_study_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        Study.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not a rating study"):
        Study.open(tmp_path)
    (tmp_path / "study.sqlite").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        Study.open(tmp_path)
    (tmp_path / "study.sqlite").write_bytes(b"something else entirely" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        Study.open(tmp_path)


def test_a_study_of_a_later_version_is_refused(study, tmp_path):
    with study.store.reading() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="version 99"):
        Study.open(tmp_path / "study")


def test_screens_tell_nothing_of_systems_ids_checks_or_repeats(study, rater):
    screens = rate_all(study, rater, always(3))
    kinds = Counter(
        kind for (kind,) in rows(study, "SELECT kind FROM assignment JOIN item ON item.id = item WHERE rater = 1")
    )
    assert kinds["check"] >= 1
    assert rows(study, "SELECT count(*) FROM assignment WHERE rater = 1 AND repeat")[0][0] >= 1
    for screen in screens:
        told = json.dumps(asdict(screen))
        assert not any(name in told for name in (*SYSTEMS, "turn-", "check", "repeat", "system"))
    shapes = {tuple(asdict(screen)) for screen in screens}
    assert len(shapes) == 1
    ids = [screen.public_id for screen in screens]
    assert len(set(ids)) == len(ids)
    assert all(len(public_id) == 16 for public_id in ids)


def test_public_ids_come_from_no_seed(tmp_path):
    """The same call twice: the same lists, other ids."""
    made = [a_study(tmp_path / name) for name in "ab"]
    items, ids = zip(
        *(
            (
                rows(study, "SELECT rater, item, position, repeat, flip FROM assignment ORDER BY id"),
                {public_id for (public_id,) in rows(study, "SELECT public_id FROM assignment")},
            )
            for study in made
        ),
        strict=True,
    )
    assert items[0] == items[1]
    assert not ids[0] & ids[1]
    for study in made:
        study.close()


def test_practice_comes_first_and_counts_nowhere(study, rater):
    screens = rate_all(study, rater, always(2))
    assert [screen.stage for screen in screens[:3]] == ["practice", "practice", "rating"]
    assert [(screen.position, screen.total) for screen in screens[:2]] == [(1, 2), (2, 2)]
    assert all(screen.feedback for screen in screens[:2])
    assert not any(screen.feedback for screen in screens[2:])
    total = screens[2].total
    assert [screen.position for screen in screens[2:]] == list(range(1, total + 1))
    assert study.progress(rater) == (total, total)


def test_answers_need_consent(study):
    rater = raters_of(study)["r02"]
    screen = study.next_assignment(rater)
    with pytest.raises(NotConsented):
        study.answer(rater, screen.public_id, {"coherence": 3})
    assert rows(study, "SELECT count(*) FROM rating") == [(0,)]


def test_the_next_one_stays_until_it_is_answered(study, rater):
    first = study.next_assignment(rater)
    assert study.next_assignment(rater) == first
    study.answer(rater, first.public_id, {"coherence": 3})
    assert study.next_assignment(rater).public_id != first.public_id
    assert study.assignment(rater, first.public_id).answers == {"coherence": 3.0}


def test_the_same_answer_twice_is_one_and_another_one_replaces_it(study, rater):
    screen = study.next_assignment(rater)
    for value in (3, 3, 5, 5):
        study.answer(rater, screen.public_id, {"coherence": value})
    assert rows(study, "SELECT dimension, value FROM rating") == [("coherence", 5.0)]
    assert len(events(study, "answered")) == 1
    (changed,) = events(study, "changed")
    assert json.loads(changed[2]) == {"values": {"coherence": 5.0}, "before": {"coherence": 3.0}}


@pytest.mark.parametrize(
    ("values", "problem"),
    [({}, "answer is needed"), ({"coherence": 9}, "from 1 to 5"), ({"coherence": 3, "other": 1}, "no such question")],
)
def test_a_wrong_answer_changes_nothing(study, rater, values, problem):
    screen = study.next_assignment(rater)
    study.answer(rater, screen.public_id, {"coherence": 3})
    with pytest.raises(Incomplete, match=problem) as caught:
        study.answer(rater, screen.public_id, values)
    assert caught.value.problems
    assert rows(study, "SELECT value FROM rating") == [(3.0,)]


def test_no_one_reaches_what_is_not_theirs(study, rater):
    other = raters_of(study)["r02"]
    study.consent(other)
    theirs = study.next_assignment(other)
    assert study.assignment(rater, theirs.public_id) is None
    assert study.previous(rater, theirs.public_id) is None
    for act in (study.shown, lambda who, which: study.answer(who, which, {"coherence": 1})):
        with pytest.raises(NotFound):
            act(rater, theirs.public_id)
    assert rows(study, "SELECT count(*) FROM rating") == [(0,)]


def test_wrong_tokens_open_nothing(study):
    assert study.rater_by_token("x" * 32) is None
    assert study.rater_by_token(study.links.organiser) is None
    assert not study.organiser(next(iter(study.links.raters.values())))
    assert study.organiser(study.links.organiser)
    with pytest.raises(NotFound):
        study.join(study.links.organiser, {"PROLIFIC_PID": "1"})


def test_undo_goes_back_one_by_one_and_loses_nothing(study, rater):
    screens = []
    for value in (1, 2, 3):
        screens.append(study.next_assignment(rater))
        study.answer(rater, screens[-1].public_id, {"coherence": value})
    now = study.next_assignment(rater)
    back = study.previous(rater, now.public_id)
    assert (back.public_id, back.answers) == (screens[2].public_id, {"coherence": 3.0})
    assert study.previous(rater, back.public_id).public_id == screens[1].public_id
    assert study.previous(rater, screens[0].public_id) is None
    assert study.previous(rater).public_id == screens[2].public_id
    assert study.next_assignment(rater) == now


def test_time_runs_from_the_first_showing(study, rater):
    now = [1000.0]
    study.clock = lambda: now[0]
    screen = study.next_assignment(rater)
    now[0] += 4
    study.next_assignment(rater)  # a reload
    study.shown(rater, screen.public_id)
    now[0] += 3
    study.answer(rater, screen.public_id, {"coherence": 3})
    now[0] += 50
    study.answer(rater, screen.public_id, {"coherence": 4})
    assert rows(study, "SELECT seconds FROM assignment WHERE done IS NOT NULL") == [(7.0,)]


def test_a_list_is_finished_once_it_is_whole_and_then_closed(study, rater):
    with pytest.raises(InputError, match="not answered yet"):
        study.finish(rater)
    screens = rate_all(study, rater, always(3))
    first = study.finish(rater)
    assert study.finish(rater) == first
    assert first.url is None
    assert len(first.code) == 10
    with pytest.raises(Finished):
        study.answer(rater, screens[-1].public_id, {"coherence": 5})
    study.answer(rater, screens[-1].public_id, {"coherence": 3})  # a post that comes twice is no error
    assert raters_of(study)["r01"].finished


def test_the_code_and_the_way_back_are_the_marketplaces(tmp_path):
    url = "https://app.prolific.com/submissions/complete?cc={code}&id={id}"
    settings = {"id_parameter": "PROLIFIC_PID", "completion_code": "C0DE", "completion_url": url, "check_every": 0}
    with a_study(tmp_path / "study", a_corpus(2), raters=1, people=1, **settings) as study:
        token = study.join(study.links.join, {"PROLIFIC_PID": "a b", "SESSION_ID": "s"})
        rater = study.rater_by_token(token)
        rate_all(study, rater, always(3))
        done = study.finish(rater)
    assert (done.code, done.url) == ("C0DE", "https://app.prolific.com/submissions/complete?cc=C0DE&id=a%20b")


def test_a_pause_keeps_every_answer(study, rater):
    screen = study.next_assignment(rater)
    study.pause()
    study.pause()
    assert study.paused
    study.answer(rater, screen.public_id, {"coherence": 2})
    study.resume()
    assert not study.paused
    assert [len(events(study, what)) for what in ("paused", "resumed")] == [1, 1]
    assert rows(study, "SELECT value FROM rating") == [(2.0,)]


def test_events_cannot_be_rewritten(study, rater):
    for statement in ("UPDATE event SET at = 0", "DELETE FROM event"):
        with pytest.raises(Exception, match="events stay"), study.store.writing() as db:
            db.execute(statement)
    assert len(events(study, "consented")) == 1


def test_a_study_goes_on_where_it_was_left(study, rater):
    first = study.next_assignment(rater)
    study.answer(rater, first.public_id, {"coherence": 4})
    waiting = study.next_assignment(rater)
    study.close()
    with Study.open(study.directory) as again:
        assert again.settings == study.settings
        assert again.next_assignment(rater) == waiting
        assert again.assignment(rater, first.public_id).answers == {"coherence": 4.0}


def test_a_closed_study_takes_nothing_more(study, rater):
    screen = study.next_assignment(rater)
    study.close()
    with pytest.raises(sqlite3.OperationalError, match="closed"):
        study.answer(rater, screen.public_id, {"coherence": 4})


def test_closing_waits_for_what_is_under_way(study, rater):
    with study.store.writing() as db:
        closing = threading.Thread(target=study.close)
        closing.start()
        closing.join(0.1)
        assert closing.is_alive()
        db.execute("UPDATE rater SET excluded = 'late' WHERE id = 1")
    closing.join()
    with Study.open(study.directory) as again:
        assert again.organiser_view().raters[0].reasons == ("excluded: late",)


def test_closing_leaves_one_file(study, rater):
    study.answer(rater, study.next_assignment(rater).public_id, {"coherence": 4})
    study.close()
    assert {path.name for path in study.directory.iterdir()} == {"study.sqlite", "links.txt"}


def test_sides_are_turned_back(tmp_path):
    """Whoever prefers the reply of voice 1 is known to, on whichever side it stood; screens say what was clicked."""
    with a_study(tmp_path / "study", a_corpus(8, SYSTEMS[:2]), pairwise=True, ask=(), raters=2, people=2) as study:
        clicked = set()
        for rater in raters_of(study).values():
            study.consent(rater)
            while screen := study.next_assignment(rater):
                side = "a" if "voice 1" in screen.responses[0] else "b"
                clicked.add(side)
                study.answer(rater, screen.public_id, {"overall": side})
                assert study.assignment(rater, screen.public_id).answers == {"overall": side}
        query = """SELECT DISTINCT value FROM rating JOIN assignment ON assignment.id = assignment
            JOIN item ON item.id = item WHERE kind = 'rated'"""
        assert clicked == {"a", "b"}
        sides = "SELECT sum(flip) FROM assignment JOIN item ON item.id = item WHERE kind = 'rated' AND NOT repeat"
        assert set(rows(study, f"{sides} GROUP BY item")) == {(1,)}  # of two raters, one saw each side first
        assert rows(study, query) == [("b",)]


def test_many_raters_at_once_lose_and_double_nothing(tmp_path):
    with a_study(tmp_path / "study", a_corpus(8), raters=4, people=8, repeat_every=0) as study:
        given, failures = {}, []

        def work(number, rater):
            try:
                for place, screen in enumerate(rate_all(study, rater, always(number % 5 + 1))):
                    given[rater.id, place] = screen.public_id
            except Exception as error:  # a thread's own error would pass unseen
                failures.append(error)

        threads = [threading.Thread(target=work, args=each) for each in enumerate(raters_of(study).values())]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(set(given.values())) == len(given) == rows(study, "SELECT count(*) FROM assignment")[0][0]
        values = rows(
            study,
            "SELECT rater, min(value), max(value) FROM rating JOIN assignment ON id = assignment GROUP BY rater",
        )
        assert len(values) == 8
        assert all(low == high == (rater - 1) % 5 + 1 for rater, low, high in values)
        assert len(events(study, "answered")) == len(given)
        counts = Counter(len(answers) for answers in study_state(study).of_item.values())
        assert counts == {4: 24}


def study_state(study):
    from dialogauge.people.rating.answers import read_state

    return read_state(study.store)

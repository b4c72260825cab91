"""A bar on a terminal; in logs a line now and then, never of quick work."""

from itertools import count

import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import evaluate
from dialogauge.progress import EVERY, progress_bar


class Clock:
    """Goes on only when told to."""

    now = 1000.0

    def __call__(self):
        return self.now

    def works(self, seconds, items):
        for item in items:
            self.now += seconds
            yield item


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr("tqdm.std.time", found)
    return found


def shown(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_line_now_and_then(clock, capsys):
    for item in progress_bar(range(1, 9), "reading", shown=True, unit="turn"):
        assert len(shown(capsys)) == (item in (4, 7))
        clock.now += EVERY / 3


def test_what_a_line_says(clock, capsys):
    work = clock.works(40, range(4000))
    with progress_bar(shown=True, total=8000, unit="token", unit_scale=True) as bar:
        bar.set_description("minilm")
        next(work)
        bar.update(2000)
        assert shown(capsys) == ["minilm: 2,000 of 8,000 tokens (25 %), 40 s"]
        bar.set_postfix({"loss": "0.5\x1b[31m"})
        assert shown(capsys) == []
        next(work)
        bar.update(2000)
        assert shown(capsys) == ["minilm: 4,000 of 8,000 tokens (50 %), loss=0.5\\u001b[31m, 80 s"]
    assert shown(capsys) == []


def test_what_is_not_known_is_not_said(clock, capsys):
    with progress_bar(clock.works(EVERY, "abc"), shown=True, unit="corpus") as bar:
        assert list(bar) == ["a", "b", "c"]
    assert shown(capsys) == ["1 corpora, 30 s", "2 corpora, 60 s", "3 corpora, 90 s"]
    list(progress_bar(clock.works(EVERY, "ab"), shown=True))
    assert shown(capsys) == ["1, 30 s", "2, 60 s"]


@pytest.mark.parametrize(("fit", "total"), [(100, " of 16 scores (100 %)"), (5, " scores")], ids=["kept", "streamed"])
def test_a_turn_under_a_metric_counts_as_a_score(monkeypatch, capsys, fit, total):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", fit)
    monkeypatch.setattr("tqdm.std.time", count(0, 40).__next__)  # every look at the clock is late enough for a line
    evaluate(Corpus([Turn(str(place), "a b") for place in range(8)]), "length,distinct", progress=True)
    assert f"distinct: 16{total}, " in capsys.readouterr().err


def test_quick_work_shows_nothing(clock, capsys):
    for _ in range(10):
        assert len(list(progress_bar(clock.works(EVERY / 600, range(500)), "reading", shown=True, unit="turn"))) == 500
    assert shown(capsys) == []


def test_not_shown(clock, capsys):
    assert list(progress_bar(clock.works(EVERY, "abc"), "reading", shown=False)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_a_bar_where_one_can_be_drawn(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(progress_bar(range(3), "reading", shown=True, mininterval=0)) == [0, 1, 2]
    assert "\rreading: 100%|" in capsys.readouterr().err


def test_a_file_name_cannot_act_on_the_terminal():
    with progress_bar(total=1, description="reading a\x1b[2Jb", shown=True) as bar:
        assert bar.desc.startswith("reading a\\u001b[2Jb")

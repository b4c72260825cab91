"""dialogauge rate: made, gone on with, looked at, exported; what cannot be, refused before anything is lost."""

import json
import sqlite3
import stat

import pytest

from dialogauge import load
from dialogauge.people.rating.study import Study
from tests.people.rating.studies import always, rate_all, raters_of


@pytest.fixture
def made(dialogauge, responses, tmp_path):
    done = dialogauge(
        "rate", responses, "--study", tmp_path / "study", "--ask", "overall 1-5", "--people", 3, "--no-serve"
    )
    assert done.code == 0, done.err
    return tmp_path / "study"


def rate_everything(folder, value=3):
    with Study.open(folder) as study:
        for rater in raters_of(study).values():
            rate_all(study, rater, always(value))
            study.finish(rater)


def test_a_study_is_made_without_a_word_on_stdout(dialogauge, responses, tmp_path):
    done = dialogauge("rate", responses, "--study", tmp_path / "study", "--no-serve")
    assert (done.code, done.out) == (0, "")
    assert "study: made" in done.err
    assert {path.name for path in (tmp_path / "study").iterdir()} == {"study.sqlite", "links.txt"}


def test_every_option_of_a_new_study_is_kept(dialogauge, responses, tmp_path):
    consent, practice = tmp_path / "consent.md", tmp_path / "practice.jsonl"
    consent.write_text("# Please\n\nconsent — ja", encoding="utf-8")
    practice.write_text('{"context": ["hi"], "response": "hello", "feedback": "fits"}\n')
    done = dialogauge(
        *("rate", responses, "--study", tmp_path / "study", "--no-serve", "--systems", "a"),
        *("--ask", "coherence 1-5", "--ask", "fluent yes/no n/a", "--raters", 2, "--per-rater", 10),
        *("--contexts", "apart", "--check-every", 5, "--check-on", "fluent", "--repeat-every", 0, "--time-floor", 2.5),
        *("--title", "Ours", "--instructions", consent, "--practice", practice, "--id-parameter", "PID"),
        *("--completion-code", "C1", "--completion-url", "https://example.org/?cc={code}", "--seed", 7),
    )
    assert done.code == 0, done.err
    with Study.open(tmp_path / "study") as study:
        kept = study.settings
        view = study.organiser_view()
        assert study.links.raters == {}
    assert [question.dimension for question in kept.questions] == ["coherence", "fluent"]
    assert (kept.raters, kept.per_rater, kept.contexts, kept.check_every, kept.check_on) == (
        2,
        10,
        "apart",
        5,
        "fluent",
    )
    assert (kept.repeat_every, kept.time_floor, kept.title, kept.seed) == (0, 2.5, "Ours", 7)
    assert (kept.instructions, kept.id_parameter) == ("# Please\n\nconsent — ja", "PID")
    assert (kept.completion_code, kept.completion_url) == ("C1", "https://example.org/?cc={code}")
    assert kept.source == ("responses.jsonl",)
    assert (view.items, view.planned, len(view.raters)) == (25, 50, 5)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give --study DIR"),
        (("{file}",), "give --study DIR"),
        (("{file}", "--study", "{new}", "--export", "{new}"), "give --study DIR"),
        (("--study", "{new}"), "no such directory"),
        (("--export", "{new}"), "no such directory"),
        (("--study", "{new}", "--ask", "overall 1-5"), "--ask: need the files"),
        (("{file}", "--study", "{old}"), "is a study already"),
        (("--study", "{old}", "--raters", "5"), "--raters: belong to a new study"),
        (("--study", "{old}", "--check-every", "0"), "--check-every: belong to a new study"),
        (("--study", "{old}", "--no-serve"), "--no-serve: belong to a new study"),
        (("--study", "{old}", "--port", "99999"), "from 0 to 65,535"),
        (("{file}", "--study", "{new}", "--status"), "--status: are for a study that was made before"),
        (("{file}", "--study", "{new}", "--out", "x"), "--out: belong to --export"),
        (("--export", "{old}", "--pairwise"), "--pairwise: do not belong to --export"),
        (("--study", "{old}", "--reason", "x"), "--reason belongs to --exclude"),
        (("{file}", "--study", "{new}", "--ask", "overall"), "expected a name and a scale"),
        (("{file}", "--study", "{new}", "--people", "1"), "--people: expected at least 3"),
        (("{file}", "--study", "{new}", "--instructions", "{missing}"), "No such file"),
        (("{file}", "--study", "{new}", "--practice", "{missing}"), "missing"),
        (("{missing}", "--study", "{new}"), "missing"),
        (("--study", "{old}", "--exclude", "r77"), "unknown rater 'r77'"),
        (("--study", "{old}", "--new-link", "join"), "links of their own"),
        (("--study", "{old}", "--new-link", "r01", "--public-url", "not-a-url"), "--public-url: expected https://"),
        (("{file}", "--study", "{new}", "--public-url", "http://example.org"), "--public-url: expected https://"),
        (("--study", "{old}", "--backup", "{file}"), "is there already"),
        (("--study", "{old}", "--backup", "{old}/study.sqlite", "--overwrite"), "is the study's own"),
        (("--study", "{old}", "--backup", "{old}/links.txt", "--overwrite"), "is the study's own"),
        (("--export", "{old}", "--out", "{file}"), "is there already"),
        (("--export", "{old}", "--out", "{old}/study.sqlite", "--overwrite"), "is the study's own"),
        (("--export", "{old}", "--out", "{old}/study.sqlite"), "is the study's own"),
        (("--export", "{old}", "--out", "{old}/study.sqlite-wal", "--overwrite"), "is the study's own"),
        (("--export", "{old}", "--out", "{old}/study.sqlite-shm"), "is the study's own"),
        (("--export", "{old}", "--out", "{old}/../study/links.txt", "--overwrite"), "is the study's own"),
        (("--export", "{old}", "--datasheet", "{old}/links.txt", "--overwrite"), "is the study's own"),
        (("--export", "{old}", "--datasheet", "-"), "--datasheet: expected the name of a file, found -"),
    ],
)
def test_a_wrong_call_is_refused_and_changes_nothing(dialogauge, made, responses, tmp_path, arguments, problem):
    names = {"file": responses, "new": tmp_path / "new", "old": made, "missing": tmp_path / "missing"}
    before = {path: path.read_bytes() for path in made.iterdir()}
    done = dialogauge("rate", *(argument.format(**names) for argument in arguments))
    assert done.code in (1, 2)
    assert done.out == ""
    assert problem in done.err
    assert {path: path.read_bytes() for path in made.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_the_export_is_made_anew_each_time(dialogauge, made):
    first = dialogauge("rate", "--export", made)
    assert first.code == 0
    assert "warning: the study is not done: 0 of 150 ratings are there" in first.err
    rate_everything(made, 5)
    again = dialogauge("rate", "--export", made)
    assert "failed the study's checks" in again.err
    turns = load(made / "ratings.jsonl").turns
    assert all(turn.ratings == {"overall": (5, 5, 5)} for turn in turns)
    assert "150 of 150 ratings are there" in (made / "datasheet.md").read_text()


def test_the_export_goes_where_it_is_told(dialogauge, made, tmp_path):
    out, sheet = tmp_path / "out.jsonl", tmp_path / "sheet.md"
    assert dialogauge("rate", "--export", made, "--out", out, "--datasheet", sheet).code == 0
    assert len(load(out)) == 50
    assert sheet.read_text().startswith("# Rating replies")
    assert dialogauge("rate", "--export", made, "--out", out, "--datasheet", sheet).code == 2
    assert dialogauge("rate", "--export", made, "--out", out, "--datasheet", sheet, "--overwrite").code == 0


@pytest.mark.parametrize(
    "files",
    [
        ("--out", "{other}/x", "--datasheet", "{other}/x"),
        ("--out", "{other}/x", "--datasheet", "{other}/../{other.name}/x", "--overwrite"),
        ("--out", "{old}/datasheet.md", "--overwrite"),
        ("--datasheet", "{old}/ratings.jsonl", "--overwrite"),
    ],
)
def test_ratings_and_datasheet_never_share_a_file(dialogauge, made, tmp_path, files):
    other = tmp_path / "other"
    other.mkdir()
    done = dialogauge("rate", "--export", made, *(each.format(other=other, old=made) for each in files))
    assert (done.code, done.out) == (2, "")
    assert "--out and --datasheet are the same file" in done.err
    assert not list(other.iterdir())
    assert not {"ratings.jsonl", "datasheet.md"} & {path.name for path in made.iterdir()}


def test_the_export_goes_to_stdout(dialogauge, made):
    done = dialogauge("rate", "--export", made, "--out", "-")
    assert [json.loads(line)["system"] for line in done.out.splitlines()] == ["a", "b"] * 25
    assert not (made / "ratings.jsonl").exists()


def test_correlate_leaves_out_what_is_not_trusted(dialogauge, made, tmp_path):
    """Two follow the number of words; r01 says the contrary, mismatched replies are good included."""

    def careful(screen):
        first, *_, last = screen.responses[0].split()
        return {"overall": 2 if first == "none" else 4 if last.startswith("w") else 1}

    def careless(screen):
        return {"overall": 5 if careful(screen)["overall"] < 4 else 1}

    with Study.open(made) as study:
        for name, rater in raters_of(study).items():
            rate_all(study, rater, careless if name == "r01" else careful)
    out = tmp_path / "rated.jsonl"
    assert "50 ratings of 150 failed the study's checks" in dialogauge("rate", "--export", made, "--out", out).err
    call = ("correlate", out, "--metrics", "length", "--level", "turn", "--format", "json")
    everything, trusted = (json.loads(dialogauge(*call, *more).out) for more in ((), ("--trusted",)))
    # a has five words and 4s (and a 1), b three words and 2s (and a 5): the means are 3 and 3, or 4 and 2.
    assert everything["rows"][0]["pearson"] is None
    assert trusted["rows"][0]["pearson"] == pytest.approx(1)
    assert "50 ratings left out that failed the study's checks" in str(trusted["warnings"])


def test_status_in_every_form(dialogauge, made):
    rate_everything(made)
    shown = dialogauge("rate", "--study", made, "--status")
    assert "finished" in shown.out
    assert "150 of 150 ratings; 50 of 50 items have all 3" in shown.out
    assert "too few ratings for agreement" in shown.out  # everyone said 3
    record = json.loads(dialogauge("rate", "--study", made, "--status", "--format", "json").out)
    assert record["schema"] == "dialogauge.rating_study/1"
    assert [rater["state"] for rater in record["raters"]] == ["finished"] * 3
    for form in ("csv", "markdown", "latex"):
        assert dialogauge("rate", "--study", made, "--status", "--format", form).code == 0


def test_a_backup_holds_what_the_log_still_has(dialogauge, made, tmp_path):
    """A plain copy of the file, while a server has it open, would lack the last answers."""
    with Study.open(made) as study:
        rater = raters_of(study)["r01"]
        study.consent(rater)
        study.answer(rater, study.next_assignment(rater).public_id, {"overall": 4})
        assert (made / "study.sqlite-wal").stat().st_size > 0
        assert dialogauge("rate", "--study", made, "--backup", tmp_path / "copy.sqlite").code == 0
    assert stat.S_IMODE((tmp_path / "copy.sqlite").stat().st_mode) == 0o600
    with sqlite3.connect(tmp_path / "copy.sqlite") as db:
        assert db.execute("SELECT value FROM rating").fetchall() == [(4.0,)]
    db.close()
    restored = tmp_path / "restored"
    restored.mkdir()
    (tmp_path / "copy.sqlite").rename(restored / "study.sqlite")
    assert dialogauge("rate", "--study", restored, "--status").code == 0
    with Study.open(restored) as study:
        assert study.links is None
        assert study.progress(rater)[1] > 0


def test_a_backup_takes_the_place_of_the_one_before(dialogauge, made, tmp_path):
    copy = tmp_path / "copy.sqlite"
    call = ("rate", "--study", made, "--backup", copy)
    assert dialogauge(*call).code == 0
    rate_everything(made)
    before = copy.read_bytes()
    assert "pass --overwrite" in dialogauge(*call).err
    assert copy.read_bytes() == before
    assert dialogauge(*call, "--overwrite").code == 0
    with sqlite3.connect(copy) as db:
        assert db.execute("SELECT count(*) FROM rating").fetchone()[0] >= 150
    db.close()
    copy.with_name("copy.sqlite-wal").write_bytes(b"a log")
    before = copy.read_bytes()
    assert "is in use" in dialogauge(*call, "--overwrite").err
    assert copy.read_bytes() == before


def test_links_raters_and_lists_are_seen_to(dialogauge, made):
    with Study.open(made) as study:
        old = study.links.raters["r02"]
        study.consent(raters_of(study)["r01"])
    link = dialogauge("rate", "--study", made, "--new-link", "r02").out.strip()
    released = dialogauge("rate", "--study", made, "--release", "r01")
    assert dialogauge("rate", "--study", made, "--exclude", "r03", "--reason", "asked to").code == 0
    with Study.open(made) as study:
        assert study.rater_by_token(old) is None
        assert study.rater_by_token(link.rpartition("/r/")[2]).name == "r02"
        assert study.rater_by_token(released.out.strip().rpartition("/r/")[2]).name == "r04"
        assert study.organiser_view().raters[2].reasons == ("excluded: asked to",)
    assert "r04 has the rest of the list" in released.err
    assert dialogauge("rate", "--study", made, "--include", "r03").code == 0


def test_a_new_link_begins_with_the_public_url(dialogauge, made):
    done = dialogauge("rate", "--study", made, "--new-link", "r01", "--public-url", "https://Rate.example.org/")
    assert done.out.startswith("https://rate.example.org/r/")


def test_the_same_seed_makes_the_same_lists(dialogauge, responses, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        dialogauge("rate", responses, "--study", tmp_path / name, "--seed", seed, "--no-serve", "--people", 4)
    plans = []
    for name in ("one", "two", "three"):
        with sqlite3.connect(tmp_path / name / "study.sqlite") as db:
            plans.append(db.execute("SELECT rater, item, position, repeat FROM assignment ORDER BY id").fetchall())
        db.close()
    assert plans[0] == plans[1] != plans[2]

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dialogauge.agreement import correlate
from tests.shared import annotation, shared

QUICK = ("--resamples", "60")
SCORE = "column[name=marks]"


def rows_of(seed=0, systems=("a", "b", "c"), n=20, rated=True):
    rng = np.random.default_rng(seed)
    found = []
    for place, system in enumerate(systems):
        for i in range(n):
            truth = rng.normal() + place
            row = {"id": str(i), "context": [f"question {i}"], "response": f"answer {i % 7} of {system}"}
            row |= {"system": system, "marks": truth + rng.normal()}
            given = [round(truth + 0.5 * rng.normal(), 1), None if i % 4 == 0 else round(truth, 1)]
            found.append({**row, "ratings": {"overall": given}} if rated else row)
    return found


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def separate(rows):
    """The ratings of rows as a file of their own."""
    lines = ["id,system,rater,dimension,value"]
    for row in rows:
        for rater, value in enumerate(row["ratings"]["overall"]):
            if value is not None:
                lines.append(f"{row['id']},{row['system']},{rater},overall,{value}")
    return "\n".join(lines) + "\n"


def by_hand(rows):
    given = [[r for r in row["ratings"]["overall"] if r is not None] for row in rows]
    return stats.pearsonr([row["marks"] for row in rows], [np.mean(r) for r in given]).statistic


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "rated.jsonl", rows_of())


@pytest.fixture
def other(tmp_path):
    return write(tmp_path / "other.jsonl", rows_of(1, ("a", "b")))


def test_a_table(dialogauge, file):
    done = dialogauge("correlate", file, "--metrics", f"{SCORE},length", *QUICK)
    assert done.code == 0
    lines = done.out.split("\n")
    assert lines[0].split()[:5] == ["level", "metric", "n", "Pearson", "Spearman"]
    assert [line.split()[:2] for line in lines[2:8]] == [
        *(["turn", SCORE], ["turn", "length"], ["turn", "(one"]),
        *(["system", SCORE], ["system", "length"], ["system", "(one"]),
    ]
    assert lines[2].split()[3].rstrip("*") == f"{by_hand(rows_of()):.3f}"
    assert "rated, overall" in done.out
    assert "warning: fewer than 8 systems" in done.err
    assert "warning" not in done.out


def test_json(dialogauge, file):
    done = dialogauge("correlate", file, "--metrics", SCORE, "--level", "turn", "--format", "json", *QUICK, "--seed", 5)
    document = json.loads(done.out)
    assert document["schema"] == "dialogauge.agreement/1"
    (row,) = document["rows"]
    assert (row["corpus"], row["n"]) == ("rated", 60)
    assert row["pearson"] == pytest.approx(by_hand(rows_of()), abs=1e-12)
    assert document["settings"] == {"seed": 5, "resamples": 60, "confidence": 0.95, "unit": "contexts"}
    assert [file["path"] for file in document["files"]] == [str(file)]
    assert [(c["fewest_raters"], c["most_raters"]) for c in document["ceilings"]] == [(2, 2)]
    assert len(document["warnings"]) == done.err.count("warning: ")


def test_csv(dialogauge, file):
    done = dialogauge("correlate", file, "--metrics", f"{SCORE},length", "--format", "csv", *QUICK)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["level"], row["metric"]) for row in rows] == [
        (level, metric) for level in ("turn", "system") for metric in (SCORE, "length")
    ]
    assert float(rows[0]["pearson"]) == pytest.approx(by_hand(rows_of()), abs=1e-12)


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_for_papers(dialogauge, file, form):
    done = dialogauge("correlate", file, "--metrics", "length", "--format", form, *QUICK)
    assert done.code == 0
    assert f"{'| turn | length |' if form == 'markdown' else 'turn & length &'}" in done.out


def test_the_same_call_prints_the_same(dialogauge, file):
    call = ("correlate", file, "--metrics", SCORE, "--format", "json", *QUICK)
    first, again, other = (dialogauge(*call, "--seed", seed).out for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_options_reach_the_work(dialogauge, file):
    def rows(*more):
        done = dialogauge("correlate", file, "--metrics", SCORE, "--format", "json", *QUICK, *more)
        assert done.code == 0, done.err
        return [(row["level"], row["system"], row["n"]) for row in json.loads(done.out)["rows"]]

    assert rows() == [("turn", None, 60), ("system", None, 3)]
    assert rows("--level", "system") == [("system", None, 3)]
    assert rows("--systems", "b,a") == [("turn", None, 40)]
    assert rows("--level", "turn", "--per-system") == [("turn", s, 60 if s is None else 20) for s in (None, *"abc")]
    assert rows("--dimension", "Overall", "--level", "turn") == [("turn", None, 60)]


def test_ratings_in_a_file_of_their_own(dialogauge, file, tmp_path):
    unrated = write(tmp_path / "unrated.jsonl", rows_of(rated=False))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(separate(rows_of()))
    call = ("--metrics", SCORE, "--format", "json", *QUICK)
    joined = json.loads(dialogauge("correlate", unrated, "--ratings", ratings, *call).out)
    inside = json.loads(dialogauge("correlate", file, *call).out)
    assert [{**row, "corpus": "rated"} for row in joined["rows"]] == inside["rows"]
    assert [file["path"] for file in joined["files"]] == [str(unrated), str(ratings)]
    assert joined["rows"][0]["corpus"] == "unrated"


def test_turns_that_the_ratings_do_not_name_are_counted(dialogauge, tmp_path):
    unrated = write(tmp_path / "unrated.jsonl", rows_of(rated=False))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(separate(rows_of()[5:]))
    done = dialogauge("correlate", unrated, "--ratings", ratings, "--metrics", SCORE, "--level", "turn", *QUICK)
    assert done.code == 0
    assert "5 of 60 turns have no rating" in done.err


def test_files_are_corpora_of_their_own_or_one_together(dialogauge, file, other, tmp_path):
    third = write(tmp_path / "third.jsonl", rows_of(2, ("d",)))
    call = ("--metrics", SCORE, "--level", "turn", "--format", "json", *QUICK)
    rows = json.loads(dialogauge("correlate", file, other, third, *call).out)["rows"]
    assert [(row["corpus"], row["n"]) for row in rows] == [("rated", 60), ("other", 40), ("third", 20), ("mean", 3)]
    assert rows[-1]["pearson"] == pytest.approx(np.mean([row["pearson"] for row in rows[:3]]), abs=1e-12)
    (row,) = json.loads(dialogauge("correlate", file, third, "--together", *call).out)["rows"]
    assert (row["corpus"], row["n"]) == ("rated", 80)
    assert row["pearson"] == pytest.approx(by_hand([*rows_of(), *rows_of(2, ("d",))]), abs=1e-12)


def test_files_of_one_name(dialogauge, file, tmp_path):
    (tmp_path / "again").mkdir()
    again = write(tmp_path / "again" / "rated.jsonl", rows_of(1))
    done = dialogauge("correlate", file, again, "--metrics", SCORE, "--level", "turn", "--format", "json", *QUICK)
    assert [row["corpus"] for row in json.loads(done.out)["rows"]] == ["rated", "rated (2)", "mean"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "word"], "unknown level 'word'"),
        (["--level", "systems"], "unknown level 'systems'; did you mean system?"),
        (["--dimension", "overal"], "unknown dimension 'overal'; did you mean overall?"),
        (["--metrics", "blue"], "unknown metric 'blue'"),
        (["--systems", "z"], "unknown system 'z'"),
        (
            ["--systems", "a,b", "--level", "system"],
            "rated, overall: the system level needs 3 rated systems or more, found 2",
        ),
        (["--level", "dialogue"], "rated, overall: the dialogue level needs turns with a `dialogue`"),
        (["--resamples", "0"], "resamples: expected a whole number from 1"),
        (["--seed", "-1"], "seed: expected a whole number from 0"),
        (["--metrics", "bleu"], "bleu needs references"),
        (["--metrics", "distinct", "--level", "turn"], "distinct: no value for a single turn"),
    ],
)
def test_wrong_calls(dialogauge, file, arguments, message):
    metrics = [] if "--metrics" in arguments else ["--metrics", SCORE]
    done = dialogauge("correlate", file, *metrics, *QUICK, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_a_wrong_level_is_told_before_anything_is_read(dialogauge, tmp_path):
    done = dialogauge("correlate", tmp_path / "missing.jsonl", "--metrics", SCORE, "--level", "word")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unknown level 'word'")


def test_no_ratings(dialogauge, file, tmp_path):
    unrated = write(tmp_path / "unrated.jsonl", rows_of(rated=False))
    done = dialogauge("correlate", unrated, "--metrics", SCORE)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("no turn has ratings; give them with --ratings")
    done = dialogauge("correlate", file, unrated, "--metrics", SCORE, *QUICK)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unrated: no turn has ratings")


def test_ratings_of_which_file(dialogauge, file, other, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(separate(rows_of()))
    done = dialogauge("correlate", file, other, "--ratings", ratings, "--metrics", SCORE)
    assert (done.code, done.out) == (2, "")
    assert done.err == "--ratings: to which of the 2 corpora? Give one file, or --together\n"


def test_files_that_are_missing(dialogauge, file, tmp_path):
    done = dialogauge("correlate", file, tmp_path / "missing.jsonl", "--metrics", SCORE)
    assert (done.code, done.out) == (2, "")
    assert "missing.jsonl" in done.err
    done = dialogauge("correlate", file, "--ratings", tmp_path / "missing.csv", "--metrics", SCORE)
    assert (done.code, done.out) == (2, "")
    assert "missing.csv" in done.err


def test_figures(dialogauge, file, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib to draw")
    folder = tmp_path / "figures" / "here"
    call = ("correlate", file, "--metrics", f"{SCORE},length", *QUICK)
    plain = dialogauge(*call)
    done = dialogauge(*call, "--figures", folder)
    assert done.code == 0, done.err
    assert done.out == plain.out
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        *("forest-system.png", "forest-turn.png", "heatmap-system.png", "heatmap-turn.png"),
        *("systems-rated-overall.png", "turns-rated-overall.png"),
    ]
    for path in folder.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG\r\n")


def test_figures_of_another_kind(dialogauge, file, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib to draw")
    done = dialogauge(
        *("correlate", file, "--metrics", SCORE, "--level", "system", *QUICK),
        *("--figures", tmp_path / "figures", "--figure-format", "svg"),
    )
    assert done.code == 0, done.err
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg"}


def test_no_place_for_figures_is_told_before_anything_is_read(dialogauge, file, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib to draw")
    (tmp_path / "taken").write_text("")
    done = dialogauge("correlate", tmp_path / "missing", "--metrics", SCORE, "--figures", tmp_path / "taken")
    assert (done.code, done.out) == (2, "")
    assert "taken" in done.err
    assert "missing" not in done.err


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("torch", reason="needs torch to make a small model")
    from tests.encode.models import build

    return build("bert", tmp_path / "bert", hidden_size=8, num_attention_heads=2)


def test_real_conversations_serve_every_corpus(dialogauge, tmp_path, file, other, model):
    real = write(tmp_path / "real.jsonl", [{"context": [f"hello {i}"], "response": f"soup {i}"} for i in range(30)])
    done = dialogauge(
        *("correlate", file, other, "--metrics", "fbd,length", "--real", real, "--encoder", model, "--no-cache"),
        *("--systems", "a,b", "--format", "json", *QUICK),
    )
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert [file["path"] for file in document["files"]] == [str(file), str(real), str(other)]
    third = write(tmp_path / "third.jsonl", rows_of(2))
    done = dialogauge(
        *("correlate", file, third, "--metrics", "fbd", "--real", real, "--encoder", model, "--no-cache"),
        *("--level", "system", "--format", "json", *QUICK),
    )
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert [row["corpus"] for row in rows] == ["rated", "third", "mean"]
    assert all(row["pearson"] is not None and row["higher_is_better"] is False for row in rows)


@pytest.fixture
def folder(tmp_path):
    """Two corpora of GRADE's layout, whose systems have the same name."""
    for corpus, n in (("first", 5), ("second", 7)):
        texts = [f"reply{' word' * (3 * i % n)} of {corpus}\n" for i in range(n)]
        for place, name, lines in (
            ("eval_data", "human_hyp.txt", texts),
            ("eval_data", "human_ctx.txt", [f"question {i}\n" for i in range(n)]),
            ("human_score", "human_score.txt", [f"{i % 5 + 1}.0\n" for i in range(n)]),
        ):
            path = tmp_path / "grades" / place / corpus / "bot"
            path.mkdir(parents=True, exist_ok=True)
            (path / name).write_text("".join(lines))
    return tmp_path / "grades"


def test_a_folder_of_corpora_gives_the_same_in_python(dialogauge, folder):
    done = dialogauge("correlate", folder, "--metrics", "length", "--level", "turn", "--format", "json", *QUICK)
    rows = json.loads(done.out)["rows"]
    assert [(row["corpus"], row["n"]) for row in rows] == [("first", 5), ("second", 7), ("mean", 2)]
    for given in (str(folder), folder, [folder]):
        assert correlate(given, "length", level="turn", resamples=60).to_records() == rows


def test_a_folder_of_corpora_is_one_with_together_and_by_name(dialogauge, folder):
    call = ("--metrics", "length", "--level", "turn", "--format", "json", *QUICK)
    (row,) = json.loads(dialogauge("correlate", folder, "--together", *call).out)["rows"]
    assert (row["corpus"], row["n"]) == ("grades", 12)
    (named,) = correlate({"grades": folder}, "length", level="turn", resamples=60).to_records()
    assert named == row
    scored = json.loads(dialogauge("score", folder, "--metrics", "length", "--format", "json").out)
    assert {score["system"] for score in scored["scores"]} == {"first/bot", "second/bot"}


# Published corpora


def test_grades_root_holds_three_corpora(dialogauge):
    root = shared("corpora/grade")
    done = dialogauge("correlate", root, "--metrics", "length", "--level", "turn", "--format", "json", *QUICK)
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert [(row["corpus"], row["n"]) for row in rows] == [
        ("grade-convai2", 600),
        ("grade-dailydialog", 300),
        ("grade-empatheticdialogues", 300),
        ("mean", 3),
    ]
    assert "grade-convai2: " in done.err


def test_a_published_file_is_known_by_name_and_by_its_faults(dialogauge):
    done = dialogauge("correlate", annotation("convai2"), "--metrics", "length", "--level", "system", *QUICK)
    assert done.code == 0
    assert "fbd-convai2, system" in done.out
    assert re.search(r"warning: .*convai2_annotation\.json is fbd-convai2: ", done.err)


def test_the_level_of_intervals(dialogauge, file):
    call = ("correlate", file, "--metrics", SCORE, "--level", "turn", "--resamples", 200)
    wide, narrow = (
        json.loads(dialogauge(*call, "--confidence", level, "--format", "json").out) for level in (0.95, 0.5)
    )
    assert narrow["settings"]["confidence"] == 0.5
    for one, other in zip(wide["rows"], narrow["rows"], strict=True):
        assert one["spearman"] == other["spearman"]
        assert one["spearman_low"] <= other["spearman_low"] <= other["spearman_high"] <= one["spearman_high"]
    assert "50% interval" in dialogauge(*call, "--confidence", 0.5).out


def test_out_keeps_what_was_correlated(dialogauge, file, other, tmp_path):
    out = tmp_path / "runs" / "agreement"
    call = ("correlate", file, other, "--metrics", SCORE, *QUICK, "--format", "json", "--out", out)
    done = dialogauge(*call)
    assert done.code == 0
    assert json.loads((out / "agreement.json").read_text()) == json.loads(done.out)
    given = [("rated", row) for row in rows_of()] + [("other", row) for row in rows_of(1, ("a", "b"))]
    turns = pd.read_parquet(out / "turns.parquet")
    found = zip(turns["corpus"], turns["id"], turns["system"], turns["value"], strict=True)
    assert list(found) == [(name, row["id"], row["system"], row["marks"]) for name, row in given]
    assert list(pd.read_parquet(out / "texts.parquet")["response"]) == [row["response"] for _, row in given]
    again = dialogauge(*call)
    assert again.code == 2
    assert again.err.startswith(f"{out}: is there already and was left as it is")
    assert again.out == ""
    assert dialogauge(*call, "--overwrite", "--no-texts").code == 0
    assert not (out / "texts.parquet").exists()
    assert json.loads((out / "run.json").read_text())["texts"] is False

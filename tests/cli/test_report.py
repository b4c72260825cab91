"""The report from the command line: of files, of kept runs, and what is refused."""

import json

import pytest


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "rated.jsonl"
    rows = [
        {"id": str(i), "context": [f"q {i}"], "response": "yes " * (1 + i % 7), "system": system,
         "ratings": {"overall": [i % 5, (i + place) % 4]}}
        for place, system in enumerate("ab") for i in range(20)
    ]  # fmt: skip
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_score_writes_the_page_beside_its_result(dialogauge, responses, tmp_path):
    page = tmp_path / "page.html"
    call = ("score", responses, "--metrics", "rouge_l,length", "--resamples", "50", "--format", "json")
    done = dialogauge(*call, "--html", page, "--out", tmp_path / "run")
    assert done.code == 0
    assert json.loads(done.out) == json.loads(dialogauge(*call).out)
    text = page.read_text()
    assert "On rouge_l, a is ahead of b by " in text
    assert f"dialogauge score {responses.name} --metrics rouge_l,length" in text
    assert str(tmp_path) not in text


def test_a_kept_run_gives_the_same_page(dialogauge, responses, tmp_path):
    first, second, run = tmp_path / "first.html", tmp_path / "second.html", tmp_path / "run"
    dialogauge("score", responses, "--metrics", "rouge_l,length", "--resamples", "50", "--html", first, "--out", run)
    done = dialogauge("report", run, "--out", second)
    assert (done.code, done.out) == (0, f"{second}\n")
    assert first.read_bytes() == second.read_bytes()


def test_a_kept_study_gives_the_same_page(dialogauge, rated, tmp_path):
    first, second, run = tmp_path / "first.html", tmp_path / "second.html", tmp_path / "run"
    call = ("correlate", rated, "--metrics", "length,distinct.1", "--resamples", "50")
    done = dialogauge(*call, "--html", first, "--out", run)
    assert done.code == 0
    assert dialogauge("report", run, "--out", second).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert "Agreement with people" in first.read_text()


def test_compare_and_several_runs(dialogauge, responses, tmp_path):
    assert (
        dialogauge("compare", responses, "--metrics", "length", "--resamples", "50", "--html", tmp_path / "c.html").code
        == 0
    )
    assert "Comparison of systems" in (tmp_path / "c.html").read_text()
    for name in ("monday", "tuesday"):
        dialogauge("score", responses, "--metrics", "length", "--resamples", "50", "--out", tmp_path / name)
    runs = (tmp_path / "monday", tmp_path / "tuesday")
    assert dialogauge("report", *runs, "--out", tmp_path / "r.html").code == 0
    assert dialogauge("compare", *runs, "--html", tmp_path / "d.html").code == 0
    for page in ("r.html", "d.html"):
        text = (tmp_path / page).read_text()
        assert "monday/a" in text
        assert "question 3" in text  # the replies' contexts
    assert "dialogauge report monday tuesday --out report.html" in (tmp_path / "r.html").read_text()
    assert "dialogauge compare monday tuesday --html report.html" in (tmp_path / "d.html").read_text()


def test_no_texts(dialogauge, responses, rated, tmp_path):
    page, run = tmp_path / "page.html", tmp_path / "run"
    for verb, file, inside in (
        ("score", responses, "question 3"),
        ("correlate", rated, "q 3"),
        ("compare", responses, "question 3"),
    ):
        call = (verb, file, "--metrics", "length", "--resamples", "20", "--html", page)
        assert dialogauge(*call).code == 0
        assert f'"{inside}"' in page.read_text()
        assert dialogauge(*call, "--no-texts").code == 0
        assert f'"{inside}"' not in page.read_text()
    dialogauge("score", responses, "--metrics", "length", "--resamples", "20", "--out", run, "--no-texts")
    assert dialogauge("report", run, "--out", page).code == 0
    assert '"question 3"' not in page.read_text()


def test_names_and_digits(dialogauge, responses, tmp_path):
    run, page = tmp_path / "run", tmp_path / "page.html"
    dialogauge("score", responses, "--metrics", "length", "--resamples", "20", "--out", run)
    assert dialogauge("report", run, "--out", page, "--names", "a=Ours,length=Words", "--digits", "5").code == 0
    assert "Ours" in page.read_text()
    done = dialogauge("report", run, "--out", page, "--names", "nobody=x")
    assert done.code == 2
    assert "nobody" in done.err


def test_what_is_refused_is_refused_before_any_work(dialogauge, responses, tmp_path):
    run = tmp_path / "run"
    dialogauge("score", responses, "--metrics", "length", "--resamples", "20", "--out", run)
    (tmp_path / "empty").mkdir()
    for call, message in (
        (("report", tmp_path / "empty"), "is no run: it has no run.json"),
        (("report", tmp_path / "nothing"), "no such run; a run is a directory that `dialogauge score FILE --out DIR`"),
        (("report", tmp_path / "runn"), f"no such run; did you mean {run}?"),
        (("report", responses), f"`dialogauge score {responses} --html PAGE` writes a page of responses at once"),
        (("report", run, "--out", tmp_path), "is not a plain file"),
        (("report", run, "--out", tmp_path / "page.txt"), "ends in .html"),
        (("report", run, run, "--out", tmp_path / "page.html"), "the same run is given twice"),
        (("score", responses, "--metrics", "length", "--html", tmp_path), "is not a plain file"),
        (("compare", responses, "--metrics", "length", "--html", tmp_path / "x.pdf"), "ends in .html"),
        (("correlate", responses, "--metrics", "length", "--html", tmp_path / "x.pdf"), "ends in .html"),
    ):
        done = dialogauge(*call)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
    assert not list(tmp_path.glob("*.html"))


def test_a_study_stands_alone(dialogauge, responses, rated, tmp_path):
    runs = (tmp_path / "scores", tmp_path / "study")
    dialogauge("score", responses, "--metrics", "length", "--resamples", "20", "--out", runs[0])
    dialogauge("correlate", rated, "--metrics", "length", "--resamples", "20", "--out", runs[1])
    done = dialogauge("report", *runs, "--out", tmp_path / "page.html")
    assert done.code == 2
    assert "is a run of `correlate`, of which a report has one; give it alone" in done.err


def fields(value, place=()):
    """Where everything in a document stands that is neither an object nor a list; of lists, in the first item."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else None
    if parts is None:
        return [place]
    return [found for key, part in parts for found in fields(part, (*place, key))]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["score", "correlate"])
def test_a_damaged_run_is_used_or_refused(dialogauge, rated, tmp_path, verb):
    """Nothing else, whichever field holds a text, a number or nothing in place of what was written."""
    run = tmp_path / "run"
    dialogauge(verb, rated, "--metrics", "length", "--resamples", "20", "--no-texts", "--out", run)
    seen = set()
    for path in sorted(run.glob("*.json")):
        pristine = path.read_text()
        for place in fields(json.loads(pristine)):
            for damage in ("<b>", None, -1):
                document = json.loads(pristine)
                owner = document
                for key in place[:-1]:
                    owner = owner[key]
                owner[place[-1]] = damage
                path.write_text(json.dumps(document))
                done = dialogauge("report", run, "--out", tmp_path / "page.html")
                assert done.code in (0, 2), (path.name, place, damage)
                assert done.code == 0 or "Traceback" not in done.err
                seen.add(done.code)
        path.write_text(pristine)
    assert seen == {0, 2}

"""A page opens from disk and does nothing else: no request, no error, no violation of its policy; and it is the same
whenever and wherever it is made."""

import json
import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.pages import EXAMPLES, call
from tests.browser.view import Replies
from tests.shared import FOLDER

PAGES = ("scored_page", "compared_page", "rated_page", "real_page", "kept_page")


@pytest.fixture
def path(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def kept_page(pages):
    """Of a run that was kept."""
    call("score", EXAMPLES / "everyday.jsonl", "--metrics", "bleu,length", "--quiet", "--out", pages / "run")
    call("report", pages / "run", "--out", pages / "kept.html")
    return pages / "kept.html"


@pytest.mark.parametrize("path", PAGES, indirect=True)
def test_it_opens_and_asks_for_nothing(open_page, path):
    page = open_page(path)
    Replies(page)
    for number in range(0, 10_000, 700):  # what is drawn when it comes into sight
        page.mouse.wheel(0, number)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.parametrize("path", PAGES, indirect=True)
def test_everything_is_inside_and_nothing_else_is_let_in(path):
    page = path.read_text(encoding="utf-8")
    assert not {str(folder) for folder in (path.parent, EXAMPLES, FOLDER) if str(folder) in page}
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if rule.strip())
    assert rules.pop("default-src") == "'none'"
    for kind in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[\w+/]+='", rules.pop(kind))
    for kind, value in rules.items():
        assert value in ("'none'", "data:", "blob:"), kind
    assert page.index("Content-Security-Policy") < page.index("<style")
    before_data = re.sub(r"(?s)<script .*?</script>", "", page)
    assert not re.search(r"""(?i)<[a-z][^<>]*\s(style|on\w+|src|srcset|action)\s*=""", before_data)
    assert not re.search(r"(?i)<(link|iframe|object|embed|base)\b", before_data)
    assert {link for link in re.findall(r'href="([^"]*)"', before_data) if not link.startswith("#")} == set()


@pytest.mark.parametrize("path", ["scored_page", "rated_page"], indirect=True)
def test_without_scripts_scores_and_figures_are_there(watched, path):
    """And the console says nothing but that scripts are off."""
    page, _ = watched(path, java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("svg").first).to_be_visible()
    expect(page.get_by_role("table").first).to_be_visible()


def test_scores_and_signatures_are_those_of_the_json(open_page, pages, scored_page):
    printed = json.loads(
        call("score", EXAMPLES / "everyday.jsonl", "--metrics", "bleu,length", "--resamples", "100", "--format", "json")
    )
    text = open_page(scored_page).locator("body").text_content()
    shown = [score for score in printed["scores"] if "." not in score["metric"]]
    assert len(shown) == 6
    for score in shown:
        assert f"{score['value']:.2f}" in text
        assert score["signature"] in text


@pytest.mark.parametrize(
    ("verb", "name", "more"),
    [
        ("score", "everyday", ["--metrics", "bleu,distinct,length"]),
        ("compare", "everyday", ["--metrics", "bleu,length"]),
        ("correlate", "rated", ["--metrics", "bleu,length"]),
    ],
)
def test_the_same_run_gives_the_same_bytes(tmp_path, verb, name, more):
    """In two processes with other hashes of strings, from two folders, at two times, for two users."""
    made = []
    for seed in ("1", "2"):
        folder = tmp_path / seed / "some where"
        folder.mkdir(parents=True)
        (folder / "corpus.jsonl").write_bytes((EXAMPLES / f"{name}.jsonl").read_bytes())
        own = {"PYTHONHASHSEED": seed, "USER": f"user{seed}", "HOME": str(folder), "TZ": f"UTC-{seed}"}
        call = [sys.executable, "-m", "dialogauge", verb, "corpus.jsonl", *more]
        call += ["--resamples", "50", "--quiet", "--html", "page.html"]
        subprocess.run(call, cwd=folder, env={**os.environ, **own}, check=True, capture_output=True)
        made.append((folder / "page.html").read_bytes())
    assert made[0] == made[1]
    for secret in (b"some where", b"user1", str(tmp_path).encode()):
        assert secret not in made[0]

"""The page as text: its policy, its structure, what it says, and that nothing in it is markup but ours."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import dialogauge
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.figures.report import check_report_path, page, report_content, report_page, write_report
from dialogauge.figures.report.content import ReportContent

VOID = {"meta", "br", "input", "hr", "img", "link", "wbr", "col", "rect", "line", "path", "circle"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u2028\u202e\x1b[31m\ud800"


class Page(HTMLParser):
    """The tags of a page with their attributes, and the text of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts.setdefault(tag, []).append(data)

    def text(self, tag: str) -> str:
        return "".join(self.texts.get(tag, []))


def turns(systems=("a", "b", "c"), contexts=12):
    found = []
    for place, system in enumerate(systems):
        for number in range(contexts):
            reply = f"yes, it is number {number}" + " indeed" * place
            found.append(
                Turn(
                    str(number),
                    reply,
                    (f"is it {number}?",),
                    (f"it is number {number}",),
                    system,
                    {"overall": (place, 2)},
                )
            )
    return found


@pytest.fixture(scope="module")
def result():
    return dialogauge.evaluate(turns(), "rouge_l,length", resamples=50)


@pytest.fixture(scope="module")
def agreement():
    varied = [
        replace(turn, ratings={"overall": (len(turn.response) % 5, number % 3)}) for number, turn in enumerate(turns())
    ]
    return dialogauge.correlate({"mine": dialogauge.Corpus(varied)}, "rouge_l,length", resamples=50)


@pytest.fixture(scope="module")
def pages(result, agreement):
    comparison = dialogauge.compare(turns(), "rouge_l,length", resamples=50)
    return {kind: report_page(report_content(each)) for kind, each in
            {"scores": result, "comparison": comparison, "agreement": agreement}.items()}  # fmt: skip


@pytest.mark.parametrize("kind", ["scores", "comparison", "agreement"])
def test_policy_lets_in_our_style_and_script_alone(pages, kind):
    text = pages[kind]
    parsed = Page(text)
    (policy,) = [tag["content"] for name, tag in parsed.tags if tag.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for rule, tag in (("style-src", "style"), ("script-src", "script")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert rules == {}
    # What has another type than script is data, and is never run.
    types = [tag.get("type") for name, tag in parsed.tags if name == "script"]
    assert types.count(None) == 1
    assert set(types) <= {None, "application/json", "text/plain"}


@pytest.mark.parametrize("kind", ["scores", "comparison", "agreement"])
def test_nothing_needs_what_the_policy_forbids(pages, kind):
    for name, tag in Page(pages[kind]).tags:
        assert "style" not in tag
        assert not [key for key in tag if key.startswith("on")]
        assert name not in {"link", "iframe", "object", "embed", "img"}
        for key in ("src", "href", "xlink:href", "action"):
            assert (tag.get(key) or "#").startswith("#")


@pytest.mark.parametrize("kind", ["scores", "comparison", "agreement"])
def test_structure_that_readers_of_screens_go_by(pages, kind):
    parsed = Page(pages[kind])
    ids = Counter(tag["id"] for _, tag in parsed.tags if "id" in tag)
    assert max(ids.values()) == 1
    levels = [int(name[1]) for name, _ in parsed.tags if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [name for name, _ in parsed.tags]
    assert [names.count(name) for name in ("nav", "main", "footer", "h1")] == [1, 1, 1, 1]
    links = [tag["href"][1:] for name, tag in parsed.tags if name == "a"]
    assert set(links) <= set(ids)
    labelled = [tag["aria-labelledby"] for name, tag in parsed.tags if "aria-labelledby" in tag]
    assert set(labelled) <= set(ids)
    charts = [tag for name, tag in parsed.tags if name == "svg"]
    assert charts
    assert all(tag["role"] == "img" for tag in charts)
    regions = [tag for _, tag in parsed.tags if tag.get("role") == "region"]
    assert all(tag["aria-label"] and tag["tabindex"] == "0" for tag in regions)


def test_every_number_of_the_table_is_there(pages, result):
    text = Page(pages["scores"]).text("table")
    for row in result.to_table().rows:
        for cell in row:
            assert cell.text in text
            assert cell.aside in text


def test_sections_by_what_there_is(pages):
    found = {kind: re.findall(r'<section id="([a-z]+)"', text) for kind, text in pages.items()}
    assert found["scores"] == ["answer", "scores", "pairs", "scatter", "spreads", "replies", "made"]
    assert found["comparison"] == found["scores"]
    assert found["agreement"] == ["answer", "agreement", "scatter", "spreads", "replies", "made"]


def test_hostile_names_stay_text():
    corpus = [replace(turn, system=f"{turn.system}{HOSTILE}", id=turn.id + HOSTILE) for turn in turns()]
    corpus = [replace(turn, context=(HOSTILE,) * 2, response=turn.response + HOSTILE) for turn in corpus]
    found = dialogauge.evaluate(corpus, "rouge_l,length", resamples=20)
    found = replace(
        found, files=(SourceFile(f"/home/me/{HOSTILE}.jsonl", HOSTILE, HOSTILE),), caveats=[Caveat(HOSTILE, HOSTILE)]
    )
    content = report_content(found, names={"length": HOSTILE})
    content = replace(content, origin=replace(content.origin, command=["dialogauge", "score", HOSTILE]))
    clean = Page(report_page(report_content(dialogauge.evaluate(turns(), "rouge_l,length", resamples=20))))
    parsed = Page(report_page(content))
    ours = {name for name, _ in clean.tags} | {"kind", "bdi"}
    assert {name for name, _ in parsed.tags} <= ours
    assert [tag.get("type") for name, tag in parsed.tags if name == "script"] == [
        tag.get("type") for name, tag in clean.tags if name == "script"
    ]
    assert not [key for _, tag in parsed.tags for key in tag if key.startswith("on")]


def test_same_result_same_bytes(result, tmp_path):
    first, second = (write_report(result, tmp_path / name) for name in ("one.html", "two.html"))
    assert first.read_bytes() == second.read_bytes()


def test_no_folder_is_named(tmp_path):
    path = tmp_path / "secret-folder" / "mine.jsonl"
    path.parent.mkdir()
    fields = ("id", "context", "response", "references", "system")
    lines = [{field: getattr(turn, field) for field in fields} for turn in turns()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "no JSON\n")
    result = dialogauge.evaluate(dialogauge.load(path, skip_invalid=True), "length", resamples=20)
    assert any("secret-folder" in caveat.message for caveat in result.caveats) or result.files
    command = ["/opt/secret-folder/dialogauge", "score", str(path), "--html", str(tmp_path / "x.html")]
    text = write_report(result, tmp_path / "report.html", command=command).read_text()
    assert "secret-folder" not in text
    assert str(tmp_path) not in text
    assert "dialogauge score mine.jsonl --html report.html" in text
    assert result.files[0].sha256 in text


def test_texts_of_the_buttons_can_be_read_back(pages, result):
    (block,) = re.findall(r'<script type="application/json" id="texts">(.*?)</script>', pages["scores"], re.DOTALL)
    texts = json.loads(block)
    assert texts["scores.csv"] == result.to_csv() + "\n"
    assert texts["scores.tex"] == result.to_latex() + "\n"
    assert texts["scores.md"] == result.to_markdown() + "\n"
    assert texts["citations.bib"].count("@") == len(result.citation().bibtex)
    named = re.findall(r'data-(?:copy|save)="([^"]+)"', pages["scores"])
    assert set(named) == set(texts)
    figures = re.findall(r'data-figure="([^"]+)"', pages["scores"])
    assert figures == ["scores", "pairs", "spreads"]
    assert all(f'id="figure-{name}"' in pages["scores"] for name in figures)


def test_a_comparison_has_its_scores_with_intervals(pages):
    comparison = dialogauge.compare(turns(), "rouge_l,length", resamples=50)
    (block,) = re.findall(r'<script type="application/json" id="texts">(.*?)</script>', pages["comparison"], re.DOTALL)
    texts = json.loads(block)
    assert texts["scores.tex"] == comparison.to_latex() + "\n"
    assert texts["pairs.csv"] == comparison.to_csv() + "\n"
    shown = Page(pages["comparison"]).text("small")
    asides = [cell.aside for row in comparison.to_table(intervals=True).rows for cell in row if cell.aside]
    assert len(asides) == 6
    assert all(aside in shown for aside in asides)


def test_without_texts_no_text_is_in_the_page(result, agreement, tmp_path):
    for number, each in enumerate((result, agreement)):
        text = write_report(each, tmp_path / f"{number}.html", texts=False).read_text()
        assert "yes, it is number" not in text
        assert "is it 3?" not in text
        assert "yes, it is number" in write_report(each, tmp_path / f"{number}.html").read_text()


def test_names_for_people(result, tmp_path):
    text = write_report(result, tmp_path / "x.html", names={"a": "Ours", "length": "Words"}).read_text()
    parsed = Page(text)
    assert "Ours" in parsed.text("th")
    assert "Words" in parsed.text("th")
    assert '"Ours"' in text  # among the turns, too
    with pytest.raises(InputError, match="unknown metric or system 'nobody'"):
        write_report(result, tmp_path / "y.html", names={"nobody": "x"})
    assert not (tmp_path / "y.html").exists()


def test_more_turns_than_a_browser_scrolls_through(result):
    large = replace(result, systems={"a": 150_000, "b": 50_000, "c": 1})
    content = report_content(large)
    assert content.turns is None
    text = report_page(content)
    assert "there are 200,001" in text
    assert 'id="turns"' not in text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is not a plain file"),
        ("page.pdf", "ends in .html or .htm"),
        ("file.html/page.html", "a part of its path is a file"),
        ("input.html", "is what is read"),
    ],
)
def test_paths_that_cannot_be(tmp_path, name, message):
    for file in ("file.html", "input.html"):
        (tmp_path / file).write_text("old")
    with pytest.raises(InputError, match=re.escape(message)):
        check_report_path(tmp_path / name, [tmp_path / "input.html"])
    assert (tmp_path / "input.html").read_text() == "old"


def test_a_folder_without_permission_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(page.os, "access", lambda *_: False)
    with pytest.raises(InputError, match="no permission to write"):
        check_report_path(tmp_path / "deep" / "page.html")
    assert not (tmp_path / "deep").exists()


def test_a_page_that_is_there_is_replaced_whole(result, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(_content: ReportContent) -> str:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(page, "report_page", fail)
        with pytest.raises(RuntimeError):
            write_report(result, path)
    assert path.read_text() == "old"
    write_report(result, path)
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]

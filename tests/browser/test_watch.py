"""The watch sees what a page must not do: without escaping and a policy, the hostile texts do it."""

import pytest

from tests.browser.hostile_texts import HARM, MARKUP

PAGE = "<!doctype html><meta charset=utf-8><title>x</title><body>{}"
BLOCKED = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'


def written(tmp_path, body: str):
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(body), encoding="utf-8")
    return path


def test_a_quiet_page_is_quiet(watched, tmp_path):
    page, watch = watched(written(tmp_path, "<p>hello"))
    assert (watch.noted, page.evaluate("window.__ran")) == ([], None)


@pytest.mark.parametrize("text", [text for text in MARKUP[:4] if "srcdoc" not in text])
def test_a_text_that_is_taken_for_markup_runs(watched, tmp_path, text):
    page, _ = watched(written(tmp_path, text))
    assert page.evaluate("window.__ran") > 0


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ("<script>alert('hello')</script>", "dialog: hello"),
        ("<script>throw new Error('odd')</script>", "odd"),
        ("<script>console.warn('well')</script>", "console warning: well"),
        ("<img src=away.png>", "request: "),
        ("<link rel=stylesheet href=//example.invalid/x.css>", "request: "),
        (f"{BLOCKED}<script>{HARM}</script>", "Content Security Policy"),
        (f"{BLOCKED}<p style='color: red'>x", "Content Security Policy"),
    ],
)
def test_what_a_page_does_is_noted(watched, tmp_path, body, noted):
    page, watch = watched(written(tmp_path, body))
    page.wait_for_load_state("load")
    assert any(noted in line for line in watch.noted)

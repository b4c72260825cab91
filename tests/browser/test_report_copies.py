"""What a page's buttons copy and save is what the command line prints."""

import xml.etree.ElementTree as ET

import pytest
from playwright.sync_api import expect

from tests.browser.pages import EXAMPLES, call

METRICS = ("--metrics", "bleu,length,distinct", "--resamples", "100", "--quiet")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page(open_page, compared_page):
    return open_page(compared_page)


def printed(form: str) -> str:
    return call("compare", EXAMPLES / "everyday.jsonl", *METRICS, "--format", form)


@pytest.mark.parametrize(("form", "ending"), [("latex", "tex"), ("markdown", "md"), ("csv", "csv")])
def test_tables_are_copied_and_saved_as_they_are_printed(page, form, ending):
    copied, saved = [], []
    for button in page.locator(f'[data-copy$=".{ending}"]').all():
        button.click()
        expect(button).to_have_text("Copied")
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    for button in page.locator(f'[data-save$=".{ending}"]').all():
        with page.expect_download() as download:
            button.click()
        assert download.value.suggested_filename == button.get_attribute("data-save")
        saved.append(download.value.path().read_bytes().decode("utf-8"))
    assert copied == saved
    assert copied
    whole = printed(form)
    if form == "csv":  # of a comparison, which has a line for each pair; those of scores are for `score`
        whole += call("score", EXAMPLES / "everyday.jsonl", *METRICS, "--format", form)
    for text in copied:
        assert text.strip("\n") in whole


def test_figures_are_saved_as_svg(page):
    buttons = page.locator("[data-figure]")
    assert buttons.count() >= 2
    for button in buttons.all():
        with page.expect_download() as download:
            button.click()
        assert download.value.suggested_filename.endswith(".svg")
        picture = ET.fromstring(download.value.path().read_text(encoding="utf-8"))
        assert picture.tag == f"{SVG}svg"
        texts = " ".join(text.text or "" for text in picture.iter(f"{SVG}text"))
        assert "bleu" in texts


@pytest.mark.parametrize("name", ["citations.bib", "command.txt"])
def test_citations_and_the_command_are_copied(page, name):
    page.locator(f'[data-copy="{name}"]').first.click()
    expect(page.locator("#said")).to_contain_text("Copied")
    text = page.evaluate("navigator.clipboard.readText()")
    if name == "citations.bib":
        bibtex = call("compare", EXAMPLES / "everyday.jsonl", *METRICS, "--cite")
        assert text.strip() in bibtex
        assert "@inproceedings{papineni2002" in text
    else:
        assert text.startswith("dialogauge compare everyday.jsonl --metrics bleu,length,distinct")


def test_a_clipboard_that_is_kept_from_pages_is_told_or_gone_around(chromium_browser, compared_page):
    context = chromium_browser.new_context()  # without the permission to write
    page = context.new_page()
    page.goto(compared_page.as_uri())
    button = page.locator('[data-copy$=".tex"]').first
    button.click()
    expect(button).to_have_text("Copied")
    context.close()

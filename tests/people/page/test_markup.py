"""Texts never become markup, and Markdown becomes only what it may."""

import re
from html.parser import HTMLParser

import pytest

from dialogauge.people.page.markdown import to_html
from dialogauge.people.page.markup import text
from tests.browser.hostile_texts import HALF, TEXTS

MAY = {"h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "strong", "em", "code", "a", "blockquote", "hr"}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.said += data


@pytest.mark.parametrize("hostile", [*TEXTS, HALF])
def test_a_text_stays_a_text(hostile):
    found = Tags(f'<p title="{text(hostile)}">{text(hostile)}</p>')
    assert [tag for tag, _ in found.tags] == ["p"]
    assert list(found.tags[0][1]) == ["title"]
    assert text(hostile).encode("utf-8")


def test_what_cannot_be_seen_has_a_sign():
    assert text("a\x00b\x1b\x7f\ud800\ttab\r\n") == "a␀b␛␡�\ttab&#13;\n"


@pytest.mark.parametrize(
    "around", ["{}", "# {}", "- {}", "> {}", "**{}**", "`{}`", "[{}](https://a.example)", "[x]({})"]
)
def test_hostile_markdown(around):
    for hostile in TEXTS:
        for tag, attributes in Tags(to_html(around.replace("{}", hostile), "title")).tags:
            assert tag in MAY
            assert set(attributes) <= {"dir", "href", "target", "rel"}
            assert re.match(r"https?://|mailto:|\Z", attributes.get("href") or "")


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# Mine", '<h1 dir="auto">Mine</h1>'),
        ("plain\ntext", '<h1 dir="auto">title</h1>\n<p dir="auto">plain text</p>'),
        ("# A\n## B\n### C", '<h1 dir="auto">A</h1>\n<h2 dir="auto">B</h2>\n<h3 dir="auto">C</h3>'),
        (
            "# A\n- one\n- two\n  more",
            '<h1 dir="auto">A</h1>\n<ul><li dir="auto">one</li><li dir="auto">two more</li></ul>',
        ),
        ("# A\n1. one\n2) two", '<h1 dir="auto">A</h1>\n<ol><li dir="auto">one</li><li dir="auto">two</li></ol>'),
        ("# A\n> so\n> it is", '<h1 dir="auto">A</h1>\n<blockquote dir="auto"><p>so it is</p></blockquote>'),
        ("# A\n---", '<h1 dir="auto">A</h1>\n<hr>'),
        (
            "# A\n**b *c* d** `*e*` f_g_h _i_ \\*j\\*",
            '<h1 dir="auto">A</h1>\n<p dir="auto"><strong>b <em>c</em> d</strong> <code>*e*</code> f_g_h '
            "<em>i</em> *j*</p>",
        ),
        (
            "# A\n[us & them](https://example.org/?a=1&b=2)",
            '<h1 dir="auto">A</h1>\n<p dir="auto"><a href="https://example.org/?a=1&amp;b=2" target="_blank" '
            'rel="noopener noreferrer">us &amp; them</a></p>',
        ),
        ("# A\n[x](javascript:alert)", '<h1 dir="auto">A</h1>\n<p dir="auto">[x](javascript:alert)</p>'),
        ("# A\n![x](https://example.org/x.png)", None),
        ("# A\n<b>c</b>", '<h1 dir="auto">A</h1>\n<p dir="auto">&lt;b&gt;c&lt;/b&gt;</p>'),
        ("", '<h1 dir="auto">title</h1>'),
    ],
)
def test_markdown(markdown, html):
    found = to_html(markdown, "title")
    assert "<img" not in found
    if html is not None:
        assert found == html


def test_a_long_line_takes_no_time():
    assert to_html("*" * 50_000 + "[" * 20_000 + "`" * 20_000 + "_" * 20_000, "title")

import pytest

from dialogauge.text.quote import describe, quote


@pytest.mark.parametrize("nasty", ["\x1b[2J", "\x07", "\x9b31m", "\u202e", "\u2066", "\u2028", "\ud800", "\x00"])
def test_quoted_text_is_safe_on_a_terminal(nasty):
    assert quote(f"a{nasty}b").isprintable()
    assert describe([1, {f"k{nasty}": 1}]).isprintable()
    assert describe({f"k{nasty}": nasty}).isprintable()


def test_quoted_text_is_short():
    assert quote("x" * 60) == f"'{'x' * 60}'"
    assert quote("x" * 61) == f"'{'x' * 60}'…"
    assert len(describe(10**300)) < 80
    assert len(describe({"k" * 10_000: 1, **dict.fromkeys(map(str, range(10_000)), 0)})) < 200


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (3, "the number 3"),
        ("a", "the text 'a'"),
        ([], "an empty list"),
        (["a"], "a list of 1 string"),
        ([["a", "b", "c"], ["d"]], "a list of 2 lists (3 strings in the first)"),
        ([["a", 1]], "a list of 1 list (2 items in the first)"),
        ([[]], "a list of 1 list (0 items in the first)"),
        (["a", 3], "a list with the number 3 at place 2"),
        (["a", ["b", 1]], "a list with a list at place 2"),
        ({"a": 1}, "an object with the fields 'a'"),
        ({}, "an empty object"),
        (b"a", "a value of type bytes"),
    ],
)
def test_found(value, words):
    assert describe(value) == words

import json
from pathlib import Path

import pytest

from dialogauge.text.words import in_word, sentences, word_at, words

# Texts written for this test; their words come from NLTK 3.10.4's word_tokenize with its English Punkt model.
GOLDEN = json.loads((Path(__file__).parent / "words_golden.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: ascii(row["text"])[:40])
def test_golden_words(row):
    assert words(row["text"]) == row["words"]


def test_case_and_outer_spaces_never_matter():
    assert words("  Mr. Smith CAN'T come.\n") == words("mr. smith can't come.")


def test_abbreviations_numbers_and_initials_end_no_sentence():
    text = "dr. who met j. r. smith in the u.s. on page 3. really."
    assert sentences(text) == [text]


def test_a_number_before_a_number_ends_one():
    assert sentences("it costs 3. 4 is too much") == ["it costs 3.", "4 is too much"]


def test_closing_marks_stay_with_their_sentence():
    assert sentences('(one.) "two!" three?') == ["(one.)", '"two!"', "three?"]


def test_a_period_is_split_off_only_at_the_end_of_a_sentence():
    assert words("a.b. c.d.") == ["a.b", ".", "c.d", "."]


def test_marks_belong_to_words_and_fractions_do_not():
    assert in_word("\u0301")
    assert in_word("Ⓐ")
    assert not in_word("½")
    assert word_at("की.", 0) == "की"
    assert word_at("", 0) == ""


@pytest.mark.parametrize(
    "piece", ["word ", "w. ", ". ", "a.b?", "'", '"', ".) ", "'é", "你好。", ".\xa0", "3. ", "``", "--"]
)
def test_long_texts_take_time_in_proportion(piece):
    # A quadratic rule would need minutes here.
    assert len(words(piece * 50_000)) >= 1


def test_ten_thousand_words():
    assert words("well , it's 5 p.m. " * 2_000) == ["well", ",", "it", "'s", "5", "p.m."] * 1_999 + [
        *["well", ",", "it", "'s", "5", "p.m", "."]
    ]

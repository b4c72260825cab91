"""Content words, and dull phrases."""

import gzip
import hashlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.dull import (
    content_words,
    dull_factor,
    function_words,
    own_phrases,
    plain_words,
    read_phrases,
)

KNOW = ["i", "do", "not", "know"]


def phrases(tmp_path, text):
    path = tmp_path / "phrases.txt"
    path.write_text(text, encoding="utf-8")
    return read_phrases(path)


def test_the_factor_by_hand():
    # 1 + log10 of 2/2, 3/3, 2/3, 3/5, 2/20 (a tenth: 1 - 1) and 2/200 (a hundredth: 1 - 2).
    assert dull_factor(0, 0) == 1
    assert dull_factor(1, 1) == 1
    assert dull_factor(1, 0) == pytest.approx(1 + math.log10(2 / 3))
    assert dull_factor(3, 1) == pytest.approx(1 + math.log10(0.6))
    assert dull_factor(18, 0) == pytest.approx(0)
    assert dull_factor(198, 0) == pytest.approx(-1)
    # The other way round: 3/2, and ten times as many.
    assert dull_factor(0, 1) == pytest.approx(1 + math.log10(1.5))
    assert dull_factor(0, 18) == pytest.approx(2)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know",
        "I don’t know",
        "I donʼt know",
        "i don`t know",
        "I do n't know",
        "i do n’t know",
        "I don t know",
        "i dont know",
        "i do nt know",
        "I do not know",
        "I DO NOT KNOW",
        "I dunno",
        "I, don't \n know",
        "_I_ don't *know* 😀",
    ],
)
def test_contractions_however_they_are_written(text):
    assert plain_words(text) == KNOW
    assert own_phrases().count(text) == (1, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm / i 'm / i m / im / I’m / i am", "i am"),
        ("that's / that 's / that s / thats / that is", "that is"),
        ("you're / you 're / you re / youre / you are", "you are"),
        ("I've / i 've / i ve / ive / i have", "i have"),
        ("we'll / we 'll / we ll / we will", "we will"),
        ("can't / ca n't / can t / cant / cannot / can not", "can not"),
        ("won't / wo n't / won t / wont / will not", "will not"),
        ("isn't / is n't / isn t / isnt / is not", "is not"),
        ("shouldn't / should n't / shouldn t / should not", "should not"),
    ],
)
def test_spellings_that_are_one(text, expected):
    for spelling in text.split(" / "):
        assert " ".join(plain_words(spelling)) == expected, spelling


def test_words_that_only_look_contracted():
    assert plain_words("the ant went into the tent") == ["the", "ant", "went", "into", "the", "tent"]
    assert plain_words("its lets were well") == ["its", "lets", "were", "well"]


def test_sentences_end_and_commas_do_not():
    assert plain_words("It is. Great!") == ["it", "is", ".", "great", "."]
    assert plain_words("Me, too …") == ["me", "too", "."]
    assert plain_words("") == plain_words(" 😀 , - ") == []
    assert plain_words("café") == plain_words("cafe\u0301") == ["café"]
    assert plain_words("你好 , 世界 。") == ["你好", "世界", "."]


def test_content_words():
    # know; cats, like, milk; nothing but function words and marks; adverbs and interjections are content words.
    assert content_words(KNOW) == 1
    assert content_words(plain_words("The cats would like some of his milk.")) == 3
    assert content_words(plain_words("What is it? There it is, in there.")) == 0
    assert content_words(plain_words("Oh, really?")) == 2
    assert content_words([]) == 0


def test_own_lists():
    own = own_phrases()
    assert 30 <= len(own.phrases) <= 60
    assert all(content_words(phrase) for phrase in own.phrases), "a phrase that changes nothing"
    assert {"the", "not", "would", "because"} <= function_words()
    assert not {"know", "like", "yes", "too", "good", "#"} & function_words()
    assert all(plain_words(word) == [word] for word in function_words() - {"", ".", "t"}), "a word that never comes up"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("That's great.", (1, 0)),
        ("That's great news for the farmers.", (3, 2)),
        # Not across the end of a sentence, and only whole words.
        ("Yes, that is. Great place!", (3, 3)),
        ("That's greatest.", (1, 1)),
        # Twice, one right after the other.
        ("no idea no idea", (2, 0)),
        # Longest first: "thank you very much" is one phrase.
        ("Thank you very much!", (2, 0)),
        ("Me too. The bus was late.", (3, 2)),
        ("", (0, 0)),
    ],
)
def test_counts_by_hand(text, expected):
    assert own_phrases().count(text) == expected


def test_the_longest_phrase_goes_first(tmp_path):
    found = phrases(tmp_path, "big red\nred old house\n")
    # Leftmost first would take "big red", and leave old and house.
    assert found.take_out(["big", "red", "old", "house"]) == ["big", "", "", ""]
    assert found.count("big red old house") == (4, 1)


def test_what_stood_around_a_phrase_does_not_become_one(tmp_path):
    found = phrases(tmp_path, "good old times\ngreat fun\n")
    assert found.count("great good old times fun") == (5, 2)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*"i do not know that is great , . thank you".split(), "n't"])).map(" ".join))
def test_no_more_is_left_than_was_there(text):
    words, left = own_phrases().count(text)
    assert 0 <= left <= words
    # Nothing more can be taken out.
    once = own_phrases().take_out(plain_words(text))
    assert own_phrases().take_out(once) == once


def test_ten_thousand_words():
    assert own_phrases().count("i don't know " * 2500) == (2500, 0)


def test_a_file_of_phrases(tmp_path):
    text = "# mine\n\n  No Comment! \r\nI can’t complain\nno comment\n"
    found = phrases(tmp_path, text)
    assert found.phrases == {("no", "comment"), ("i", "can", "not", "complain")}
    assert found.digest == hashlib.sha256((tmp_path / "phrases.txt").read_bytes()).hexdigest()[:8]
    assert found.count("No comment, I cannot complain. I don't know.") == (3, 1)
    (tmp_path / "phrases.gz").write_bytes(gzip.compress(text.encode()))
    assert read_phrases(tmp_path / "phrases.gz").phrases == found.phrases


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "phrases.txt: has no phrases: expected one a line"),
        (b"# nothing\n\n", "phrases.txt: has no phrases: expected one a line"),
        (
            b"# mine\nno comment\nno .* comment\n",
            "phrases.txt:3: expected a phrase of plain words, found '*' in 'no .* comment': patterns are no regular "
            "expressions",
        ),
        (b"(unclosed\n", "phrases.txt:1: expected a phrase of plain words, found '(' in '(unclosed'"),
        (b"a phrase\n?!\n", "phrases.txt:2: expected a phrase of plain words, found none in '?!'"),
        (b"a phrase\n\xff\n", "phrases.txt:2: expected UTF-8 text, found byte 0xff at position 1 of the line"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "phrases.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_phrases(path)
    assert message in str(error.value)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="missing.txt: no such file"):
        read_phrases(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="is a directory"):
        read_phrases(tmp_path)

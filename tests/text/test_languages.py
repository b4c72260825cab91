"""In which language texts are: enough of it to warn, and never of English corpora."""

from pathlib import Path

import pytest

from dialogauge import load
from dialogauge.corpus.load import corpora_in
from dialogauge.text.languages import ENGLISH, FUNCTION_WORDS, Languages, language_of
from tests.shared import shared

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What would you like to eat?", "English"),
        ("Ich habe heute keine Zeit, aber morgen sind wir frei.", "German"),
        ("Je suis très fatigué, et vous ?", "French"),
        ("Estoy muy cansado, pero tengo que trabajar.", "Spanish"),
        ("Eu não sei, você tem razão.", "Portuguese"),
        ("Non so cosa fare, sono molto stanco anche io.", "Italian"),
        ("Ik heb geen tijd, maar het is goed.", "Dutch"),
        ("Nie wiem, czy on tylko jest w domu.", "Polish"),
        ("Bu çok iyi bir şey.", "Turkish"),
        ("Jag är inte hungrig, och det är bra.", "Scandinavian"),
        ("Saya tidak tahu, apa kamu bisa?", "Indonesian"),
        ("Tôi không có thời gian.", "Vietnamese"),
        ("Hyvää huomenta, mitä sinulle kuuluu tänään ja huomenna illalla?", "another in Latin letters"),
        ("Dobrý den, rád bych si objednal kávu a kousek dortu.", "another in Latin letters"),
        ("สวัสดีครับ คุณสบายดีไหม", "Thai"),
        ("今天天气很好。", "Chinese"),
        ("今日はとても疲れました。", "Japanese"),
        ("오늘 날씨가 좋네요.", "Korean"),
        ("Сегодня хорошая погода.", "Cyrillic script"),
        ("الطقس جميل اليوم.", "Arabic script"),
        ("ዛሬ በጣም ደክሞኛል", "Ethiopic script"),
    ],
)
def test_languages(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "ok", "😀", "42!", "Paris", "naïve café", "und?", "c'est", "1 2 3 4 5 6 7 8 9"])
def test_too_little_tells_nothing(text):
    assert language_of(text) is None


@pytest.mark.parametrize(
    "text", ["C'est la vie, you know that.", "The word 你好 means hello.", "He said: ich. And that’s it.", "Don’t!"]
)
def test_a_foreign_word_makes_no_foreign_text(text):
    assert language_of(text) == ENGLISH


def test_no_word_is_of_two_languages():
    words = [word for listed in FUNCTION_WORDS.values() for word in listed.split()]
    assert len(words) == len(set(words))


def test_counts_add_up():
    found = Languages()
    found.note(["You know it.", "ok", "Das ist aber nicht gut.", "What is this?"])
    assert dict(found.counts) == {"English": 2, "German": 1}
    found.note(["Ich bin nicht hier.", "Wir sind noch hier."])
    assert dict(found.counts) == {"English": 2, "German": 3}
    assert found.examples["German"] == "Das ist aber nicht gut."
    assert (found.identified, found.among(0.4), found.among(0.5)) == (5, ["English", "German"], ["German"])


def languages_in(path):
    found = Languages()
    for turn in load(path):
        found.note((turn.response, *turn.references, *turn.context[-1:]))
    return found


def test_the_examples_are_english():
    for path in EXAMPLES.glob("*.jsonl"):
        assert languages_in(path).counts[ENGLISH] > 0.99 * languages_in(path).identified > 0, path


def test_rated_corpora_are_english():
    folder = shared("corpora")
    files = (path for kind in ("csv", "json") for path in sorted(folder.glob(f"*/*.{kind}")))
    for path in [*corpora_in(folder / "grade"), *files]:
        assert languages_in(path).counts[ENGLISH] > 0.99 * languages_in(path).identified > 0, path

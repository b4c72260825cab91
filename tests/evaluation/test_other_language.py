"""A metric that was made for one language says so of texts in another."""

from dataclasses import replace
from pathlib import Path

import pytest

from dialogauge import evaluate, load
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.find import ModelFiles
from dialogauge.learned.directory import SavedModel
from dialogauge.learned.ruber.model import open_ruber
from dialogauge.learned.training.card import languages_of
from dialogauge.metrics.registry import parse_request
from tests.encode.models import minilm

EXAMPLES = Path(__file__).parents[2] / "examples"
DIALOGUES = {
    "German": [
        (
            "Hast du heute Zeit?",
            "Nein, ich habe heute leider keine Zeit, aber morgen sind wir frei.",
            "Ja, ich bin da.",
        ),
        ("Was isst du gern?", "Ich esse gern Suppe, und dazu ein Brot.", "Am liebsten habe ich eine gute Suppe."),
        ("Wie war die Reise?", "Sie war lang, aber wir haben viel gesehen.", "Es ist nicht so gut gewesen."),
        ("Wo wohnst du?", "Ich wohne noch bei meinen Eltern, das ist auch gut.", "Wir sind in eine Stadt gezogen."),
    ],
    "French": [
        ("Tu as du temps ?", "Je suis occupé, mais nous avons le temps demain.", "Oui, je suis là pour toi."),
        ("Que manges-tu ?", "Je mange une soupe avec du pain, c'est très bon.", "C'est une soupe pour nous."),
        ("Comment était le voyage ?", "C'est long, mais nous avons vu les montagnes.", "Je ne suis pas content."),
        ("Où habites-tu ?", "Je suis chez mes parents avec elle.", "Nous sommes dans une petite ville."),
    ],
    "Spanish": [
        ("¿Tienes tiempo hoy?", "Hoy no, pero mañana tengo tiempo, estoy muy libre.", "Sí, estoy aquí, qué bien."),
        ("¿Qué te gusta comer?", "Me gusta el pan con sopa, es muy bueno.", "Tengo hambre, pero no hay pan."),
        ("¿Cómo fue el viaje?", "Fue largo, pero muy bonito, el mar y los montes.", "Estoy muy cansado."),
        ("¿Dónde vives?", "Vivo con los padres, pero tengo un cuarto.", "Estoy en el centro, muy cerca."),
    ],
    "Chinese": [
        ("你今天有空吗？", "今天没有空，明天可以。", "有空，我们走吧。"),
        ("你喜欢吃什么？", "我喜欢喝汤。", "我爱吃面包。"),
    ],
    "Thai": [("วันนี้ว่างไหม", "วันนี้ไม่ว่าง พรุ่งนี้ได้", "ว่างครับ ไปกันเถอะ"), ("ชอบกินอะไร", "ชอบกินซุป", "ชอบขนมปัง")],
    "Cyrillic script": [
        ("У тебя есть время?", "Сегодня нет, но завтра я свободен.", "Да, пойдём."),
        ("Что ты любишь есть?", "Я люблю суп с хлебом.", "Больше всего хлеб."),
    ],
    "Arabic script": [
        ("هل لديك وقت اليوم؟", "لا، لكن غدا أنا حر.", "نعم، هيا بنا."),
        ("ماذا تحب أن تأكل؟", "أحب الحساء مع الخبز.", "أحب الخبز كثيرا."),
    ],
}


def turns_of(language):
    lines = DIALOGUES[language]
    return [Turn(str(place), said, (asked,), (meant,), "s") for place, (asked, said, meant) in enumerate(lines)]


def said(result):
    return [caveat.message for caveat in result.caveats if caveat.code == "other_language"]


@pytest.mark.parametrize("language", DIALOGUES)
def test_dialogues_in_other_languages(language):
    (found,) = said(evaluate(Corpus(turns_of(language)), "meteor,bleu"))
    assert found.startswith("meteor: made for English (its stems and synonyms); ")
    assert f"texts that tell are in another language: {language} (" in found
    assert "'" in found


def test_encoders_and_models_say_what_they_were_made_for():
    minilm()  # skips without its weights
    metrics = "bertscore,fbd,semantic_similarity,ruber_unreferenced,ruber,entailment"
    (found,) = said(evaluate(Corpus(turns_of("German")), metrics))
    assert found.startswith(
        "bertscore, fbd, semantic_similarity, ruber_unreferenced, ruber, entailment: made for English"
    )
    for what in ("the encoder minilm-l6-v2@", "the model ruber-minilm@", "the model entailment-minilm@"):
        assert what in found
    assert said(evaluate(load(EXAMPLES / "everyday.jsonl"), "meteor,semantic_similarity")) == []


def test_below_a_tenth_nothing_is_said():
    english = load(EXAMPLES / "everyday.jsonl").turns[:60]
    assert said(evaluate(Corpus([*english, *turns_of("Thai")]), "meteor")) == []
    assert len(said(evaluate(Corpus([*english[:10], *turns_of("Thai")]), "meteor"))) == 1


def test_a_quotation_is_no_other_language():
    turn = Turn("0", "Ich bin ein Berliner, und nicht allein.", ("hi",), ("hi",), "s")
    assert said(evaluate(Corpus([turn]), "meteor")) == []


def test_real_conversations_are_looked_at():
    minilm()
    english = load(EXAMPLES / "everyday.jsonl").turns[:8]
    real = [replace(turn, references=()) for turn in turns_of("Cyrillic script")] * 4
    real = [replace(turn, id=str(place), dialogue=str(place)) for place, turn in enumerate(real)]
    assert len(said(evaluate(Corpus(english), "fbd", real=Corpus(real)))) == 1


def test_a_stream_says_the_same(monkeypatch):
    corpus = Corpus(turns_of("German"))
    rows = said(evaluate(corpus, "meteor"))
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 2)
    assert said(evaluate(corpus, "meteor")) == rows != []


def test_encoders_of_known_names():
    for name, english in (("bert-base-uncased", True), ("roberta-large", True), ("xlm-roberta-base", False)):
        assert (ModelFiles(name, Path(), "0" * 64).languages == {"English"}) is english
    assert ModelFiles("bert-base-multilingual-cased", Path(), "0" * 64).languages is None


def test_shipped_models_and_other_metrics():
    (made,) = open_ruber().saved.made_for
    assert made.languages == {"English"}
    assert parse_request("bleu").metric.made_for == ()


def test_a_model_of_your_own_says_what_it_learned_from():
    german = [text for line in DIALOGUES["German"] for text in line]
    english = ["What would you like to eat?"]
    assert languages_of([*german, *english]) == ["English", "German"]
    assert languages_of([*german * 9, *english]) == ["German"]
    assert SavedModel(Path("mine"), {"languages": ["German"]}, {}).made_for[0].languages == {"German"}
    for card in ({}, {"languages": []}, {"languages": "German"}):
        assert SavedModel(Path("mine"), card, {}).made_for == ()

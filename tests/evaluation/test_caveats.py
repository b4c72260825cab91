"""What is said of texts of unknown tokens alone, and in another language than a metric was made for."""

from dataclasses import replace
from pathlib import Path

import pytest

from dialogauge import evaluate, load
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.find import ModelFiles
from dialogauge.encode.network import EncoderNetwork
from dialogauge.evaluation.compare_systems import compare_runs
from dialogauge.learned.directory import SavedModel
from dialogauge.learned.ruber.model import open_ruber
from dialogauge.learned.training.card import languages_of
from dialogauge.metrics.registry import parse_request
from dialogauge.studies.normality import normality
from tests.encode.models import build, minilm, open_model
from tests.encode.vectors import THREE

TOKENS = "bertscore,embedding_average,embedding_greedy,embedding_extrema,ruber_referenced"
SENTENCES = "semantic_similarity,semantic_distance,ruber,ruber_unreferenced,entailment"
DISTANCES = "fbd,prd[clusters=2,runs=2],mmd,prdc[k=1]"
THAI = Turn("0", "สวัสดีครับคุณชื่ออะไร", ("good morning",), ("วันนี้อากาศร้อนมากเลย",), "s")
AMHARIC = Turn("1", "ዛሬ በጣም ደክሞኛል!", ("good morning",), ("መጽሐፉን ገዛሁ!",), "s")
FACES = Turn("2", "😀", ("good morning",), ("😭",), "s")
READ = [
    Turn(str(place), said, (f"question {place} ?",), (meant,), "s")
    for place, (said, meant) in enumerate(
        [("i am fine .", "very well ."), ("no , never .", "no ."), ("it rains .", "it is wet ."), ("yes .", "sure .")],
        start=10,
    )
]
CODES = ("illegible_text", "unknown_tokens")

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


@pytest.fixture(autouse=True)
def weights():
    minilm()  # skips without its weights


def said(result, code):
    return [caveat.message for caveat in result.caveats if caveat.code == code]


@pytest.mark.parametrize("turn", [THAI, AMHARIC, FACES], ids=["thai", "amharic", "emoji"])
def test_two_texts_that_cannot_be_read_are_not_alike(turn):
    result = evaluate(Corpus([turn]), [TOKENS, SENTENCES, DISTANCES])
    assert {score.value for score in result.scores} == {None}
    assert {score.n for score in result.scores} == {0}
    (lost,) = said(result, "illegible_text")
    assert lost.startswith("bertscore, embedding_average, ")
    assert "minilm-l6-v2@53aa5117 cannot read a text of 1 of 1 turns of s" in lost
    assert not said(result, "undefined_scores")


def test_a_turn_that_cannot_be_read_changes_nothing_for_the_others():
    with_them, without = (evaluate(Corpus(turns), [TOKENS, SENTENCES, DISTANCES]) for turns in ([FACES, *READ], READ))
    assert [score.value for score in with_them.scores] == pytest.approx([score.value for score in without.scores])
    assert {score.n for score in with_them.scores} == {4}
    assert "1 of 5 turns of s" in said(with_them, "illegible_text")[0]
    assert not {caveat.code for caveat in without.caveats} & set(CODES)


def test_of_several_references_those_that_can_be_read_count():
    turn = READ[0]
    both = replace(turn, references=("😭", *turn.references))
    for metrics in (TOKENS, "fbd[refs=all]"):
        one, other = (evaluate(Corpus([each, *READ[1:]]), metrics) for each in (both, turn))
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores])
        assert not said(one, "illegible_text")


def test_a_history_that_cannot_be_read():
    asked = replace(READ[0], context=("😀 😭",))
    result = evaluate(Corpus([asked]), ["semantic_similarity", "ruber_unreferenced", "bertscore", "fbd"])
    scored = {score.metric: score.n for score in result.scores if "." not in score.metric}
    assert scored == {"semantic_similarity": 0, "ruber_unreferenced": 0, "bertscore": 1, "fbd": 1}


def test_the_share_of_unknown_tokens():
    # "i like 😀 .": 4 tokens, one of them unknown; the reference has 3 known ones: 1 of 7 is above a tenth.
    turn = Turn("0", "i like 😀 .", ("hello .",), ("it rains .",), "s")
    (found,) = said(evaluate(Corpus([turn]), "bertscore,embedding_average"), "unknown_tokens")
    assert found.startswith("bertscore, embedding_average: 14 % of the tokens are unknown to minilm-l6-v2@53aa5117")
    assert "--encoder" in found
    # With 4 more known tokens it is 1 of 11, below a tenth.
    longer = replace(turn, references=("it rains . it rains .", "."))
    assert not said(evaluate(Corpus([longer]), "bertscore"), "unknown_tokens")


def test_an_empty_text_keeps_its_score():
    empty = replace(READ[0], response="")
    result = evaluate(Corpus([empty]), "bertscore,embedding_average,ruber_unreferenced")
    assert {score.value for score in result.scores} == {0}
    assert not said(result, "illegible_text")


def test_a_warm_run_says_the_same_and_loads_no_model(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path))
    corpus = Corpus([THAI, FACES, *READ])
    cold = evaluate(corpus, [TOKENS, DISTANCES])
    monkeypatch.setattr(EncoderNetwork, "__init__", lambda *_: pytest.fail("the model is loaded"))
    warm = evaluate(corpus, [TOKENS, DISTANCES])
    assert warm.scores == cold.scores
    assert [c for c in warm.caveats if c.code in CODES] == [c for c in cold.caveats if c.code in CODES] != []


def test_a_stream_counts_as_rows_do(monkeypatch):
    turns = [replace(turn, system=system) for system in ("a", "b") for turn in (THAI, FACES, *READ)]
    metrics = f"{TOKENS},ruber_unreferenced,fbd"
    rows = evaluate(Corpus(turns), metrics)
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 5)
    monkeypatch.setattr("dialogauge.evaluation.measuring.stream.STREAM_BATCH", 4)
    streamed = evaluate(Corpus(turns), metrics)
    for code in CODES:
        assert said(streamed, code) == said(rows, code) != []
    assert "2 of 6 turns of a, 2 of 6 turns of b" in said(rows, "illegible_text")[0]


def test_a_kept_run_says_it_again(tmp_path):
    for name, turns in (("one", [FACES, *READ]), ("two", READ)):
        corpus = Corpus([replace(turn, system=name) for turn in turns])
        evaluate(corpus, "embedding_average,fbd").save(tmp_path / name)
    found = compare_runs([tmp_path / "one", tmp_path / "two"])
    assert "1 of 5 turns of one" in said(found, "illegible_text")[0]
    assert {score.n for score in found.scores} == {4}


@pytest.mark.parametrize("metric", ["fbd", "prd[clusters=2,runs=2]", "mmd[kernel=gaussian]"])
def test_real_responses_that_cannot_be_read_are_left_out(metric):
    real = Corpus([replace(turn, references=()) for turn in READ])
    more = Corpus([replace(FACES, references=()), *real])
    one, other = (evaluate(Corpus(READ[:3]), metric, real=beside) for beside in (more, real))
    assert one.scores[0].value == pytest.approx(other.scores[0].value)
    assert one.scores[0].floor == pytest.approx(other.scores[0].floor)
    assert "1 of 5 real responses are unknown tokens alone" in said(one, "illegible_text")[0]
    only = evaluate(Corpus(READ[:3]), metric, real=Corpus([replace(FACES, references=())]))
    assert only.scores[0].value is None


def test_zero_vectors_of_static_words_are_left_out_of_distances(tmp_path):
    file = tmp_path / "three.txt"
    file.write_text(THREE)
    known = [line.split()[0] for line in THREE.splitlines()]
    turns = [Turn(str(place), word, (), (known[place - 1],), "s") for place, word in enumerate(known)]
    metric = f"fbd[encoder=static:{file},pool=mean,context=0]"
    unheard = Turn("9", "unheard-of", (), (known[0],), "s")
    one, other = (evaluate(Corpus(some), metric) for some in ([*turns, unheard], turns))
    assert one.scores[0].value == pytest.approx(other.scores[0].value)
    assert f"1 of {len(turns) + 1} turns of s" in said(one, "illegible_text")[0]


def test_tokens_of_real_conversations_count_in_the_share():
    # Three pairs of 1 + 4 known tokens; four real ones of 1 + 2 known tokens and 2 unknown ones: 8 of 35.
    known = [Turn(str(place), "it rains now .", ("so",), ("no",), "s") for place in range(3)]
    real = Corpus([Turn(str(place), "i like 😀 😀", ("ok",), dialogue=str(place)) for place in range(4)])
    (found,) = said(evaluate(Corpus(known), "fbd", real=real), "unknown_tokens")
    assert found.startswith("fbd: 23 % of the tokens")
    assert not said(evaluate(Corpus(known), "fbd"), "unknown_tokens")


def test_normality_leaves_them_out():
    turns = [FACES, *READ, *(replace(turn, id=f"{turn.id}+", response=f"well , {turn.response}") for turn in READ)]
    found = normality(Corpus(turns), seed=0)
    assert "cannot read the response of 2 of " in said(found, "illegible_text")[0]


@pytest.mark.parametrize(("family", "unknown"), [("bert", 2), ("roberta", 0), ("xlnet", 2)])
def test_tokenisers_with_and_without_an_unknown_token(family, unknown, tmp_path):
    """Byte-level BPE has a token for every byte; SentencePiece has one for the start of a word beside it."""
    encoder = open_model(build(family, tmp_path / family), cache=Cache(tmp_path / "cache"))
    (tokens,) = encoder.tokens(["😀 😭 ."])
    coverages = [tokens.coverage, encoder.pooled([("hello", "😀 😭 .")]).coverage[0]]
    for coverage in coverages:
        assert (coverage[1], bool(coverage[2])) == (unknown, bool(unknown))
    assert not encoder.pooled([("😀 😭 .", "hello")]).coverage[0][2]


def turns_of(language):
    lines = DIALOGUES[language]
    return [Turn(str(place), said, (asked,), (meant,), "s") for place, (asked, said, meant) in enumerate(lines)]


def language_caveats(result):
    return [caveat.message for caveat in result.caveats if caveat.code == "other_language"]


@pytest.mark.parametrize("language", DIALOGUES)
def test_dialogues_in_other_languages(language):
    (found,) = language_caveats(evaluate(Corpus(turns_of(language)), "meteor,bleu"))
    assert found.startswith("meteor: made for English (its stems and synonyms); ")
    assert f"texts that tell are in another language: {language} (" in found
    assert "'" in found


def test_encoders_and_models_say_what_they_were_made_for():
    minilm()  # skips without its weights
    metrics = "bertscore,fbd,semantic_similarity,ruber_unreferenced,ruber,entailment"
    (found,) = language_caveats(evaluate(Corpus(turns_of("German")), metrics))
    assert found.startswith(
        "bertscore, fbd, semantic_similarity, ruber_unreferenced, ruber, entailment: made for English"
    )
    for what in ("the encoder minilm-l6-v2@", "the model ruber-minilm@", "the model entailment-minilm@"):
        assert what in found
    assert language_caveats(evaluate(load(EXAMPLES / "everyday.jsonl"), "meteor,semantic_similarity")) == []


def test_below_a_tenth_nothing_is_said():
    english = load(EXAMPLES / "everyday.jsonl").turns[:60]
    assert language_caveats(evaluate(Corpus([*english, *turns_of("Thai")]), "meteor")) == []
    assert len(language_caveats(evaluate(Corpus([*english[:10], *turns_of("Thai")]), "meteor"))) == 1


def test_a_quotation_is_no_other_language():
    turn = Turn("0", "Ich bin ein Berliner, und nicht allein.", ("hi",), ("hi",), "s")
    assert language_caveats(evaluate(Corpus([turn]), "meteor")) == []


def test_real_conversations_are_looked_at():
    minilm()
    english = load(EXAMPLES / "everyday.jsonl").turns[:8]
    real = [replace(turn, references=()) for turn in turns_of("Cyrillic script")] * 4
    real = [replace(turn, id=str(place), dialogue=str(place)) for place, turn in enumerate(real)]
    assert len(language_caveats(evaluate(Corpus(english), "fbd", real=Corpus(real)))) == 1


def test_a_stream_says_the_same(monkeypatch):
    corpus = Corpus(turns_of("German"))
    rows = language_caveats(evaluate(corpus, "meteor"))
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 2)
    assert language_caveats(evaluate(corpus, "meteor")) == rows != []


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

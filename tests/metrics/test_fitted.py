"""Splitting texts as their language wants it: guessed by letters, given by name, and told in the signature."""

import random

import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.errors import InputError, MissingPackage, MissingWeights
from dialogauge.metrics.dialogue.length import Length
from dialogauge.metrics.overlap.bleu import corpus_bleu, sentence_bleu
from dialogauge.metrics.overlap.tokens import SACREBLEU, tokenize_by
from dialogauge.metrics.registry import parse_request
from dialogauge.text.fitting import CODES, OTHER_NAMES, TextScripts, named_language
from dialogauge.text.splitters import SEGMENTERS, split_by

sacrebleu = pytest.importorskip("sacrebleu")

TEXTS = {
    "Chinese": ("今天天气很好，我们去公园散步吧。", "我昨天买了一本关于历史的新书。"),
    "Japanese": ("今日はとても良い天気ですね、公園に行きましょう。", "昨日、歴史についての新しい本を買いました。"),
    "Thai": ("วันนี้อากาศดีมาก เราไปเดินเล่นที่สวนกันเถอะ", "เมื่อวานฉันซื้อหนังสือประวัติศาสตร์เล่มใหม่"),
    "Arabic script": ("الطقس جميل اليوم، هل نذهب إلى الحديقة معا؟", "اشتريت أمس كتابا جديدا عن التاريخ القديم."),
    "Devanagari script": ("आज मौसम बहुत अच्छा है, चलो पार्क में टहलते हैं।", "कल मैंने इतिहास की एक नई किताब खरीदी थी।"),
    "Ethiopic script": ("ዛሬ አየሩ በጣም ጥሩ ነው፣ ወደ መናፈሻ እንሂድ።", "ትናንት ስለ ታሪክ አዲስ መጽሐፍ ገዛሁ ወንድሜ።"),
    "Korean": ("오늘 날씨가 정말 좋네요, 공원에 산책하러 갈까요?", "어제 역사에 관한 새 책을 한 권 샀어요."),
    "emoji": ("😀👍🎉🌳🚶", "📚🏛🛒🙂🌙"),
}
SIGNED = {
    "Chinese": ("tok:zh|", "words:jieba|"),
    "Japanese": ("tok:ja-mecab|", "words:mecab|"),
    "Thai": ("tok:char|", "words:pythainlp|"),
    "Arabic script": ("tok:intl|", "words:uax29|"),
    "Devanagari script": ("tok:intl|", "words:uax29|"),
    "Ethiopic script": ("tok:intl|", "words:uax29|"),
    "Korean": ("tok:ko-mecab|", "words:mecab-ko|"),
    "emoji": ("tok:char|", "words:uax29|"),
}
WITH_ENCODER = {
    "semantic_similarity[dull=false]": (1, (-1, 0.7)),
    "semantic_distance[dull=false]": (0, (0.3, 2)),
    "fbd[pool=mean,context=0]": (0, (0.3, 9)),
    "mauve[pool=mean,context=0]": (1, (0, 0.7)),
}
"""What a text scores against itself, and between what limits against another one."""
every_language = pytest.mark.parametrize("language", TEXTS)
LETTERS = "".join([*"abc XYZ 019 .,-'\"&<>!?", *(text for pair in TEXTS.values() for text in pair), "é\u0301\u200d¿ß"])


def both(language):
    """A system that says what the references say, and one that says it elsewhere."""
    first, second = TEXTS[language]
    same = [Turn(str(n), text, references=(text,), system="same") for n, text in enumerate((first, second))]
    other = [
        Turn(str(n), text, references=(said,), system="other")
        for n, (text, said) in enumerate([(second, first), (first, second)])
    ]
    return Corpus([*same, *other])


@every_language
@pytest.mark.parametrize(("metric", "most"), [("bleu", 100), ("chrf", 100), ("rouge_l", 1)])
def test_a_text_against_itself_scores_the_most(language, metric, most):
    result = evaluate(both(language), metric, resamples=10)
    assert result.score("same", metric).value == pytest.approx(most)
    assert result.score("other", metric).value < 0.5 * most


@pytest.mark.parametrize("language", [language for language in TEXTS if language != "emoji"])
def test_so_it_does_under_metrics_whose_encoder_claims_the_language(language):
    """The first text against itself, and against the second one. (No encoder says that it knows emoji.)"""
    pytest.importorskip("onnxruntime_extensions")
    first, second = TEXTS[language]
    turns = [
        Turn(str(number), text, context=(first,), references=(first,), system=system)
        for system, text in (("same", first), ("other", second))
        for number in range(2)
    ]
    result = evaluate(turns, list(WITH_ENCODER), encoder="use", resamples=2)
    claimed = language not in ("Devanagari script", "Ethiopic script")
    for column, (best, (least, most)) in zip(result.columns, WITH_ENCODER.values(), strict=True):
        same, other = (result.score(system, column) for system in ("same", "other"))
        assert same.other_language == (not claimed)
        if claimed:
            assert same.value == pytest.approx(best, abs=1e-5), column
            assert least < other.value < most, column


@every_language
def test_signatures_say_how_texts_are_split(language):
    result = evaluate(both(language), "bleu,length,distinct,rouge_l", resamples=10)
    tok, words = SIGNED[language]
    assert tok in result.score("same", "bleu").signature
    for metric in ("length", "distinct", "rouge_l"):
        assert words in result.score("same", metric).signature
    assert result.score("same", "length").value > 2  # no sentence is a word


def test_latin_letters_keep_their_recipes():
    turns = [Turn("0", "Ça va très bien, merci!", references=("Ça va.",)), Turn("1", "don't 你好", references=("x",))]
    result = evaluate([*turns, *[Turn(str(n), "so it is", references=("it is",)) for n in range(2, 20)]], "bleu,length")
    assert result.score("system", "bleu").signature.startswith("bleu|tok:13a|smooth:exp|order:4|")
    assert result.score("system", "length").signature.startswith("length|words:nltk-punkt|dialogauge")


def random_texts(count, seed=7):
    draw = random.Random(seed)
    return ["".join(draw.choices(LETTERS, k=draw.randint(0, 30))) for _ in range(count)]


@pytest.mark.parametrize("tok", ["13a", "char", *(name for name in SACREBLEU if name != "flores200")])
def test_every_tokeniser_gives_sacrebleus_scores(tok):
    texts, others = random_texts(60), random_texts(60, 8)
    mixed = [text[:9] + other[:9] for text, other in zip(texts, others, strict=True)]
    theirs = sacrebleu.BLEU(tokenize=tok, effective_order=True)
    for text, other in zip(mixed, texts, strict=True):
        assert sentence_bleu(text, [other], tok=tok) == pytest.approx(theirs.sentence_score(text, [other]).score)
    whole = sacrebleu.BLEU(tokenize=tok, lowercase=True).corpus_score(mixed, [texts]).score
    assert corpus_bleu(mixed, [[text] for text in texts], lowercase=True, tok=tok) == pytest.approx(whole)


def test_flores200_takes_sacrebleus_model(tmp_path, monkeypatch):
    """A small model in the place where sacreBLEU keeps its own; without one, where it is looked for."""
    sentencepiece = pytest.importorskip("sentencepiece")
    from sacrebleu.tokenizers import tokenizer_spm

    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    tokenize_by.cache_clear()
    with pytest.raises(MissingWeights, match="looked for .*download https"):
        tokenize_by("flores200")
    (tmp_path / "models").mkdir()
    lines = [text for pair in TEXTS.values() for text in pair]
    made = tmp_path / "made"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(made), vocab_size=300, hard_vocab_limit=False, minloglevel=2
    )
    made.with_suffix(".model").rename(tmp_path / "models" / "flores200sacrebleuspm")
    theirs = sacrebleu.BLEU(tokenize="flores200").corpus_score(lines, [lines[1:] + lines[:1]]).score
    assert corpus_bleu(lines, [[text] for text in lines[1:] + lines[:1]], tok="flores200") == pytest.approx(theirs)
    tokenize_by.cache_clear()


def test_a_given_language_decides():
    turns = [Turn("0", "你好世界", references=("你好世界",))]
    assert "tok:13a|" in evaluate(turns, "bleu[language=en]").scores[0].signature
    french = [Turn("0", "café", references=("cafe",))]
    assert evaluate(french, "rouge_l").scores[0].signature.startswith("rouge_l|tok:rouge-score|stem:no|")
    assert "words:uax29" in evaluate(french, "rouge_l[language=fr]").scores[0].signature
    with pytest.raises(InputError, match="unknown language 'klingon'"):
        evaluate(turns, "bleu[language=klingon]")
    assert (named_language("zh-TW"), named_language("THAI")) == ("Chinese", "Thai")
    assert [named_language(name) for name in ("Hindi", "arabic", "Russian", "Amharic", "Swedish", "Czech")] == [
        *("Devanagari script", "Arabic script", "Cyrillic script", "Ethiopic script", "Scandinavian"),
        "another in Latin letters",
    ]
    assert {name for name, code in OTHER_NAMES.items() if code not in CODES} == set()


def test_the_language_is_said():
    said = {caveat.code: caveat.message for caveat in evaluate(both("Chinese"), "bleu,length,chrf").caveats}
    assert said["guessed_language"] == (
        "by their letters the texts are taken for Chinese, and split accordingly: tok=zh (bleu), words=jieba (length); "
        "--language NAME says otherwise"
    )
    given = evaluate(both("Chinese"), "bleu,length", language="zh")
    assert "guessed_language" not in {caveat.code for caveat in given.caveats}
    assert "tok:zh|" in given.score("same", "bleu").signature
    with pytest.raises(InputError, match="unknown language 'klingon'"):
        evaluate(both("Chinese"), "bleu", language="klingon")


def test_a_given_language_is_outside_of_what_a_metric_was_made_for():
    turns = [Turn(str(n), text, references=(text,), system=s) for s in "ab" for n, text in enumerate(["oui", "non"])]
    known, foreign = (evaluate(turns, "meteor", language=language) for language in ("en", "fr"))
    marks = [any(cell.best for row in result.to_table().rows for cell in row) for result in (known, foreign)]
    assert [known.scores[0].other_language, foreign.scores[0].other_language] == [False, True]
    assert marks == [True, False]
    (said,) = (caveat.message for caveat in foreign.caveats if caveat.code == "other_language")
    assert all(part in said for part in ("meteor: made for English", "French (8)", "--encoder use"))


def test_scripts_add_and_quotations_do_not_decide():
    parts = [["hello"] * 5, ["你好"] * 3, ["こんにちは世界"] * 5]
    surveys = [TextScripts.survey(part) for part in parts]
    assert surveys[0] + surveys[1] + surveys[2] == TextScripts.survey([text for part in parts for text in part])
    assert TextScripts.survey(["hello"] * 95 + ["你好"] * 5).language() is None
    assert TextScripts.survey(["hello"] * 85 + ["你好"] * 15).language() == "Chinese"
    assert (surveys[1] + surveys[2]).language() == "Japanese"
    assert TextScripts.survey(["你好"] * 5 + ["สวัสดี"] * 5).language() == "several scripts"


def test_what_is_missing_is_said_or_replaced(monkeypatch):
    monkeypatch.setattr("dialogauge.text.splitters.find_spec", lambda module: None if module == "jieba" else module)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[languages\]'"):
        split_by("jieba")
    ready = Length().prepare(Corpus([Turn("0", "今天天气很好")]))
    assert "words:uax29" in ready.signature
    assert ready.fitted_way.better == "jieba"
    said = {caveat.code: caveat.message for caveat in evaluate([Turn("0", "今天天气很好")], "length").caveats}
    assert said["better_splitting"].startswith(
        "length: words=jieba would split Chinese better, and is not installed: pip"
    )


@pytest.mark.parametrize("name", SEGMENTERS)
def test_odd_texts_can_be_split(name):
    for text in ("", "  ", "\0", "\ud800", "a\nb", "😀" * 1000, "\u202e"):
        assert all(word.strip() for word in split_by(name)(text))
    assert parse_request(f"length[words={name}]").label == f"length[words={name}]"


def test_unicodes_boundaries_by_hand():
    assert split_by("uax29")("Don't go: 3.5 你好，カタカナ👨‍👩‍👧!") == [
        *("don't", "go", ":", "3.5", "你", "好", "，", "カタカナ", "👨‍👩‍👧", "!")
    ]

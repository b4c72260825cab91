"""The real files: every one of them reads, and the counts are those that plain counting gives."""

import gzip
import re
from collections import Counter
from itertools import combinations, groupby

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.known import corpora
from tests.shared import SIX, annotation, json_lines, shared

# Contexts, systems and rated dimensions, from the README beside the files.
SHAPES = {
    "convai2": (150, 4, 1),
    "dailyh": (150, 11, 1),
    "dailyz": (100, 8, 4),
    "empathetic": (150, 11, 1),
    "personam": (60, 4, 6),
    "personaz": (150, 5, 1),
}


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode()


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_dailydialog(part):
    path = shared(f"training/dailydialog/dialogues_{part}.txt.gz")
    text, corpus = text_of(path), load(path)
    dialogues = text.count("\n")
    assert dialogues == {"train": 11118, "validation": 1000, "test": 1000}[part]
    assert len({turn.dialogue for turn in corpus}) == dialogues
    # Every utterance is a turn but the first of each dialogue.
    assert len(corpus) == text.count("__eou__") - dialogues
    assert corpus.systems == (f"dialogues_{part}",)
    assert [caveat.code for caveat in corpus.caveats] == ["known_fault"]
    assert all(turn.response.strip() for turn in corpus)
    last = corpus.turns[-1]
    assert [*last.context, last.response] == [u.strip() for u in text.splitlines()[-1].split("__eou__")[:-1]]


@pytest.mark.parametrize("kind", ["both", "self"])
def test_convai2_in_parlai_text(kind):
    path = shared(f"training/convai2/valid_{kind}_original_no_cands.txt.gz")
    text, corpus = text_of(path), load(path)
    assert len({turn.dialogue for turn in corpus}) == len(re.findall(r"^1 ", text, re.MULTILINE)) == 1000
    assert len(corpus) == 2 * text.count("\t") - 1000
    own = {fact.strip() for fact in re.findall(r"your persona:(.*)", text)}
    partner = {fact.strip() for fact in re.findall(r"partner's persona:(.*)", text)}
    # A dialogue begins with the partner, so the utterances of odd index are the own ones.
    for turn in corpus:
        index = int(turn.id.rpartition(":")[2])
        assert set(turn.facts) <= (own if index % 2 else partner)
        assert bool(turn.facts) == (kind == "both" or index % 2 == 1)


@pytest.mark.parametrize(("part", "dialogues"), [("train", 1356), ("val", 1000)])
def test_convai2_in_parallel_files(part, dialogues):
    path = shared(f"training/convai2/src-{part}.txt.gz")
    personas = text_of(path.with_name(f"per-{part}.txt.gz")).splitlines()
    corpus = load(path)
    assert len(list(groupby(personas))) == dialogues
    assert len({turn.dialogue for turn in corpus}) == dialogues
    assert len(corpus) == 2 * len(personas) - dialogues
    assert [file.reader for file in corpus.files] == ["parallel"] * 3
    targets = text_of(path.with_name(f"tgt-{part}.txt.gz")).splitlines()
    assert [turn.response for turn in corpus if turn.facts] == targets


def test_both_forms_of_convai2_hold_the_same_conversations():
    parlai = load(shared("training/convai2/valid_self_original_no_cands.txt.gz"))
    parallel = load(shared("training/convai2/src-val.txt.gz"))
    assert [(t.context, t.response) for t in parlai] == [(t.context, t.response) for t in parallel]


@pytest.mark.parametrize("name", SIX)
def test_fbd_annotations(name):
    path = annotation(name)
    items, corpus = json_lines(path), load(path)
    contexts, systems, dimensions = SHAPES[name]
    assert len(items) == contexts
    assert len(corpus) == contexts * systems
    (known,) = [known for known in corpora() if known.name == f"fbd-{name}"]
    assert corpus.systems == known.systems
    for index, turns in enumerate(corpus.by_system.values()):
        assert [turn.response for turn in turns] == [item["hyps"][index] for item in items]
        assert [turn.context for turn in turns] == [(item["src"],) for item in items]
        assert [list(turn.references) for turn in turns] == [item["refs"] for item in items]
        rated = [[number for (number,) in turn.ratings.values()] for turn in turns]
        assert rated == [item["human_scores"][index] for item in items]
        assert {tuple(turn.ratings) for turn in turns} == {known.dimensions}
        assert len(known.dimensions) == dimensions


# Turns, systems and files, from the README beside them.
RATED = {
    "grade": (1200, 8, 33),
    "grade/eval_data/dailydialog": (300, 2, 9),
    "grade/eval_data/empatheticdialogues": (300, 2, 9),
    "grade/eval_data/convai2": (600, 4, 17),
    "usr_persona/pc_usr_data.json": (300, 5, 1),
    "bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv": (600, 2, 1),
    "fed/fed_data.json": (375, 3, 1),
    "conture/data.json": (1066, 1, 1),
}


@pytest.mark.parametrize("name", RATED)
def test_rated_corpora(name):
    corpus = load(shared(f"corpora/{name}"))
    assert (len(corpus), len(corpus.systems), len(corpus.files)) == RATED[name]
    assert {caveat.code for caveat in corpus.caveats} <= {"known_fault"}
    assert all(turn.ratings for turn in corpus)


def test_grade_ratings_and_pairs():
    corpus = load(shared("corpora/grade"))
    assert {len(turn.ratings["coherence"]) for turn in corpus} == {8, 9, 10, 11}
    for system, turns in corpus.by_system.items():
        folder = shared("corpora/grade/human_score") / system
        means = [float(line) for line in (folder / "human_score.txt").read_text().split()]
        ours = [sum(turn.ratings["coherence"]) / len(turn.ratings["coherence"]) for turn in turns]
        assert ours == pytest.approx(means, abs=5.1e-5)
    contexts = {}
    for turn in corpus:
        assert contexts.setdefault(turn.id, turn.context) == turn.context
    ids = {system: {turn.id for turn in turns} for system, turns in corpus.by_system.items()}
    assert {len(each) for each in ids.values()} == {150}
    for one, other in combinations(ids, 2):
        files = [shared(f"corpora/grade/eval_data/{system}/human_ctx.txt") for system in (one, other)]
        common = Counter(files[0].read_text().split("\n")[:-1]) & Counter(files[1].read_text().split("\n")[:-1])
        assert len(ids[one] & ids[other]) == (common.total() if one.split("/")[0] == other.split("/")[0] else 0)


def test_usr_three_raters():
    corpus = load(shared("corpora/usr_persona/pc_usr_data.json"))
    assert {tuple(turn.ratings) for turn in corpus} == {
        ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall")
    }
    assert {len(numbers) for turn in corpus for numbers in turn.ratings.values()} == {3}
    assert {len(turn.references) for turn in corpus.by_system["Seq2Seq"]} == {1}
    assert {turn.references for turn in corpus.by_system["Original Ground Truth"]} == {()}
    assert all(turn.facts and not any("persona:" in fact for fact in turn.facts) for turn in corpus)


def test_fed_dialogues():
    corpus = load(shared("corpora/fed/fed_data.json"))
    dialogues = [turn.dialogue for turn in corpus]
    assert None not in dialogues
    assert set(Counter(dialogues).values()) == {3}
    assert len(set(dialogues)) == 125
    assert {len(numbers) for turn in corpus for numbers in turn.ratings.values()} == {5}
    assert all(len(turn.extra["dialogue_ratings"]["Overall"]) == 5 for turn in corpus)
    assert not any(text.startswith(("User:", "System:")) for turn in corpus for text in (*turn.context, turn.response))


def test_conture_dialogues():
    corpus = load(shared("corpora/conture/data.json"))
    assert len({turn.dialogue for turn in corpus}) == 119
    assert sum(not turn.response for turn in corpus) == 14
    assert {len(turn.extra["dialogue_ratings"]["diverse"]) for turn in corpus} == {2, 3}


def test_bert_ruber_correlations():
    from scipy.stats import pearsonr, spearmanr

    corpus = load(shared("corpora/bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv"))
    generated, true = corpus.by_system["generated"], corpus.by_system["true"]
    assert [(turn.id, turn.context) for turn in generated] == [(turn.id, turn.context) for turn in true]
    assert [turn.references for turn in generated] == [(turn.response,) for turn in true]
    people = [sum(turn.ratings["appropriateness"]) / 3 for turn in generated]
    # As the README beside the file has it, and the paper's table.
    for column, pearson, spearman in (("CTX_Unref_Score", 0.547, 0.449), ("Ruber_Unref_Score", 0.284, 0.304)):
        scores = [turn.extra[column] for turn in generated]
        assert pearsonr(people, scores)[0] == pytest.approx(pearson, abs=5e-4)
        assert spearmanr(people, scores)[0] == pytest.approx(spearman, abs=5e-4)

"""The real files: every one of them reads, and the counts are those that plain counting gives."""

import gzip
import re
from itertools import groupby

import pytest

from dialogauge.corpus import load
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
    assert corpus.caveats == ()
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
    assert corpus.systems == tuple(f"s{index:02d}" for index in range(systems))
    for index, turns in enumerate(corpus.by_system.values()):
        assert [turn.response for turn in turns] == [item["hyps"][index] for item in items]
        assert [turn.context for turn in turns] == [(item["src"],) for item in items]
        assert [list(turn.references) for turn in turns] == [item["refs"] for item in items]
        rated = [[number for (number,) in turn.ratings.values()] for turn in turns]
        assert rated == [item["human_scores"][index] for item in items]
        assert {len(turn.ratings) for turn in turns} == {dimensions}

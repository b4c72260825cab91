"""Real conversations given beside a corpus."""

import json
import random
from dataclasses import replace
from functools import reduce
from operator import add, itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import compare, evaluate, load, stream
from dialogauge.corpus import Corpus, Turn
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.turn import REAL, unit_key
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.measuring.real_turns import RealTurns, read_real
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.units import Units
from tests.encode.models import build

DISTANCES = "fbd,prd[clusters=5,runs=2],mmd,prdc"
OTHERS = "bleu,distinct,length,embedding_average"
WORDS = "the soup is nice today and i would like a piece of bread or walk in park with my dog please".split()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert", hidden_size=8, num_attention_heads=2))


def talk(rng, words=5):
    return " ".join(rng.choice(WORDS, words))


def conversations(count, size, seed=0, system="people", start=0):
    """Dialogues of `size` turns, called 0, 1, ..., without references."""
    rng = np.random.default_rng(seed)
    return [
        Turn(f"{dialogue}.{place}", talk(rng), (talk(rng),), system=system, dialogue=str(dialogue))
        for dialogue in range(start, start + count)
        for place in range(size)
    ]


def responses(count, seed=1, system="bot"):
    rng = np.random.default_rng(seed)
    return [
        Turn(str(number), talk(rng, 3), (f"{talk(rng)} {number}",), (talk(rng),), system) for number in range(count)
    ]


# Reading them


def test_all_are_kept_in_their_order_where_they_fit():
    turns = conversations(5, 4)
    kept, keys, caveats = read_real(Corpus(turns), progress=False)
    assert kept.turns == turns
    assert keys.tolist() == [unit_key(turn, REAL) for turn in turns]
    assert caveats == []
    assert read_real(Corpus(turns), progress=False, limit=20)[2] == []


@pytest.mark.parametrize("limit", [1, 7, 30, 59])
def test_a_bounded_draw_keeps_whole_dialogues(limit):
    turns = conversations(20, 3)
    kept, keys, (caveat,) = read_real(Corpus(turns), progress=False, limit=limit)
    # As many whole dialogues of three as fit; one stays even if it alone is too large.
    assert len(kept) == max(limit // 3 * 3, 3)
    chosen = {turn.dialogue for turn in kept}
    assert kept.turns == [turn for turn in turns if turn.dialogue in chosen]
    assert keys.tolist() == [unit_key(turn, REAL) for turn in kept]
    assert caveat == Caveat("part_of_real", f"of 60 real turns {len(kept)} are used: whole dialogues, drawn by chance")


def test_the_draw_does_not_depend_on_the_order_of_turns():
    turns = conversations(30, 4)
    first = {turn.id for turn in read_real(Corpus(turns), progress=False, limit=50)[0]}
    assert len(first) == 48
    for seed in range(5):
        shuffled = random.Random(seed).sample(turns, len(turns))
        kept = read_real(Corpus(shuffled), progress=False, limit=50)[0]
        assert {turn.id for turn in kept} == first
        # Those that are kept stay in the order they came in.
        assert kept.turns == [turn for turn in shuffled if turn.id in first]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(limit=st.integers(1, 40), labels=st.lists(st.integers(0, 3), min_size=30, max_size=30), data=st.data())
def test_parts_that_are_read_apart_add_to_the_whole(limit, labels, data):
    turns = conversations(10, 3)
    whole, parts = RealTurns(limit), [RealTurns(limit, part) for part in range(4)]
    for turn, label in sorted(zip(turns, labels, strict=True), key=itemgetter(1)):
        whole.add(turn)
        parts[label].add(turn)
    added = reduce(add, data.draw(st.permutations(parts)))
    assert added.turns == whole.turns
    assert (added.seen, added.units) == (whole.seen, whole.units)
    assert all(part.count <= limit or len(part.held) == 1 for part in (added, whole, *parts))


def test_a_draw_is_no_mere_beginning():
    kept = read_real(Corpus(conversations(200, 1)), progress=False, limit=100)[0]
    places = [int(turn.dialogue) for turn in kept]
    assert 70 < np.mean(places) < 130


def test_turns_of_no_dialogue_are_drawn_by_context():
    turns = [
        replace(turn, dialogue=None, context=(f"question {number // 2}",))
        for number, turn in enumerate(conversations(20, 1))
    ]
    kept, _, (caveat,) = read_real(Corpus(turns), progress=False, limit=9)
    assert len(kept) == 8
    assert "whole contexts" in caveat.message


def test_real_units_are_never_those_of_the_corpus():
    turns = [*conversations(3, 2), Turn("a", "x", ("hello",)), Turn("b", "x")]
    _, keys, _ = read_real(Corpus(turns), progress=False)
    assert not set(keys.tolist()) & set(Units().keys(turns).tolist())
    assert len(set(keys.tolist())) == 5


def test_files_and_caveats_of_the_real_conversations_go_on():
    file, caveat = SourceFile("real.jsonl", "0" * 64, "jsonl"), Caveat("skipped_lines", "two lines")
    kept, _, caveats = read_real(Corpus(conversations(2, 2), (file,), (caveat,)), progress=False)
    assert kept.files == (file,)
    assert caveats == [caveat]


# Scoring against them


@pytest.fixture(scope="module")
def corpus():
    """Two systems on 30 contexts; dialogues carry the names of real ones."""
    turns = [*responses(30), *responses(30, seed=2, system="other")]
    return Corpus([replace(turn, dialogue=str(int(turn.id) // 2)) for turn in turns])


@pytest.fixture(scope="module")
def real():
    return Corpus(conversations(16, 3, seed=3))


@pytest.fixture(scope="module")
def result(corpus, real, model):
    return evaluate(corpus, f"{OTHERS},{DISTANCES}", encoder=model, real=real, resamples=50)


@pytest.fixture(scope="module")
def without(corpus, model):
    return evaluate(corpus, f"{OTHERS},{DISTANCES}", encoder=model, resamples=50)


def test_metrics_that_do_not_look_at_them_stay_exactly_the_same(result, without):
    named = [score for score in result.scores if not score.metric.startswith(("fbd", "prd", "mmd"))]
    assert len(named) == 2 * 6
    for score in named:
        assert without.score(score.system, score.metric) == score
    assert {score.interval for score in named} == {"bootstrap", "jackknife"}


@pytest.mark.parametrize("turns", [210, 150])
def test_also_where_units_fall_into_groups(model, turns):
    """Past 200 units the jackknife leaves out groups: of the responses' own, or of both together only."""
    many, people = Corpus(responses(turns)), Corpus(conversations(90, 1))
    beside, alone = (evaluate(many, "fbd,distinct", encoder=model, real=given) for given in (people, None))
    assert beside.score("bot", "distinct") == alone.score("bot", "distinct")
    sample = beside.samples[0]
    sizes = Resampler(beside.samples, Settings()).groups(sample).sizes
    assert len(sizes) == 50
    assert sizes.sum() == turns + 90
    assert sizes.max() - sizes.min() <= 2


@pytest.mark.parametrize("people", [10, 19, 20, 21, 170])
def test_up_to_200_units_of_both_are_left_out_one_by_one(model, people):
    found = evaluate(Corpus(responses(30)), "fbd", encoder=model, real=Corpus(conversations(people, 2)))
    groups = Resampler(found.samples, Settings()).groups(found.samples[0])
    assert groups.sizes.tolist() == [1] * (30 + people)
    # Each holds one response, or one real dialogue of two turns.
    held = sorted((summary.generated.n, summary.real.n) for summary in groups.summaries)
    assert held == [(0, 2)] * people + [(1, 0)] * 30


def test_distances_do_look_at_them(result, without):
    for metric in result.columns[-4:]:
        found, other = (run.score("bot", metric) for run in (result, without))
        assert found.value != other.value
        assert (found.floor_from, other.floor_from) == ("exchanges", "swaps")
        assert found.floor is not None
        assert 0 < found.p <= 1
        assert 0 < other.p <= 1


def test_n_and_units_count_what_was_generated(result):
    for score in result.scores:
        assert (score.n, score.units) == (30, 15), score.metric
    assert result.systems == {"bot": 30, "other": 30}
    assert result.unit == "dialogues"


def test_signatures_name_the_real_conversations(corpus, real, model):
    def signature(given):
        return evaluate(corpus, "fbd", encoder=model, real=given, systems=["bot"]).scores[0].signature

    one, shuffled = signature(real), signature(Corpus(real.turns[::-1]))
    assert one == shuffled
    assert "|real:@" in one
    assert one != signature(Corpus(real.turns[:-1]))
    assert "|real:references-first|" in signature(None)


def test_the_order_of_real_turns_changes_nothing(corpus, real, model):
    one, other = (
        evaluate(corpus, DISTANCES, encoder=model, real=Corpus(turns), systems=["bot"])
        for turns in (real.turns, real.turns[::-1])
    )
    for score, same in zip(one.scores, other.scores, strict=True):
        assert score.value == pytest.approx(same.value, rel=1e-6), score.metric


def test_references_are_not_needed(corpus, real, model):
    plain = Corpus([replace(turn, references=()) for turn in corpus])
    found = evaluate(plain, DISTANCES, encoder=model, real=real)
    # And where there are any, they change nothing.
    assert found.scores == evaluate(corpus, DISTANCES, encoder=model, real=real).scores
    assert {score.n for score in found.scores} == {30}
    assert "missing_input" not in {caveat.code for caveat in found.caveats}
    with pytest.raises(InputError, match=r"fbd needs references or real conversations \(--real\)"):
        evaluate(plain, "fbd", encoder=model)


def test_real_conversations_that_no_metric_takes_are_refused(corpus, real, model):
    for call in (evaluate, compare):
        with pytest.raises(InputError, match="none of the metrics takes any: bleu, length$"):
            call(corpus, "bleu,length,bleu[lowercase=true]", real=real)
    assert evaluate(corpus, "length,fbd", real=real, encoder=model).columns[0] == "length"


def test_an_empty_corpus_of_real_conversations_is_refused(corpus, model):
    with pytest.raises(InputError, match="real"):
        evaluate(corpus, "fbd", encoder=model, real=Corpus([]))


def write(path, turns):
    keys = ("id", "response", "context", "references", "system", "dialogue")
    path.write_text("".join(json.dumps({key: getattr(turn, key) for key in keys}) + "\n" for turn in turns))
    return path


@pytest.mark.parametrize("read", [load, stream])
def test_both_corpora_are_named_among_the_files(corpus, real, model, tmp_path, read):
    paths = [write(tmp_path / "bot.jsonl", corpus), write(tmp_path / "people.jsonl", real)]
    found = evaluate(read(paths[0]), "fbd", encoder=model, real=read(paths[1]))
    assert [file.path for file in found.files] == [str(path) for path in paths]
    assert found.to_dict()["corpus"]["files"][1]["path"] == str(paths[1])
    assert len({file.sha256 for file in found.files}) == 2


def test_a_draw_of_the_real_conversations_is_said(corpus, real, model, monkeypatch):
    monkeypatch.setattr(read_real, "__defaults__", (30,))
    found = evaluate(corpus, "fbd", encoder=model, real=real)
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "part_of_real"]
    assert caveat.message == "of 48 real turns 30 are used: whole dialogues, drawn by chance"
    for sample in found.samples:
        assert sample.summary.real.n == 30


def test_real_dialogues_of_the_same_name_are_apart(real, model):
    """Left out one by one, dialogue 3 of the bot and dialogue 3 of the people are two."""
    same, other = (
        evaluate(Corpus(conversations(16, 3, seed=9, system="bot", start=start)), "fbd", encoder=model, real=real)
        for start in (0, 100)
    )
    assert same.scores[0].units == other.scores[0].units == 16
    for result in (same, other):
        (sample,) = result.samples
        assert len(np.unique(sample.units)) == 32
    assert same.scores[0].low == pytest.approx(other.scores[0].low)
    assert same.scores[0].high == pytest.approx(other.scores[0].high)


@pytest.mark.parametrize("beside", [True, False])
def test_a_stream_scores_as_rows_do(corpus, real, model, monkeypatch, beside):
    monkeypatch.setattr("dialogauge.evaluation.floors.EVEN", 2)
    given = {"encoder": model, "real": real if beside else None}
    rows = evaluate(corpus, "fbd,mmd,prdc", **given)
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 20)
    streamed = evaluate(corpus, "fbd,mmd,prdc", **given)
    assert "large_corpus" in {caveat.code for caveat in streamed.caveats}
    assert all(sample.groups for sample in streamed.samples)
    assert len(rows.scores) == len(streamed.scores) == 2 * (3 + 1 + 5)
    for kept, grouped in zip(rows.scores, streamed.scores, strict=True):
        assert (kept.system, kept.metric) == (grouped.system, grouped.metric)
        assert grouped.value == pytest.approx(kept.value, rel=1e-6), kept.metric
        assert (grouped.n, grouped.units) == (kept.n, kept.units)
        assert grouped.low < grouped.high
        assert (kept.floor_from, grouped.floor_from) == (("splits", "splits alone") if beside else ("swaps", "swaps"))
        assert grouped.needed is not None
    # Splits are of the real conversations, which are the same: so are their floors.
    if beside:
        assert [s.floor for s in streamed.scores] == pytest.approx([s.floor for s in rows.scores], rel=1e-6)


def test_a_stream_of_prd_has_floors_too(corpus, real, model, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.floors.EVEN", 2)
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 20)
    found = evaluate(corpus, "prd[runs=2]", encoder=model, real=real, systems=["bot"])
    score = found.score("bot", found.columns[0])
    assert 0 < score.value <= 1
    assert score.floor_from == "splits alone"
    assert "learned_from_part" in {caveat.code for caveat in found.caveats}

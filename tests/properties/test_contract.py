"""What the metric contract promises, for every metric there is."""

import atexit
import json
import math
import pickle
import subprocess
import sys
import tempfile
from dataclasses import fields, replace
from functools import cache, partial, reduce
from itertools import chain
from operator import add
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Corpus, Turn
from dialogauge.corpus.dialogues import dialogues
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.base import options
from dialogauge.metrics.distance.frechet import ROUNDING
from dialogauge.metrics.prepared import PlainMetric
from dialogauge.metrics.registry import COMPAT, known_names, parse_request
from tests.encode.causal.small import build_causal
from tests.encode.models import build
from tests.learned.small import write_entailment, write_gauge, write_ruber
from tests.serving.scripted import Scripted, chat

WORDS = st.lists(st.sampled_from("the a cat cats dog runs ran home . ? 你好 😀 it's".split()), max_size=9).map(" ".join)
SAID = ["the cat .", "你好 ?", ""]
TURNS = st.lists(
    st.builds(
        lambda response, context, references, value, dialogue: Turn(
            "", response, context, references, dialogue=dialogue, facts=references, extra={"x": value}
        ),
        WORDS,
        st.lists(st.sampled_from(SAID), min_size=1, max_size=2).map(tuple),
        st.lists(WORDS, min_size=1, max_size=2).map(tuple),
        st.floats(-5, 5) | st.none(),
        st.sampled_from([None, "d", "e"]),
    ),
    min_size=1,
    max_size=12,
)
METRICS = [
    *((f"{name}[name=x]" if name in ("column", "pass_k") else name, None) for name in known_names()),
    *(
        (name if name != "prd" else "prd[clusters=2]", compat)
        for compat, variants in COMPAT.items()
        for name in variants
    ),
]
every_metric = pytest.mark.parametrize("wanted", METRICS, ids=lambda wanted: "-".join(filter(None, wanted)))
examples = settings(max_examples=60, deadline=None, derandomize=True)


ENCODERS = Encoders()
"""One for all examples, so that a model is loaded once."""
ENTAILMENT = ("entailment", "self_contradiction", "fact_consistency")
"""Metrics that a model of entailment stands behind."""
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)


@cache
def small_model():
    return str(build("bert", Path(FOLDER.name) / "bert"))


@cache
def small_ruber(name):
    """A model of random weights for the small encoder."""
    encoder, directory = small_model(), Path(FOLDER.name) / name
    network = {"ruber": "ruber", "ruber_unreferenced": "towers"}[name]
    layers = {"opened": ENCODERS.get(encoder), "layers": (3, 1), "context": 2, "pool": "mean"}
    write_ruber(directory, encoder, network=network, **layers)
    return directory


@cache
def small_entailment():
    """The same for entailment, with low-rank adapters."""
    encoder, directory = small_model(), Path(FOLDER.name) / "entailment"
    write_entailment(directory, encoder, "transformer", opened=ENCODERS.get(encoder))
    return directory


@cache
def small_gauge():
    encoder, directory = small_model(), Path(FOLDER.name) / "gauge"
    write_gauge(directory, encoder, opened=ENCODERS.get(encoder))
    return directory


@cache
def small_judge():
    """An endpoint that rates by length, and now and then says nothing of use."""

    def rate(asked):
        length = len(json.loads(asked.body["messages"][-1]["content"])["reply"])
        return chat(f'{{"score": {1 + length % 5}}}' if length % 7 else "as you like")

    server = Scripted(rate)
    atexit.register(server.__enter__().__exit__)
    return server


@cache
def small_causal():
    """A language model of random weights."""
    return build_causal(Path(FOLDER.name) / "llama")


@cache
def asked(wanted):
    """What a user asks for."""
    name, compat = wanted
    encoder = {} if compat else {"encoder": small_model()}
    if name in ENTAILMENT:
        name = f"{name}[model={small_entailment()}]"
    if name == "gauge":
        name = f"gauge[model={small_gauge()}]"
    if name in ("likelihood", "perplexity", "pmi", "fed", "fed_dialogue"):
        name = f"{name}[model={small_causal()}]"
    if name == "judge":
        name = f"judge[model=scripted,url={small_judge().url}]"
    if name in ("ruber", "ruber_unreferenced"):
        name = f"{name}[model={small_ruber(name)}]"
    return parse_request(name, compat, encoder).metric


@cache
def learned_once(wanted):
    """Of metrics that look at no corpus."""
    return asked(wanted).prepare(Corpus([]), encoders=ENCODERS)


def ready_for(wanted, turns):
    if asked(wanted).name in ("ruber", "ruber_unreferenced", *ENTAILMENT, "gauge"):
        return learned_once(wanted)
    # The extra turn has a number in the column even where none of the drawn ones has.
    corpus = Corpus([*turns, Turn("", "", extra={"x": 1.0})])
    return asked(wanted).prepare(corpus, encoders=ENCODERS)


def values_of(ready, turns):
    return ready.metric.conclude(ready.metric.summarise(ready.measure(turns)))


def same_for(wanted):
    """Up to rounding: of `fbd`, what its eigenvalues may cost, which is a share of traces that are larger than it."""
    return partial(assert_same, rounding=10 * ROUNDING if wanted[0] == "fbd" else 1e-12)


def assert_same(left, right, rounding=1e-12):
    assert left.keys() == right.keys()
    for part in left:
        np.testing.assert_allclose(left[part], right[part], rtol=rounding, atol=rounding)


@every_metric
@examples
@given(turns=TURNS, data=st.data())
def test_every_promise(wanted, turns, data):
    """All promises on the same examples: preparing and measuring takes longer than comparing values."""
    ready = ready_for(wanted, turns)
    metric, rows, same = ready.metric, ready.measure(turns), same_for(wanted)
    summary = metric.summarise(rows)
    values = metric.conclude(summary)

    together = taken_together(metric, turns)

    def drawn(number, size):
        return data.draw(st.lists(number, min_size=size, max_size=size))

    values_lie_within_the_bounds_and_name_their_parts(metric, values)
    summaries_add(same, ready, turns, together, drawn(st.integers(0, 3), len(together)), summary)
    order_of_turns_never_matters(same, ready, turns, data.draw(st.permutations(together)), values)
    batches_never_matter(same, ready, turns, together, data.draw(st.integers(1, 5)), rows, values)
    weights_are_repetitions(same, metric, rows, drawn(st.integers(0, 3), len(turns)))


def taken_together(metric, turns):
    """The places of turns that no batch may part: each by itself, or those of a dialogue."""
    return dialogues(turns) if metric.level == "dialogue" else [[place] for place in range(len(turns))]


def values_lie_within_the_bounds_and_name_their_parts(metric, values):
    assert list(values) == ["", *metric.parts]
    low, high = metric.bounds
    assert all(math.isnan(value) or low - 1e-9 <= value <= high + 1e-9 for value in values.values())


def summaries_add(same, ready, turns, together, labels, whole):
    metric = ready.metric
    parts = [
        [turns[place] for places, mine in zip(together, labels, strict=True) if mine == label for place in places]
        for label in set(labels)
    ]
    summaries = [metric.summarise(ready.measure(part)) for part in parts]
    total = summaries[0]
    for summary in summaries[1:]:
        total = total + summary
    assert total.n == whole.n
    same(metric.conclude(total), metric.conclude(whole))


def order_of_turns_never_matters(same, ready, turns, order, values):
    same(values_of(ready, [turns[place] for places in order for place in places]), values)


def batches_never_matter(same, ready, turns, together, size, rows, values):
    metric = ready.metric
    order = [list(chain(*together[start : start + size])) for start in range(0, len(together), size)]
    joined = metric.join([ready.measure([turns[place] for place in places]) for places in order])
    joined = joined[np.argsort(list(chain(*order)))]
    assert len(joined) == len(rows) == len(turns)
    same(metric.conclude(metric.summarise(joined)), values)
    scores = metric.per_turn(rows)
    assert metric.scores_turns == (scores is not None)
    if scores is not None:
        np.testing.assert_array_equal(metric.per_turn(joined), scores)


def weights_are_repetitions(same, metric, rows, weights):
    weighted = metric.summarise(rows, np.array(weights, dtype=float))
    repeated = metric.summarise(rows[np.repeat(np.arange(len(rows)), weights)])
    assert weighted.n == repeated.n
    same(metric.conclude(weighted), metric.conclude(repeated))


@every_metric
def test_one_row_per_resample(wanted):
    turns = [Turn(str(i), f"w{i} and", ("why",), ("w1 and more",), extra={"x": i}) for i in range(5)]
    ready = ready_for(wanted, turns)
    metric = ready.metric
    if metric.resampling != "bootstrap":
        assert metric.resampling == "jackknife"
        return
    rows, weights = ready.measure(turns), np.random.default_rng(0).integers(0, 3, (7, 5)).astype(float)
    batch = metric.conclude(metric.summarise(rows, weights))
    for place, row in enumerate(weights):
        single = metric.conclude(metric.summarise(rows, row))
        for part, values in batch.items():
            assert values.shape == (7,)
            np.testing.assert_allclose(values[place], single[part], rtol=1e-12)


LEARNERS = [("bertscore[idf=true]", None), ("mmd[kernel=gaussian]", None)]
"""Beside those that learn with the options they have: prd and, that there is such a field, column."""
with_learners = pytest.mark.parametrize(
    "wanted", [*METRICS, *LEARNERS], ids=lambda wanted: "-".join(filter(None, wanted))
)
REAL = Corpus([Turn(str(i), f"a {text}", ("the cat .",), dialogue=str(i // 2)) for i, text in enumerate("abcdefg")])
beside = pytest.mark.parametrize("real", [None, REAL], ids=["references", "real"])


@with_learners
@beside
@settings(max_examples=10, deadline=None, derandomize=True)
@given(turns=TURNS, data=st.data())
def test_parts_of_a_corpus_teach_what_the_whole_does(wanted, real, turns, data):
    metric = asked(wanted)
    if metric.survey([], real is not None) is None:
        assert not metric.learns or real is not None
        return
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(turns), max_size=len(turns)))
    turns = [replace(turn, id=str(place), system="ab"[place % 2]) for place, turn in enumerate(turns)]
    turns, labels = [*turns, Turn("x", "", system="a", extra={"x": 1.0})], [*labels, 0]
    parts = [[turn for turn, label in zip(turns, labels, strict=True) if label == part] for part in range(4)]
    found = reduce(add, [metric.survey(part, real is not None) for part in data.draw(st.permutations(parts))])
    whole = metric.prepare(Corpus(turns), real, ENCODERS)
    ready = metric.learn(found, ENCODERS, real).open(ENCODERS)
    assert ready.signature == whole.signature
    for system in "ab":
        measured = [turn for turn in turns if turn.system == system and whole.usable(turn)]
        same_for(wanted)(values_of(ready, measured), values_of(whole, measured))


@every_metric
def test_what_is_asked_for_holds_nothing_else_and_cannot_measure(wanted):
    metric = asked(wanted)
    assert isinstance(metric, PlainMetric) or not hasattr(metric, "measure")
    assert {field.name for field in fields(metric)} == {field.name for field in options(type(metric)).values()}
    assert all(field.init and field.repr and field.compare for field in fields(metric))
    assert pickle.loads(pickle.dumps(metric)) == metric


SENT = [
    Turn(
        str(i),
        f"the cat {word}",
        ("the dog .", "a cat ?"),
        ("the cat ran", f"a {word}"),
        facts=(f"a {word}",),
        extra={"x": float(i)},
    )
    for i, word in enumerate(["runs", "ran", "home", "cats", "dog", "."])
]


@with_learners
@beside
def test_what_was_learned_is_sent_and_opened_elsewhere(wanted, real):
    ready = asked(wanted).prepare(Corpus(SENT), real, ENCODERS)
    sent = pickle.dumps(ready.learned)
    assert not any(module in sent for module in (b"torch", b"dialogauge.encode", b"dialogauge.learned"))
    opened = pickle.loads(sent).open(Encoders())
    assert opened.signature == ready.signature
    # Vectors depend in their last digits on what was encoded with them.
    assert_same(values_of(opened, SENT), values_of(ready, SENT), 1e-6)


@pytest.mark.slow
def test_another_process_finds_encoder_and_model_by_itself(tmp_path):
    wanted = ["fbd", "prd[clusters=2]", "bertscore[idf=true]", "ruber", "entailment", "gauge"]
    ready = [asked((name, None)).prepare(Corpus(SENT), encoders=ENCODERS) for name in wanted]
    file = tmp_path / "sent"
    file.write_bytes(pickle.dumps(([each.learned for each in ready], SENT)))
    program = """if True:
        import pickle, sys
        from dialogauge.encode.encoders import Encoders

        learned, turns = pickle.load(open(sys.argv[1], "rb"))
        encoders = Encoders()
        opened = [each.open(encoders) for each in learned]
        values = [ready.metric.conclude(ready.metric.summarise(ready.measure(turns))) for ready in opened]
        pickle.dump(values, open(sys.argv[1], "wb"))
    """
    subprocess.run([sys.executable, "-c", program, file], check=True)
    for each, values in zip(ready, pickle.loads(file.read_bytes()), strict=True):
        assert_same(values, values_of(each, SENT), 1e-6)

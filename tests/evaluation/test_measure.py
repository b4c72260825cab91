import numpy as np
import pytest

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.corpus.load import Loading
from dialogauge.errors import InputError
from dialogauge.evaluation.units import Total, add_all
from dialogauge.metrics.dialogue.distinct import Distinct


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(400)])
    turns = []
    for number in range(3000):
        for system, overlap in (("a", 6), ("b", 4)):
            reference = rng.choice(vocabulary, 9)
            response = np.concatenate([reference[:overlap], rng.choice(vocabulary, rng.integers(1, 5))])
            turns.append(
                Turn(str(number), " ".join(response), (f"q{number}",), references=(" ".join(reference),), system=system)
            )
    return Corpus(turns)


METRICS = "bleu,rouge_l,meteor,distinct,length"


@pytest.fixture(scope="module")
def rows(corpus):
    return evaluate(corpus, METRICS)


@pytest.fixture(scope="module")
def streamed(corpus):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
        return evaluate(corpus, METRICS)


def test_group_summaries_agree_with_rows(rows, streamed):
    assert [(score.system, score.metric) for score in rows.scores] == [(s.system, s.metric) for s in streamed.scores]
    for kept, grouped in zip(rows.scores, streamed.scores, strict=True):
        assert grouped.value == pytest.approx(kept.value, rel=1e-12)
        assert (grouped.n, grouped.units) == (kept.n, kept.units) == (3000, 3000)
        # Fifty groups estimate a standard error to within about a tenth.
        assert grouped.high - grouped.low == pytest.approx(kept.high - kept.low, rel=0.35)
    widths = [(s.high - s.low) / (r.high - r.low) for s, r in zip(streamed.scores, rows.scores, strict=True)]
    assert np.mean(widths) == pytest.approx(1, abs=0.1)


def test_the_result_says_which(rows, streamed):
    assert {score.interval for score in rows.scores} == {"bootstrap", "jackknife"}
    assert {score.interval for score in streamed.scores} == {"jackknife"}
    assert [caveat.code for caveat in rows.caveats] == []
    assert [caveat.code for caveat in streamed.caveats] == ["large_corpus"]


def test_per_turn_values_are_the_same(rows, streamed):
    kept, grouped = (
        result.turns_to_frame().sort_values(["metric", "system", "id"], ignore_index=True)
        for result in (rows, streamed)
    )
    assert len(kept) == 4 * 6000
    assert kept.equals(grouped)


def test_systems_can_be_chosen(corpus, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    assert list(evaluate(corpus, "length", systems=["b"]).systems) == ["b"]
    assert list(evaluate(corpus, "length", systems=["b", "a"]).systems) == ["b", "a"]
    with pytest.raises(InputError, match="unknown system 'c'"):
        evaluate(corpus, "length", systems=["a", "c"])


def test_a_file_is_read_as_a_stream(tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f'{{"response": "hello {i}"}}\n' for i in range(300)))
    whole = evaluate(Loading([path]), "length,distinct")
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    parts = evaluate(Loading([path]), "length,distinct")
    assert [score.value for score in whole.scores] == [score.value for score in parts.scores]
    assert whole.files == parts.files
    assert whole.files[0].path == str(path)


def test_what_a_metric_needs_may_come_late(monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 50)
    turns = [Turn(str(i), "a b", (f"q{i}",), ("a b",) if i > 80 else ()) for i in range(120)]
    assert evaluate(Corpus(turns), "rouge_l").scores[0].n == 39
    with pytest.raises(InputError, match="rouge_l needs references, and none of the corpus's 80 turns has any"):
        evaluate(Corpus(turns[:80]), "rouge_l")


def test_a_bad_line_far_down_still_stops_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f'{{"response": "hello {i}"}}\n' for i in range(300)) + "broken\n")
    with pytest.raises(InputError, match=":301: "):
        evaluate(Loading([path]), "length")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 100])
def test_total_adds_everything_once(count):
    total, metric = Total(), Distinct()
    for number in range(count):
        total.add(metric.summarise(metric.measure([Turn("", f"a b{number}")])))
    summary = total.sum()
    if count:
        assert add_all([metric.summarise(metric.measure([Turn("", "a b")]))] * count).n == count
    assert (summary.n if summary else 0) == count
    assert summary is None or metric.conclude(summary) == {"": 1.0, "1": (count + 1) / (2 * count)}

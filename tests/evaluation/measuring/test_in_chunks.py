"""Files in chunks, measured here or in several processes, have the numbers that they have in memory."""

import json
import random

import numpy as np
import pytest

from dialogauge import InputError, evaluate, load, stream
from dialogauge.metrics.prepared import PlainMetric
from dialogauge.metrics.registry import BUILT_IN, parse_request
from tests.encode.models import build
from tests.evaluation.measuring.killing import Killer

WORDS = "we like to walk in the park when it rains or snows and the dog runs home".split()
LEXICAL = "bleu,rouge_l,meteor,distinct,length,echo,self_repetition,entropy"


def text(rng, most=12):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, most)))


@pytest.fixture
def files(tmp_path):
    """Two systems over three files, in one of them turns without names; and the first dialogue once more at the end."""
    rng = random.Random(3)
    paths = []
    for number, name in enumerate("abc"):
        path = tmp_path / f"{name}.jsonl"
        rows = []
        for place in range(80):
            for system in "st":
                row = {"id": f"{name}{place}", "response": text(rng), "references": [text(rng)], "system": system}
                row["context"] = [text(rng), text(rng)]
                rows.append(row | ({"dialogue": f"{name}{place // 4}"} if number else {}))
        if name == "b":
            for row in rows[:40]:
                del row["id"]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    return paths


@pytest.fixture
def in_chunks(monkeypatch):
    def set_size(size=3000, rows=50):
        monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", rows)
        monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", size)

    return set_size


def numbers(result):
    return {
        (score.system, score.metric): (score.value, score.low, score.high, score.n, score.units, score.signature)
        for score in result.scores
    }


def nearly(first, second, tolerance=1e-12):
    assert first.keys() == second.keys()
    for key, (*own, signature) in first.items():
        *other, others = second[key]
        assert signature == others
        np.testing.assert_allclose(np.array(own, float), np.array(other, float), rtol=tolerance, atol=tolerance)


def test_workers_change_no_bit(files, in_chunks):
    in_chunks(10_000)
    expected = evaluate(stream(files), LEXICAL, workers=1)
    found = evaluate(stream(files), LEXICAL, workers=3)
    assert numbers(found) == numbers(expected)
    assert found.caveats == expected.caveats
    assert found.files == expected.files
    assert str(found) == str(expected)
    assert found.turns_to_frame().equals(expected.turns_to_frame())


def test_the_size_of_chunks_and_the_order_of_files_change_nothing_that_shows(files, in_chunks):
    in_chunks()
    expected = evaluate(stream(files), LEXICAL, workers=1)
    for size in (1000, 10**9):
        in_chunks(size)
        found = evaluate(stream(files), LEXICAL, workers=1)
        nearly(numbers(found), numbers(expected))
        assert str(found) == str(expected)
    found = evaluate(stream([files[0], files[2], files[1]]), LEXICAL, workers=1)
    nearly(numbers(found), numbers(expected))


def test_values_are_those_of_a_corpus_in_memory(files, in_chunks):
    whole = evaluate(load(files), LEXICAL)
    in_chunks()
    found = evaluate(stream(files), LEXICAL, workers=1)
    for score in whole.scores:
        mine = found.score(score.system, score.metric)
        assert mine.value == pytest.approx(score.value, rel=1e-12)
        assert (mine.n, mine.units, mine.signature) == (score.n, score.units, score.signature)
    turns = found.turns_to_frame().sort_values(["metric", "system", "id"]).reset_index(drop=True)
    expected = whole.turns_to_frame().sort_values(["metric", "system", "id"]).reset_index(drop=True)
    assert turns.equals(expected)


def test_every_metric_of_plain_words_runs_in_chunks(files, in_chunks):
    """Those that cannot say so before they start."""
    known = {name: parse_request(name).metric for name in BUILT_IN if name not in ("column", "judge", "pass_k")}
    plain = [name for name, metric in known.items() if isinstance(metric, PlainMetric)]
    wanted = [name for name in plain if known[name].not_in_parts is None]
    assert len(wanted) > 10
    for name in set(plain) - set(wanted):
        in_chunks()
        with pytest.raises(InputError, match=f"{name} cannot be measured in parts"):
            evaluate(stream(files), name)
    in_chunks(rows=10**6)
    whole = evaluate(stream(files), ",".join(wanted))
    in_chunks()
    found = evaluate(stream(files), ",".join(wanted), workers=2)
    for score in whole.scores:
        assert found.score(score.system, score.metric).value == pytest.approx(score.value, rel=1e-9, nan_ok=True)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("encoder")))


LEARNING = "bertscore[idf=true],embedding_average,fbd,prd,mmd,prdc,semantic_similarity"


@pytest.mark.slow
def test_what_metrics_learn_comes_from_all_chunks(files, in_chunks, encoder):
    options = {"encoder": encoder, "cache": False, "resamples": 20}
    whole = evaluate(load(files), LEARNING, **options)
    in_chunks()
    found = evaluate(stream(files), LEARNING, workers=1, **options)
    assert "learned_from_part" not in {caveat.code for caveat in found.caveats}
    for score in whole.scores:
        mine = found.score(score.system, score.metric)
        assert mine.value == pytest.approx(score.value, rel=1e-5, abs=1e-7), score.metric
        assert mine.signature == score.signature


@pytest.mark.slow
def test_encoders_in_another_process(files, in_chunks, encoder):
    options = {"encoder": encoder, "cache": False, "resamples": 20}
    in_chunks()
    here = evaluate(stream(files), f"bleu,{LEARNING}", workers=1, **options)
    apart = evaluate(stream(files), f"bleu,{LEARNING}", workers=2, **options)
    nearly(numbers(apart), numbers(here), 1e-6)


def test_real_conversations_beside_chunks(files, in_chunks, encoder, tmp_path):
    real = tmp_path / "real.jsonl"
    rng = random.Random(5)
    said = [{"dialogue": f"d{n}", "utterances": [text(rng) for _ in range(4)]} for n in range(60)]
    real.write_text("".join(json.dumps(row) + "\n" for row in said))
    options = {"encoder": encoder, "cache": False, "real": str(real), "resamples": 20}
    whole = evaluate(load(files), "fbd,prd", **options)
    in_chunks()
    found = evaluate(stream(files), "fbd,prd", workers=1, **options)
    for score in whole.scores:
        assert found.score(score.system, score.metric).value == pytest.approx(score.value, rel=1e-5)


def test_the_first_bad_line_of_all_chunks_is_named(files, in_chunks):
    in_chunks()
    lines = files[1].read_text().splitlines()
    lines[100], lines[140] = '{"response": 5}', "{broken"
    files[1].write_text("\n".join(lines))
    files[2].write_text("{worse\n" + files[2].read_text())
    for workers in (1, 2):
        with pytest.raises(InputError, match=r"b\.jsonl:101: response: expected text"):
            evaluate(stream(files), "length", workers=workers)


def test_a_worker_that_is_killed_is_made_up_for(files, in_chunks, tmp_path):
    in_chunks()
    expected = evaluate(stream(files), Killer(str(tmp_path / "never")), workers=1)
    (tmp_path / "once").touch()
    found = evaluate(stream(files), Killer(str(tmp_path / "once")), workers=2)
    assert [(s.system, s.value, s.low, s.high) for s in found.scores] == [
        (s.system, s.value, s.low, s.high) for s in expected.scores
    ]
    assert "died" in next(caveat.message for caveat in found.caveats if caveat.code == "made_up_for")
    assert not (tmp_path / "once").exists()

import gzip
import math

import numpy as np
import pytest

from dialogauge import Turn, evaluate
from dialogauge.evaluation.kept.load_result import load_result
from dialogauge.metrics.dialogue.compression import Compression, compression_ratio

GZIP_HEADER = 18
"""Bytes that gzip puts around what DEFLATE leaves."""


def test_a_value_derived_by_hand():
    # One letter: DEFLATE with fixed codes is 3 bits for the block, 8 for the letter, 7 for its end: 18 bits, 3 bytes.
    assert compression_ratio(["a"]) == 1 / 3
    # Two letters: 26 bits, 4 bytes. Two texts have a line break between them: 34 bits, 5 bytes for 3.
    assert compression_ratio(["ab"]) == 2 / 4
    assert compression_ratio(["a", "b"]) == 3 / 5


@pytest.mark.parametrize(
    "texts", [["the cat sat on the mat"] * 20, [f"w{i} v{i * i}" for i in range(300)], ["你好 😀"]]
)
def test_equals_gzip(texts):
    whole = "\n".join(texts).encode()
    assert compression_ratio(texts) == len(whole) / (len(gzip.compress(whole, 9)) - GZIP_HEADER)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_without_a_character_it_is_undefined(texts):
    assert math.isnan(compression_ratio(texts))


def turns_of(texts):
    return [Turn(str(place), text, (f"question {place}",)) for place, text in enumerate(texts)]


def test_the_order_of_files_does_not_matter_and_repeated_replies_count_each_time():
    texts = [f"reply {place % 7} {place * place}" for place in range(60)]
    metric = Compression()
    turns = turns_of(texts)
    rows = [metric.measure(part) for part in (turns, turns[::-1], turns[::2] + turns[1::2])]
    assert len({metric.conclude(metric.summarise(row))[""] for row in rows}) == 1
    same = metric.conclude(metric.summarise(metric.measure(turns_of(["I see."] * 60))))[""]
    assert same > 3 * metric.conclude(metric.summarise(rows[0]))[""]


def test_a_bounded_sample_is_said(monkeypatch):
    monkeypatch.setattr(Compression, "limit", 10)
    metric = Compression()
    summary = metric.summarise(metric.measure(turns_of([f"reply {place}" for place in range(30)])))
    assert (summary.n, len(summary.texts)) == (30, 10)
    result = evaluate(turns_of([f"reply {place}" for place in range(30)]), "compression")
    (said,) = [caveat for caveat in result.caveats if caveat.code == "bounded_sample"]
    assert said.message == "compression: of each system's responses at most 10 count, drawn by chance"
    assert result.scores[0].signature.startswith("compression|coder:deflate-9|sample:10|")


def test_responses_with_one_key_are_drawn_together(monkeypatch):
    monkeypatch.setattr(Compression, "limit", 3)
    same = [Turn(str(place), "a", ("b",)) for place in range(5)]
    assert len(Compression().summarise(Compression().measure(same)).texts) == 5


def test_kept_rows_come_back(tmp_path):
    turns = turns_of(["", "你好 😀", "a\nb", "w " * 10_000, "\ud800 alone"])
    metric = Compression()
    rows = metric.measure(turns)
    again = metric.unpack(metric.pack(rows))
    assert list(again.texts) == list(rows.texts)
    np.testing.assert_array_equal(again.keys, rows.keys)
    result = evaluate(turns[:4], "compression")
    result.save(tmp_path / "run")
    assert load_result(tmp_path / "run").scores[0].value == result.scores[0].value

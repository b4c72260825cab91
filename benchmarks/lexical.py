"""Speed of the lexical metrics beside the packages they equal, on the same texts, in one run.

    python benchmarks/lexical.py [FILE]

FILE is anything `dialogauge score` reads, with references; by default the examples.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dialogauge import Turn, load
from dialogauge.metrics.bleu import sentence_bleu
from dialogauge.metrics.meteor import meteor_tokens
from dialogauge.metrics.rouge_l import rouge_l
from dialogauge.metrics.words import words
from dialogauge.tables import Cell, Header, Table, to_text

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "everyday.jsonl"
ROUNDS = 3


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    turns = load(path).turns
    rows = [
        _row("bleu (sentence)", "sacreBLEU", turns, *_bleu()),
        _row("rouge_l", "rouge-score", turns, *_rouge_l()),
    ]
    if (peer := _nltk_meteor()) is not None:
        tokens = [(words(turn.response), [words(text) for text in turn.references]) for turn in turns]
        rows.append(_row("meteor (on tokens)", "NLTK", tokens, lambda pair: meteor_tokens(*pair), peer))
    headers = [
        Header("metric", align="left"),
        Header("peer", align="left"),
        Header("ours, turns/s"),
        Header("peer's"),
        Header("ratio"),
    ]
    notes = [
        f"{len(turns)} turns of {path.name}; the best of {ROUNDS} rounds; seconds vary between machines, ratios less"
    ]
    print(to_text(Table(headers, rows, notes)))


def _row(
    name: str, peer: str, items: Sequence[Any], ours: Callable[[Any], Any], theirs: Callable[[Any], Any]
) -> list[Cell]:
    mine, other = _rate(ours, items), _rate(theirs, items)
    return [Cell(name), Cell(peer), Cell(f"{mine:,.0f}"), Cell(f"{other:,.0f}"), Cell(f"{mine / other:.1f}")]


def _rate(score: Callable[[Any], Any], items: Sequence[Any]) -> float:
    """Items a second, in the best of some rounds: noise only ever slows a round down."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for item in items:
            score(item)
        fastest = min(fastest, time.perf_counter() - start)
    return len(items) / fastest


Score = Callable[[Turn], Any]


def _bleu() -> tuple[Score, Score]:
    import sacrebleu

    return (
        lambda turn: sentence_bleu(turn.response, turn.references),
        lambda turn: sacrebleu.sentence_bleu(turn.response, turn.references),
    )


def _rouge_l() -> tuple[Score, Score]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return (
        lambda turn: rouge_l(turn.response, turn.references),
        lambda turn: scorer.score_multi(turn.references, turn.response),
    )


def _nltk_meteor() -> Callable[[Any], Any] | None:
    """NLTK's METEOR with the WordNet that the test data brings, or None without it."""
    spec = find_spec("compressor")
    if spec is None or not spec.submodule_search_locations:
        print("no WordNet for NLTK: its METEOR is left out (make setup brings it)", file=sys.stderr)
        return None
    import nltk
    from nltk.translate.meteor_score import meteor_score

    nltk.data.path.insert(0, str(Path(spec.submodule_search_locations[0]) / "resources" / "nltk_data"))
    return lambda pair: meteor_score(pair[1], pair[0])


if __name__ == "__main__":
    main()

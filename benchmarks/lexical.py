"""Speed of the lexical metrics beside the packages they equal: same texts, one run, one process, as ratios.

    python benchmarks/lexical.py [FILE]

FILE is anything `dialogauge score` reads, with references; by default dailyh of the FBD paper where the shared data
is there, else the examples. Caches are emptied before every round.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from texts import distinct_turns

from dialogauge import Corpus, evaluate, load
from dialogauge.metrics.overlap import meteor, porter, rouge_l, tokens
from dialogauge.metrics.overlap.meteor import meteor_tokens
from dialogauge.tables import Cell, Header, Table, to_text
from dialogauge.text.words import words

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or ROOT.parent / "shared")
DAILYH = SHARED / "corpora" / "fbd_six" / "dailyh_annotation.json"
RESAMPLES = 1000
MANY = 100_000
CACHES = (tokens.tokens_13a, rouge_l._reference_words, rouge_l._row, porter.stem, meteor.synonyms)

Job = Callable[[], Any]


def main() -> None:
    path = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else DAILYH if DAILYH.exists() else ROOT / "examples" / "everyday.jsonl"
    )
    logging.disable()
    small, large = load(path), Corpus(list(distinct_turns(MANY)))
    texts = {f"{path.name}, {len(small)} turns": (small, 5), f"{MANY:,} distinct turns": (large, 1)}
    rows = []
    for name, (corpus, rounds) in texts.items():
        rows.append(_row("rouge_l", "rouge-score", name, *_rouge_l(corpus), rounds))
        rows.append(_row(f"bleu, {RESAMPLES} resamples", "sacreBLEU", name, *_bleu(corpus), rounds))
    meteor = _meteor(small)
    if meteor:
        rows.append(_row("meteor on tokens", "NLTK", next(iter(texts)), *meteor, 5))
    headers = [
        *(Header(text, align="left") for text in ("metric", "peer", "texts")),
        *map(Header, ("ours", "peer's", "ratio")),
    ]
    notes = ["seconds, the best of 5 rounds (1 of the large one); they vary between machines, the ratios less"]
    print(to_text(Table(headers, rows, notes)))


def _row(metric: str, peer: str, texts: str, ours: Job, theirs: Job, rounds: int) -> list[Cell]:
    mine, other = float("inf"), float("inf")
    for _ in range(rounds):
        for cache in CACHES:
            cache.cache_clear()
        mine, other = min(mine, _seconds(ours)), min(other, _seconds(theirs))
    return [
        Cell(metric),
        Cell(peer),
        Cell(texts),
        Cell(f"{mine:.3f}"),
        Cell(f"{other:.3f}"),
        Cell(f"{other / mine:.1f}"),
    ]


def _seconds(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _rouge_l(corpus: Corpus) -> tuple[Job, Job]:
    from rouge_score.rouge_scorer import RougeScorer

    metric, scorer = rouge_l.RougeL(), RougeScorer(["rougeL"], use_stemmer=False)
    return (
        lambda: metric.measure(corpus.turns),
        lambda: [scorer.score_multi(turn.references, turn.response) for turn in corpus],
    )


def _bleu(corpus: Corpus) -> tuple[Job, Job]:
    from sacrebleu.metrics.bleu import BLEU

    def theirs() -> None:
        for turns in corpus.by_system.values():
            references = [[turn.references[0] for turn in turns]]
            BLEU().corpus_score([turn.response for turn in turns], references, n_bootstrap=RESAMPLES)

    return lambda: evaluate(corpus, "bleu", resamples=RESAMPLES), theirs


def _meteor(corpus: Corpus) -> tuple[Job, Job] | None:
    """NLTK's METEOR takes the WordNet that the test data brings."""
    spec = find_spec("compressor")
    if spec is None or not spec.submodule_search_locations:
        print("no WordNet for NLTK: its METEOR is left out (make setup brings it)", file=sys.stderr)
        return None
    import nltk
    from nltk.translate.meteor_score import meteor_score

    nltk.data.path.insert(0, str(Path(spec.submodule_search_locations[0]) / "resources" / "nltk_data"))
    tokens = [(words(turn.response), [words(text) for text in turn.references]) for turn in corpus]
    meteor_score([["cars"]], ["autos"])  # loads WordNet
    return (
        lambda: [meteor_tokens(response, references) for response, references in tokens],
        lambda: [meteor_score(references, response) for response, references in tokens],
    )


if __name__ == "__main__":
    main()

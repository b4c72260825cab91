"""What the BERT-RUBER paper's networks are trained on and compared with: exchanges of DailyDialog, and rated pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dialogauge.agreement.ratings import mean_rating, ratings_of
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.load import load
from dialogauge.corpus.readers.bert_ruber import BERT_RUBER
from dialogauge.corpus.turn import Turn
from dialogauge.corpus.unit import unit_of
from dialogauge.errors import Caveat, InputError
from dialogauge.learn.material import RuberData, read_data
from dialogauge.learn.pairs import bare
from dialogauge.learn.recipe import PAPER
from dialogauge.stats.arrays import Floats

DIMENSION, SYSTEM = "appropriateness", "generated"


@dataclass(frozen=True)
class Rated:
    """The responses that people rated, with what networks must not have seen. Entry i of `ratings` is the mean of
    turn i."""

    corpus: Corpus
    turns: list[Turn]
    ratings: Floats
    queries: frozenset[str]
    """By `bare`."""
    caveats: list[Caveat]


def read_rated(folder: Path) -> Rated:
    """The 300 generated responses. One without a rating, a query or a true reply is left out and counted."""
    corpus = load(rated_file(folder), reader=BERT_RUBER.name)
    queries = frozenset(bare(turn.context[-1]) for turn in corpus if turn.context)
    all_turns = corpus.select([SYSTEM]).turns
    turns = [turn for turn in all_turns if turn.context and turn.references and _ratings(turn)]
    caveats = list(corpus.caveats)
    if len(turns) < len(all_turns):
        message = f"{len(all_turns) - len(turns)} of {len(all_turns)} responses lack a rating, a query or a true reply"
        caveats.append(Caveat("unrated", f"{message}, and are left out"))
    ratings = np.array([mean_rating(_ratings(turn)) for turn in turns])
    return Rated(Corpus(turns, corpus.files), turns, ratings, queries, caveats)


def rated_file(folder: Path) -> Path:
    """The one file of rated pairs in the folder, by its content."""
    if not folder.is_dir():
        raise InputError("no such folder; expected the one with the BERT-RUBER paper's rated pairs", folder)
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and _recognised(path)]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(
            "expected one file of rated pairs (Eng_Scores_queries_gen_gtruth_replies.csv of "
            f"github.com/PlusLabNLP/PredictiveEngagement), found {names}",
            folder,
        )
    return found[0]


def _recognised(path: Path) -> bool:
    try:
        return BERT_RUBER.sniff(FileHead.read(path))
    except InputError:
        return False


def _ratings(turn: Turn) -> tuple[float | None, ...]:
    return ratings_of(turn, DIMENSION, "turn")


@dataclass(frozen=True)
class Exchanges:
    """Texts and pairs of the second halves of the files, less those whose query was rated."""

    data: RuberData
    files: tuple[SourceFile, ...]
    left_out: int
    caveats: list[Caveat]

    @property
    def pairs(self) -> list[int]:
        """To train on, to validate with."""
        return [len(self.data.train), len(self.data.held)]


def read_exchanges(
    conversations: Sequence[str | Path], validation: Sequence[str | Path], rated: Collection[str], progress: bool
) -> Exchanges:
    corpora = [load(files, progress=progress) for files in (conversations, validation)]
    both = [exchanges(corpus) for corpus in corpora]
    kept = [[turn for turn in turns if bare(turn.context[-1]) not in rated] for turns in both]
    data = read_data(kept[0], kept[1], PAPER)
    return Exchanges(
        data=data,
        files=tuple(file for corpus in corpora for file in corpus.files),
        left_out=sum(map(len, both)) - sum(map(len, kept)),
        caveats=[*(caveat for corpus in corpora for caveat in corpus.caveats), *data.caveats],
    )


def exchanges(corpus: Corpus) -> list[Turn]:
    """Utterances 1 and 2, 3 and 4, … of the second half of the dialogues (of an odd number, the larger part): the paper
    trained the system that was rated on the first."""
    dialogues = list(dict.fromkeys(map(unit_of, corpus)))
    second = set(dialogues[len(dialogues) // 2 :])
    return [turn for turn in corpus if len(turn.context) % 2 and unit_of(turn) in second]

"""Tables 3 and 4 of the BERT-RUBER paper (Ghazarian et al. 2019), with networks trained anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.encode.base import Encoder
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import STATIC, Encoders
from dialogauge.errors import Caveat, InputError, check_whole, unknown
from dialogauge.evaluation.forms import Forms
from dialogauge.files import cache_folder, expanded
from dialogauge.learned.directory import SavedModel
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.learned.ruber import Ruber, RuberUnreferenced
from dialogauge.metrics.prepared import MeansOfRows
from dialogauge.papers.models import encoder_for, stand_in_caveats
from dialogauge.papers.ruber.networks import Exchanges, PaperNetwork, Rated, Workshop, read_exchanges, read_rated
from dialogauge.papers.ruber.rows import (
    BERT,
    WORD2VEC,
    PaperRow,
    RuberRow,
    RuberTable,
    SeedRun,
    Stand,
    Variant,
    agree,
    ruber_table3,
    ruber_table4,
    ruber_text,
    stand_of,
)

SCHEMA = "dialogauge.ruber_table/1"
SEEDS = 5
BERT_BASE = "bert-base-uncased"


@dataclass(frozen=True)
class RuberInputs:
    """`folder` holds the rated pairs, `conversations` and `validation` are DailyDialog's files, `vectors` is a file of
    word vectors. `only` names the networks of some rows: `word2vec/rnn/ranking`."""

    folder: str | Path
    conversations: Sequence[str | Path]
    validation: Sequence[str | Path]
    vectors: str | Path | None = None
    seeds: int = SEEDS
    only: Sequence[str] = ()
    keep: str | Path | None = None
    """Where trained networks are kept and looked for; None for a folder in the cache."""
    models: Mapping[str, str] = field(default_factory=dict)
    """An encoder to take for the paper's BERT, by its full name."""
    base: RuberRecipe = field(default_factory=RuberRecipe)
    """Of every network but for sentence, loss and seed."""

    def __post_init__(self) -> None:
        check_whole("seeds", self.seeds, 1, 1000)
        if others := self.models.keys() - {BERT_BASE}:
            raise InputError(f"--models: this paper has {BERT_BASE} alone, found {', '.join(sorted(others))}")

    @property
    def kept(self) -> Path:
        return cache_folder() / "reproduce" / "ruber" if self.keep is None else expanded(self.keep)

    @property
    def names(self) -> dict[str, str]:
        """What encodes for each embedding that can be had."""
        static = {} if self.vectors is None else {WORD2VEC: f"{STATIC}{expanded(self.vectors).absolute()}"}
        bert = encoder_for(BERT_BASE, self.models)
        return {**static, **({} if bert is None else {BERT: bert})}


@dataclass(frozen=True, repr=False)
class ReproducedRuber(Forms):
    """A table of the paper, its numbers and ours."""

    table: RuberTable
    rows: list[RuberRow]
    seeds: int
    exchanges: Exchanges
    stands: dict[str, Stand]
    """What takes the part of the paper's embeddings."""
    cards: list[dict[str, Any]]
    """Of every network."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    @property
    def seconds(self) -> float:
        """Of training, all networks together, whenever they were trained."""
        return float(sum(card["training"]["seconds"] for card in self.cards))

    def to_records(self) -> list[dict[str, Any]]:
        return [row.record() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        data = self.exchanges.data
        return {
            "schema": SCHEMA,
            "source": asdict(self.table.source),
            "files": [asdict(file) for file in self.files],
            "training": {
                "pairs": len(data.train),
                "validation_pairs": len(data.held),
                "left_out": self.exchanges.left_out,
                "seeds": self.seeds,
                "seconds": self.seconds,
                "encoders": {name: asdict(stand) for name, stand in self.stands.items()},
            },
            "rows": [{**row.record(), "seeds": [run.record() for run in row.runs]} for row in self.rows],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> tables.Table:
        return ruber_text(self)


def reproduce_ruber_table3(inputs: RuberInputs, *, cache: bool = True, progress: bool = False) -> ReproducedRuber:
    """Networks with one seed after the other, by their agreement with people; then the authors' own scores."""
    return _reproduce(ruber_table3(), inputs, cache, progress)


def reproduce_ruber_table4(inputs: RuberInputs, *, cache: bool = True, progress: bool = False) -> ReproducedRuber:
    """The same of two networks, blended with the likeness to the true reply."""
    return _reproduce(ruber_table4(), inputs, cache, progress)


def _reproduce(table: RuberTable, inputs: RuberInputs, cache: bool, progress: bool) -> ReproducedRuber:
    variants, caveats = _choose(table, inputs)
    rated = read_rated(Path(inputs.folder))
    exchanges = read_exchanges(inputs.conversations, inputs.validation, rated.queries, progress)
    encoders = Encoders(Cache() if cache else None, progress)
    opened: dict[str, tuple[str, Encoder]] = {
        variant.embedding: (name, encoders.get(name))
        for variant in variants
        for name in [inputs.names[variant.embedding]]
    }
    workshop = Workshop(inputs.kept, exchanges, opened, inputs.base, progress)
    models = workshop.make([PaperNetwork(variant, seed) for variant in variants for seed in range(inputs.seeds)])
    scoring = _Scoring(rated, encoders, inputs.names)
    rows = [scoring.row(row, models) for row in table.rows if row.variant in variants]
    rows += [scoring.authors(column, row) for column, row in table.scores.items()]
    return ReproducedRuber(
        table=table,
        rows=rows,
        seeds=inputs.seeds,
        exchanges=exchanges,
        stands={embedding: stand_of(*named) for embedding, named in opened.items()},
        cards=[saved.card for saved in models.values()],
        files=(*rated.corpus.files, *exchanges.files),
        caveats=[*caveats, *rated.caveats, *exchanges.caveats, *scoring.caveats.values(), *encoders.caveats()],
    )


def _choose(table: RuberTable, inputs: RuberInputs) -> tuple[list[Variant], list[Caveat]]:
    """The networks of the table that are wanted and can be had."""
    for name in inputs.only:
        if name not in table.variants:
            raise unknown(f"row of the BERT-RUBER paper's table {table.source.number}", name, table.variants)
    wanted = [variant for name, variant in table.variants.items() if not inputs.only or name in inputs.only]
    found = [variant for variant in wanted if variant.embedding in inputs.names]
    embeddings = {variant.embedding for variant in wanted}
    if not found and WORD2VEC in embeddings and inputs.vectors is None:
        raise InputError("--vectors: expected a file of word vectors, as GloVe's; the rows asked for need one")
    caveats = stand_in_caveats({BERT_BASE: inputs.names.get(BERT)}) if BERT in embeddings else []
    if not found:
        raise InputError(caveats[0].message)
    if WORD2VEC in embeddings - inputs.names.keys():
        caveats.append(Caveat("no_vectors_file", "without --vectors, the rows with static word vectors are left out"))
    return found, caveats


@dataclass
class _Scoring:
    """Scores of the rated responses, through the metrics themselves."""

    rated: Rated
    encoders: Encoders
    names: dict[str, str]
    caveats: dict[tuple[str, str], Caveat] = field(default_factory=dict)
    """Once for each embedding: networks with the same one meet the same texts."""

    def row(self, row: PaperRow, models: dict[PaperNetwork, SavedModel]) -> RuberRow:
        mine = [(network.seed, saved) for network, saved in models.items() if network.variant == row.variant]
        return RuberRow(row, [self._run(row, seed, saved) for seed, saved in mine])

    def _run(self, row: PaperRow, seed: int, saved: SavedModel) -> SeedRun:
        embedding, model = row.variant.embedding, str(saved.directory)
        encoder = self.names[embedding]
        metric: MeansOfRows = RuberUnreferenced(model=model, encoder=encoder)
        if row.blend is not None:
            metric = Ruber(blend=row.blend, model=model, encoder=encoder)
        scores, caveats = self._measured(metric)
        for caveat in caveats:
            self.caveats.setdefault((embedding, caveat.code), caveat)
        return SeedRun(
            agreed=agree(scores, self.rated.ratings),
            seed=seed,
            ranking_accuracy=float(saved.section("validation")["ranking_accuracy"]),
            model=model,
            seconds=float(saved.section("training")["seconds"]),
        )

    def authors(self, column: str, row: PaperRow) -> RuberRow:
        scores = Column(column=column).measure(self.rated.turns)[:, 0]
        known = ~np.isnan(scores)
        return RuberRow(row, [SeedRun(agree(scores[known], self.rated.ratings[known]))], column)

    def _measured(self, metric: MeansOfRows) -> tuple[Any, Iterable[Caveat]]:
        ready = metric.prepare(self.rated.corpus, encoders=self.encoders)
        measures = ready.measure(self.rated.turns)
        return ready.metric.per_turn(measures), ready.caveats(ready.metric.summarise(measures))

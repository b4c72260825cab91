"""Tables 3 and 4 of the BERT-RUBER paper (Ghazarian et al. 2019), with networks trained anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.agreement.table import interval_and_p
from dialogauge.encode.base import Encoder
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.static import StaticVectors
from dialogauge.errors import Caveat, InputError, check_whole
from dialogauge.evaluation.digits import fixed
from dialogauge.files import cache_folder, expanded
from dialogauge.learned.directory import SavedModel
from dialogauge.learned.ruber.inputs import width_of
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.metrics.base import spell_file
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.learned.ruber import Ruber, RuberUnreferenced
from dialogauge.metrics.prepared import MeansOfRows
from dialogauge.papers.ruber.networks import Exchanges, PaperNetwork, Rated, Workshop, read_exchanges, read_rated
from dialogauge.papers.ruber.rows import (
    BERT,
    COEFFICIENTS,
    TESTED,
    WORD2VEC,
    PaperRow,
    RuberRow,
    SeedRun,
    Variant,
    agree,
    ruber_table3,
    ruber_table4,
)
from dialogauge.papers.side_by_side import (
    BERT_BASE,
    Published,
    SideBySide,
    check_bert_alone,
    check_known,
    encoder_for,
    make_table,
    paper_and_ours,
    stand_in_caveats,
    static_encoder,
)
from dialogauge.tables import Cell, Table, counted

SEEDS = 5
PAPER_EMBEDDINGS = {
    WORD2VEC: "word2vec of Google News (300-d, 3 million words)",
    BERT: "BERT-base (12 layers, 768-d)",
}
PAPER_NAMES = {WORD2VEC: "word2vec", BERT: "BERT"}
LOSSES = {"ranking": "ranking", "cross_entropy": "cross-entropy"}
BLENDS = {"arithmetic": "mean"}


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
        check_bert_alone(self.models)

    @property
    def kept(self) -> Path:
        return cache_folder() / "reproduce" / "ruber" if self.keep is None else expanded(self.keep)

    @property
    def names(self) -> dict[str, str]:
        """What encodes for each embedding that can be had."""
        static = {} if self.vectors is None else {WORD2VEC: static_encoder(self.vectors)}
        bert = encoder_for(BERT_BASE, self.models)
        return {**static, **({} if bert is None else {BERT: bert})}


@dataclass(frozen=True)
class Stand:
    """What takes the part of one of the paper's embeddings."""

    name: str
    identity: str
    width: int
    layers: int | None
    """None of static vectors."""
    words: int | None
    """Of static vectors, how many words have one."""

    @classmethod
    def made(cls, name: str, encoder: Encoder) -> Stand:
        words = len(encoder) if isinstance(encoder, StaticVectors) else None
        return cls(spell_file(name), encoder.identity, width_of(encoder), encoder.last_layer, words)

    @property
    def described(self) -> str:
        layers = "" if self.layers is None else f"{counted(self.layers, 'layer')}, "
        words = "" if self.words is None else f", {self.words:,} words"
        return f"{self.identity} ({layers}{self.width}-d{words})"


@dataclass(frozen=True, repr=False)
class ReproducedRuber(SideBySide):
    """A table of the paper, its numbers and ours."""

    schema = "dialogauge.ruber_table/1"

    table: Published[PaperRow]
    rows: list[RuberRow]
    seeds: int
    exchanges: Exchanges
    stands: dict[str, Stand]
    """What takes the part of the paper's embeddings."""
    cards: list[dict[str, Any]]
    """Of every network."""

    @property
    def seconds(self) -> float:
        """Of training, all networks together, whenever they were trained."""
        return float(sum(card["training"]["seconds"] for card in self.cards))

    @property
    def blended(self) -> bool:
        return any(row.paper.blend for row in self.rows)

    def to_records(self) -> list[dict[str, Any]]:
        return [row.record() for row in self.rows]

    def head(self) -> dict[str, Any]:
        return {"source": asdict(self.table.source)}

    def body(self) -> dict[str, Any]:
        data = self.exchanges.data
        training = {
            "pairs": len(data.train),
            "validation_pairs": len(data.held),
            "left_out": self.exchanges.left_out,
            "seeds": self.seeds,
            "seconds": self.seconds,
            "encoders": {name: asdict(stand) for name, stand in self.stands.items()},
        }
        rows = [{**row.record(), "seeds": [run.record() for run in row.runs]} for row in self.rows]
        return {"training": training, "rows": rows}

    def to_table(self) -> Table:
        left = ("embedding", "sentence", "loss", *(("blend",) if self.blended else ()))
        right = [*paper_and_ours(COEFFICIENTS.values(), "ours"), "accuracy"]
        return make_table(left, right, map(self._cells, self.rows), self.notes())

    def _cells(self, row: RuberRow) -> list[str | Cell]:
        variant, blend = row.paper.variant, row.paper.blend or ""
        made_by = row.column or self.stands[variant.embedding].name
        cells: list[str | Cell] = [f"{PAPER_NAMES[variant.embedding]} ({made_by})", variant.sentence]
        cells += [LOSSES[variant.loss], *([BLENDS.get(blend, blend)] if self.blended else [])]
        for name in COEFFICIENTS:
            deviation, p = row.deviation(name), row.p(name) if name in TESTED else None
            ours = fixed(row.mean(name)) + ("" if deviation is None else f" ± {fixed(deviation)}")
            cells += [f"{getattr(row.paper.published, name):.2f}", Cell(ours, interval_and_p(None, None, p))]
        return [*cells, "" if row.column else fixed(row.accuracy)]

    def notes(self) -> list[str]:
        several, scores = self.seeds > 1, self.table.about["scores"]
        ours = (
            f"mean ± standard deviation over {self.seeds} seeds, p the largest over the seeds" if several else "1 seed"
        )
        notes = [
            f"paper: table {self.table.source.number} of Ghazarian et al. 2019; ours: {ours}; with the mean ratings of"
            f" {self.rows[0].runs[0].agreed.n} generated responses, signed: more is better",
            "accuracy: how often the true response scores above a random one, of pairs to validate with"
            + (", mean over seeds" if several else ""),
        ]
        if scores:
            columns = " and ".join(scores)
            notes.append(f"{columns}: scores of the authors' own networks, as they stand in the file of rated pairs")
        return [*notes, self._training(), *(f"not as in the paper: {difference}" for difference in self._differences())]

    def _training(self) -> str:
        data = self.exchanges.data
        devices = ", ".join(sorted({str(card["training"]["device"]) for card in self.cards}))
        return (
            f"trained on {len(data.train)} pairs, validated with {len(data.held)};"
            f" {counted(len(self.cards), 'network')}, {self.seconds:.0f} s of training in all ({devices})"
        )

    def _differences(self) -> Iterator[str]:
        for embedding, stand in self.stands.items():
            yield f"{stand.described} in place of {PAPER_EMBEDDINGS[embedding]}"
        left_out = self.exchanges.left_out
        yield f"{left_out} exchanges whose query is a rated one are left out, which the paper does not speak of"
        yield "second halves of the files by dialogue, which need not be the paper's halves"
        recipes = [card["training"]["recipe"] for card in self.cards]
        for margin in sorted({recipe["margin"] for recipe in recipes if recipe["loss"] == "ranking"}):
            yield f"margin {margin:g} of the ranking loss, of which the paper gives none"
        if self.blended:
            pools = {card["encoder"]["identity"]: card["normalisation"]["pool"] for card in self.cards}
            pooled = ", ".join(f"{pool} of {identity}" for identity, pool in pools.items())
            yield (
                f"likeness to the true reply by pooled vectors ({pooled}), and both scores brought to 0 to 1 by their"
                " range on validation pairs: the paper says neither"
            )


def reproduce_ruber_table3(inputs: RuberInputs, *, cache: bool = True, progress: bool = False) -> ReproducedRuber:
    """Networks with one seed after the other, by their agreement with people; then the authors' own scores."""
    return _reproduce(ruber_table3(), inputs, cache, progress)


def reproduce_ruber_table4(inputs: RuberInputs, *, cache: bool = True, progress: bool = False) -> ReproducedRuber:
    """The same of two networks, blended with the likeness to the true reply."""
    return _reproduce(ruber_table4(), inputs, cache, progress)


def _reproduce(table: Published[PaperRow], inputs: RuberInputs, cache: bool, progress: bool) -> ReproducedRuber:
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
    rows = [scoring.row(row, models) for row in table.rows.values() if row.variant in variants]
    rows += [scoring.authors(column, table.rows[name]) for column, name in table.about["scores"].items()]
    return ReproducedRuber(
        table=table,
        rows=rows,
        seeds=inputs.seeds,
        exchanges=exchanges,
        stands={embedding: Stand.made(*named) for embedding, named in opened.items()},
        cards=[saved.card for saved in models.values()],
        files=(*rated.corpus.files, *exchanges.files),
        caveats=[*caveats, *rated.caveats, *exchanges.caveats, *scoring.caveats.values(), *encoders.caveats()],
    )


def _choose(table: Published[PaperRow], inputs: RuberInputs) -> tuple[list[Variant], list[Caveat]]:
    """The networks of the table that are wanted and can be had."""
    variants = {row.variant.name: row.variant for row in table.rows.values()}
    check_known(f"row of the BERT-RUBER paper's table {table.source.number}", inputs.only, variants)
    wanted = [variant for name, variant in variants.items() if not inputs.only or name in inputs.only]
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

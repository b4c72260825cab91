"""The numbers of the BERT-RUBER paper (Ghazarian et al. 2019) in `published.toml`, ours of the same networks, and both
as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from dialogauge.agreement.result import interval_and_p
from dialogauge.encode.base import Encoder
from dialogauge.evaluation.digits import defined, fixed
from dialogauge.learned.ruber.inputs import Sentence, width_of
from dialogauge.learned.ruber.recipe import Loss
from dialogauge.metrics.base import spell_file
from dialogauge.metrics.learned.ruber import Blend
from dialogauge.papers.fbd.published import Source
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import pearson, spearman, uncentred_correlation
from dialogauge.tables import Cell, Header, Table, counted

if TYPE_CHECKING:
    from dialogauge.papers.ruber.tables import ReproducedRuber

WORD2VEC, BERT = "word2vec", "bert"
"""The paper's embeddings."""


@dataclass(frozen=True)
class Variant:
    """A network by what the paper varies; its name is `<embedding>/<sentence>/<loss>`."""

    embedding: str
    sentence: Sentence
    loss: Loss

    @classmethod
    def named(cls, name: str) -> Variant:
        return cls(*name.split("/"))  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        return f"{self.embedding}/{self.sentence}/{self.loss}"


@dataclass(frozen=True)
class Coefficients:
    """Of scores with mean ratings, signed."""

    pearson: float
    spearman: float
    cosine: float


@dataclass(frozen=True)
class PaperRow:
    variant: Variant
    blend: Blend | None
    """With the referenced metric; None for the unreferenced metric alone."""
    published: Coefficients


@dataclass(frozen=True)
class RuberTable:
    source: Source
    rows: list[PaperRow]
    scores: Mapping[str, PaperRow]
    """Columns of the rated file that hold the authors' own scores, with the row they belong to."""

    @property
    def variants(self) -> dict[str, Variant]:
        """Every network of the table by its name, in the paper's order."""
        return {row.variant.name: row.variant for row in self.rows}


@cache
def ruber_table3() -> RuberTable:
    """Unreferenced metrics."""
    rows = [_row(name, None, numbers) for name, numbers in _listed("table3")["rows"].items()]
    return _table("table3", rows)


@cache
def ruber_table4() -> RuberTable:
    """Blends of unreferenced and referenced metrics."""
    listed = _listed("table4")["rows"].items()
    return _table("table4", [_row(name, blend, numbers) for name, mine in listed for blend, numbers in mine.items()])


def _row(name: str, blend: Blend | None, numbers: list[float]) -> PaperRow:
    return PaperRow(Variant.named(name), blend, Coefficients(*numbers))


def _table(name: str, rows: list[PaperRow]) -> RuberTable:
    table = _listed(name)
    by_name = {row.variant.name: row for row in rows}
    source = Source(table["paper"], table["number"], table["caption"])
    return RuberTable(source, rows, {column: by_name[row] for column, row in table["scores"].items()})


def _listed(name: str) -> dict[str, Any]:
    import tomllib

    listed = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
    return listed[name]  # type: ignore[no-any-return]


COEFFICIENTS = ("pearson", "spearman", "cosine")
TESTED = ("pearson", "spearman")


@dataclass(frozen=True)
class Agreed:
    """Scores against mean ratings, signed; None where a coefficient is undefined. The p are SciPy's."""

    pearson: float | None
    pearson_p: float | None
    spearman: float | None
    spearman_p: float | None
    cosine: float | None
    n: int
    """Turns."""


def agree(scores: Floats, ratings: Floats) -> Agreed:
    from scipy.stats import pearsonr, spearmanr

    r, rho = defined(pearson(scores, ratings)), defined(spearman(scores, ratings))
    enough = len(scores) > 2  # of two points there is no p
    return Agreed(
        pearson=r,
        pearson_p=None if r is None or not enough else defined(pearsonr(scores, ratings).pvalue),
        spearman=rho,
        spearman_p=None if rho is None or not enough else defined(spearmanr(scores, ratings).pvalue),
        cosine=defined(uncentred_correlation(scores, ratings)),
        n=len(scores),
    )


@dataclass(frozen=True)
class SeedRun:
    """What one network came to; scores that stand in the file have neither seed nor accuracy."""

    agreed: Agreed
    seed: int | None = None
    ranking_accuracy: float | None = None
    """Of validation pairs."""
    model: str | None = None
    """The network's directory."""
    seconds: float | None = None

    def record(self) -> dict[str, Any]:
        rest = {name: value for name, value in vars(self).items() if name not in ("agreed", "seed")}
        return {"seed": self.seed, **asdict(self.agreed), **rest}


@dataclass(frozen=True)
class RuberRow:
    paper: PaperRow
    runs: list[SeedRun]
    column: str | None = None
    """Where the scores are the authors' own, the file's column that holds them."""

    def values(self, name: str) -> list[float | None]:
        """Of each seed."""
        return [getattr(run.agreed, name) for run in self.runs]

    def mean(self, name: str) -> float | None:
        """Over seeds; None where it is undefined for one of them."""
        return _all(self.values(name), fmean)

    def deviation(self, name: str) -> float | None:
        """The standard deviation over seeds; None of one seed."""
        return _all(self.values(name), stdev) if len(self.runs) > 1 else None

    def p(self, name: str) -> float | None:
        """The largest over the seeds."""
        return _all(self.values(f"{name}_p"), max)

    @property
    def accuracy(self) -> float | None:
        return _all([run.ranking_accuracy for run in self.runs], fmean)

    def record(self) -> dict[str, Any]:
        """In one line; the seeds apart."""
        variant, published = self.paper.variant, self.paper.published
        found: dict[str, Any] = {**asdict(variant), "blend": self.paper.blend, "authors_scores": self.column}
        for name in COEFFICIENTS:
            found |= {f"{name}_published": getattr(published, name), name: self.mean(name)}
            found[f"{name}_sd"] = self.deviation(name)
            if name in TESTED:
                found[f"{name}_p"] = self.p(name)
        return {**found, "ranking_accuracy": self.accuracy, "n": self.runs[0].agreed.n}


def _all(values: Sequence[float | None], summary: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(summary(known)) if known and len(known) == len(values) else None


TITLES = {"pearson": "Pearson", "spearman": "Spearman", "cosine": "cosine"}
PAPER_EMBEDDINGS = {
    WORD2VEC: "word2vec of Google News (300-d, 3 million words)",
    BERT: "BERT-base (12 layers, 768-d)",
}
PAPER_NAMES = {WORD2VEC: "word2vec", BERT: "BERT"}
LOSSES = {"ranking": "ranking", "cross_entropy": "cross-entropy"}


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


def stand_of(name: str, encoder: Encoder) -> Stand:
    from dialogauge.encode.static import StaticVectors

    words = len(encoder) if isinstance(encoder, StaticVectors) else None
    return Stand(spell_file(name), encoder.identity, width_of(encoder), encoder.last_layer, words)


def ruber_text(result: ReproducedRuber) -> Table:
    blended = any(row.paper.blend for row in result.rows)
    left = ("embedding", "sentence", "loss", *(("blend",) if blended else ()))
    headers = [Header(name, align="left") for name in left]
    for title in TITLES.values():
        headers += [Header(f"{title}: paper"), Header("ours")]
    headers.append(Header("accuracy"))
    return Table(headers, [_cells(row, blended, result.stands) for row in result.rows], _notes(result))


def _cells(row: RuberRow, blended: bool, stands: Mapping[str, Stand]) -> list[Cell]:
    variant = row.paper.variant
    lead = [_embedding(row, stands), variant.sentence, LOSSES[variant.loss]]
    if blended:
        lead.append({"arithmetic": "mean"}.get(row.paper.blend or "", row.paper.blend or ""))
    cells = [Cell(text) for text in lead]
    for name in TITLES:
        published = Cell(f"{getattr(row.paper.published, name):.2f}")
        cells += [published, Cell(_spread(row, name), _p(row, name))]
    return [*cells, Cell("" if row.column else fixed(row.accuracy))]


def _embedding(row: RuberRow, stands: Mapping[str, Stand]) -> str:
    """The paper's embedding, and what made the numbers."""
    embedding = row.paper.variant.embedding
    return f"{PAPER_NAMES[embedding]} ({row.column or stands[embedding].name})"


def _spread(row: RuberRow, name: str) -> str:
    deviation = row.deviation(name)
    return fixed(row.mean(name)) + ("" if deviation is None else f" ± {fixed(deviation)}")


def _p(row: RuberRow, name: str) -> str:
    return "" if name == "cosine" else interval_and_p(None, None, row.p(name))


def _notes(result: ReproducedRuber) -> list[str]:
    several = result.seeds > 1
    ours = f"mean ± standard deviation over {result.seeds} seeds, p the largest over the seeds" if several else "1 seed"
    notes = [
        f"paper: table {result.table.source.number} of Ghazarian et al. 2019; ours: {ours}; with the mean ratings of"
        f" {result.rows[0].runs[0].agreed.n} generated responses, signed: more is better",
        "accuracy: how often the true response scores above a random one, of pairs to validate with"
        + (", mean over seeds" if several else ""),
    ]
    if result.table.scores:
        columns = " and ".join(result.table.scores)
        notes.append(f"{columns}: scores of the authors' own networks, as they stand in the file of rated pairs")
    return [*notes, _training(result), *_differences(result)]


def _training(result: ReproducedRuber) -> str:
    train, held = result.exchanges.data.train, result.exchanges.data.held
    devices = ", ".join(sorted({str(card["training"]["device"]) for card in result.cards}))
    networks = counted(len(result.cards), "network")
    return (
        f"trained on {len(train)} pairs, validated with {len(held)}; {networks},"
        f" {result.seconds:.0f} s of training in all ({devices})"
    )


def _differences(result: ReproducedRuber) -> list[str]:
    found = [
        f"{_described(stand)} in place of {PAPER_EMBEDDINGS[embedding]}" for embedding, stand in result.stands.items()
    ]
    left_out = result.exchanges.left_out
    found.append(f"{left_out} exchanges whose query is a rated one are left out, which the paper does not speak of")
    found.append("second halves of the files by dialogue, which need not be the paper's halves")
    margins = {card["training"]["recipe"]["margin"] for card in result.cards if _ranked(card)}
    found += [f"margin {margin:g} of the ranking loss, of which the paper gives none" for margin in sorted(margins)]
    if any(row.paper.blend for row in result.rows):
        pools = {card["encoder"]["identity"]: card["normalisation"]["pool"] for card in result.cards}
        pooled = ", ".join(f"{pool} of {identity}" for identity, pool in pools.items())
        found.append(
            f"likeness to the true reply by pooled vectors ({pooled}), and both scores brought to 0 to 1 by their range"
            " on validation pairs: the paper says neither"
        )
    return [f"not as in the paper: {difference}" for difference in found]


def _ranked(card: dict[str, dict[str, dict[str, object]]]) -> bool:
    return card["training"]["recipe"]["loss"] == "ranking"


def _described(stand: Stand) -> str:
    layers = "" if stand.layers is None else f"{counted(stand.layers, 'layer')}, "
    words = "" if stand.words is None else f", {stand.words:,} words"
    return f"{stand.identity} ({layers}{stand.width}-d{words})"

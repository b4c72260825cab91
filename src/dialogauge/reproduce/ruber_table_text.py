"""The BERT-RUBER paper's tables and ours, one line for each network and blend, and what differs from the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialogauge.agreement.agreement_table import interval_and_p
from dialogauge.encode.base import Encoder
from dialogauge.evaluation.digits import fixed
from dialogauge.metrics.base import spell_file
from dialogauge.models.inputs import width_of
from dialogauge.reproduce.ruber_published import BERT, WORD2VEC
from dialogauge.tables import Cell, Header, Table, counted

if TYPE_CHECKING:
    from dialogauge.reproduce.ruber_rows import RuberRow
    from dialogauge.reproduce.ruber_tables import ReproducedRuber

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

"""Table 1 of the entailment paper: the labels of its inference corpus, and of one that is made by our recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.corpus.inference import LABELS, SPLITS, Label
from dialogauge.corpus.load import stream, watched
from dialogauge.errors import InputError
from dialogauge.learned.synthesis import Options, Synthesis
from dialogauge.learned.synthesis.dialogues import gather
from dialogauge.learned.synthesis.synthesize import PAPER as PUBLISHED
from dialogauge.learned.synthesis.synthesize import paper_share
from dialogauge.papers.entailment.inputs import PAPER
from dialogauge.papers.side_by_side import SideBySide, Source, make_table, paper_and_ours
from dialogauge.progress import progress_bar
from dialogauge.tables import Cell, Table, counted

TITLES = {"train": "Train", "validation": "Dev", "test": "Test"}
TOTALS = {"train": "1.1M", "validation": "50.2K", "test": "5.6K"}
"""As printed; the labels of Dev add up to 50.0K."""
SOURCE = Source("dziri2019", 1, "Distribution of labels in InferConvAI")


@dataclass(frozen=True)
class LabelCount:
    """Pairs of a label (None: of all) in a split, the paper's in thousands as printed, or as they add up."""

    split: str
    label: Label | None
    published_thousands: float
    published_share: float
    pairs: int
    share: float | None


@dataclass(frozen=True, repr=False)
class EntailmentTable1(SideBySide):
    schema = "dialogauge.entailment_table1/1"

    cells: list[LabelCount]
    dialogues: int
    options: Options

    def head(self) -> dict[str, Any]:
        return {"source": asdict(SOURCE)}

    def body(self) -> dict[str, Any]:
        made_by = {"dialogues": self.dialogues, "options": asdict(self.options)}
        return {**made_by, **super().body(), "notes": self.notes()}

    def to_table(self) -> Table:
        rows = [
            (label or "total", *(text for cell in self.cells if cell.label == label for text in _texts(cell)))
            for label in (*LABELS, None)
        ]
        return make_table(["pairs"], paper_and_ours(TITLES.values(), "ours"), rows, self.notes())

    def notes(self) -> list[str]:
        return [
            f"paper: table 1 of {PAPER}, made from Persona-Chat and MultiNLI; ours: "
            f"{counted(self.dialogues, 'dialogue')} of the files below, "
            f"by `dialogauge synthesize entailment` with its defaults (seed {self.options.seed});"
            " nothing is written",
            "our splits are of dialogues, 90, 5 and 5 %; the shares of labels are set to the paper's of Train in all of"
            " them, where the paper has others in Dev and Test",
            "totals are the paper's own; its labels of Dev add up to 50.0K",
            "without MultiNLI's contradictions all of ours are word salad: `synthesize` takes such files (--nli)",
            f"files: {', '.join(file.path for file in self.files)}",
        ]


def reproduce_entailment_table1(
    conversations: Sequence[str | Path], *, seed: int = 0, progress: bool = False
) -> EntailmentTable1:
    """Pairs are made from the conversations and counted, one at a time."""
    if not conversations:
        raise InputError("--conversations: entailment-table1 needs files of conversations, as ConvAI2's; found none")
    options = Options(seed=seed)
    loading = stream(conversations)
    turns = watched(loading.turns()) if progress else loading.turns()
    dialogues = gather(turns, options.seed, options.split_shares)
    synthesis = Synthesis(dialogues, options)
    for _ in progress_bar(synthesis, "making pairs", shown=progress, unit="pair", total=synthesis.expected):
        pass
    return EntailmentTable1(
        cells=[_count(split, label, synthesis) for label in (*LABELS, None) for split in SPLITS],
        dialogues=len(dialogues.listed),
        options=options,
        files=tuple(loading.files),
        caveats=[*loading.caveats, *dialogues.caveats, *synthesis.caveats],
    )


def _count(split: str, label: Label | None, synthesis: Synthesis) -> LabelCount:
    mine = {key: pairs for key, pairs in synthesis.counts.items() if key[0] == split}
    total, pairs = sum(mine.values()), sum(pairs for key, pairs in mine.items() if label in (None, key[1]))
    published = sum(PUBLISHED[split]) if label is None else PUBLISHED[split][LABELS.index(label)]
    return LabelCount(
        split=split,
        label=label,
        published_thousands=round(published, 1),
        published_share=1.0 if label is None else paper_share(split, label),
        pairs=pairs,
        share=pairs / total if total else None,
    )


def _texts(cell: LabelCount) -> list[Cell]:
    if cell.label is None:
        return [Cell(TOTALS[cell.split]), Cell(f"{cell.pairs:,}")]
    share = "" if cell.share is None else f"{cell.share:.1%}"
    return [Cell(f"{cell.published_thousands:.1f}K", f"{cell.published_share:.1%}"), Cell(f"{cell.pairs:,}", share)]

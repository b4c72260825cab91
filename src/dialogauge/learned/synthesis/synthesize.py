"""The whole way from files of conversations to files of an inference corpus, and what was made."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.inference import COLUMNS, LABELS, InferencePair, Label, table_row
from dialogauge.corpus.load import Loading, stream, watched
from dialogauge.corpus.reading.columns import ColumnMap
from dialogauge.corpus.reading.source import refuse_missing
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.files import check_writable_file, whole_file
from dialogauge.learned.synthesis.dialogues import gather
from dialogauge.learned.synthesis.options import Options
from dialogauge.learned.synthesis.sources import read_contradictions, read_generic
from dialogauge.learned.synthesis.synthesis import Synthesis
from dialogauge.progress import progress_bar
from dialogauge.tables import Cell, Header, Table, printable, render

PAPER: dict[str, tuple[float, float, float]] = {
    "train": (218.2, 579.5, 261.9),
    "validation": (12.2, 28.0, 9.8),
    "test": (1.4, 3.1, 1.1),
}
"""Thousands of pairs of each label: table 1 of Dziri et al. 2019."""
SCHEMA = "dialogauge.synthesis/1"
SPLIT = "{split}"
_TABLES = (".tsv", ".txt")
Paths = str | Path | Sequence[str | Path]


def paper_share(split: str, label: Label) -> float:
    return PAPER[split][LABELS.index(label)] / sum(PAPER[split])


@dataclass(frozen=True)
class SynthesisResult:
    """Files, and the number of their pairs by split, label and source."""

    files: Mapping[str, Path]
    counts: Mapping[tuple[str, Label, str], int] = field(repr=False)
    options: Options
    inputs: list[SourceFile] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return sum(self.counts.values())

    def share(self, split: str, label: Label) -> float:
        """Of a label among the pairs of a split."""
        total = self._sum(split=split)
        return self._sum(split=split, label=label) / total if total else float("nan")

    def render(self, form: str, *, width: int | None = None) -> str:
        document = {
            "schema": SCHEMA,
            "pairs": self.pairs,
            "files": {split: str(path) for split, path in self.files.items()},
            "counts": self._records(),
            "options": asdict(self.options),
            "inputs": [asdict(file) for file in self.inputs],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }
        return render(form, table=self._table(), records=self._records(), document=document, width=width)

    def _sum(self, **wanted: str) -> int:
        names = ("split", "label", "source")
        return sum(
            number
            for key, number in self.counts.items()
            if all(dict(zip(names, key, strict=True))[name] == value for name, value in wanted.items())
        )

    def _sources(self) -> dict[tuple[Label, str], None]:
        return {(label, source): None for name in LABELS for _, label, source in sorted(self.counts) if label == name}

    def _records(self) -> list[dict[str, Any]]:
        """One for each split, label and source; where the source is empty, of all sources."""
        rows: list[tuple[Label, str]] = [(label, "") for label in LABELS]
        return [
            {
                "split": split,
                "label": label,
                "source": source,
                "pairs": (number := self._sum(**_wanted(split, label, source))),
                "share": number / total if (total := self._sum(split=split)) else None,
                "paper_share": None if source else paper_share(split, label),
            }
            for split in self.files
            for label, source in [*rows, *self._sources()]
        ]

    def _table(self) -> Table:
        splits = list(self.files)
        totals = Counter({split: self._sum(split=split) for split in splits})
        rows = [self._row(label, _wanted("", label, ""), paper_share("train", label), totals) for label in LABELS]
        rows.append(self._row("total", {}, None, totals))
        rows += [
            self._row(f"{label}: {source}", _wanted("", label, source), None, totals)
            for label, source in self._sources()
        ]
        headers = [Header("pairs", align="left"), *map(Header, splits), Header("all"), Header("paper (train)")]
        notes = [
            f"paper: Dziri et al. 2019, table 1; its dev split: {_shares('validation')}; test: {_shares('test')}",
            "files: " + ", ".join(dict.fromkeys(str(path) for path in self.files.values())),
        ]
        return Table(headers, rows, notes)

    def _row(self, name: str, wanted: Mapping[str, str], paper: float | None, totals: Counter[str]) -> list[Cell]:
        cells = [_cell(self._sum(split=split, **wanted), totals[split]) for split in totals]
        everything = _cell(self._sum(**wanted), totals.total())
        return [Cell(name), *cells, everything, Cell("" if paper is None else f"{paper:.1%}")]


def _cell(number: int, total: int) -> Cell:
    return Cell(f"{number:,}", f"{number / total:.1%}" if total else "")


def _wanted(split: str, label: str, source: str) -> dict[str, str]:
    given = {"split": split, "label": label, "source": source}
    return {name: value for name, value in given.items() if value}


def _shares(split: str) -> str:
    return ", ".join(f"{paper_share(split, label):.1%}" for label in LABELS)


def files_of(out: Path, splits: Sequence[str]) -> dict[str, Path]:
    """The file of each split: one for all, unless `{split}` stands in the path."""
    if str(out) == "-":
        raise InputError("expected the name of a file: pairs are not written to stdout", out)
    for name in re.findall(r"\{.*?\}", out.name):
        if name != SPLIT:
            raise InputError(f"expected no braces in the name, but for {SPLIT}; found {name}", out)
    return {split: Path(str(out).replace(SPLIT, split)) for split in splits}


def write_pairs(pairs: Iterable[InferencePair], files: dict[str, Path], overwrite: bool = False) -> None:
    """Tables where a name ends in .tsv or .txt, JSON lines else; gzip where it ends in .gz."""
    with ExitStack() as stack:
        writers = {path: stack.enter_context(_writer(path, overwrite)) for path in dict.fromkeys(files.values())}
        for pair in pairs:
            writers[files[pair.split or ""]].write(pair)


class _Writer:
    def __init__(self, file: BinaryIO, table: bool) -> None:
        self._file, self._table, self._number = file, table, 0
        if table:
            file.write("\t".join(COLUMNS).encode() + b"\n")

    def write(self, pair: InferencePair) -> None:
        line = table_row(pair, self._number) if self._table else json_line(pair)
        self._file.write(line.encode() + b"\n")
        self._number += 1


@contextmanager
def _writer(path: Path, overwrite: bool) -> Iterator[_Writer]:
    with whole_file(path, overwrite) as file:
        yield _Writer(file, Path(path.name.lower().removesuffix(".gz")).suffix in _TABLES)


def json_line(pair: InferencePair) -> str:
    """The pair as `read_inference` reads it back. What could harm a terminal is spelled as an escape."""
    fields = {
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "label": pair.label,
        "source": pair.source,
        "split": pair.split,
        "dialogue": pair.dialogue,
    }
    kept = {name: value for name, value in fields.items() if value is not None}
    return printable(json.dumps(kept, ensure_ascii=False))


def synthesize_entailment(
    conversations: Paths,
    out: str | Path,
    options: Options | None = None,
    *,
    nli: Paths = (),
    dialogue_nli: Paths = (),
    generic: str | Path | None = None,
    reader: str | None = None,
    skip_invalid: bool = False,
    mapping: ColumnMap = NOTHING,
    overwrite: bool = False,
    progress: bool = False,
) -> SynthesisResult:
    """Writes pairs of premise and hypothesis made from conversations, after section 4 of Dziri et al. 2019.

    Dialogues are held in memory, pairs are not.

    Args:
        conversations: Files with whole conversations.
        out: The file that is written; with `{split}` in its path one for each split.
        options: How many pairs of which kinds.
        nli: Files with contradictions to be taken as they stand.
        dialogue_nli: Files with sentences that contradict facts.
        generic: A file of generic replies, one per line.
        reader: As for `load`, like `skip_invalid`, `mapping` and `progress`.
        overwrite: Whether files that are there already are replaced.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.synthesize_entailment("examples/conversations.jsonl", "pairs.jsonl")
        >>> result.pairs
        971
    """
    options = options or Options()
    options.contradiction_shares(bool(nli), bool(dialogue_nli))  # refused before anything is read
    inputs = [Path(each) for given in (conversations, nli, dialogue_nli, generic or ()) for each in _paths(given)]
    files = files_of(Path(out), list(options.split_shares))
    for path in files.values():
        check_writable_file(path, overwrite, inputs)
    for given in inputs:
        refuse_missing(given)
    replies = read_generic(generic)
    pools = [read_contradictions(_paths(given), skip_invalid) if given else ([], []) for given in (nli, dialogue_nli)]
    loading = stream(_paths(conversations), reader=reader, skip_invalid=skip_invalid, mapping=mapping)
    dialogues = gather(_turns(loading, progress), options.seed, options.split_shares)
    (contradictions, _), (against, _) = pools
    synthesis = Synthesis(dialogues, options, replies, contradictions or None, against or None)
    write_pairs(_watched(synthesis) if progress else synthesis, files, overwrite)
    caveats = [*loading.caveats, *(each for pool in pools for each in pool[1]), *dialogues.caveats, *synthesis.caveats]
    return SynthesisResult(files, synthesis.counts, options, loading.files, caveats)


def _turns(loading: Loading, progress: bool) -> Iterator[Turn]:
    try:
        yield from watched(loading.turns()) if progress else loading.turns()
    except InputError as error:
        if error.message.startswith("expected turns, found none"):
            hint = "pairs are made from conversations of at least two utterances"
            raise InputError(f"{error.message}; {hint}", error.path, error.line) from None
        raise


def _watched(synthesis: Synthesis) -> Iterator[InferencePair]:
    """The pairs, with a bar on stderr that counts them."""
    with progress_bar(synthesis, "making pairs", shown=True, unit="pair", total=synthesis.expected) as bar:
        yield from bar


def _paths(given: Paths) -> list[str | Path]:
    return [given] if isinstance(given, str | Path) else list(given)

"""The whole way from files of conversations to an inference corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dialogauge.corpus.columns import ColumnMap
from dialogauge.corpus.inference import InferencePair
from dialogauge.corpus.load import Loading, stream, watched
from dialogauge.corpus.source import refuse_missing
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError
from dialogauge.files import check_writable_file
from dialogauge.learn.synthesis.contradictions import read_contradictions
from dialogauge.learn.synthesis.dialogues import gather
from dialogauge.learn.synthesis.generic import read_generic
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.summary import SynthesisResult
from dialogauge.learn.synthesis.synthesis import Synthesis
from dialogauge.learn.synthesis.writing import files_of, write_pairs
from dialogauge.progress import progress_bar

Paths = str | Path | Sequence[str | Path]


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

"""Rated corpora, models and embeddings that stand in for those of the entailment paper (Dziri et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import mean_rating, numbered, ratings_of
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import corpora_in, load
from dialogauge.corpus.readers.conture import CONTURE
from dialogauge.corpus.readers.fed import FED
from dialogauge.corpus.readers.grade import GRADE
from dialogauge.corpus.reading.reader import Reader
from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.encode.elmo.files import find_elmo
from dialogauge.encode.encoders import ELMO, STATIC, UNIVERSAL
from dialogauge.encode.universal import open_universal
from dialogauge.errors import Caveat, DialogaugeError, InputError, unknown
from dialogauge.learned.entailment.model import SHIPPED, open_entailment
from dialogauge.metrics.base import spell_file
from dialogauge.metrics.learned.entailment import Entailment, ScoreForm
from dialogauge.papers.side_by_side import (
    BERT_BASE,
    encoder_for,
    is_read_by,
    named_values,
    stand_in_caveats,
    static_encoder,
)
from dialogauge.stats.arrays import Floats, settled

PAPER = "Dziri et al. 2019"
GONE = (
    "the paper's judgements of Reddit and OpenSubtitles are no longer to be had: GRADE (coherence), FED (Relevant) and"
    " ConTurE (overall impression), as far as they are there, stand in for them, and the numbers need not agree"
)
"""What every table and figure says."""
OTHER_CORPORA = Caveat("other_corpora", GONE)


@dataclass(frozen=True)
class EntailmentInputs:
    """`folder` holds the rated corpora, `vectors` is a file in place of word2vec, `models` names an encoder in place
    of BERT, `elmo` is a directory of ELMo's weights, `entailment` has model directories by name. `only` names rows of
    table 3, else corpora."""

    folder: str | Path
    vectors: str | Path | None = None
    models: Mapping[str, str] | None = None
    entailment: Mapping[str, str] | None = None
    only: Sequence[str] = ()
    elmo: str | Path | None = None


@dataclass(frozen=True)
class NamedModel:
    name: str
    directory: str | None
    """None for the one that comes with dialogauge."""

    def metric(self, score: ScoreForm = "probability") -> Entailment:
        return Entailment(score=score, model=self.directory)


def parse_entailment_models(given: Sequence[str]) -> dict[str, str]:
    """`ESIM=models/esim`, several with commas between them: model directories by the names they are shown under."""
    chosen: dict[str, str] = {}
    for name, directory, piece in named_values(",".join(given)):
        if not (name and directory):
            raise InputError(f"--entailment-models: expected NAME=DIR, found {piece!r}")
        if name in chosen or name == SHIPPED:
            raise InputError(f"--entailment-models: two models are called {name!r}; give each a name of its own")
        chosen[name] = directory
    return chosen


def find_models(given: Mapping[str, str]) -> tuple[list[NamedModel], list[Caveat]]:
    """All are opened before any work is done. Without its own model dialogauge goes on with those that are given."""
    for directory in given.values():
        open_entailment(directory)
    named = [NamedModel(name, directory) for name, directory in given.items()]
    try:
        open_entailment()
    except InputError as error:
        if not named:
            raise InputError(f"no entailment model: {error}; name one with --entailment-models NAME=DIR") from None
        return named, [Caveat("no_model", f"{SHIPPED} is not there, and left out: {error.message}")]
    return [NamedModel(SHIPPED, None), *named], []


@dataclass(frozen=True)
class Embeddings:
    """What takes the part of the paper's, None for what is not to be had; and what is to be said of each."""

    encoders: Mapping[str, str | None]
    remarks: Mapping[str, list[Caveat]]

    def caveats(self, rows: Iterable[str]) -> list[Caveat]:
        """Of the embeddings of these rows, as `ss_h1/use`."""
        used = dict.fromkeys(name.partition("/")[2] for name in rows)
        return [caveat for embedding in used for caveat in self.remarks.get(embedding, ())]


def find_embeddings(
    vectors: str | Path | None, models: Mapping[str, str], elmo: str | Path | None = None
) -> Embeddings:
    """`vectors` is a file in place of word2vec, `models` names an encoder in place of BERT, `elmo` is a directory."""
    bert = encoder_for(BERT_BASE, models)
    static = static_encoder(vectors) if vectors else f"{STATIC}minilm"
    use, said = find_use()
    remarks = {
        "bert": stand_in_caveats({BERT_BASE: bert}),
        "elmo": [_elmo_caveat(elmo)],
        "use": [said],
        "word2vec": [Caveat("stand_in_model", f"{spell_file(static)} stands in for word2vec of Google News")],
    }
    return Embeddings(
        {"bert": bert, "elmo": f"{ELMO}:{elmo}" if elmo else None, "use": use, "word2vec": static}, remarks
    )


def _elmo_caveat(directory: str | Path | None) -> Caveat:
    if directory is None:
        message = "ELMo is not to be had: its rows show the paper's numbers alone (--elmo DIR gives its weights)"
        return Caveat("no_model", message)
    identity = find_elmo(str(directory)).identity
    return Caveat("stand_in_model", f"rows of ELMo: the mean of the layers of {identity}; the paper does not say which")


def find_use() -> tuple[str | None, Caveat]:
    """The Universal Sentence Encoder where it is installed."""
    try:
        identity = open_universal().identity
    except DialogaugeError as error:
        return None, Caveat("no_model", f"the Universal Sentence Encoder is not installed: {error}")
    return UNIVERSAL, Caveat("stand_in_model", f"the multilingual {identity} stands in for the English USE")


TITLES = {
    "grade-convai2": "GRADE ConvAI2",
    "grade-dailydialog": "GRADE DailyDialog",
    "grade-empatheticdialogues": "GRADE EmpatheticDialogues",
    "fed": "FED",
    "conture": "ConTurE",
}


@dataclass(frozen=True)
class Scale:
    """The rating of a single response that comes nearest to coherence, and the ends of its scale."""

    dimension: str
    low: float
    high: float

    @property
    def words(self) -> str:
        return f"{self.dimension}, {self.low:g} to {self.high:g}"


SCALES = {GRADE.name: Scale("coherence", 1, 5), FED.name: Scale("Relevant", 0, 2)}
SCALES[CONTURE.name] = Scale("overall impression", 0, 2)  # it has no other


@dataclass(frozen=True)
class RatedCorpus:
    """The turns of a corpus that have the rating."""

    name: str
    corpus: Corpus
    scale: Scale

    @property
    def title(self) -> str:
        return TITLES.get(self.name, f"GRADE {self.name.removeprefix('grade-')}")

    @property
    def turns(self) -> list[Turn]:
        return self.corpus.turns

    @property
    def is_grade(self) -> bool:
        return is_grade(self.name)

    @cached_property
    def people(self) -> Floats:
        """The mean rating of each turn."""
        return settled(np.array([mean_rating(ratings_of(turn, self.scale.dimension, "turn")) for turn in self.turns]))

    @cached_property
    def scaled(self) -> Floats:
        """The mean ratings, from 0 to 1 by the ends of the scale."""
        return np.asarray((self.people - self.scale.low) / (self.scale.high - self.scale.low))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """A number for the dialogue of each turn; for its context, where it comes from none."""
        return numbered([unit_of(turn) for turn in self.turns])


def is_grade(name: str) -> bool:
    return name.startswith("grade-")


def read_corpora(
    folder: Path, only: Sequence[str] = (), grade_alone: bool = False
) -> tuple[list[RatedCorpus], list[Caveat]]:
    """Those in the folder and in the folders in it, and what is missing. `only` names some of them; `grade_alone`
    leaves FED and ConTurE aside."""
    if not folder.is_dir():
        raise InputError("no such folder; expected the one that GRADE, FED and ConTurE are in", folder)
    titles = {name: title for name, title in TITLES.items() if not grade_alone or is_grade(name)}
    places = {name: place for name, place in _places(folder).items() if not grade_alone or is_grade(name)}
    if not places:
        others = "" if grade_alone else ", FED's fed_data.json or ConTurE's data.json"
        raise InputError(
            f"expected GRADE's evaluation data (eval_data and human_score){others} here or in a folder in it, found"
            " none; see `dialogauge corpora`",
            folder,
        )
    for name in only:
        if name not in titles and name not in places:
            raise unknown("corpus of GRADE's" if grade_alone else "rated corpus", name, {**titles, **places})
        if name not in places:
            raise InputError(f"{TITLES[name]} is not here; found {', '.join(places)}", folder)
    wanted = [name for name in places if not only or name in only]
    read = [_read(name, *places[name]) for name in wanted]
    missing = [title for name, title in titles.items() if name not in places and not only]
    lack = [Caveat("missing_corpus", f"not in {folder}, and left out: {', '.join(missing)}")] if missing else []
    return [rated for rated, _ in read], [*lack, *(caveat for _, found in read for caveat in found)]


def _places(folder: Path) -> dict[str, tuple[Path, Reader]]:
    """In the order of TITLES, other corpora of GRADE's after its own."""
    found: dict[str, tuple[Path, Reader]] = {}
    for name, path, reader in _recognised([folder, *sorted(filter(Path.is_dir, folder.iterdir()))]):
        if name in found:
            raise InputError(f"{TITLES.get(name, name)} is here twice: {found[name][0]} and {path}", folder)
        found[name] = path, reader
    order = [name for name in (*TITLES, *sorted(found)) if name in found]
    return {name: found[name] for name in dict.fromkeys(sorted(order, key=lambda name: not is_grade(name)))}


def _recognised(places: Sequence[Path]) -> Iterator[tuple[str, Path, Reader]]:
    for place in places:
        for path in corpora_in(place):
            if path != place:
                yield f"grade-{path.name}", path, GRADE
        for file in sorted((*place.glob("*.json"), *place.glob("*.json.gz"))):
            for reader in (FED, CONTURE):
                if is_read_by(reader, file):
                    yield reader.name, file, reader


def _read(name: str, path: Path, reader: Reader) -> tuple[RatedCorpus, list[Caveat]]:
    corpus, scale = load(path, reader=reader.name), SCALES[reader.name]
    turns = [turn for turn in corpus if ratings_of(turn, scale.dimension, "turn")]
    rated = RatedCorpus(name, Corpus(turns, corpus.files), scale)
    if not turns:
        raise InputError(f"no turn has the rating {scale.dimension}", path)
    if min(rated.scaled) < 0 or max(rated.scaled) > 1:
        ends = f"found {min(rated.people):g} to {max(rated.people):g}"
        raise InputError(f"{scale.dimension}: expected ratings from {scale.low:g} to {scale.high:g}, {ends}", path)
    caveats = list(corpus.caveats)
    if left := len(corpus) - len(turns):
        message = f"{rated.title}: {left} of {len(corpus)} turns lack the rating {scale.dimension}, and are left out"
        caveats.append(Caveat("missing_ratings", message))
    return rated, caveats
